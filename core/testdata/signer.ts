/**
 * A passkey for the tests of core: an ES256 key of WebCrypto that signs WebAuthn assertions. It knows nothing of the PRF
 * and asks nobody; the software phone of `tests/` does.
 */

import { approvalHash, type Bundle } from "../approval.ts";
import type { Assertion } from "../assertion.ts";
import { pointToCose } from "../assertion_es256.ts";
import { type Bytes, concat, toBase64url, utf8 } from "../bytes.ts";
import { sha256 } from "../labels.ts";
import { type DeviceRecord, type Entry, entryHash, type EntryRecord } from "../policy_entry.ts";
import type { LogState } from "../policy_log.ts";
import documents from "./documents.json" with { type: "json" };

/** A device that can sign. */
export interface TestDevice {
  record: DeviceRecord;
  sign(challenge: Uint8Array): Promise<Assertion>;
}

const CURVE = { name: "ECDSA", namedCurve: "P-256" } as const;

/** A device with a fresh key. `n` makes its ids differ from those of other devices. */
export async function testDevice(n: number, recipient: string): Promise<TestDevice> {
  const pair = await crypto.subtle.generateKey(CURVE, true, ["sign", "verify"]) as CryptoKeyPair;
  const point = new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey));
  const credential_id = toBase64url(new Uint8Array(16).fill(n));
  const record: DeviceRecord = {
    ...structuredClone(documents.genesis.body.device) as DeviceRecord,
    device_id: deviceId(n),
    credential_id,
    public_key: toBase64url(pointToCose(point)),
    recipient,
  };
  return {
    record,
    sign: (challenge) => assertion(pair.privateKey, record, challenge),
  };
}

/** The id of test device `n`, at most 31. */
export function deviceId(n: number): string {
  return "abcdefghijklmnopqrstuvwxyz234567"[n]!.repeat(25) + "a";
}

async function assertion(key: CryptoKey, record: DeviceRecord, challenge: Uint8Array): Promise<Assertion> {
  const clientData = utf8(JSON.stringify({
    type: "webauthn.get",
    challenge: toBase64url(challenge),
    origin: record.origin,
    crossOrigin: false,
  }));
  const flags = 0x05; // user present and verified
  const authData = concat(await sha256(utf8(record.rp_id)), Uint8Array.of(flags, 0, 0, 0, 0));
  const signed = concat(authData, await sha256(clientData));
  const raw = new Uint8Array(await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, key, signed));
  return {
    credential_id: record.credential_id,
    client_data_json: toBase64url(clientData),
    authenticator_data: toBase64url(authData),
    signature: toBase64url(toDer(raw)),
  };
}

/** ASN.1 DER of `r || s`. */
function toDer(raw: Uint8Array): Bytes {
  const integer = (bytes: Uint8Array) => {
    const start = bytes.findIndex((byte) => byte !== 0);
    const digits = bytes.subarray(start < 0 ? bytes.length - 1 : start);
    const body = digits[0]! >= 0x80 ? concat(Uint8Array.of(0), digits) : digits;
    return concat(Uint8Array.of(2, body.length), body);
  };
  const body = concat(integer(raw.subarray(0, 32)), integer(raw.subarray(32)));
  return concat(Uint8Array.of(0x30, body.length), body);
}

/** The bundle by which `device` would sign `entries` on top of `state`. */
export async function bundleFor(
  state: LogState,
  device: TestDevice,
  entries: readonly Entry[],
): Promise<Bundle> {
  return {
    v: 1,
    daemon: state.daemon,
    device: device.record.device_id,
    decision: "grant",
    request_hash: documents.request_hash,
    reply_to_sha256: null,
    entries: await Promise.all(entries.map(entryHash)),
    log_head: { size: state.size, head: state.head },
    audit_head: { size: 0, head: null },
    issued_ms: 1_790_000_000_000,
  };
}

/** Entries as one touch of `device` signs them. `change` spoils the bundle before it is signed. */
export async function signEntries(
  state: LogState,
  device: TestDevice,
  entries: readonly Entry[],
  change: Partial<Bundle> = {},
): Promise<EntryRecord[]> {
  const bundle = { ...await bundleFor(state, device, entries), ...change };
  const assertion = await device.sign(await approvalHash(bundle));
  return entries.map((entry) => ({ entry, signed: { kind: "passkey", bundle, assertion } }));
}
