import assert from "node:assert/strict";
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from "age-encryption";
import fc from "fast-check";
import { type Bytes, concat, fromUtf8, toBase64url, toHex, utf8 } from "./bytes.ts";
import {
  headerHash,
  isHybridRecipient,
  keyOpensHeader,
  MAX_HEADER_BYTES,
  MAX_RECIPIENTS,
  openHeader,
  openWithFileKey,
  openWithIdentity,
  readSecret,
  sealSecret,
  sealTo,
  splitHeader,
  VALUE_BYTES,
} from "./custody.ts";
import { errorOf, flipBit, hex, IDENTITIES, kindOf, samplePolicy } from "./testdata/samples.ts";
import vectors from "./testdata/documents.json" with { type: "json" };

const [device, recovery, stranger] = IDENTITIES as [Id, Id, Id];
type Id = { identity: string; recipient: string };

const classicalIdentity = await generateX25519Identity();
const classical = await identityToRecipient(classicalIdentity);
const value = utf8("sk-test-0123456789");
const policy = samplePolicy();
const file = await sealSecret([device.recipient, recovery.recipient], policy, value);
const { header, body } = splitHeader(file);
const fileKey = await openHeader(device.identity, header);

/** A file as age itself makes it, to any recipients. */
async function ageFile(recipients: readonly string[], plaintext = "hello"): Promise<Bytes> {
  const encrypter = new Encrypter();
  for (const recipient of recipients) encrypter.addRecipient(recipient);
  return Uint8Array.from(await encrypter.encrypt(plaintext));
}

const refuses = async (run: () => Promise<unknown>, name?: string) =>
  assert.equal(await kindOf(run), "bad_request", name);

Deno.test("sealSecret() makes a file that each of its recipients opens, and nobody else", async () => {
  for (const { identity } of [device, recovery]) {
    const opened = readSecret(await openWithIdentity(identity, file));
    assert.deepEqual(opened, { policy, value });
  }
  await refuses(() => openWithIdentity(stranger.identity, file));
  await refuses(() => openWithIdentity(classicalIdentity, file));
});

Deno.test("sealSecret() makes files that age reads without custos", async () => {
  const decrypter = new Decrypter();
  decrypter.addIdentity(recovery.identity);
  const text = fromUtf8(await decrypter.decrypt(file));
  assert.deepEqual(JSON.parse(text), { policy, value: toBase64url(value) });
});

Deno.test("sealSecret() refuses values and policies that could not be used", async () => {
  const to = [device.recipient];
  await sealSecret(to, policy, new Uint8Array(VALUE_BYTES.min));
  await refuses(() => sealSecret(to, policy, new Uint8Array(VALUE_BYTES.min - 1)));
  await refuses(() => sealSecret(to, policy, new Uint8Array(VALUE_BYTES.max + 1)));
  await refuses(() => sealSecret(to, samplePolicy({ origins: ["https://*.test"] }), value));
  await refuses(() => sealSecret(to, { ...policy, extra: 1 } as never, value));
});

Deno.test("sealSecret() keeps the longest value whole", async () => {
  const longest = Uint8Array.from({ length: VALUE_BYTES.max }, (_, i) => i % 256);
  const sealed = await sealSecret([device.recipient], policy, longest);
  assert.deepEqual(readSecret(await openWithIdentity(device.identity, sealed)).value, longest);
});

const RECIPIENTS: [name: string, recipients: string[]][] = [
  ["no recipient", []],
  ["a classical recipient", [classical]],
  ["a classical recipient beside a hybrid one", [device.recipient, classical]],
  ["an identity", [device.identity]],
  ["a recipient in capitals", [device.recipient.toUpperCase()]],
  ["a recipient with a line break", [`${device.recipient}\n`]],
  ["a cut recipient", [device.recipient.slice(0, -1)]],
  ["a recipient with a wrong checksum", [
    device.recipient.slice(0, -1) + (device.recipient.endsWith("q") ? "p" : "q"),
  ]],
  ["more recipients than are allowed", Array(MAX_RECIPIENTS + 1).fill(device.recipient)],
];

for (const [name, recipients] of RECIPIENTS) {
  Deno.test(`sealTo() refuses ${name}`, async () => {
    await refuses(() => sealTo(recipients, value));
    await refuses(() => sealSecret(recipients, policy, value));
  });
}

