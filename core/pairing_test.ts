import assert from "node:assert/strict";
import { fromBase64url, fromUtf8, toBase64url, toHex, utf8 } from "./bytes.ts";
import { canonicalBytes } from "./canonical.ts";
import {
  commitment,
  encodePairMessage,
  opensCommitment,
  pairingKeys,
  type PairingOffer,
  pairingUrl,
  type PairMessage,
  pairRecipientHash,
  type PairReveal,
  readPairingUrl,
  readPairMessage,
  readReveal,
  registerChallenge,
  rendezvousMailboxes,
  repairChallenge,
} from "./pairing.ts";
import { anyHash, flipBit, hex, IDENTITIES, kindOf } from "./testdata/samples.ts";
import vectors from "./testdata/pairing.json" with { type: "json" };

const secret = hex(vectors.secret);
const phoneKey = hex(vectors.key_phone);
const parts = {
  c: vectors.commitment,
  recipient: vectors.recipient,
  nonce: vectors.nonce_daemon,
  sealed: vectors.sealed,
  phoneKey,
  secret,
};
const reveal: PairReveal = {
  key: toBase64url(phoneKey),
  nonce: toBase64url(hex(vectors.nonce_phone)),
  device_name: "phone",
  platform: "test",
  build: "1",
};
const offer: PairingOffer = vectors.offer;

Deno.test("pairingKeys() gives the vector's transcript, words, channel, root and mailboxes", async () => {
  const keys = await pairingKeys(parts);
  const { transcript, words, channel, root, to_daemon, to_phone } = vectors;
  assert.deepEqual(
    { ...keys, transcript: toHex(keys.transcript), root: toHex(keys.root) },
    { transcript, words, channel, root, to_daemon, to_phone },
  );
});

Deno.test("pairingKeys() gives other keys when anything that travelled differs", async () => {
  const changes: Partial<typeof parts>[] = [
    {},
    { c: anyHash(1) },
    { recipient: IDENTITIES[1]!.recipient },
    { nonce: anyHash(1) },
    { sealed: "AAAA" },
    { phoneKey: flipBit(phoneKey, 0) },
    { secret: flipBit(secret, 0) },
  ];
  const all = await Promise.all(changes.map((change) => pairingKeys({ ...parts, ...change })));
  for (const  of of["transcript", "channel", "root", "to_daemon", "to_phone"] as const) {
    const seen = new Set(all.map((keys) => JSON.stringify(keys[of])));
    assert.equal(seen.size, of === "transcript" ? changes.length - 2 : changes.length, of);
  }
});

Deno.test("pairingKeys() lets neither side steer the words once it has seen the other's part", async () => {
  const { words } = await pairingKeys(parts);
  // the phone draws `sealed` after it saw the daemon's nonce: age gives it as many ciphertexts as it likes to try
  for (const sealed of ["AAAA", "AAAB", "AAAC"]) {
    assert.equal((await pairingKeys({ ...parts, sealed })).words, words);
  }
  for (
    const change of [
      { c: anyHash(1) },
      { recipient: IDENTITIES[1]!.recipient },
      { nonce: anyHash(1) },
      { phoneKey: flipBit(phoneKey, 0) },
      { secret: flipBit(secret, 0) },
    ]
  ) assert.notEqual((await pairingKeys({ ...parts, ...change })).words, words);
});

Deno.test("commitment(), rendezvousMailboxes() and the challenges give the vectors", async () => {
  const transcript = hex(vectors.transcript);
  assert.equal(toBase64url(await commitment(hex(vectors.nonce_phone), phoneKey)), vectors.commitment);
  assert.deepEqual(await rendezvousMailboxes(secret, vectors.rendezvous), {
    to_daemon: vectors.rendezvous_to_daemon,
    to_phone: vectors.rendezvous_to_phone,
  });
  assert.equal(toHex(await registerChallenge(transcript)), vectors.register_challenge);
  assert.equal(toHex(await repairChallenge(transcript)), vectors.repair_challenge);
  assert.equal(await pairRecipientHash(vectors.recipient), vectors.recipient_hash);
});

Deno.test("opensCommitment() accepts the committed parts and no others", async () => {
  assert.equal(await opensCommitment(vectors.commitment, reveal), true);
  const rows: [string, string, Partial<PairReveal>][] = [
    ["another key", vectors.commitment, { key: anyHash(1) }],
    ["another nonce", vectors.commitment, { nonce: anyHash(1) }],
    ["key and nonce swapped", vectors.commitment, { key: reveal.nonce, nonce: reveal.key }],
    ["another commitment", anyHash(1), {}],
    ["a padded commitment", `${vectors.commitment}=`, {}],
    ["no commitment", "", {}],
  ];
  for (const [name, c, change] of rows) {
    assert.equal(await opensCommitment(c, { ...reveal, ...change }), false, name);
  }
});

Deno.test("pairingUrl() gives the vector, which readPairingUrl() reads", () => {
  assert.equal(pairingUrl("https://phone.test", offer), vectors.url);
  assert.deepEqual(readPairingUrl(vectors.url), offer);
});

