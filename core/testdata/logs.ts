/** Policy logs for the tests of core: one daemon, two enrolled devices, a stranger, and a recovery sheet. */

import assert from "node:assert/strict";
import { toBase64url } from "../bytes.ts";
import { canonicalBytes } from "../canonical.ts";
import { deriveRecoveryKeys, type RecoveryKeys } from "../device_keys.ts";
import { CustosError } from "../errors.ts";
import { labelledHash } from "../labels.ts";
import {
  type Entry,
  type EntryBody,
  type EntryRecord,
  genesisPrev,
  type SecretRecord,
} from "../policy_entry.ts";
import { applyEntry, emptyLog, type LogState } from "../policy_log.ts";
import { Secret } from "../secret.ts";
import { anyHash, IDENTITIES } from "./samples.ts";
import { signEntries, type TestDevice, testDevice } from "./signer.ts";

export const DAEMON = "aaaaaaaaaaaaaaaaaaaaaaaaae";
export const EPOCH = "bbbbbbbbbbbbbbbbbbbbbbbbba";
export const NEXT_EPOCH = "ccccccccccccccccccccccccca";
export const SECRET = "ddddddddddddddddddddddddda";

export const recovery: RecoveryKeys = await deriveRecoveryKeys(new Secret(new Uint8Array(32).fill(5)));
export const phone: TestDevice = await testDevice(1, IDENTITIES[0]!.recipient);
export const tablet: TestDevice = await testDevice(2, IDENTITIES[1]!.recipient);
export const stranger: TestDevice = await testDevice(3, IDENTITIES[2]!.recipient);

export const genesisBody: EntryBody = {
  type: "genesis",
  daemon: DAEMON,
  daemon_name: "laptop",
  epoch: EPOCH,
  device: phone.record,
  recovery: { recipient: recovery.recipient, sign_public: recovery.sign_public },
  audit_key: anyHash(9),
};
export const secret: SecretRecord = {
  secret_id: SECRET,
  policy_hash: anyHash(1),
  header_sha256: anyHash(2),
  epoch: EPOCH,
};
export const register: EntryBody = { type: "secret_register", ...secret };

export async function next(state: LogState, body: EntryBody, change: Partial<Entry> = {}): Promise<Entry> {
  return { v: 1, seq: state.size, prev: state.head ?? await genesisPrev(state.daemon), body, ...change };
}

/** One more entry, signed by `by`. */
export async function record(state: LogState, body: EntryBody, by: TestDevice = phone): Promise<EntryRecord> {
  return (await signEntries(state, by, [await next(state, body)]))[0]!;
}

export async function byRecovery(state: LogState, body: EntryBody): Promise<EntryRecord> {
  const entry = await next(state, body);
  const signature = await recovery.sign(await labelledHash("recovery_entry", canonicalBytes(entry)));
  return { entry, signed: { kind: "recovery", signature: toBase64url(signature) } };
}

/** The state after these bodies, all signed by the first phone. */
export async function grow(state: LogState, ...bodies: EntryBody[]): Promise<LogState> {
  for (const body of bodies) state = await applyEntry(state, await record(state, body));
  return state;
}

export const start: LogState = await grow(emptyLog(DAEMON), genesisBody);
export const two: LogState = await grow(start, { type: "device_add", device: tablet.record });
export const stored: LogState = await grow(two, register);

/** Why an entry is refused, or `null`. Also that a refusal changes nothing. */
export async function refusal(state: LogState, record: EntryRecord): Promise<string | null> {
  const before = structuredClone(state);
  try {
    await applyEntry(state, record);
    return null;
  } catch (error) {
    assert.ok(error instanceof CustosError && error.kind === "bad_request", String(error));
    assert.deepEqual(state, before, "a refused entry changed the state");
    return error.message;
  }
}