Deno.test("isHybridRecipient() tells hybrid recipients from all others", () => {
  assert.equal(isHybridRecipient(device.recipient), true);
  for (const text of [classical, device.identity, "", `${device.recipient} `, `x${device.recipient}`]) {
    assert.equal(isHybridRecipient(text), false, text.slice(0, 20));
  }
});

const both = await ageFile([device.recipient, classical]);
const only = await ageFile([classical]);
const passphrase = await (async () => {
  const encrypter = new Encrypter();
  encrypter.setScryptWorkFactor(1);
  encrypter.setPassphrase("hunter2");
  return Uint8Array.from(await encrypter.encrypt("hello"));
})();

for (
  const [name, mixed] of [["both kinds of stanza", both], ["only a classical stanza", only], [
    "a passphrase stanza",
    passphrase,
  ]] as const
) {
  Deno.test(`custody.ts refuses to read a file with ${name}`, async () => {
    await refuses(() => Promise.resolve(splitHeader(mixed)));
    for (const identity of [device.identity, classicalIdentity]) {
      await refuses(() => openWithIdentity(identity, mixed));
      await refuses(() => openHeader(identity, mixed));
    }
    await refuses(() => openWithFileKey(mixed, fileKey));
  });
}

Deno.test("openHeader() refuses a header with a classical stanza that age itself opens", async () => {
  const dashes = toHex(both).indexOf(toHex(utf8("\n--- "))) / 2;
  const mixed = both.slice(0, both.indexOf(0x0a, dashes + 1) + 1);
  const decrypter = new Decrypter();
  decrypter.addIdentity(device.identity);
  const itsKey = await decrypter.decryptHeader(mixed);
  assert.equal(itsKey.length, 16);
  await refuses(() => openHeader(device.identity, mixed));
  await refuses(() => openWithFileKey(both, itsKey));
});

Deno.test("openHeader() gives the same file key to each recipient", async () => {
  assert.equal(fileKey.length, 16);
  assert.deepEqual(await openHeader(recovery.identity, header), fileKey);
});

Deno.test("openHeader() refuses anything but exactly a header", async () => {
  const rows: [string, Uint8Array][] = [
    ["the whole file", file],
    ["a header and one byte", concat(header, Uint8Array.of(0))],
    ["two headers", concat(header, header)],
    ["a header without its last line break", header.slice(0, -1)],
    ["the body", body],
    ["nothing", new Uint8Array(0)],
  ];
  for (const [name, bytes] of rows) await refuses(() => openHeader(device.identity, bytes), name);
  await refuses(() => openHeader(stranger.identity, header));
});

Deno.test("splitHeader() cuts a file in two and loses nothing", () => {
  assert.deepEqual(concat(header, body), file);
  assert.equal(splitHeader(file).stanzas, 2);
  assert.match(
    fromUtf8(header),
    /^age-encryption\.org\/v1\n-> mlkem768x25519 [^]*\n--- [A-Za-z0-9+/]{43}\n$/,
  );
  assert.deepEqual(splitHeader(header), { header, body: new Uint8Array(0), stanzas: 2 });
});

const text = fromUtf8(header);
const line = "-> mlkem768x25519 AAAA\nAAAA\n";
const NOT_AGE: [name: string, text: string][] = [
  ["nothing", ""],
  ["text", "hello"],
  ["another version", text.replace("/v1", "/v2")],
  ["a blank before the version", ` ${text}`],
  ["carriage returns", text.replaceAll("\n", "\r\n")],
  ["no stanza", "age-encryption.org/v1\n--- AAAA\n"],
  ["no end of the header", text.slice(0, text.indexOf("---"))],
  ["a MAC line that does not end", text.slice(0, -1)],
  ["another stanza", text.replace("mlkem768x25519", "X25519")],
  ["a stanza that begins like the right one", text.replace("mlkem768x25519", "mlkem768x25519x")],
  ["a stanza of no type", text.replace("-> mlkem768x25519", "-> ")],
  ["a grease stanza", text.replace("---", "-> grease AAAA\nAAAA\n---")],
  ["18 stanzas", `age-encryption.org/v1\n${line.repeat(MAX_RECIPIENTS + 1)}--- AAAA\n`],
  ["an armored file", "-----BEGIN AGE ENCRYPTED FILE-----\nAAAA\n-----END AGE ENCRYPTED FILE-----\n"],
  ["a header without end", `age-encryption.org/v1\n${line.repeat(MAX_HEADER_BYTES / line.length)}--- AAAA\n`],
];

