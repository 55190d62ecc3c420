import assert from "node:assert/strict";
import { fromBase64url, fromUtf8, toBase64url, utf8 } from "@custos/core/bytes";
import { openWithFileKey, openWithIdentity, readSecret, splitHeader } from "@custos/core/custody";
import { deriveRecoveryKeys } from "@custos/core/device_keys";
import { decodeRecoverySheet } from "@custos/core/recovery_sheet";
import type { DropFields } from "@custos/pwa";
import { accept, fileKeyOf, granted, refusedWith } from "./scripted_answers.ts";
import { dropCard, httpCard } from "./scripted_cards.ts";
import { deliver, withPair } from "./scripted_pair.ts";

const FIELDS: DropFields = {
  name: "github",
  origins: ["https://api.github.com"],
  placement: { kind: "bearer" },
  rules: [{ methods: ["GET"], path_prefix: "/repos/" }],
  max_seconds: 3_600,
  private_network: false,
};

Deno.test("drop() seals to this device and the recovery sheet, and registers it with one touch", async () => {
  await withPair(async (ends) => {
    const { daemon, phone } = ends;
    const request_hash = await deliver(ends, await dropCard(daemon));
    const touches = phone.authenticator.touches;
    const answer = phone.drop(request_hash, FIELDS, utf8("ghp_exampleexample\n"));
    const decision = await granted(daemon);
    assert.equal(phone.authenticator.touches, touches + 1);
    const { policy, records, age_file, sealed_key, bundle } = decision;
    assert.equal(policy?.request_hash, request_hash);
    assert.equal(sealed_key, null);
    assert.equal(bundle.reply_to_sha256, null);
    const file = fromBase64url(age_file!)!;
    const { identity } = await deriveRecoveryKeys(await decodeRecoverySheet(phone.recoverySheet!));
    const opened = readSecret(await openWithIdentity(identity.expose(fromUtf8), file));
    assert.equal(fromUtf8(opened.value), "ghp_exampleexample");
    assert.deepEqual(opened.policy, policy);
    assert.equal(splitHeader(file).stanzas, 2);
    await accept(daemon, records);
    await daemon.send({
      t: "decided",
      request_hash,
      status: "delivered",
      by: "software phone",
      reason: null,
    });
    const { dropped, status } = await answer;
    assert.equal(status, "delivered");
    assert.deepEqual(dropped.notices, ["The line break at the end was dropped."]);
    assert.deepEqual((await phone.record()).log.records, daemon.records);
  });
});

Deno.test("drop() seals the key of a first grant, which opens the file", async () => {
  await withPair(async (ends) => {
    const { daemon, phone } = ends;
    const request_hash = await deliver(ends, await dropCard(daemon));
    const fields = { ...FIELDS, first_grant_seconds: 60 };
    const answer = phone.drop(request_hash, fields, utf8("ghp_exampleexample"));
    const decision = await granted(daemon);
    assert.equal(decision.bundle.grant?.agent, "tester");
    const file = fromBase64url(decision.age_file!)!;
    const fileKey = await fileKeyOf(daemon, decision, decision.bundle.header_sha256!);
    assert.equal(fromUtf8(readSecret(await openWithFileKey(file, fileKey)).value), "ghp_exampleexample");
    await accept(daemon, decision.records);
    await daemon.send({
      t: "decided",
      request_hash,
      status: "delivered",
      by: "software phone",
      reason: null,
    });
    assert.equal((await answer).status, "delivered");
    // the same secret can now be approved: its entry is in the phone's own log
    const { header } = splitHeader(file);
    const { policy } = decision;
    const card = await httpCard(daemon, {
      policy: policy!,
      policy_hash: decision.bundle.policy_hash!,
      file,
      header,
      header_sha256: decision.bundle.header_sha256!,
    });
    assert.ok(card.doc.type === "http");
    card.doc.http.url = "https://api.github.com/repos/a";
    const hash = await deliver(ends, card);
    const approved = phone.approve(hash);
    const again = await granted(daemon);
    assert.equal(
      toBase64url(await fileKeyOf(daemon, again, decision.bundle.header_sha256!)),
      toBase64url(fileKey),
    );
    await daemon.send({ t: "decided", request_hash: hash, status: "granted", by: null, reason: null });
    assert.equal((await approved).status, "granted");
  });
});

Deno.test("drop() refuses what no message can hold before the touch, and the phone goes on", async () => {
  await withPair(async (ends) => {
    const { daemon, phone } = ends;
    const request_hash = await deliver(ends, await dropCard(daemon));
    const touches = phone.authenticator.touches;
    const rules = Array.from({ length: 50 }, (_, at) => ({
      methods: ["GET"],
      path_prefix: `/${at}/${"a".repeat(1_000)}/`,
    }));
    const value = utf8("0123456789abcdef".repeat(4_096));
    const tooLong = phone.drop(request_hash, { ...FIELDS, rules }, value);
    await assert.rejects(() => tooLong, refusedWith("body_too_large"));
    assert.equal(phone.authenticator.touches, touches);
    const answer = phone.deny(request_hash);
    await daemon.expect("decision");
    await daemon.send({ t: "decided", request_hash, status: "denied", by: null, reason: null });
    assert.equal((await answer).status, "denied");
  });
});

Deno.test("drop() refuses fields and values that cannot be stored, and never repeats a value", async () => {
  await withPair(async (ends) => {
    const { daemon, phone } = ends;
    const request_hash = await deliver(ends, await dropCard(daemon));
    const good = "ghp_exampleexample";
    const rows: [string, Partial<DropFields>, string][] = [
      ["a short value", {}, "ghp_x"],
      ["a value with a control character", {}, "ghp_example\u0007example"],
      ["a name with a blank", { name: "my key" }, good],
      ["an origin with a path", { origins: ["https://api.github.com/"] }, good],
      ["plain http", { origins: ["http://api.github.com"] }, good],
      ["no origin", { origins: [] }, good],
      ["an unknown method", { rules: [{ methods: ["TRACE"], path_prefix: "/" }] }, good],
      ["a first grant that is longer than the policy", { first_grant_seconds: 7_200 }, good],
    ];
    for (const [name, change, value] of rows) {
      const bytes = utf8(value);
      await assert.rejects(
        () => phone.drop(request_hash, { ...FIELDS, ...change }, bytes),
        (error) => refusedWith("bad_request")(error) && !(error as Error).message.includes("ghp_"),
        name,
      );
      assert.ok(bytes.every((byte) => byte === 0), `${name}: the value was not wiped`);
    }
    phone.authenticator.misbehave = { change_prf_on_touch: phone.authenticator.touches + 1 };
    await assert.rejects(() => phone.drop(request_hash, FIELDS, utf8(good)), refusedWith("no_device"));
    const { outbox } = await phone.record();
    assert.deepEqual(outbox.filter((item) => item.message.t === "decision"), []);
  });
});
