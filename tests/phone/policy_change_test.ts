import assert from "node:assert/strict";
import { approvalHash } from "@custos/core/approval";
import { verifyAssertion } from "@custos/core/assertion";
import { type Bytes, fromBase64url, fromUtf8, toBase64url, utf8 } from "@custos/core/bytes";
import { headerHash, openWithIdentity, readSecret, sealSecret, splitHeader } from "@custos/core/custody";
import { deriveRecoveryKeys } from "@custos/core/device_keys";
import { newId } from "@custos/core/ids";
import { type Policy, policyHash } from "@custos/core/policy";
import { recipientsOf } from "@custos/core/policy_log";
import { decodeRecoverySheet } from "@custos/core/recovery_sheet";
import { nextPolicy, prepareChange, signChange, verifyCard } from "@custos/pwa";
import { accept, granted, refusedWith } from "./scripted_answers.ts";
import { type HeldSecret, holdSecret, policyCard, VALUE } from "./scripted_cards.ts";
import { deliver, type Ends, knowSecret, withPair } from "./scripted_pair.ts";

/** The held secret, known on both sides, and its next version with a longer grant. */
async function begin(ends: Ends): Promise<{ secret: HeldSecret; next: Policy }> {
  const secret = await holdSecret(ends.daemon);
  await knowSecret(ends, secret);
  const limits = { ...secret.policy.limits, max_seconds: 60 };
  return { secret, next: await nextPolicy(secret.policy, { ...secret.policy, limits }, 2_000) };
}

async function deliverFile(ends: Ends, request_hash: string, file: Bytes): Promise<void> {
  await ends.daemon.send({ t: "age_file", request_hash, age_file: toBase64url(file) });
  const came = async () =>
    (await ends.phone.cards()).find((card) => card.request_hash === request_hash)?.age_file !== null || null;
  assert.ok(await ends.phone.when(came, 5_000));
}

function partsOf({ phone }: Ends) {
  return { store: phone.store, authenticator: phone.authenticator, now: Date.now };
}

Deno.test("signChange() signs a new version that the phone sealed anew, with two touches", async () => {
  await withPair(async (ends) => {
    const { daemon, phone } = ends;
    const { secret, next } = await begin(ends);
    const request_hash = await deliver(ends, await policyCard(daemon, secret, { kind: "set", policy: next }));
    await deliverFile(ends, request_hash, secret.file);
    const touches = phone.authenticator.touches;
    const answer = phone.change(request_hash);
    const decision = await granted(daemon);
    assert.equal(phone.authenticator.touches, touches + 2);
    const { bundle, assertion, records, age_file, sealed_key, policy } = decision;
    assert.deepEqual([policy, sealed_key, bundle.reply_to_sha256, bundle.grant], [
      next,
      null,
      null,
      undefined,
    ]);
    const device = [...daemon.log.devices.values()][0]!;
    assert.equal((await verifyAssertion(assertion, device, await approvalHash(bundle))).ok, true);
    const file = fromBase64url(age_file!)!;
    assert.equal(splitHeader(file).stanzas, recipientsOf(daemon.log).length);
    assert.equal(bundle.header_sha256, await headerHash(splitHeader(file).header));
    assert.equal(bundle.policy_hash, await policyHash(next));
    const { identity } = await deriveRecoveryKeys(await decodeRecoverySheet(phone.recoverySheet!));
    const opened = readSecret(await openWithIdentity(identity.expose(fromUtf8), file));
    assert.equal(fromUtf8(opened.value), VALUE);
    assert.deepEqual(opened.policy, next);
    await accept(daemon, records);
    assert.equal(daemon.log.secrets.get(secret.policy.secret_id)?.policy_hash, bundle.policy_hash);
    await daemon.send({ t: "decided", request_hash, status: "granted", by: "software phone", reason: null });
    assert.equal((await answer).status, "granted");
    const record = await phone.record();
    assert.deepEqual(record.policies, [next]);
    assert.equal(record.cards[0]?.age_file, null);
  });
});

Deno.test("signChange() ends a secret with one touch", async () => {
  await withPair(async (ends) => {
    const { daemon, phone } = ends;
    const { secret } = await begin(ends);
    const request_hash = await deliver(ends, await policyCard(daemon, secret, { kind: "delete" }));
    const touches = phone.authenticator.touches;
    const answer = phone.change(request_hash);
    const { bundle, age_file, records } = await granted(daemon);
    assert.equal(phone.authenticator.touches, touches + 1);
    assert.deepEqual([bundle.policy_hash, bundle.header_sha256], [secret.policy_hash, secret.header_sha256]);
    assert.equal(age_file, null);
    await accept(daemon, records);
    assert.equal(daemon.log.secrets.size, 0);
    await daemon.send({ t: "decided", request_hash, status: "granted", by: "software phone", reason: null });
    assert.equal((await answer).status, "granted");
    assert.equal((await phone.record()).log.state.secrets.size, 0);
  });
});

