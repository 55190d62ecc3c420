/**
 * What the daemon makes of approvals that are wrong in one thing (DESIGN §6.3 step 4): each is refused, nothing is sent,
 * one entry says so, and the request stays pending, so that the person can touch again (B121).
 */

import assert from "node:assert/strict";
import { fromBase64url, randomBytes, toBase64url } from "@custos/core/bytes";
import { newId } from "@custos/core/ids";
import type { Misbehaviour } from "../phone/authenticator.ts";
import { SoftwareAuthenticator } from "../phone/authenticator.ts";
import { SHARED, shareHouse } from "./harness.ts";
import { flipped } from "./harness_bytes.ts";
import { approvalOf, fileKeyOf, grantCard, type Wrong } from "./harness_hostile.ts";
import { type Refusal, refuses } from "./harness_refusal.ts";

const house = shareHouse();

/** Something that is not what it should be, in the form that it should have. */
const someHash = () => toBase64url(randomBytes(32));

/** One wrong thing. `misbehave` is what browser and passkey do wrong while they sign. */
interface Row extends Wrong, Refusal {
  misbehave?: Misbehaviour;
}

/** Rows that need nothing from outside. */
const ROWS: Record<string, Row> = {
  "for another request": { says: "for another request", bundle: (b) => ({ ...b, request_hash: someHash() }) },
  "with a grant for another request": {
    says: "its grant is for another request",
    grant: (g) => ({ ...g, request_hash: someHash() }),
  },
  "about a request that never was": {
    decision: (d) => ({ ...d, request_hash: someHash() }),
    why: "unknown_request",
  },
  "for another daemon": { says: "for another daemon", bundle: (b) => ({ ...b, daemon: newId() }) },
  "by another device": { says: "by another device", bundle: (b) => ({ ...b, device: newId() }) },
  "for another policy": {
    says: "another version of the policy",
    bundle: (b) => ({ ...b, policy_hash: someHash() }),
  },
  "for another ciphertext": {
    says: "another ciphertext",
    bundle: (b) => ({ ...b, header_sha256: someHash() }),
  },
  "for another run of the daemon": {
    says: "another run of the daemon",
    bundle: (b) => ({ ...b, reply_to_sha256: someHash() }),
  },
  "over a forked policy log": {
    says: "another policy log",
    bundle: (b) => ({ ...b, log_head: { size: 1, head: someHash() } }),
  },
  "over a policy log that is longer": {
    says: "another policy log",
    bundle: (b) => ({ ...b, log_head: { size: 99, head: someHash() } }),
  },
  "over a forked audit log": {
    says: "an audit log that is not this daemon's",
    bundle: (b) => ({ ...b, audit_head: { size: 3, head: someHash() } }),
  },
  "that names an entry which did not come": {
    says: "its entries are not the ones",
    bundle: (b) => ({ ...b, entries: [someHash()] }),
  },
  "without a grant": { says: "it grants nothing", bundle: ({ grant: _, ...b }) => b },
  "with a grant for another agent": {
    says: "for another agent",
    grant: (g) => ({ ...g, agent: "somebody else" }),
  },
  "with a grant for every agent": { says: "for another agent", grant: (g) => ({ ...g, agent: null }) },
  "with a grant of another secret": {
    says: "it names another secret",
    grant: (g) => ({ ...g, secret_id: newId() }),
  },
  "with a grant for another path": {
    says: "does not allow the request",
    grant: (g) => ({ ...g, scope: { ...g.scope, path: "/elsewhere" } }),
  },
  "with a method outside the policy": {
    says: "no rule for DELETE",
    grant: (g) => ({ ...g, scope: { ...g.scope, methods: ["GET", "DELETE"] } }),
  },
  "with an origin outside the policy": {
    says: "an origin is outside",
    grant: (g) => ({ ...g, scope: { ...g.scope, origins: [...g.scope.origins, "https://evil.test"] } }),
  },
  "with a grant that lasts too long": { says: "it lasts longer", grant: (g) => ({ ...g, seconds: 86_400 }) },
  "with other content than was shown": {
    says: "does not allow the request",
    grant: (g) => ({ ...g, scope: { ...g.scope, content_sha256: someHash() } }),
  },
  "with a wrong file key": { says: "does not open this secret", file_key: () => randomBytes(16) },
  "with a file key that was sealed for another approval": {
    says: "belongs to another approval",
    bound_to: () => randomBytes(32),
  },
  "without a file key": { says: "grants without a key", decision: (d) => ({ ...d, sealed_key: null }) },
  "that was changed after it was signed": {
    says: "belongs to another approval",
    decision: (d) => ({ ...d, bundle: { ...d.bundle, issued_ms: d.bundle.issued_ms + 1 } }),
  },
  "with a wrong signature": {
    says: "its signature is not valid",
    decision: (d) => ({ ...d, assertion: { ...d.assertion, signature: flipped(d.assertion.signature) } }),
  },
  "from another origin": { says: "on another page", misbehave: { origin: "https://custos.evil.test" } },
  "from the same host at another port": {
    says: "on another page",
    misbehave: { origin: "http://localhost:9999" },
  },
  "for another relying party": { says: "to another site", misbehave: { rp_id: "evil.test" } },
  "inside a frame of another page": { says: "inside a frame", misbehave: { cross_origin: true } },
  "inside a frame that claims to be its own page": {
    says: "inside a frame",
    misbehave: { top_origin: "https://evil.test" },
  },
  "without user verification": { says: "did not verify the person", misbehave: { no_uv: true } },
  "without a touch": { says: "nobody touched", misbehave: { no_up: true } },
  "over another challenge": { says: "for something else", misbehave: { challenge: randomBytes(32) } },
  "of another ceremony": { says: "of another ceremony", misbehave: { type: "webauthn.create" } },
};

