import assert from "node:assert/strict";
import fc from "fast-check";
import { type Assertion, type AssertionDevice, type AssertionStep, verifyAssertion } from "./assertion.ts";
import { coseToPoint, derToRaw, pointToCose } from "./assertion_es256.ts";
import { type Bytes, concat, fromBase64url, fromHex, toBase64, toBase64url } from "./bytes.ts";
// Written by `tests/phone/authenticator_vectors.ts`: signed bytes, good ones and one for each way to be wrong.
import vectors from "./testdata/assertion.json" with { type: "json" };

const device: AssertionDevice = vectors.device;
const challenge = bytesOf(vectors.challenge);
const good: Assertion = vectors.assertions[0]!.assertion;

function bytesOf(text: string): Bytes {
  const bytes = fromBase64url(text);
  if (bytes === null) throw new Error("the vector is not base64url");
  return bytes;
}

const stepOf = async (assertion: Assertion, of = device, expected: Uint8Array = challenge) => {
  const result = await verifyAssertion(assertion, of, expected);
  return result.ok ? null : result.step;
};

for (const { name, step, assertion } of vectors.assertions) {
  Deno.test(`verifyAssertion() ${step === null ? "accepts" : "refuses"} ${name}`, async () => {
    assert.equal(await stepOf(assertion), step);
  });
}

Deno.test("verifyAssertion() returns the counter that the passkey sent", async () => {
  const counted = vectors.assertions.find(({ name }) => name === "a counter")!.assertion;
  assert.deepEqual(await verifyAssertion(counted, device, challenge), { ok: true, sign_count: 5 });
});

Deno.test("verifyAssertion() refuses every field that another assertion of the same device has", async () => {
  const other = vectors.assertions.find(({ name }) => name === "a counter")!.assertion;
  assert.equal(await stepOf({ ...good, authenticator_data: other.authenticator_data }), "signature");
  assert.equal(await stepOf({ ...good, signature: other.signature }), "signature");
  const grease = vectors.assertions.find(({ name }) => name.startsWith("an unknown member"))!.assertion;
  assert.equal(await stepOf({ ...good, client_data_json: grease.client_data_json }), "signature");
});

Deno.test("verifyAssertion() refuses what does not fit the device record", async () => {
  const foreign = bytesOf(device.credential_id).map((byte) => byte ^ 1);
  const offCurve = bytesOf(device.public_key);
  offCurve[76]! ^= 1;
  const rows: [string, Partial<AssertionDevice>, AssertionStep][] = [
    ["another credential id", { credential_id: toBase64url(foreign) }, "credential"],
    ["an id of 15 bytes", { credential_id: toBase64url(foreign.slice(0, 15)) }, "credential"],
    ["no id", { credential_id: "" }, "credential"],
    ["another RP id", { rp_id: "example.test" }, "rp_id"],
    ["no RP id", { rp_id: "" }, "rp_id"],
    ["another origin", { origin: "https://example.test" }, "origin"],
    ["an origin with a slash", { origin: `${device.origin}/` }, "origin"],
    ["no origin", { origin: "" }, "origin"],
    ["no key", { public_key: "" }, "public_key"],
    ["a key off the curve", { public_key: toBase64url(offCurve) }, "public_key"],
    ["a padded key", { public_key: `${device.public_key}=` }, "public_key"],
  ];
  for (const [name, change, step] of rows) {
    assert.equal(await stepOf(good, { ...device, ...change }), step, name);
  }
});

Deno.test("verifyAssertion() refuses an id of 15 bytes even where record and answer agree", async () => {
  const id = toBase64url(new Uint8Array(15).fill(7));
  assert.equal(await stepOf({ ...good, credential_id: id }, { ...device, credential_id: id }), "credential");
});

Deno.test("verifyAssertion() refuses a challenge of any other length or value", async () => {
  const rows: [string, Uint8Array][] = [
    ["nothing", new Uint8Array(0)],
    ["31 bytes", challenge.slice(0, 31)],
    ["33 bytes", concat(challenge, Uint8Array.of(0))],
    ["another", challenge.map((byte) => byte ^ 0x80)],
  ];
  for (const [name, expected] of rows) assert.equal(await stepOf(good, device, expected), "challenge", name);
});

Deno.test("verifyAssertion() refuses an expectation of nothing, even where the answer says nothing", async () => {
  const saying = (name: string) => vectors.assertions.find((row) => row.name === name)!.assertion;
  assert.equal(await stepOf(saying("no challenge"), device, new Uint8Array(0)), "challenge");
  assert.equal(await stepOf(saying("no origin"), { ...device, origin: "" }), "origin");
  assert.equal(await stepOf(saying("no RP id"), { ...device, rp_id: "" }), "rp_id");
});

