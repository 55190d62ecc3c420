/** Each rule of the policy log, broken once. */

import assert from "node:assert/strict";
import type { Bundle } from "./approval.ts";
import { toBase64url, utf8 } from "./bytes.ts";
import { type Entry, type EntryBody, entryHash, type EntryRecord } from "./policy_entry.ts";
import { emptyLog, type LogState } from "./policy_log.ts";
import {
  byRecovery,
  DAEMON,
  EPOCH,
  genesisBody,
  next,
  NEXT_EPOCH,
  phone,
  record,
  recovery,
  refusal,
  register,
  SECRET,
  secret,
  start,
  stored,
  stranger,
  tablet,
  two,
} from "./testdata/logs.ts";
import { anyHash, IDENTITIES } from "./testdata/samples.ts";
import { signEntries } from "./testdata/signer.ts";

type Case = [name: string, why: RegExp, state: LogState, record: () => Promise<EntryRecord>];
const spoiled = async (change: Partial<Entry>): Promise<EntryRecord> =>
  (await signEntries(two, phone, [await next(two, register, change)]))[0]!;
const signedWith = async (change: Partial<Bundle>, by = phone): Promise<EntryRecord> =>
  (await signEntries(two, by, [await next(two, register)], change))[0]!;
const altered = async (change: object): Promise<EntryRecord> => {
  const good = await record(two, register);
  return { ...good, ...change };
};
const rotate = (...recipients: { device_id: string; recipient: string }[]): EntryBody => ({
  type: "epoch_rotate",
  epoch: NEXT_EPOCH,
  recipients,
});
const first = { device_id: phone.record.device_id, recipient: IDENTITIES[2]!.recipient };
const second = { device_id: tablet.record.device_id, recipient: IDENTITIES[3]!.recipient };

