import assert from "node:assert/strict";
import { toBase64url } from "@custos/core/bytes";
import { type CBORType, decodeCBOR, encodeCBOR } from "@levischuck/tiny-cbor";
import fc from "fast-check";
import {
  bytesOf,
  challenge,
  device,
  expected,
  keyOf,
  registration,
  stepOf,
  vectors,
} from "./testdata/webauthn.ts";
import { type Registration, verifyRegistration, type WebauthnStep } from "./webauthn_check.ts";

const register = async (registration: Registration, of = expected) =>
  stepOf(await verifyRegistration(registration, of));

for (const { name, step, registration } of vectors.registrations) {
  Deno.test(`verifyRegistration() ${step === null ? "accepts" : "refuses"} ${name}`, async () => {
    assert.equal(await register(registration), step);
  });
}

Deno.test("verifyRegistration() returns what later assertions are verified against", async () => {
  const result = await verifyRegistration(registration, expected);
  assert.deepEqual(result, {
    ok: true,
    device: {
      credential_id: registration.credential_id,
      public_key: keyOf(registration),
      rp_id: device.rp_id,
      origin: device.origin,
    },
    sign_count: 0,
    backed_up: false,
  });
});

Deno.test("verifyRegistration() tells a synced passkey", async () => {
  const synced = vectors.registrations.find(({ name }) => name === "a synced passkey")!.registration;
  const result = await verifyRegistration(synced, expected);
  assert.equal(result.ok && result.backed_up, true);
});

Deno.test("verifyRegistration() refuses what was made for another challenge, page or site", async () => {
  const rows: [string, Partial<typeof expected>, WebauthnStep][] = [
    ["another challenge", { challenge: challenge.map((byte) => byte ^ 1) }, "challenge"],
    ["no challenge", { challenge: new Uint8Array(0) }, "challenge"],
    ["another origin", { origin: "https://example.test" }, "origin"],
    ["no origin", { origin: "" }, "origin"],
    ["another RP id", { rp_id: "example.test" }, "rp_id"],
    ["no RP id", { rp_id: "" }, "rp_id"],
  ];
  for (const [name, change, step] of rows) {
    assert.equal(await register(registration, { ...expected, ...change }), step, name);
  }
});

Deno.test("verifyRegistration() takes each field in its one spelling (B115)", async () => {
  for (const field of ["credential_id", "client_data_json", "attestation_object"] as const) {
    for (
      const text of [`${registration[field]}=`, `${registration[field]}+/`, "", `${registration[field]}\n`]
    ) {
      assert.equal(await register({ ...registration, [field]: text }), "encoding", field);
    }
    for (const value of [undefined, null, 7]) {
      const odd = { ...registration, [field]: value as unknown as string };
      assert.equal(await register(odd), "encoding", field);
    }
  }
  assert.equal(await register(null as unknown as Registration), "encoding");
});

/** The good registration with its attestation object changed. Attestation "none" signs nothing, so bytes can be swapped. */
function changed(change: (object: Map<string, CBORType>) => CBORType | void): Registration {
  const object = decodeCBOR(bytesOf(registration.attestation_object)) as Map<string, CBORType>;
  const result = change(object);
  return { ...registration, attestation_object: toBase64url(encodeCBOR(result ?? object)) };
}

function changedData(change: (data: Uint8Array) => Uint8Array): Registration {
  return changed((object) => {
    object.set("authData", change((object.get("authData") as Uint8Array).slice()));
  });
}

const idLength = bytesOf(registration.credential_id).length;
const keyAt = 37 + 16 + 2 + idLength;

const set = (at: number, byte: number) => (data: Uint8Array) => {
  data[at] = byte;
  return data;
};

const cat = (...parts: Uint8Array[]) => Uint8Array.from(parts.flatMap((part) => [...part]));

Deno.test("verifyRegistration() accepts the same object when it is written again", async () => {
  assert.equal(await register(changed(() => undefined)), null);
});

Deno.test("verifyRegistration() refuses each format but none, before the library runs its verifier", async () => {
  for (
    const fmt of [
      "packed",
      "tpm",
      "android-key",
      "android-safetynet",
      "fido-u2f",
      "apple",
      "None",
      "",
      0,
      null,
    ]
  ) {
    const other = changed((object) => void object.set("fmt", fmt));
    assert.equal(await register(other), "attestation_format", String(fmt));
  }
  const stated = changed((object) => void object.set("attStmt", new Map<string, CBORType>([["alg", -7]])));
  assert.equal(await register(stated), "attestation_format");
});

Deno.test("verifyRegistration() refuses an attestation object that is not exactly the three members", async () => {
  const rows: [string, Registration][] = [
    ["a fourth member", changed((object) => void object.set("ep", true))],
    ["no statement", changed((object) => void object.delete("attStmt"))],
    ["a list", changed((object) => [...object.values()])],
    ["authData as text", changed((object) => void object.set("authData", "x"))],
    ["a statement that is no map", changed((object) => void object.set("attStmt", []))],
    ["a byte after it", {
      ...registration,
      attestation_object: toBase64url(cat(bytesOf(registration.attestation_object), Uint8Array.of(0))),
    }],
    ["a byte less", {
      ...registration,
      attestation_object: toBase64url(bytesOf(registration.attestation_object).slice(0, -1)),
    }],
    ["deep nesting", { ...registration, attestation_object: toBase64url(new Uint8Array(8_000).fill(0x81)) }],
  ];
  for (const [name, other] of rows) {
    const step = await register(other);
    // tiny-cbor gives a byte string that was cut short as it is; then it is the structure inside that does not fit
    const steps = name === "a byte less" ? ["attestation_object", "extra_bytes"] : ["attestation_object"];
    assert.ok(steps.includes(String(step)), `${name}: ${step}`);
  }
});

