/**
 * Writes the WebAuthn vectors that `core` and `daemon` check: bytes of the software authenticator, good ones and one for
 * each way to be wrong. Signatures are random, so a new run gives other bytes with the same verdicts.
 *
 *     deno run tests/phone/authenticator_vectors.ts core   > core/testdata/assertion.json
 *     deno run tests/phone/authenticator_vectors.ts daemon > daemon/testdata/webauthn.json
 */

import { fromBase64url, toBase64url } from "@custos/core/bytes";
import { SoftwareAuthenticator } from "./authenticator.ts";
import { AT, ED, fromBase64url as bytesOf } from "./authenticator_bytes.ts";
import type { Misbehaviour } from "./authenticator_webauthn.ts";

const RP_ID = "phone.example.test";
const ORIGIN = `https://${RP_ID}`;
const random = (length: number) => crypto.getRandomValues(new Uint8Array(length));
const prf = { first: random(32), second: random(32) };
const challenge = random(32);

/** Name, verdict (`null` is accepted) and what is wrong; for both ceremonies. */
const BOTH: [string, string | null, Misbehaviour][] = [
  ["as it should be", null, {}],
  ["a synced passkey", null, { synced: true }],
  ["an unknown member in client data", null, {
    more_client_data: `"other_keys_can_be_added_here":"do not compare"`,
  }],
  ["a counter", null, { sign_count: 5 }],
  ["no user verification", "user_verification", { no_uv: true }],
  ["no user presence", "user_presence", { no_up: true }],
  ["neither presence nor verification", "user_presence", { no_up: true, no_uv: true }],
  ["backed up, yet not eligible", "backup_flags", { only_backed_up: true }],
  ["crossOrigin true", "cross_origin", { cross_origin: true }],
  ["crossOrigin true with topOrigin", "cross_origin", {
    cross_origin: true,
    top_origin: "https://evil.test",
  }],
  ["topOrigin alone", "top_origin", { top_origin: ORIGIN }],
  ["origin with http", "origin", { origin: `http://${RP_ID}` }],
  ["origin with another port", "origin", { origin: `${ORIGIN}:8443` }],
  ["origin with the default port", "origin", { origin: `${ORIGIN}:443` }],
  ["origin with a slash", "origin", { origin: `${ORIGIN}/` }],
  ["origin in capitals", "origin", { origin: ORIGIN.toUpperCase() }],
  ["origin that goes on", "origin", { origin: `${ORIGIN}.evil.test` }],
  ["origin of a subdomain", "origin", { origin: `https://sub.${RP_ID}` }],
  ["origin of the parent", "origin", { origin: "https://example.test" }],
  ["no origin", "origin", { origin: "" }],
  ["RP id of the parent", "rp_id", { rp_id: "example.test" }],
  ["RP id of another site", "rp_id", { rp_id: "evil.test" }],
  ["no RP id", "rp_id", { rp_id: "" }],
  ["RP id in capitals", "rp_id", { rp_id: RP_ID.toUpperCase() }],
  ["another challenge", "challenge", { challenge: random(32) }],
  ["a shorter challenge", "challenge", { challenge: challenge.slice(0, 31) }],
  ["a longer challenge", "challenge", { challenge: Uint8Array.from([...challenge, 0]) }],
  ["no challenge", "challenge", { challenge: new Uint8Array(0) }],
  ["another type", "type", { type: "payment.get" }],
  ["extra bytes", "extra_bytes", { extra_bytes: Uint8Array.of(0) }],
];

const GET_ONLY: [string, string | null, Misbehaviour][] = [
  ["an encrypted CTAP extension", null, { ctap_extension: true }],
  ["a counter of 4", null, { sign_count: 4 }],
  ["a counter of 6", null, { sign_count: 6 }],
  ["a registration", "type", { type: "webauthn.create" }],
  ["attested credential data announced", "extra_bytes", { set_flags: AT }],
  ["extensions announced, and absent", "extra_bytes", { set_flags: ED }],
  ["an extension map cut short", "extra_bytes", { set_flags: ED, extra_bytes: Uint8Array.of(0xa1, 0x61) }],
  ["an extension that is no map", "extra_bytes", { set_flags: ED, extra_bytes: Uint8Array.of(0x01) }],
  ["two extension maps", "extra_bytes", { set_flags: ED, extra_bytes: Uint8Array.of(0xa0, 0xa0) }],
  ["an endless extension map", "extra_bytes", { set_flags: ED, extra_bytes: Uint8Array.of(0xbf, 0xff) }],
  ["an extension map of 2^32 - 1 items", "extra_bytes", {
    set_flags: ED,
    extra_bytes: Uint8Array.of(0xba, 0xff, 0xff, 0xff, 0xff, 0x00),
  }],
];

const CREATE_ONLY: [string, string | null, Misbehaviour][] = [
  ["no PRF", null, { no_prf: true }],
  ["an assertion", "type", { type: "webauthn.get" }],
  ["a valid self attestation", "attestation_format", { attest: true }],
  ["extensions announced, and absent", "extra_bytes", { no_prf: true, set_flags: ED }],
];

const device = new SoftwareAuthenticator(ORIGIN);
const create = () =>
  device.create({
    rp_id: RP_ID,
    rp_name: "custos",
    user_id: random(32),
    user_name: "custos",
    challenge,
    exclude_credentials: [],
    prf,
  });
const get = (id: string) => device.get({ rp_id: RP_ID, challenge, allow_credentials: [bytesOf(id)], prf });

const made = await create();
const other = await create();
const key = (attestation: string) => {
  const bytes = fromBase64url(attestation)!;
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  const at = text.indexOf("\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20");
  return toBase64url(bytes.slice(at, at + 77));
};
const record = {
  credential_id: made.credential_id,
  public_key: key(made.attestation_object),
  rp_id: RP_ID,
  origin: ORIGIN,
};

async function assertions() {
  const rows = [];
  for (const [name, step, wrong] of [...BOTH, ...GET_ONLY]) {
    device.misbehave = wrong;
    rows.push({ name, step, assertion: await get(made.credential_id) });
  }
  device.misbehave = {};
  const foreign = await get(other.credential_id);
  rows.push({ name: "a foreign credential", step: "credential", assertion: foreign });
  const renamed = { ...foreign, credential_id: made.credential_id };
  rows.push({ name: "a foreign credential under this id", step: "signature", assertion: renamed });
  return rows;
}

async function registrations() {
  const rows = [];
  for (const [name, step, wrong] of [...BOTH, ...CREATE_ONLY]) {
    device.misbehave = wrong;
    const { prf_enabled: _, ...registration } = await create();
    rows.push({ name, step, registration });
  }
  return rows;
}

const shared = { challenge: toBase64url(challenge), device: record };
const vectors = Deno.args[0] === "daemon"
  ? { ...shared, assertions: await assertions(), registrations: await registrations() }
  : { ...shared, assertions: await assertions() };
await Deno.stdout.write(new TextEncoder().encode(JSON.stringify(vectors, null, 1) + "\n"));
