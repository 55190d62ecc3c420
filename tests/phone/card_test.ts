import assert from "node:assert/strict";
import { concat, randomBytes, toBase64url } from "@custos/core/bytes";
import { fingerprintOf } from "@custos/core/fingerprint";
import { newId } from "@custos/core/ids";
import type { RequestOf } from "@custos/core/request";
import { requestHash } from "@custos/core/request";
import { type CardMessage, type CardRefusal, type PhoneRecord, verifyCard } from "@custos/pwa";
import { accessCard, dropCard, holdSecret, httpCard } from "./scripted_cards.ts";
import { knowSecret, withPair } from "./scripted_pair.ts";

Deno.test("verifyCard() computes hash and words itself, and gives what is shown from the one document", async () => {
  await withPair(async (ends) => {
    const secret = await holdSecret(ends.daemon);
    await knowSecret(ends, secret);
    const cards = [
      await httpCard(ends.daemon, secret),
      await accessCard(ends.daemon, secret),
      await dropCard(ends.daemon),
    ];
    for (const message of cards) {
      const verdict = await verifyCard(await ends.phone.record(), message);
      assert.ok(verdict.ok, verdict.ok ? "" : verdict.why);
      const hash = await requestHash(message.doc);
      assert.equal(verdict.card.request_hash, toBase64url(hash));
      assert.equal(verdict.card.words, await fingerprintOf(ends.daemon.words_key, hash));
      assert.equal(verdict.card.doc, message.doc);
    }
  });
});

type Http = CardMessage & { doc: RequestOf<"http"> };

Deno.test("verifyCard() refuses a card that is not about the latest of its secret, or is not what it says", async () => {
  await withPair(async (ends) => {
    const { daemon, phone } = ends;
    const secret = await holdSecret(daemon);
    const other = await holdSecret(daemon, { name: "other" });
    const stale = await holdSecret(daemon, { secret_id: secret.policy.secret_id });
    const oldEpoch = await holdSecret(daemon, { name: "old", epoch: newId() });
    const alias = newId(); // the log itself has another secret's policy under this id
    const aliased = { ...other, policy: { ...other.policy, secret_id: alias } };
    for (const one of [secret, other, oldEpoch, aliased]) await knowSecret(ends, one);
    const card = async (change?: Partial<RequestOf<"http">>) =>
      await httpCard(daemon, secret, change) as Http;
    const url = (text: string) => card().then((one) => card({ http: { ...one.doc.http, url: text } }));
    const hash = toBase64url(randomBytes(32));

    const rows: [string, CardRefusal, CardMessage][] = [
      ["another daemon", "other_daemon", await card({ daemon: newId() })],
      ["another daemon name", "other_daemon", await card({ daemon_name: "this computer" })],
      ["a secret that the log does not have", "unknown_secret", await card({ secret_id: newId() })],
      ["another secret's id", "not_latest_policy", await card({ secret_id: other.policy.secret_id })],
      [
        "another secret's id and policy",
        "not_latest_header",
        await card({ secret_id: other.policy.secret_id, policy_hash: other.policy_hash }),
      ],
      ["a policy that is not the latest", "not_latest_policy", await card({ policy_hash: hash })],
      ["a header that is not the latest", "not_latest_header", await card({ header_sha256: hash })],
      ["an older ciphertext of the same secret", "not_latest_header", await httpCard(daemon, stale)],
      ["no policy", "incomplete", { ...await card(), policy: null }],
      ["no header", "incomplete", { ...await card(), header: null }],
      ["another policy beside it", "policy_bytes", { ...await card(), policy: other.policy }],
      [
        "a policy that was widened",
        "policy_bytes",
        { ...await card(), policy: { ...secret.policy, origins: ["https://evil.test"] } },
      ],
      ["another header beside it", "header_bytes", { ...await card(), header: toBase64url(other.header) }],
      [
        "a header with the body behind it",
        "header_bytes",
        { ...await card(), header: toBase64url(concat(secret.header, randomBytes(16))) },
      ],
      ["a policy of another secret", "other_secret", {
        ...await httpCard(daemon, aliased),
        policy: other.policy,
      }],
      ["another handle", "handle", await card({ handle: "custos:other" })],
      ["a secret of an older epoch", "other_epoch", await httpCard(daemon, oldEpoch)],
      ["a host outside the policy", "target", await url("https://evil.test/v1/things")],
      ["a path outside the policy", "target", await url("https://api.example.test/v2/things")],
      ["an http URL", "target", await url("http://api.example.test/v1/things")],
      ["user info in the URL", "target", await url("https://api.example.test@evil.test/v1/")],
      [
        "a URL that is not in the form that is sent",
        "target",
        await url("https://api.example.test/v1/./things"),
      ],
      [
        "a method outside the policy",
        "target",
        await card({ http: { ...(await card()).doc.http, method: "DELETE" } }),
      ],
      ["a life that ends before it begins", "document", await card({ expires_ms: 1 })],
      ["a drop with a secret beside it", "incomplete", { ...await dropCard(daemon), policy: secret.policy }],
    ];
    for (const [name, why, message] of rows) {
      const verdict = await verifyCard(await phone.record(), message);
      assert.equal(verdict.ok ? "accepted" : verdict.why, why, name);
      assert.ok(verdict.ok || /^[a-z-]+ [a-z-]+ [a-z-]+$/.test(verdict.words), name);
    }
  });
});

Deno.test("verifyCard() gives other words for a changed document", async () => {
  await withPair(async ({ daemon, phone }) => {
    const record = await phone.record();
    const message = await dropCard(daemon);
    const words = new Set<string>();
    for (const reason of ["a", "b", "c"]) {
      const verdict = await verifyCard(record, { ...message, doc: { ...message.doc, reason } });
      words.add(verdict.ok ? verdict.card.words : verdict.words);
    }
    assert.equal(words.size, 3);
  });
});

Deno.test("verifyCard() goes by the daemon's clock and not by its own", async () => {
  await withPair(async ({ daemon, phone }) => {
    const message = await dropCard(daemon, { created_ms: 1_000, expires_ms: 2_000 });
    const record: PhoneRecord<string> = { ...await phone.record(), daemon_now_ms: 1_999 };
    assert.equal((await verifyCard(record, message)).ok, true);
    const later = await verifyCard({ ...record, daemon_now_ms: 2_000 }, message);
    assert.equal(later.ok ? "accepted" : later.why, "expired");
  });
});