const REFUSED: Case[] = [
  // place in the chain
  ["a place too high", /not the next one/, two, () => spoiled({ seq: 3 })],
  ["a place too low", /not the next one/, two, () => spoiled({ seq: 1 })],
  ["another predecessor", /follows another entry/, two, () => spoiled({ prev: anyHash(7) })],
  ["an older predecessor", /follows another entry/, two, () => spoiled({ prev: start.head! })],
  [
    "no first entry before it",
    /genesis is the first/,
    emptyLog(DAEMON),
    () => record(emptyLog(DAEMON), register),
  ],
  ["a second genesis", /genesis is the first/, two, () => record(two, genesisBody)],
  [
    "a genesis of another daemon",
    /for another daemon/,
    emptyLog(DAEMON),
    () => record(emptyLog(DAEMON), { ...genesisBody, daemon: "aaaaaaaaaaaaaaaaaaaaaaaaai" } as EntryBody),
  ],
  [
    "another daemon's first predecessor",
    /follows another entry/,
    emptyLog(DAEMON),
    () => record(emptyLog("aaaaaaaaaaaaaaaaaaaaaaaaai"), genesisBody),
  ],
  [
    "a genesis that another device signed",
    /signer is not a listed device/,
    emptyLog(DAEMON),
    () => record(emptyLog(DAEMON), genesisBody, stranger),
  ],
  [
    "a genesis that the recovery sheet signed",
    /recovery signature/,
    emptyLog(DAEMON),
    () => byRecovery(emptyLog(DAEMON), genesisBody),
  ],
  // signatures
  ["a signer who is not listed", /signer is not a listed device/, two, () => record(two, register, stranger)],
  [
    "a stranger's signature under a listed device's id",
    /step "credential"/,
    two,
    () => signedWith({ device: phone.record.device_id }, stranger),
  ],
  [
    "one listed device's signature under the other's id",
    /step "credential"/,
    two,
    () => signedWith({ device: tablet.record.device_id }),
  ],
  [
    "a stranger's key under a listed credential",
    /step "signature"/,
    two,
    async () => {
      const record = {
        ...stranger.record,
        device_id: phone.record.device_id,
        credential_id: phone.record.credential_id,
      };
      const good = await signedWith({ device: phone.record.device_id }, { ...stranger, record });
      if (good.signed.kind !== "passkey") throw new Error();
      good.signed.assertion.credential_id = phone.record.credential_id;
      return good;
    },
  ],
  [
    "a bundle for another daemon",
    /signed for another daemon/,
    two,
    () => signedWith({ daemon: "aaaaaaaaaaaaaaaaaaaaaaaaai" }),
  ],
  [
    "a bundle that does not name it",
    /does not name it here/,
    two,
    () => signedWith({ entries: [anyHash(1)] }),
  ],
  ["a bundle that names nothing", /does not name it here/, two, () => signedWith({ entries: [] })],
  [
    "a bundle that names nothing, over a log that is one entry longer", // -1 and 1 must not cancel out
    /does not name it here/,
    two,
    () => signedWith({ entries: [], log_head: { size: two.size + 1, head: two.head } }),
  ],
  [
    "a bundle that names it in another place",
    /does not name it here/,
    two,
    async () => signedWith({ entries: [anyHash(1), await entryHash(await next(two, register))] }),
  ],
  [
    "a bundle over a longer log",
    /does not name it here/,
    two,
    () => signedWith({ log_head: { size: 3, head: two.head } }),
  ],
  [
    "a bundle over a forked log",
    /over another log/,
    two,
    () => signedWith({ log_head: { size: 2, head: anyHash(7) } }),
  ],
  ["a bundle over no log", /over another log/, two, () => signedWith({ log_head: { size: 2, head: null } })],
  [
    "a bundle that was changed afterwards",
    /step "challenge"/,
    two,
    async () => {
      const { entry, signed } = await record(two, register);
      if (signed.kind !== "passkey") throw new Error();
      return { entry, signed: { ...signed, bundle: { ...signed.bundle, issued_ms: 1 } } };
    },
  ],
  [
    "a body that was changed afterwards",
    /does not name it here/,
    two,
    async () => altered({ entry: await next(two, { ...register, policy_hash: anyHash(8) } as EntryBody) }),
  ],
  [
    "a signature of a former entry",
    /does not name it here/,
    two,
    async () =>
      altered({ signed: (await record(start, { type: "device_add", device: tablet.record })).signed }),
  ],
  [
    "a recovery signature of another entry",
    /recovery signature/,
    two,
    async () =>
      altered({ signed: (await byRecovery(two, { type: "secret_delete", secret_id: SECRET })).signed }),
  ],
  [
    "a recovery signature over the entry's hash instead of its own label",
    /recovery signature/,
    two,
    async () => {
      const entry = await next(two, register);
      const signature = await recovery.sign(utf8(await entryHash(entry)));
      return { entry, signed: { kind: "recovery", signature: toBase64url(signature) } };
    },
  ],
  // devices
  [
    "a device id that is listed",
    /listed already/,
    two,
    () => record(two, { type: "device_add", device: tablet.record }),
  ],
  [
    "a device whose credential is listed",
    /listed already/,
    two,
    () =>
      record(two, {
        type: "device_add",
        device: { ...stranger.record, credential_id: tablet.record.credential_id },
      }),
  ],
  [
    "a device whose recipient is listed",
    /listed already/,
    two,
    () =>
      record(two, { type: "device_add", device: { ...stranger.record, recipient: tablet.record.recipient } }),
  ],
  [
    "the removal of a device that is not there",
    /no such device/,
    two,
    () => record(two, { type: "device_remove", device_id: stranger.record.device_id }),
  ],
  // secrets
  ["a secret that is registered already", /registered already/, stored, () => record(stored, register)],
  [
    "a new policy of an unknown secret",
    /no such secret/,
    two,
    () => record(two, { type: "policy_set", ...secret }),
  ],
  [
    "the deletion of an unknown secret",
    /no such secret/,
    two,
    () => record(two, { type: "secret_delete", secret_id: SECRET }),
  ],
  [
    "a secret of another epoch",
    /another epoch/,
    two,
    () => record(two, { ...register, epoch: NEXT_EPOCH } as EntryBody),
  ],
  [
    "a policy of another epoch",
    /another epoch/,
    stored,
    () => record(stored, { type: "policy_set", ...secret, epoch: NEXT_EPOCH }),
  ],
  // epochs
  ["a rotation that leaves a device out", /each device once/, two, () => record(two, rotate(first))],
  [
    "a rotation that names one device twice and another not at all",
    /each device once/,
    two,
    () => record(two, rotate(first, { ...first, recipient: IDENTITIES[3]!.recipient })),
  ],
  [
    "a rotation that names each device, and one of them twice",
    /each device once/,
    two,
    () => record(two, rotate(first, second, { ...first, recipient: "a third one" })),
  ],
  [
    "a rotation that gives two devices one recipient",
    /recipient/,
    two,
    () => record(two, rotate(first, { ...second, recipient: first.recipient })),
  ],
  [
    "a rotation that keeps a recipient",
    /recipient/,
    two,
    () => record(two, rotate(first, { ...second, recipient: tablet.record.recipient })),
  ],
  [
    "a rotation of an unknown device",
    /unknown device/,
    two,
    () => record(two, rotate(first, { ...second, device_id: stranger.record.device_id })),
  ],
  [
    "a rotation into the same epoch",
    /same epoch/,
    two,
    () => record(two, { ...rotate(first, second), epoch: EPOCH } as EntryBody),
  ],
  [
    "a restore of another log",
    /does not restore this log/,
    two,
    () => record(two, { type: "restore", old: anyHash(1), new: anyHash(2) }),
  ],
];

for (const [name, why, state, make] of REFUSED) {
  Deno.test(`applyEntry() refuses ${name}`, async () => {
    assert.match(await refusal(state, await make()) ?? "it was accepted", why);
  });
}
