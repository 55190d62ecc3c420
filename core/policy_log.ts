/**
 * Verification of the policy log, entry by entry. Phone and daemon run this same code over the whole log: what one of
 * them would refuse, the other never stores (DESIGN §6.3 step 1, §6.5).
 */

import { approvalHash } from "./approval.ts";
import { verifyAssertion } from "./assertion.ts";
import { fromBase64url } from "./bytes.ts";
import { canonicalBytes } from "./canonical.ts";
import { verifyRecoverySignature } from "./device_keys.ts";
import { CustosError } from "./errors.ts";
import { labelledHash } from "./labels.ts";
import {
  type DeviceRecord,
  type Entry,
  entryHash,
  type EntryRecord,
  genesisPrev,
  type SecretRecord,
} from "./policy_entry.ts";

/** What the log says so far. Treated as immutable: {@link applyEntry} returns a new one. */
export interface LogState {
  size: number;
  /** Hash of the last entry; `null` before the first. */
  head: string | null;
  daemon: string;
  daemon_name: string;
  epoch: string;
  recovery: { recipient: string; sign_public: string } | null;
  audit_key: string | null;
  devices: ReadonlyMap<string, DeviceRecord>;
  secrets: ReadonlyMap<string, SecretRecord>;
}

/** Most devices in one log. */
export const MAX_DEVICES = 16;

/** The state before the first entry of the log of `daemon`. */
export function emptyLog(daemon: string): LogState {
  return {
    size: 0,
    head: null,
    daemon,
    daemon_name: "",
    epoch: "",
    recovery: null,
    audit_key: null,
    devices: new Map(),
    secrets: new Map(),
  };
}

/** The recipients that a secret is sealed to now: every device, and the recovery sheet. */
export function recipientsOf(state: LogState): string[] {
  const devices = [...state.devices.values()].map((device) => device.recipient);
  return state.recovery === null ? devices : [...devices, state.recovery.recipient];
}

/** The device with this credential, or `undefined`. */
export function deviceByCredential(state: LogState, credentialId: string): DeviceRecord | undefined {
  return [...state.devices.values()].find((device) => device.credential_id === credentialId);
}

/**
 * The state after one more entry. Throws `bad_request` that says which rule the entry breaks: place in the chain,
 * signature, or what its body says about devices and secrets.
 */
export async function applyEntry(state: LogState, record: EntryRecord): Promise<LogState> {
  const { entry } = record;
  if (entry.seq !== state.size) throw refuse(entry, "it is not the next one");
  if (entry.prev !== (state.head ?? await genesisPrev(state.daemon))) {
    throw refuse(entry, "it follows another entry");
  }
  const next = applyBody(state, entry);
  await checkSignature(state.size === 0 ? next : state, state, record);
  return { ...next, size: state.size + 1, head: await entryHash(entry) };
}

/** {@link applyEntry} over many records. */
export async function applyEntries(state: LogState, records: readonly EntryRecord[]): Promise<LogState> {
  for (const record of records) state = await applyEntry(state, record);
  return state;
}

function refuse(entry: Entry, why: string): CustosError {
  return new CustosError(
    "bad_request",
    `Policy-log entry ${entry.seq} (${entry.body.type}) was refused: ${why}.`,
  );
}