for (const [name, bad] of NOT_AGE) {
  Deno.test(`splitHeader() refuses a file with ${name}`, async () => {
    assert.equal(await kindOf(() => splitHeader(utf8(bad))), "bad_request");
    await refuses(() => openWithFileKey(utf8(bad), fileKey));
  });
}

Deno.test("splitHeader() refuses a header that is not UTF-8", async () => {
  const bad = concat(
    utf8("age-encryption.org/v1\n-> mlkem768x25519 "),
    Uint8Array.of(0xff),
    utf8("\n--- AAAA\n"),
  );
  assert.equal(await kindOf(() => splitHeader(bad)), "bad_request");
});

Deno.test("headerHash() gives the vector and changes with any bit", async () => {
  assert.equal(await headerHash(hex(vectors.header_hex)), vectors.header_hash);
  assert.notEqual(await headerHash(flipBit(header, 77)), await headerHash(header));
});

Deno.test("openWithFileKey() opens the file of its key, and no other", async () => {
  assert.deepEqual(readSecret(await openWithFileKey(file, fileKey)), { policy, value });
  const other = await sealSecret([device.recipient, recovery.recipient], policy, value);
  const otherParts = splitHeader(other);
  await refuses(() => openWithFileKey(other, fileKey), "another file");
  await refuses(
    () => openWithFileKey(concat(header, otherParts.body), fileKey),
    "header of A on the body of B",
  );
  await refuses(
    () => openWithFileKey(concat(otherParts.header, body), fileKey),
    "header of B on the body of A",
  );
  await refuses(
    () => openWithIdentity(device.identity, concat(header, otherParts.body)),
    "mixed, with an identity",
  );
  await refuses(() => openWithFileKey(file, flipBit(fileKey, 3)), "a wrong key");
  await refuses(() => openWithFileKey(file, fileKey.slice(1)), "a short key");
  await refuses(() => openWithFileKey(file, new Uint8Array(0)), "no key");
  await refuses(() => openWithFileKey(file.slice(0, -1), fileKey), "a cut file");
  await refuses(() => openWithFileKey(header, fileKey), "only the header");
  await refuses(() => openWithFileKey(concat(file, Uint8Array.of(0)), fileKey), "a byte too many");
});

Deno.test("keyOpensHeader() accepts the header's own key, and no other", async () => {
  assert.equal(await keyOpensHeader(header, fileKey), true);
  const rows: [string, Uint8Array, Uint8Array][] = [
    ["a wrong key", header, flipBit(fileKey, 0)],
    ["a short key", header, fileKey.slice(1)],
    ["a long key", header, concat(fileKey, fileKey)],
    ["another header", splitHeader(await sealTo([device.recipient], value)).header, fileKey],
    ["a changed header", utf8(text.replace("-> mlkem", "->  mlkem")), fileKey],
    ["nothing", new Uint8Array(0), fileKey],
  ];
  for (const [name, of, key] of rows) assert.equal(await keyOpensHeader(of, key), false, name);
});

Deno.test("openWithFileKey() refuses a file with any one bit flipped, and says nothing about it", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: file.length * 8 - 1 }), async (bit) => {
      const error = await errorOf(() => openWithFileKey(flipBit(file, bit), fileKey));
      assert.equal(error.kind, "bad_request");
      assert.ok(!error.message.includes("HMAC") && !error.message.includes("tag"));
    }),
    { numRuns: 150 },
  );
});

Deno.test("openWithIdentity() refuses a file with any one bit flipped in a stanza of its own, the MAC or the body", async () => {
  const secondStanza = fromUtf8(header).lastIndexOf("-> ");
  const mac = fromUtf8(header).lastIndexOf("--- ");
  const places = fc.oneof(
    fc.integer({ min: 0, max: secondStanza * 8 - 1 }),
    fc.integer({ min: mac * 8, max: file.length * 8 - 1 }),
  );
  await fc.assert(
    fc.asyncProperty(places, async (bit) => {
      await refuses(() => openWithIdentity(device.identity, flipBit(file, bit)));
    }),
    { numRuns: 40 },
  );
});

Deno.test("openWithIdentity() opens what sealTo() sealed", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (plaintext) => {
      const sealed = await sealTo([device.recipient], plaintext);
      assert.equal(toHex(await openWithIdentity(device.identity, sealed)), toHex(plaintext));
    }),
    { numRuns: 10 },
  );
});