const packed = (value: unknown) => `https://phone.test/#p=${toBase64url(utf8(JSON.stringify(value)))}`;
const { relay, rendezvous, recipient_sha256, expires_ms } = offer;
const LINKS: [name: string, url: string][] = [
  ["nothing", ""],
  ["no fragment", "https://phone.test/"],
  ["another fragment", "https://phone.test/#q=AAAA"],
  ["an empty offer", "https://phone.test/#p="],
  ["padding", `${vectors.url}=`],
  ["something after it", `${vectors.url}&x=1`],
  ["no JSON", `https://phone.test/#p=${toBase64url(utf8("x"))}`],
  ["no UTF-8", `https://phone.test/#p=${toBase64url(Uint8Array.of(0xff))}`],
  ["an object", packed({ ...offer })],
  ["another version", packed([2, relay, rendezvous, recipient_sha256, offer.secret, expires_ms])],
  ["a part less", packed([1, relay, rendezvous, recipient_sha256, offer.secret])],
  ["a part more", packed([1, relay, rendezvous, recipient_sha256, offer.secret, expires_ms, 1])],
  ["a relay that is no URL", packed([1, "relay", rendezvous, recipient_sha256, offer.secret, expires_ms])],
  [
    "a relay of another scheme",
    packed([1, "javascript:alert(1)", rendezvous, recipient_sha256, offer.secret, expires_ms]),
  ],
  [
    "a relay that is a file",
    packed([1, "file:///etc", rendezvous, recipient_sha256, offer.secret, expires_ms]),
  ],
  ["a rendezvous that is no id", packed([1, relay, "../x", recipient_sha256, offer.secret, expires_ms])],
  ["a short hash", packed([1, relay, rendezvous, "AAAA", offer.secret, expires_ms])],
  ["a short secret", packed([1, relay, rendezvous, recipient_sha256, "AAAA", expires_ms])],
  ["a secret that is a number", packed([1, relay, rendezvous, recipient_sha256, 5, expires_ms])],
  ["an expiry that is text", packed([1, relay, rendezvous, recipient_sha256, offer.secret, "soon"])],
  ["an expiry with a fraction", packed([1, relay, rendezvous, recipient_sha256, offer.secret, 0.5])],
  ["more than a QR holds", `https://phone.test/#p=${"A".repeat(4_097)}`],
];

for (const [name, url] of LINKS) {
  Deno.test(`readPairingUrl() refuses a link with ${name}`, async () => {
    assert.equal(await kindOf(() => readPairingUrl(url)), "pairing_refused");
  });
}

const MESSAGES: PairMessage[] = [
  { v: 1, t: "commit", c: vectors.commitment },
  { v: 1, t: "key", recipient: vectors.recipient, nonce: vectors.nonce_daemon },
  { v: 1, t: "reveal", sealed: vectors.sealed },
];

for (const message of MESSAGES) {
  Deno.test(`readPairMessage() reads "${message.t}", and refuses it with a member more, less or spoiled`, async () => {
    assert.deepEqual(readPairMessage(encodePairMessage(message)), message);
    const refused = async (change: object, name: string) =>
      assert.equal(
        await kindOf(() => readPairMessage(canonicalBytes({ ...message, ...change }))),
        "bad_request",
        name,
      );
    await refused({ note: 1 }, "a member more");
    await refused({ v: 2 }, "another version");
    await refused({ t: "confirm" }, "another step");
    for (const member of Object.keys(message)) {
      await refused({ [member]: undefined }, `no ${member}`);
      await refused({ [member]: 7 }, `a spoiled ${member}`);
    }
  });
}

Deno.test("readPairMessage() refuses a classical recipient, a short nonce and another spelling", async () => {
  const [commit, key] = MESSAGES as [PairMessage, PairMessage];
  const rows = [
    canonicalBytes({ ...key, recipient: "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p" }),
    canonicalBytes({ ...key, nonce: toBase64url(new Uint8Array(31)) }),
    canonicalBytes({ ...commit, c: `${vectors.commitment}=` }),
    canonicalBytes({ v: 1, t: "reveal", sealed: toBase64url(new Uint8Array(8_193)) }),
    utf8(` ${fromUtf8(encodePairMessage(commit))}`),
    utf8(""),
  ];
  for (const bytes of rows) assert.equal(await kindOf(() => readPairMessage(bytes)), "bad_request");
});

Deno.test("readReveal() reads a reveal, and refuses it with a member more, less or too long", async () => {
  assert.deepEqual(readReveal(canonicalBytes(reveal)), reveal);
  const rows: object[] = [
    { admin: true },
    { key: toBase64url(new Uint8Array(31)) },
    { nonce: undefined },
    { device_name: "" },
    { device_name: "a".repeat(65) },
    { platform: 1 },
    { build: "a".repeat(129) },
  ];
  for (const change of rows) {
    const bytes = canonicalBytes({ ...reveal, ...change });
    assert.equal(await kindOf(() => readReveal(bytes)), "bad_request", JSON.stringify(change).slice(0, 40));
  }
  assert.equal(fromBase64url(reveal.key)!.length, 32);
});