Deno.test("verifyAssertion() takes each field in its one spelling (B115)", async () => {
  const fields = ["credential_id", "client_data_json", "authenticator_data", "signature"] as const;
  for (const field of fields) {
    const bytes = bytesOf(good[field]);
    // Appended bytes force `+` and `/` into the other alphabet, whatever the vector holds.
    const spelled = toBase64(concat(bytes, Uint8Array.of(0xfb, 0xff, 0xfe)));
    assert.match(spelled, /[+/]/);
    const rows: [string, string][] = [
      ["padding", good[field] + "=".repeat((4 - good[field].length % 4) % 4 || 4)],
      ["the other alphabet", spelled.replaceAll("=", "")],
      ["a line break", `${good[field]}\n`],
      ["a space", ` ${good[field]}`],
      ["nothing", ""],
      ["more than the limit", "A".repeat(12_000)],
    ];
    for (const [name, text] of rows) {
      assert.equal(await stepOf({ ...good, [field]: text }), "encoding", `${field}: ${name}`);
    }
    for (const value of [undefined, null, 7, {}, []]) {
      assert.equal(await stepOf({ ...good, [field]: value as unknown as string }), "encoding", field);
    }
  }
  assert.equal(await stepOf(null as unknown as Assertion), "encoding");
});

Deno.test("verifyAssertion() compares ids of 16, 17 and 18 bytes in one form (B115)", async () => {
  for (const size of [16, 17, 18]) {
    const id = new Uint8Array(size).map((_, i) => [0xfb, 0xff, 0xbf][i % 3]!);
    const one = toBase64url(id);
    assert.match(one, /[-_]/);
    const record = { ...device, credential_id: one };
    assert.equal(await stepOf({ ...good, credential_id: one }, record), null); // the id is not signed
    assert.equal(await stepOf({ ...good, credential_id: toBase64(id) }, record), "encoding");
    assert.equal(await stepOf({ ...good, credential_id: `${one}=` }, record), "encoding");
  }
});

Deno.test("verifyAssertion() refuses client data that is not one JSON object in UTF-8", async () => {
  const text = new TextDecoder().decode(bytesOf(good.client_data_json));
  const rows: [string, Uint8Array][] = [
    ["a byte order mark", new TextEncoder().encode(`\ufeff${text}`)],
    ["broken UTF-8", concat(bytesOf(good.client_data_json), Uint8Array.of(0xff))],
    ["two objects", new TextEncoder().encode(text + text)],
    ["a list", new TextEncoder().encode(`[${text}]`)],
    ["null", new TextEncoder().encode("null")],
    ["a string", new TextEncoder().encode('"webauthn.get"')],
  ];
  for (const [name, bytes] of rows) {
    assert.equal(await stepOf({ ...good, client_data_json: toBase64url(bytes) }), "client_data", name);
  }
});

Deno.test("verifyAssertion() refuses a crossOrigin that is anything but false", async () => {
  const data = JSON.parse(new TextDecoder().decode(bytesOf(good.client_data_json)));
  for (const crossOrigin of [true, "false", 0, 1, null, {}]) {
    const json = toBase64url(new TextEncoder().encode(JSON.stringify({ ...data, crossOrigin })));
    assert.equal(await stepOf({ ...good, client_data_json: json }), "cross_origin", String(crossOrigin));
  }
  for (const topOrigin of [device.origin, "", null, false]) {
    const json = toBase64url(new TextEncoder().encode(JSON.stringify({ ...data, topOrigin })));
    assert.equal(await stepOf({ ...good, client_data_json: json }), "top_origin", String(topOrigin));
  }
});

Deno.test("verifyAssertion() refuses authenticator data of any other length", async () => {
  const data = bytesOf(good.authenticator_data);
  for (const length of [1, 32, 33, 36]) {
    const cut = toBase64url(data.slice(0, length));
    assert.equal(await stepOf({ ...good, authenticator_data: cut }), "authenticator_data", String(length));
  }
  const longer = toBase64url(concat(data, Uint8Array.of(0)));
  assert.equal(await stepOf({ ...good, authenticator_data: longer }), "extra_bytes");
});

Deno.test("verifyAssertion() refuses any single flipped bit", async () => {
  const fields = ["client_data_json", "authenticator_data", "signature"] as const;
  const places = fields.flatMap((field) =>
    Array.from({ length: bytesOf(good[field]).length * 8 }, (_, bit) => ({ field, bit }))
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...places), async ({ field, bit }) => {
      const bytes = bytesOf(good[field]);
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      assert.notEqual(await stepOf({ ...good, [field]: toBase64url(bytes) }), null);
    }),
    { numRuns: 200 },
  );
});

Deno.test("verifyAssertion() never throws on arbitrary fields", async () => {
  const field = fc.oneof(fc.string(), fc.uint8Array({ maxLength: 200 }).map(toBase64url), fc.anything());
  const any = fc.record({
    credential_id: fc.constantFrom(device.credential_id),
    client_data_json: fc.oneof(field, fc.constant(good.client_data_json)),
    authenticator_data: fc.oneof(field, fc.constant(good.authenticator_data)),
    signature: field,
  });
  await fc.assert(
    fc.asyncProperty(any, async (assertion) => {
      const result = await verifyAssertion(assertion as Assertion, device, challenge);
      assert.equal(result.ok, false);
    }),
    { numRuns: 200 },
  );
});

