import assert from "node:assert/strict";
import { approvalHash } from "@custos/core/approval";
import { verifyAssertion } from "@custos/core/assertion";
import { type Bytes, fromUtf8 } from "@custos/core/bytes";
import { openWithFileKey, readSecret } from "@custos/core/custody";
import type { CustosError } from "@custos/core/errors";
import { fileKeyOf, granted, refusedWith } from "./scripted_answers.ts";
import { prepareApproval, signApproval } from "@custos/pwa";
import { accessCard, holdSecret, httpCard, VALUE } from "./scripted_cards.ts";
import { deliver, type Ends, knowSecret, withPair } from "./scripted_pair.ts";

async function httpEnds(ends: Ends): Promise<{ request_hash: string; file: Bytes; header_sha256: string }> {
  const secret = await holdSecret(ends.daemon);
  await knowSecret(ends, secret);
  const request_hash = await deliver(ends, await httpCard(ends.daemon, secret));
  return { request_hash, file: secret.file, header_sha256: secret.header_sha256 };
}

Deno.test("approve() signs the exact bundle with one touch, and seals the key that opens this one file", async () => {
  await withPair(async (ends) => {
    const { daemon, phone } = ends;
    const { request_hash, file, header_sha256 } = await httpEnds(ends);
    const touches = phone.authenticator.touches;
    const answer = phone.approve(request_hash);
    const decision = await granted(daemon);
    const { bundle, assertion, records, age_file } = decision;
    assert.equal(phone.authenticator.touches, touches + 1);
    const device = [...daemon.log.devices.values()][0]!;
    assert.deepEqual(await verifyAssertion(assertion, device, await approvalHash(bundle)), {
      ok: true,
      sign_count: 0,
    });
    assert.equal(bundle.request_hash, request_hash);
    assert.equal(bundle.header_sha256, header_sha256);
    assert.deepEqual([bundle.entries, records, age_file], [[], [], null]);
    const fileKey = await fileKeyOf(daemon, decision, header_sha256);
    assert.equal(fromUtf8(readSecret(await openWithFileKey(file, fileKey)).value), VALUE);
    await daemon.send({ t: "decided", request_hash, status: "granted", by: "software phone", reason: null });
    assert.equal((await answer).status, "granted");
    assert.deepEqual((await phone.record()).outbox.filter((item) => item.message.t === "decision"), []);
  });
});

Deno.test("approve() grants an access card what was asked", async () => {
  await withPair(async (ends) => {
    const { daemon, phone } = ends;
    const secret = await holdSecret(daemon);
    await knowSecret(ends, secret);
    const request_hash = await deliver(ends, await accessCard(daemon, secret, { seconds: 60 }));
    const answer = phone.approve("latest");
    const { bundle } = await granted(daemon);
    assert.equal(bundle.grant?.seconds, 60);
    assert.equal(bundle.grant?.scope.path_prefix, "/v1/");
    await daemon.send({ t: "decided", request_hash, status: "granted", by: null, reason: null });
    assert.equal((await answer).status, "granted");
  });
});

Deno.test("approve() approves nothing where the card, the passkey or the channel is not right", async () => {
  const rows: [string, string, (ends: Ends, hash: string) => Promise<void> | void][] = [
    ["a passkey that gives another key", "no_device", ({ phone }) => {
      phone.authenticator.misbehave = { change_prf_on_touch: phone.authenticator.touches + 1 };
    }],
    ["a passkey that gives no key", "no_device", ({ phone }) => {
      phone.authenticator.misbehave = { no_prf: true };
    }],
    ["a person who cancels", "NotAllowedError", ({ phone }) => {
      phone.authenticator.misbehave = { cancel: true };
    }],
    ["a request that was withdrawn", "withdrawn", async ({ daemon, phone }, request_hash) => {
      await daemon.send({ t: "decided", request_hash, status: "withdrawn", by: null, reason: null });
      await phone.when(async () => (await phone.cards())[0]?.status === "withdrawn" || null, 5_000);
    }],
    ["a channel that is locked", "locked", async ({ phone }) => {
      await phone.store.update(phone.daemon, (record) => {
        const channel = { ...record.channel, locked: "superseded_handshake" } as const;
        return Promise.resolve([{ ...record, channel }, undefined]);
      });
    }],
    ["a log that contradicts this phone's", "locked", async ({ phone }) => {
      await phone.store.update(phone.daemon, (record) => {
        return Promise.resolve([{ ...record, alarm: "policy_log_forked" }, undefined]);
      });
    }],
  ];
  for (const [name, kind, spoil] of rows) {
    await withPair(async (ends) => {
      const { request_hash } = await httpEnds(ends);
      await spoil(ends, request_hash);
      await assert.rejects(() => ends.phone.approve(request_hash), refusedWith(kind), name);
      const { outbox } = await ends.phone.record();
      assert.deepEqual(outbox.filter((item) => item.message.t === "decision"), [], name);
    });
  }
});

