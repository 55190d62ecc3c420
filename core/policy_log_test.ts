import assert from "node:assert/strict";
import { type Entry, type EntryBody, entryHash, type EntryRecord } from "./policy_entry.ts";
import { applyEntries, applyEntry, deviceByCredential, MAX_DEVICES, recipientsOf } from "./policy_log.ts";
import {
  byRecovery,
  EPOCH,
  grow,
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
import { deviceId, signEntries } from "./testdata/signer.ts";

Deno.test("applyEntry() takes the first entry, which its own device signs", () => {
  assert.deepEqual([start.size, start.epoch, start.daemon_name, start.audit_key], [
    1,
    EPOCH,
    "laptop",
    anyHash(9),
  ]);
  assert.deepEqual([...start.devices.keys()], [phone.record.device_id]);
  assert.deepEqual(recipientsOf(start), [phone.record.recipient, recovery.recipient]);
});

Deno.test("applyEntry() follows devices, secrets and epochs", async () => {
  assert.deepEqual(deviceByCredential(two, tablet.record.credential_id), tablet.record);
  assert.equal(deviceByCredential(two, stranger.record.credential_id), undefined);
  assert.deepEqual(stored.secrets.get(SECRET), secret);

  const rotated = await grow(stored, {
    type: "epoch_rotate",
    epoch: NEXT_EPOCH,
    recipients: [
      { device_id: phone.record.device_id, recipient: IDENTITIES[2]!.recipient },
      { device_id: tablet.record.device_id, recipient: IDENTITIES[3]!.recipient },
    ],
  });
  assert.equal(rotated.epoch, NEXT_EPOCH);
  assert.deepEqual(recipientsOf(rotated), [
    IDENTITIES[2]!.recipient,
    IDENTITIES[3]!.recipient,
    recovery.recipient,
  ]);
  assert.equal(rotated.secrets.get(SECRET)?.epoch, EPOCH);

  const set = await grow(rotated, {
    type: "policy_set",
    ...secret,
    policy_hash: anyHash(3),
    epoch: NEXT_EPOCH,
  });
  assert.deepEqual([set.secrets.get(SECRET)?.policy_hash, set.secrets.get(SECRET)?.epoch], [
    anyHash(3),
    NEXT_EPOCH,
  ]);

  const removed = await grow(set, { type: "device_remove", device_id: tablet.record.device_id });
  assert.deepEqual([...removed.devices.keys()], [phone.record.device_id]);
  const empty = await grow(removed, { type: "secret_delete", secret_id: SECRET });
  assert.equal(empty.secrets.size, 0);
  assert.equal(empty.size, 7);
});

Deno.test("applyEntry() lets any listed device sign, and the recovery sheet", async () => {
  const byTablet = await applyEntry(two, await record(two, register, tablet));
  assert.deepEqual(byTablet.secrets.get(SECRET), secret);
  const recovered = await applyEntry(
    two,
    await byRecovery(two, { type: "recovery_use", device: stranger.record }),
  );
  assert.deepEqual(recovered.devices.get(stranger.record.device_id), stranger.record);
  const cleared = await applyEntry(
    recovered,
    await byRecovery(recovered, { type: "device_remove", device_id: phone.record.device_id }),
  );
  assert.equal(cleared.devices.has(phone.record.device_id), false);
});

Deno.test("applyEntries() takes several entries that one touch signed, in their order only", async () => {
  const first = await next(two, register);
  const second: Entry = {
    v: 1,
    seq: 3,
    prev: await entryHash(first),
    body: { type: "secret_delete", secret_id: SECRET },
  };
  const [a, b] = await signEntries(two, phone, [first, second]) as [EntryRecord, EntryRecord];
  const both = await applyEntries(two, [a, b]);
  assert.deepEqual([both.size, both.secrets.size, both.head], [4, 0, await entryHash(second)]);
  assert.match(await refusal(two, b) ?? "", /not the next one/);
  assert.match(await refusal(both, b) ?? "", /not the next one/);
  const onlyFirst = await applyEntry(two, a);
  assert.match(await refusal(onlyFirst, a) ?? "", /not the next one/);
});

Deno.test("applyEntry() refuses entries whose signer a former entry of the same touch removed", async () => {
  const first = await next(two, { type: "device_remove", device_id: phone.record.device_id });
  const second: Entry = { v: 1, seq: 3, prev: await entryHash(first), body: register };
  const [a, b] = await signEntries(two, phone, [first, second]) as [EntryRecord, EntryRecord];
  assert.match(await refusal(await applyEntry(two, a), b) ?? "", /signer is not a listed device/);
});

Deno.test("applyEntry() takes 16 devices and refuses the 17th", async () => {
  const devices = new Map(two.devices);
  for (let n = 3; n <= MAX_DEVICES; n++) {
    const copy = {
      ...phone.record,
      device_id: deviceId(n),
      credential_id: anyHash(n),
      recipient: `filler ${n}`,
    };
    devices.set(copy.device_id, copy);
  }
  const full = { ...two, devices };
  const body: EntryBody = { type: "device_add", device: { ...stranger.record, device_id: deviceId(20) } };
  assert.equal(full.devices.size, 16);
  assert.match(await refusal(full, await record(full, body)) ?? "", /16 devices already/);
  assert.match(
    await refusal(full, await byRecovery(full, { ...body, type: "recovery_use" } as EntryBody)) ?? "",
    /16 devices/,
  );
  devices.delete(deviceId(MAX_DEVICES));
  assert.equal((await applyEntry(full, await record(full, body))).devices.size, 16);
});