Deno.test("verifyRegistration() refuses authenticator data that is not exactly one ES256 credential", async () => {
  const rs256 = new Map<number, CBORType>([[1, 3], [3, -257], [-1, new Uint8Array(256)], [
    -2,
    Uint8Array.of(1, 0, 1),
  ]]);
  const ed25519 = new Map<number, CBORType>([[1, 1], [3, -8], [-1, 6], [-2, new Uint8Array(32)]]);
  const es384 = new Map<number, CBORType>([[1, 2], [3, -35], [-1, 2], [-2, new Uint8Array(48)], [
    -3,
    new Uint8Array(48),
  ]]);
  const withKey = (key: Map<number, CBORType>) => (data: Uint8Array) =>
    cat(data.slice(0, keyAt), encodeCBOR(key), data.slice(keyAt + 77));
  const rows: [string, Registration, WebauthnStep][] = [
    ["36 bytes", changedData((data) => data.slice(0, 36)), "authenticator_data"],
    ["only the fixed part", changedData((data) => data.slice(0, 37)), "authenticator_data"],
    ["cut inside the id", changedData((data) => data.slice(0, keyAt - 1)), "authenticator_data"],
    ["cut inside the key", changedData((data) => data.slice(0, keyAt + 76)), "public_key"],
    ["an id length beyond the end", changedData(set(37 + 16, 0xff)), "authenticator_data"],
    ["an id one byte shorter", changedData(set(37 + 17, idLength - 1)), "credential"],
    ["another id", changedData((data) => set(keyAt - 1, data[keyAt - 1]! ^ 1)(data)), "credential"],
    ["no attested credential", changedData(set(32, 0x85)), "credential"],
    ["RS256", changedData(withKey(rs256)), "public_key"],
    ["EdDSA", changedData(withKey(ed25519)), "public_key"],
    ["ES384", changedData(withKey(es384)), "public_key"],
    [
      "a point off the curve",
      changedData((data) => set(keyAt + 76, data[keyAt + 76]! ^ 1)(data)),
      "public_key",
    ],
    ["a byte at the end", changedData((data) => cat(data, Uint8Array.of(0))), "extra_bytes"],
    ["no extensions, though announced", changedData((data) => data.slice(0, keyAt + 77)), "extra_bytes"],
    ["extensions, though not announced", changedData(set(32, 0x45)), "extra_bytes"],
    ["no presence", changedData(set(32, 0xc4)), "user_presence"],
    ["no verification", changedData(set(32, 0xc1)), "user_verification"],
    ["another site", changedData((data) => set(0, data[0]! ^ 1)(data)), "rp_id"],
  ];
  for (const [name, other, step] of rows) assert.equal(await register(other), step, name);
});

Deno.test("verifyRegistration() refuses an id that was not made", async () => {
  const id = bytesOf(registration.credential_id);
  for (const other of [id.map((byte) => byte ^ 1), id.slice(0, 15), cat(id, Uint8Array.of(0))]) {
    assert.equal(await register({ ...registration, credential_id: toBase64url(other) }), "credential");
  }
});

Deno.test("verifyRegistration() refuses an id of 15 bytes even where it was made", async () => {
  const withId = (id: Uint8Array) => ({
    ...changedData((data) => cat(data.slice(0, 37 + 16), Uint8Array.of(0, id.length), id, data.slice(keyAt))),
    credential_id: toBase64url(id),
  });
  assert.equal(await register(withId(new Uint8Array(15).fill(7))), "credential");
  assert.equal(await register(withId(new Uint8Array(16).fill(7))), null);
});

Deno.test("verifyRegistration() refuses an expectation of nothing, even where the answer says nothing", async () => {
  const saying = (name: string) => vectors.registrations.find((row) => row.name === name)!.registration;
  assert.equal(
    await register(saying("no challenge"), { ...expected, challenge: new Uint8Array(0) }),
    "challenge",
  );
  assert.equal(await register(saying("no origin"), { ...expected, origin: "" }), "origin");
  assert.equal(await register(saying("no RP id"), { ...expected, rp_id: "" }), "rp_id");
});

Deno.test("verifyRegistration() never throws on arbitrary attestation objects", async () => {
  const good = bytesOf(registration.attestation_object);
  const bitFlip = fc.nat({ max: good.length * 8 - 1 }).map((bit) => {
    const bytes = good.slice();
    bytes[bit >> 3]! ^= 1 << (bit & 7);
    return bytes;
  });
  await fc.assert(
    fc.asyncProperty(fc.oneof(bitFlip, fc.uint8Array({ maxLength: 300 })), async (bytes) => {
      const result = await verifyRegistration(
        { ...registration, attestation_object: toBase64url(bytes) },
        expected,
      );
      // Attestation "none" signs nothing: a flipped AAGUID, counter or backup bit is another valid registration. The
      // id and the key are never other than those that were read from it.
      if (result.ok) assert.equal(result.device.credential_id, registration.credential_id);
    }),
    { numRuns: 200 },
  );
});