const R = "7f".repeat(32);
const HIGH = "80".repeat(32);

Deno.test("derToRaw() reads strict DER", () => {
  const rows: [string, string, string][] = [
    ["two integers of 32 bytes", `30440220${R}0220${R}`, R + R],
    ["a high bit, with its zero byte", `3046022100${HIGH}022100${HIGH}`, HIGH + HIGH],
    ["short integers", "3006020101020102", "00".repeat(31) + "01" + "00".repeat(31) + "02"],
    ["a short one with its zero byte", "300702020080020102", "00".repeat(31) + "80" + "00".repeat(31) + "02"],
  ];
  for (const [name, der, raw] of rows) assert.deepEqual(derToRaw(fromHex(der)!), fromHex(raw), name);
});

Deno.test("derToRaw() refuses every other spelling of a signature", () => {
  const rows: [string, string][] = [
    ["nothing", ""],
    ["another tag", `31440220${R}0220${R}`],
    ["a length too long", `30450220${R}0220${R}`],
    ["a length too short", `30430220${R}0220${R}`],
    ["a long-form length", `3081440220${R}0220${R}`],
    ["an indefinite length", `30800220${R}0220${R}0000`],
    ["a byte after the sequence", `30440220${R}0220${R}00`],
    ["a byte inside, after s", `30450220${R}0220${R}00`],
    ["a third integer", `30470220${R}0220${R}020101`],
    ["one integer", `30220220${R}`],
    ["another tag for r", `30440320${R}0220${R}`],
    ["another tag for s", `30440220${R}0420${R}`],
    ["a needless zero byte before r", `3045022100${R}0220${R}`],
    ["a needless zero byte before s", `30450220${R}022100${R}`],
    ["a needless zero byte before a short s", `30250220${R}02020001`],
    ["a negative r", `30440220${HIGH}0220${R}`],
    ["a negative s", `30440220${R}0220${HIGH}`],
    ["a zero r", `30250201000220${R}`],
    ["a zero s", `30250220${R}020100`],
    ["an empty r", `302402000220${R}`],
    ["33 significant bytes", `304502217f${R}0220${R}`],
    ["34 bytes", `304602220080${R}0220${R}`],
    ["an r that runs over the end", `30440244${R}0220${R}`],
    ["r || s without DER", R + R],
  ];
  for (const [name, der] of rows) {
    const bytes = fromHex(der);
    assert.notEqual(bytes, null, `${name}: the row is not hexadecimal`);
    assert.equal(derToRaw(bytes!), null, name);
  }
});

Deno.test("coseToPoint() accepts the one canonical form of an ES256 key", () => {
  const key = bytesOf(device.public_key);
  const point = coseToPoint(key);
  assert.equal(point?.length, 65);
  assert.deepEqual(pointToCose(point!), key);
});

Deno.test("coseToPoint() refuses other keys and other spellings", () => {
  const key = bytesOf(device.public_key);
  const changed = (at: number, byte: number) => {
    const copy = key.slice();
    copy[at] = byte;
    return copy;
  };
  const x = key.subarray(10, 42);
  const y = key.subarray(45, 77);
  const rows: [string, Uint8Array][] = [
    ["nothing", new Uint8Array(0)],
    ["a byte less", key.slice(0, 76)],
    ["a byte more", concat(key, Uint8Array.of(0))],
    ["the raw point", concat(Uint8Array.of(4), x, y)],
    ["key type OKP", changed(2, 0x01)],
    ["key type RSA", changed(2, 0x03)],
    ["algorithm EdDSA", changed(4, 0x27)],
    ["curve P-384", changed(6, 0x02)],
    ["x cut short", changed(9, 0x1f)],
    ["a sixth member announced", changed(0, 0xa6)],
    ["y before x", concat(key.subarray(0, 7), key.subarray(42, 77), key.subarray(7, 42))],
    ["x and y swapped", concat(key.subarray(0, 10), y, key.subarray(42, 45), x)],
    ["a point off the curve", changed(76, key[76]! ^ 1)],
    ["the zero point", pointToCose(new Uint8Array(65))],
    ["coordinates above the prime", pointToCose(new Uint8Array(65).fill(0xff))],
  ];
  for (const [name, bytes] of rows) assert.equal(coseToPoint(bytes), null, name);
});

Deno.test("coseToPoint() refuses the second spelling of a small coordinate", () => {
  const y = "66485c780e2f83d72433bd5d84a06bb6541c2af31dae871728bf856a174f93f4"; // the square root of b: x is 0
  const prime = "ffffffff00000001000000000000000000000000ffffffffffffffffffffffff";
  assert.notEqual(coseToPoint(pointToCose(fromHex(`04${"00".repeat(32)}${y}`)!)), null);
  assert.equal(coseToPoint(pointToCose(fromHex(`04${prime}${y}`)!)), null);
});
