/**
 * Steps 6 and 7 of pairing: the new passkey is verified, the first entry of the policy log with it, and both are stored
 * with the channel in one transaction (DESIGN §7).
 */

import type { Bytes } from "@custos/core/bytes";
import { toBase64url } from "@custos/core/bytes";
import type { DaemonChannel } from "@custos/core/channel_daemon";
import { CustosError } from "@custos/core/errors";
import { newId } from "@custos/core/ids";
import type { DaemonMessage, PhoneMessage } from "@custos/core/messages";
import { type PairingKeys, registerChallenge } from "@custos/core/pairing";
import type { DeviceRecord, EntryRecord } from "@custos/core/policy_entry";
import type { AuditLog } from "./audit_log.ts";
import type { ChannelStore } from "./channel_store.ts";
import type { Database } from "./database.ts";
import type { Identity } from "./identity.ts";
import type { PolicyStore } from "./policy_store.ts";
import { type PhoneOrigin, verifyRegistration } from "./webauthn_check.ts";

/** What enrolling needs. */
export interface EnrolmentParts {
  db: Database;
  identity: Identity;
  audit: AuditLog;
  policies: PolicyStore;
  channels: ChannelStore;
  phoneOrigin: PhoneOrigin;
}

/** An enrolled phone, and what it is told. */
export interface Enrolled {
  device: DeviceRecord;
  reply: DaemonMessage;
}

/** One enrolment. */
export class Enrolment {
  readonly #parts: EnrolmentParts;
  readonly #keys: PairingKeys;
  readonly #epoch: string = newId();

  constructor(parts: EnrolmentParts, keys: PairingKeys) {
    this.#parts = parts;
    this.#keys = keys;
  }

  /** What the phone needs to make its passkey. */
  ready(): DaemonMessage {
    const { identity, policies } = this.#parts;
    return {
      t: "pair_ready",
      daemon: identity.daemon,
      daemon_name: identity.name,
      epoch: this.#epoch,
      audit_key: toBase64url(identity.audit_public),
      log_head: policies.head,
      exclude: [...policies.state.devices.values()].map((device) => device.credential_id),
      mode: "register",
    };
  }

  /** Checks and stores. Throws `pairing_refused` or `bad_request`; nothing is stored then. */
  async take(
    message: Extract<PhoneMessage, { t: "register" }>,
    state: DaemonChannel<Bytes>,
    cursor: number,
  ): Promise<Enrolled> {
    const { db, identity, audit, policies, channels, phoneOrigin } = this.#parts;
    const { record, ...registration } = message;
    const { t: _t, ...response } = registration;
    const challenge = await registerChallenge(this.#keys.transcript);
    const made = await verifyRegistration(response, { challenge, ...phoneOrigin });
    if (!made.ok) throw new CustosError("pairing_refused", made.message);

    const { body } = record.entry;
    if (body.type !== "genesis") throw refuse("its first entry is not a first entry");
    const { device } = body;
    const samePasskey = device.credential_id === made.device.credential_id &&
      device.public_key === made.device.public_key && device.origin === phoneOrigin.origin &&
      device.rp_id === phoneOrigin.rp_id;
    if (!samePasskey) throw refuse("its entry lists another passkey");
    if (body.epoch !== this.#epoch || body.audit_key !== toBase64url(identity.audit_public)) {
      throw refuse("its entry is for another daemon");
    }
    const { signed } = record;
    const forThisPairing = signed.kind === "passkey" &&
      signed.bundle.request_hash === toBase64url(this.#keys.transcript);
    if (!forThisPairing) throw refuse("it was signed for another pairing");
    const log = await policies.preview([record]);
    const addition = { records: [record], state: log, secret: null, deleted: null };
    const hashes = await policies.hashesOf([record]);
    const { to_daemon, to_phone } = this.#keys;
    db.transaction(() => {
      policies.store(addition, hashes);
      const channel = {
        device_id: device.device_id,
        state,
        to_daemon,
        to_phone,
        cursor,
        last_seen_ms: Date.now(),
      };
      channels.insert(channel, made.sign_count);
      audit.write({ event: "device_added", device: device.device_id });
    });
    policies.adopt(addition);
    return { device, reply: await registeredReply(this.#parts, device.device_id, record) };
  }
}

/** What an enrolled phone is told, at once and again where it did not hear it. */
export async function registeredReply(
  { identity, audit }: Pick<EnrolmentParts, "identity" | "audit">,
  device: string,
  record: EntryRecord,
): Promise<DaemonMessage> {
  const checkpoint = (await audit.checkpoint()).note;
  const words_key = toBase64url(identity.words_key);
  return { t: "registered", device, words_key, record, checkpoint };
}

function refuse(why: string): CustosError {
  return new CustosError("pairing_refused", `The phone was not enrolled: ${why}. Run custos pair again.`);
}