Deno.test("approve() is refused while an approval of the same request waits, and a denial takes its place", async () => {
  await withPair(async (ends) => {
    const { daemon, phone } = ends;
    const { request_hash } = await httpEnds(ends);
    const first = phone.approve(request_hash);
    await granted(daemon);
    await assert.rejects(() => phone.approve(request_hash), refusedWith("bad_request"));
    const denied = phone.deny(request_hash);
    assert.equal((await daemon.expect("decision")).decision, "deny");
    await daemon.send({ t: "decided", request_hash, status: "denied", by: null, reason: null });
    assert.deepEqual([(await first).status, (await denied).status], ["denied", "denied"]);
  });
});

Deno.test("deny() needs no touch, and works for a card that cannot be approved", async () => {
  await withPair(async (ends) => {
    const { daemon, phone } = ends;
    const request_hash = await deliver(ends, await httpCard(daemon, await holdSecret(daemon)));
    const touches = phone.authenticator.touches;
    const answer = phone.deny(request_hash);
    assert.deepEqual(await daemon.expect("decision"), {
      t: "decision",
      decision: "deny",
      request_hash,
      mute_until_ms: null,
    });
    await daemon.send({ t: "decided", request_hash, status: "denied", by: null, reason: null });
    assert.equal((await answer).status, "denied");
    assert.equal(phone.authenticator.touches, touches);
  });
});

Deno.test("a decision is sent again, under new sequences, until the daemon says how the request ended", async () => {
  await withPair(async (ends) => {
    const { daemon, phone, relay } = ends;
    const { request_hash } = await httpEnds(ends);
    const answer = phone.approve(request_hash);
    const first = await granted(daemon);
    const before = relay.passed.length;
    const second = await granted(daemon);
    assert.deepEqual(second, first);
    assert.ok(relay.passed.length > before);
    await daemon.send({ t: "decided", request_hash, status: "granted", by: null, reason: null });
    assert.equal((await answer).status, "granted");
    assert.deepEqual((await phone.record()).outbox.filter((item) => item.message.t === "decision"), []);
  });
});

Deno.test("a decision that the daemon refused is not sent again, and the card can be answered anew", async () => {
  await withPair(async (ends) => {
    const { daemon, phone } = ends;
    const { request_hash } = await httpEnds(ends);
    const first = phone.approve(request_hash).then(() => null, (error: CustosError) => error);
    await granted(daemon);
    await daemon.send({ t: "error", code: "bad_request", about: request_hash, message: "not now" });
    assert.equal((await first)?.message, "not now");
    const second = phone.approve(request_hash);
    await granted(daemon);
    await daemon.send({ t: "decided", request_hash, status: "granted", by: null, reason: null });
    assert.equal((await second).status, "granted");
  });
});

Deno.test("signApproval() asks the passkey before it awaits anything, and nothing that ended meanwhile is signed (B122)", async () => {
  await withPair(async (ends) => {
    const { daemon, phone } = ends;
    const { request_hash } = await httpEnds(ends);
    const parts = { store: phone.store, authenticator: phone.authenticator, now: Date.now };
    const prepared = await prepareApproval(parts, phone.daemon, request_hash, { kind: "once" });
    const touches = phone.authenticator.touches;
    let asked = false;
    const authenticator: typeof phone.authenticator = Object.create(phone.authenticator, {
      get: {
        value: (options: Parameters<typeof phone.authenticator.get>[0]) => {
          asked = true;
          return phone.authenticator.get(options);
        },
      },
    });
    await daemon.send({ t: "decided", request_hash, status: "withdrawn", by: null, reason: "by_caller" });
    await phone.when(async () => (await phone.cards())[0]?.status === "withdrawn" || null, 5_000);
    const signing = signApproval({ ...parts, authenticator }, phone.daemon, prepared);
    assert.equal(asked, true);
    await assert.rejects(() => signing, refusedWith("withdrawn"));
    assert.equal(phone.authenticator.touches, touches + 1);
    const { outbox } = await phone.record();
    assert.deepEqual(outbox.filter((item) => item.message.t === "decision"), []);
  });
});
