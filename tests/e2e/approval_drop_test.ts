/** What the daemon makes of drops that are wrong in one thing: nothing is stored, and the request stays pending. */

import assert from "node:assert/strict";
import { Encrypter, generateX25519Identity, identityToRecipient } from "age-encryption";
import { fromBase64url, randomBytes, toBase64url } from "@custos/core/bytes";
import { canonicalBytes } from "@custos/core/canonical";
import { newId } from "@custos/core/ids";
import { SHARED, shareHouse } from "./harness.ts";
import { touch } from "./harness_hostile.ts";
import { dropOf, type WrongDrop } from "./harness_hostile_drop.ts";
import { type Refusal, refuses } from "./harness_refusal.ts";
import { failure } from "./harness_wait.ts";

const house = shareHouse();

const someHash = () => toBase64url(randomBytes(32));

/** Seals to the right recipients, and to a classical one beside them. */
const mixed: WrongDrop["seal"] = async (recipients, policy, value) => {
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  encrypter.addRecipient(await identityToRecipient(await generateX25519Identity()));
  const file = await encrypter.encrypt(canonicalBytes({ policy, value: toBase64url(value) }));
  return Uint8Array.from(file);
};

const ROWS: Record<string, WrongDrop & Refusal> = {
  "not sealed to the recovery sheet": { says: "recovery sheet", recipients: (all) => all.slice(0, 1) },
  "sealed to a classical recipient too": { says: "not post-quantum", seal: mixed },
  "under a name that is taken": {
    says: "there is a secret named demo-key",
    policy: (p) => ({ ...p, name: "demo-key" }),
  },
  "that belongs to another request": {
    says: "belongs to another request",
    policy: (p) => ({ ...p, request_hash: someHash() }),
  },
  "that claims to be a later version": {
    says: "belongs to another request",
    policy: (p) => ({ ...p, version: 2, prev: someHash() }),
  },
  "with another policy than was signed": {
    says: "does not register this secret",
    decision: (d) => ({ ...d, policy: { ...d.policy!, origins: ["https://evil.test"] } }),
  },
  "with another ciphertext than was signed": {
    says: "does not register this secret",
    decision: (d) => ({ ...d, age_file: otherHeader(d.age_file!) }),
  },
  "without a secret": { says: "brings no secret", decision: (d) => ({ ...d, age_file: null }) },
  "whose bundle names another policy": {
    says: "another version of the policy",
    bundle: (b) => ({ ...b, policy_hash: someHash() }),
  },
  "whose entry was left out": {
    says: "not the ones that were signed",
    decision: (d) => ({ ...d, records: [] }),
  },
  "whose entry is for another secret": {
    says: "does not register this secret",
    entry: (e) => ({
      ...e,
      body: { ...e.body, type: "secret_register", secret_id: newId() } as typeof e.body,
    }),
  },
  "whose entry does not follow the log": { entry: (e) => ({ ...e, prev: someHash() }) },
  "whose entry has another place in the log": { entry: (e) => ({ ...e, seq: e.seq + 1 }) },
  "over an older head of the log": {
    says: "over another policy log",
    bundle: (b) => ({ ...b, log_head: { size: 0, head: null } }),
  },
  "whose entry is signed by another approval": {
    says: "signed by another approval",
    record: (r) => ({
      ...r,
      signed: r.signed.kind === "passkey"
        ? { ...r.signed, bundle: { ...r.signed.bundle, issued_ms: 1 } }
        : r.signed,
    }),
  },
};

/** The same file with one bit of a stanza's body turned. */
function otherHeader(file: string): string {
  const bytes = fromBase64url(file)!;
  bytes[200] = bytes[200] === 65 ? 66 : 65;
  return toBase64url(bytes);
}

Deno.test("the daemon refuses a drop that is wrong in one thing, and stores nothing", SHARED, async (t) => {
  const h = house();
  const asked = await h.client.call("drop.request", {
    name: "hostile",
    reason: "r",
    wait_ms: 0,
    agent: { name: "drops" },
  });
  const card = await h.card(asked.request_id);
  const names = async () => (await h.client.call("handles.list", {})).handles.map(({ name }) => name);
  for (const [what, { says, why, ...wrong }] of Object.entries(ROWS)) {
    await t.step({
      ...SHARED,
      name: `a drop ${what}`,
      fn: async () => {
        await refuses(h, card, what, await dropOf(h, card, "hostile", wrong), { says, why });
        assert.deepEqual(await names(), ["demo-key"]);
      },
    });
  }
  h.authenticator.misbehave = { no_uv: true };
  const unverified = await dropOf(h, card, "hostile", { sign: (challenge) => touch(h, challenge) });
  h.authenticator.misbehave = {};
  await refuses(h, card, "no user verification", unverified);

  await h.sendDecision(await dropOf(h, card, "hostile"));
  await h.logged("secret_stored", { id: asked.request_id });
  assert.deepEqual(await names(), ["demo-key", "hostile"]);
});

Deno.test("a secret whose inner policy is not the signed one is never sent", SHARED, async () => {
  const h = house();
  const asked = await h.client.call("drop.request", {
    name: "two-faced",
    reason: "r",
    wait_ms: 0,
    agent: { name: "drops" },
  });
  const card = await h.card(asked.request_id);
  assert.ok(await h.phone.sync(10_000)); // what was stored before came of no decision that this phone knows of
  // What is sealed may go elsewhere only; what was shown and signed says that it may go to the API.
  const inner: WrongDrop["inner"] = (policy) => ({ ...policy, origins: [h.evil.origin] });
  await h.sendDecision(await dropOf(h, card, "two-faced", { inner }));
  await h.logged("secret_stored", { id: asked.request_id });
  assert.ok(await h.phone.sync(10_000));
  const use = { agent: "drops", handle: "custos:two-faced" };
  const http = await h.ask("/two-faced", use);
  await h.approve(http.id);
  const error = await failure(h.http("/two-faced", use));
  assert.deepEqual([error.id, error.kind === "outcome_unknown"], [http.id, false]);
  assert.deepEqual([h.api.connections, h.evil.connections], [0, 0]);
});