Deno.test("verifyCard() refuses a change that does not follow the policy in force", async () => {
  await withPair(async (ends) => {
    const { secret, next } = await begin(ends);
    const rows: [string, Partial<Policy>][] = [
      ["another secret", { secret_id: newId() }],
      ["another name", { name: "other" }],
      ["a version that is left out", { version: 3 }],
      ["the same version", { version: 1, prev: null }],
      ["another predecessor", { prev: await policyHash(next) }],
      ["another epoch", { epoch: newId() }],
      ["an origin that is none", { origins: ["https://*.example.test"] }],
    ];
    for (const [name, change] of rows) {
      const card = await policyCard(ends.daemon, secret, { kind: "set", policy: { ...next, ...change } });
      const verdict = await verifyCard(await ends.phone.record(), card);
      assert.equal(verdict.ok ? "accepted" : verdict.why, "change", name);
    }
    const good = await verifyCard(
      await ends.phone.record(),
      await policyCard(ends.daemon, secret, { kind: "set", policy: next }),
    );
    assert.deepEqual(good.ok && good.card.type === "policy" ? good.card.wider : null, []);
  });
});

Deno.test("prepareChange() seals nothing where file or passkey are not the secret's", async () => {
  const rows: [string, string, (ends: Ends, secret: HeldSecret) => Promise<Bytes | null>][] = [
    ["no file", "bad_request", () => Promise.resolve(null)],
    ["another file", "bad_request", async ({ daemon }) => (await holdSecret(daemon)).file],
    ["a passkey that gives another key", "no_device", ({ phone }, { file }) => {
      phone.authenticator.misbehave = { change_prf_on_touch: phone.authenticator.touches + 1 };
      return Promise.resolve(file);
    }],
  ];
  for (const [name, kind, fileOf] of rows) {
    await withPair(async (ends) => {
      const { secret, next } = await begin(ends);
      const card = await policyCard(ends.daemon, secret, { kind: "set", policy: next });
      const request_hash = await deliver(ends, card);
      const file = await fileOf(ends, secret);
      if (file !== null) await deliverFile(ends, request_hash, file);
      await assert.rejects(
        () => prepareChange(partsOf(ends), ends.phone.daemon, request_hash),
        refusedWith(kind),
        name,
      );
      const { outbox } = await ends.phone.record();
      assert.deepEqual(outbox.filter(({ message }) => message.t === "decision"), [], name);
    });
  }
});

Deno.test("prepareChange() refuses a value that cannot go to the new place, without a part of it", async () => {
  await withPair(async (ends) => {
    const { daemon } = ends;
    const held = await holdSecret(daemon, { placement: { kind: "query", name: "key" } });
    const file = await sealSecret(recipientsOf(daemon.log), held.policy, utf8("value with \u00e9 in it"));
    const { header } = splitHeader(file);
    const secret = { ...held, file, header, header_sha256: await headerHash(header) };
    await knowSecret(ends, secret);
    const next = await nextPolicy(held.policy, { ...held.policy, placement: { kind: "bearer" } }, 2_000);
    const request_hash = await deliver(ends, await policyCard(daemon, secret, { kind: "set", policy: next }));
    await deliverFile(ends, request_hash, file);
    await assert.rejects(
      () => prepareChange(partsOf(ends), ends.phone.daemon, request_hash),
      (error) =>
        /outside ASCII/.test((error as Error).message) && !/value with/.test((error as Error).message),
    );
  });
});

Deno.test("prepareChange() refuses a file that holds another policy than the one in force", async () => {
  await withPair(async (ends) => {
    const { daemon } = ends;
    const inner = await holdSecret(daemon, { origins: ["https://evil.test"] });
    // the log says the shown policy, and the header of a file with another one inside
    const shown: Policy = { ...inner.policy, origins: ["https://api.example.test"] };
    const secret: HeldSecret = { ...inner, policy: shown, policy_hash: await policyHash(shown) };
    await knowSecret(ends, secret);
    const next = await nextPolicy(shown, shown, 2_000);
    const request_hash = await deliver(ends, await policyCard(daemon, secret, { kind: "set", policy: next }));
    await deliverFile(ends, request_hash, secret.file);
    await assert.rejects(
      () => prepareChange(partsOf(ends), ends.phone.daemon, request_hash),
      (error) => refusedWith("bad_request")(error) && /not the secret's/.test((error as Error).message),
    );
  });
});

Deno.test("signChange() can be tried again after a cancel, and refuses when the log has moved on", async () => {
  await withPair(async (ends) => {
    const { daemon, phone } = ends;
    const { secret } = await begin(ends);
    const request_hash = await deliver(ends, await policyCard(daemon, secret, { kind: "delete" }));
    const prepared = await prepareChange(partsOf(ends), phone.daemon, request_hash);
    phone.authenticator.misbehave = { cancel: true };
    await assert.rejects(
      () => signChange(partsOf(ends), phone.daemon, prepared),
      refusedWith("NotAllowedError"),
    );
    phone.authenticator.misbehave = {};
    const moved = {
      ...prepared,
      bundle: { ...prepared.bundle, log_head: { size: 1, head: secret.policy_hash } },
    };
    await assert.rejects(() => signChange(partsOf(ends), phone.daemon, moved), refusedWith("bad_request"));
    await signChange(partsOf(ends), phone.daemon, prepared);
    assert.equal((await phone.record()).outbox.filter(({ message }) => message.t === "decision").length, 1);
  });
});