Deno.test(
  "the daemon refuses an approval that is wrong in one thing, once in its log, and sends nothing",
  SHARED,
  async (t) => {
    const h = house();
    const asked = await h.ask("/approval", { agent: "approval" });
    const card = await h.card(asked.id);
    for (const [what, { misbehave = {}, says, why, ...wrong }] of Object.entries(ROWS)) {
      await t.step({
        ...SHARED,
        name: what,
        fn: async () => {
          h.authenticator.misbehave = misbehave;
          const decision = await approvalOf(h, card, wrong);
          h.authenticator.misbehave = {};
          await refuses(h, card, what, decision, { says, why });
        },
      });
    }
    // The rows were each wrong in their one thing only: without one, the same code is accepted.
    await h.sendDecision(await approvalOf(h, card));
    await h.logged("granted", { id: asked.id });
    assert.equal((await h.http("/approval", { agent: "approval" })).request_id, asked.id);
    assert.equal(h.api.count("/approval"), 1);
  },
);

Deno.test("the daemon refuses the signature of a passkey that it does not know", SHARED, async () => {
  const h = house();
  const card = await h.card((await h.ask("/foreign", { agent: "foreign" })).id);
  const record = await h.phone.record();
  const own = record.log.state.devices.get(record.device)!;
  const foreign = new SoftwareAuthenticator(own.origin);
  const prf = { first: randomBytes(32), second: randomBytes(32) };
  const made = await foreign.create({
    rp_id: own.rp_id,
    rp_name: "custos",
    user_id: randomBytes(32),
    user_name: "somebody else",
    challenge: randomBytes(32),
    exclude_credentials: [],
    prf,
  });
  const id = fromBase64url(made.credential_id)!;
  const sign: Wrong["sign"] = async (challenge) => {
    const { prf: _, ...assertion } = await foreign.get({
      rp_id: own.rp_id,
      challenge,
      allow_credentials: [id],
      prf,
    });
    return assertion;
  };
  await refuses(h, card, "own id", await approvalOf(h, card, { sign }), { says: "not this device's" });
  const posing: Wrong["sign"] = async (challenge) => ({
    ...await sign!(challenge),
    credential_id: own.credential_id,
  });
  const posed = await approvalOf(h, card, { sign: posing });
  await refuses(h, card, "our id", posed, { says: "its signature is not valid" });
});

Deno.test("the daemon refuses the file key of another secret", SHARED, async () => {
  const h = house();
  await h.dropSecret("other-key", "another_value_0123456789");
  const other = await h.ask("/other-key", { agent: "other", handle: "custos:other-key" });
  const { header } = await grantCard(h, await h.card(other.id));
  const key = await fileKeyOf(h, header);
  const card = await h.card((await h.ask("/file-key", { agent: "other" })).id);
  const decision = await approvalOf(h, card, { file_key: () => key });
  await refuses(h, card, "other key", decision, { says: "does not open this secret" });
});
