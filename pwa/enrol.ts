/**
 * Steps 6 and 7 of pairing: a passkey, two touches that must give the same key, a recovery sheet that is proven, and the
 * first entry of the policy log (DESIGN §6.2, §7). Nothing is stored before all of it is true.
 */

import { refusedFlag } from "@custos/core/assertion_data";
import { approvalHash, type Bundle } from "@custos/core/approval";
import { readAttestedData, readNoneAttestation } from "@custos/core/attested_data";
import { type Bytes, equalBytes, fromBase64url, randomBytes, toBase64url, utf8 } from "@custos/core/bytes";
import { openWithIdentity, sealTo } from "@custos/core/custody";
import { deriveRecoveryKeys, prfInputs, requireRecipient } from "@custos/core/device_keys";
import { CustosError } from "@custos/core/errors";
import { newId } from "@custos/core/ids";
import { sha256 } from "@custos/core/labels";
import type { DaemonMessage, PhoneMessage } from "@custos/core/messages";
import { registerChallenge } from "@custos/core/pairing";
import type { PasskeyAuthenticator, PasskeyCreated, PrfPair } from "@custos/core/passkey";
import {
  type DeviceRecord,
  type Entry,
  entryHash,
  type EntryRecord,
  genesisPrev,
} from "@custos/core/policy_entry";
import { applyEntry, emptyLog, type LogState } from "@custos/core/policy_log";
import { encodeRecoverySheet, newRecoverySeed } from "@custos/core/recovery_sheet";
import { identityOf, touchOf } from "./touch.ts";

/** What the daemon says when the words were confirmed. */
export type PairReady = Extract<DaemonMessage, { t: "pair_ready" }>;

/** What enrolling needs from outside. */
export interface EnrolOptions {
  authenticator: PasskeyAuthenticator;
  now: () => number;
  /** Exact origin of the page, and its host: the passkey belongs to them. */
  origin: string;
  rp_id: string;
  device_name: string;
  platform: string;
  /**
   * Shows the recovery sheet, and proves that the person has it (by typing parts of it again). `false` ends the
   * enrolment. The text is the seed itself: it must not be stored.
   */
  proveRecoverySheet: (sheet: string) => Promise<boolean>;
}

/** A device that is ready to be registered. */
export interface Enrolment {
  register: Extract<PhoneMessage, { t: "register" }>;
  record: EntryRecord;
  log: LogState;
  device: DeviceRecord;
}

/** A passkey that was made, and what its attestation says. */
interface Passkey {
  created: PasskeyCreated;
  public_key: string;
}

/**
 * Makes the passkey and the first entry. Throws `no_device` where the passkey has no PRF or gives two different keys,
 * `pairing_refused` where an answer is not what it must be or the recovery sheet was not proven. A `DOMException` of the
 * browser passes through.
 */
export async function enrol(ready: PairReady, transcript: Bytes, options: EnrolOptions): Promise<Enrolment> {
  if (ready.mode !== "register" || ready.log_head.size !== 0) {
    throw new CustosError(
      "pairing_refused",
      "That computer has a phone already. A second one needs an approval that this version cannot ask for.",
    );
  }
  const { daemon, daemon_name, epoch, audit_key } = ready;
  const prf = await prfInputs(daemon, epoch);
  const passkey = await makePasskey(ready, transcript, prf, options);
  const { credential_id } = passkey.created;
  const asked = { rp_id: options.rp_id, credential_id, prf };

  // The output of create() is never trusted: the key of the first get() counts, and the second must give it again.
  const first = await touchOf(options.authenticator, asked, randomBytes(32));
  const { recipient } = first.keys;
  first.keys.identity.wipe();
  const canary = randomBytes(32);
  const sealedCanary = await sealTo([recipient], canary);
  const recovery = await makeRecovery(options);

  const device: DeviceRecord = {
    device_id: newId(),
    name: options.device_name,
    platform: options.platform,
    credential_id,
    public_key: passkey.public_key,
    recipient,
    rp_id: options.rp_id,
    origin: options.origin,
    added_ms: options.now(),
  };
  const entry: Entry = {
    v: 1,
    seq: 0,
    prev: await genesisPrev(daemon),
    body: { type: "genesis", daemon, daemon_name, epoch, device, recovery, audit_key },
  };
  const bundle: Bundle = {
    v: 1,
    daemon,
    device: device.device_id,
    decision: "grant",
    request_hash: toBase64url(transcript),
    reply_to_sha256: null,
    entries: [await entryHash(entry)],
    log_head: { size: 0, head: null },
    audit_head: { size: 0, head: null },
    issued_ms: options.now(),
  };
  const second = await touchOf(options.authenticator, asked, await approvalHash(bundle));
  requireRecipient(second.keys.recipient, recipient);
  if (!equalBytes(await openWithIdentity(identityOf(second.keys), sealedCanary), canary)) {
    throw new CustosError(
      "no_device",
      "This passkey did not open what was sealed to it. Nothing was set up.",
    );
  }
  second.keys.identity.wipe();
  const record: EntryRecord = { entry, signed: { kind: "passkey", bundle, assertion: second.assertion } };
  const log = await applyEntry(emptyLog(daemon), record);
  const { client_data_json, attestation_object } = passkey.created;
  return {
    register: { t: "register", client_data_json, attestation_object, credential_id, record },
    record,
    log,
    device,
  };
}

async function makePasskey(
  ready: PairReady,
  transcript: Bytes,
  prf: PrfPair,
  options: EnrolOptions,
): Promise<Passkey> {
  const created = await options.authenticator.create({
    rp_id: options.rp_id,
    rp_name: "custos",
    user_id: randomBytes(32), // a user id that was used before would replace that passkey (DESIGN §6.2)
    user_name: `custos on ${ready.daemon_name}`,
    challenge: await registerChallenge(transcript),
    exclude_credentials: ready.exclude.map((id) => fromBase64url(id)!),
    prf,
  });
  if (!created.prf_enabled) {
    throw new CustosError(
      "no_device",
      "This passkey cannot make keys (PRF), so it cannot be used here. Nothing was set up. Use another browser or device.",
    );
  }
  const authData = readNoneAttestation(fromBase64url(created.attestation_object) ?? new Uint8Array(0));
  const attested = authData === null ? null : readAttestedData(authData);
  const good = attested !== null && attested.credential_id === created.credential_id &&
    equalBytes(attested.rp_id_hash, await sha256(utf8(options.rp_id))) &&
    refusedFlag(attested.flags) === null;
  if (!good) {
    throw new CustosError(
      "pairing_refused",
      "The new passkey came in a form that is not accepted. Nothing was set up.",
    );
  }
  return { created, public_key: attested.public_key };
}

/** The public halves of a recovery sheet that the person has proven to have. */
async function makeRecovery(options: EnrolOptions): Promise<{ recipient: string; sign_public: string }> {
  const seed = newRecoverySeed();
  try {
    const { recipient, sign_public, identity } = await deriveRecoveryKeys(seed);
    identity.wipe();
    if (await options.proveRecoverySheet(await encodeRecoverySheet(seed))) return { recipient, sign_public };
  } finally {
    seed.wipe();
  }
  throw new CustosError(
    "pairing_refused",
    "The recovery sheet was not proven, so nothing was set up. Without it a lost phone means lost secrets.",
  );
}