function applyBody(state: LogState, entry: Entry): LogState {
  const { body } = entry;
  if ((body.type === "genesis") !== (state.size === 0)) {
    throw refuse(entry, "genesis is the first entry, and only it");
  }
  const devices = new Map(state.devices);
  const secrets = new Map(state.secrets);
  switch (body.type) {
    case "genesis": {
      if (body.daemon !== state.daemon) throw refuse(entry, "it is for another daemon");
      const { daemon, daemon_name, epoch, recovery, audit_key } = body;
      return {
        ...state,
        daemon,
        daemon_name,
        epoch,
        recovery,
        audit_key,
        devices: addDevice(devices, body.device, entry),
      };
    }
    case "device_add":
    case "recovery_use":
      return { ...state, devices: addDevice(devices, body.device, entry) };
    case "device_remove":
      if (!devices.delete(body.device_id)) throw refuse(entry, "there is no such device");
      return { ...state, devices };
    case "secret_register":
      if (secrets.has(body.secret_id)) throw refuse(entry, "the secret is registered already");
      return { ...state, secrets: secrets.set(body.secret_id, secretOf(body, state, entry)) };
    case "policy_set":
      if (!secrets.has(body.secret_id)) throw refuse(entry, "there is no such secret");
      return { ...state, secrets: secrets.set(body.secret_id, secretOf(body, state, entry)) };
    case "secret_delete":
      if (!secrets.delete(body.secret_id)) throw refuse(entry, "there is no such secret");
      return { ...state, secrets };
    case "epoch_rotate": {
      if (body.epoch === state.epoch) throw refuse(entry, "it stays in the same epoch");
      const old = recipientsOf(state);
      for (const { device_id, recipient } of body.recipients) {
        const device = devices.get(device_id);
        if (device === undefined) throw refuse(entry, "it names an unknown device");
        // a recipient that stays, or that two devices share, would leave an old seed able to open what is new
        if (old.includes(recipient)) throw refuse(entry, "it gives a recipient that is in use");
        old.push(recipient);
        devices.set(device_id, { ...device, recipient });
      }
      const named = new Set(body.recipients.map((one) => one.device_id));
      if (named.size !== devices.size || body.recipients.length !== devices.size) {
        throw refuse(entry, "it does not name each device once");
      }
      return { ...state, epoch: body.epoch, devices };
    }
    case "restore":
      if (body.new !== state.head) throw refuse(entry, "it does not restore this log");
      return state;
  }
}

function addDevice(
  devices: Map<string, DeviceRecord>,
  device: DeviceRecord,
  entry: Entry,
): Map<string, DeviceRecord> {
  const taken = [...devices.values()].some((other) =>
    other.credential_id === device.credential_id || other.recipient === device.recipient
  );
  if (devices.has(device.device_id) || taken) throw refuse(entry, "the device is listed already");
  if (devices.size >= MAX_DEVICES) throw refuse(entry, `there are ${MAX_DEVICES} devices already`);
  return devices.set(device.device_id, device);
}

function secretOf(body: SecretRecord, state: LogState, entry: Entry): SecretRecord {
  if (body.epoch !== state.epoch) throw refuse(entry, "it is sealed for another epoch");
  const { secret_id, policy_hash, header_sha256, epoch } = body;
  return { secret_id, policy_hash, header_sha256, epoch };
}

/**
 * A passkey signs through its bundle, which names the exact entries and the head they follow. The first entry is signed
 * by the device that it lists itself; pairing is what makes that device the right one.
 */
async function checkSignature(signers: LogState, before: LogState, record: EntryRecord): Promise<void> {
  const { entry, signed } = record;
  const hash = await entryHash(entry);
  if (signed.kind === "recovery") {
    const bytes = await labelledHash("recovery_entry", canonicalBytes(entry));
    const signature = fromBase64url(signed.signature)!;
    const key = before.recovery?.sign_public;
    const valid = key !== undefined && await verifyRecoverySignature(key, bytes, signature);
    if (!valid) throw refuse(entry, "the recovery signature is not valid");
    return;
  }
  const { bundle, assertion } = signed;
  const device = signers.devices.get(bundle.device);
  if (device === undefined) throw refuse(entry, "its signer is not a listed device");
  if (bundle.daemon !== before.daemon) throw refuse(entry, "it was signed for another daemon");
  const place = bundle.entries.indexOf(hash);
  if (place < 0 || bundle.log_head.size + place !== entry.seq) {
    throw refuse(entry, "the bundle does not name it here");
  }
  if (place === 0 && bundle.log_head.head !== before.head) {
    throw refuse(entry, "it was signed over another log");
  }
  const result = await verifyAssertion(assertion, device, await approvalHash(bundle));
  if (!result.ok) throw refuse(entry, `its signature failed at the step "${result.step}"`);
}
