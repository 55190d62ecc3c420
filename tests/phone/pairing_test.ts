import assert from "node:assert/strict";
import { CustosError } from "@custos/core/errors";
import { deriveRecoveryKeys } from "@custos/core/device_keys";
import { decodeRecoverySheet } from "@custos/core/recovery_sheet";
import { recipientsOf } from "@custos/core/policy_log";
import { toBase64url } from "@custos/core/bytes";
import { SoftwareAuthenticator } from "./authenticator.ts";
import { MemoryRelay } from "./memory_relay.ts";
import { MemoryStore } from "./memory_store.ts";
import { type PairingFaults, ScriptedDaemon } from "./scripted_daemon.ts";
import { recordText } from "./record_text.ts";
import { ORIGIN, withPair } from "./scripted_pair.ts";
import { SoftwarePhone } from "./software_phone.ts";
import type { Misbehaviour } from "./authenticator.ts";

Deno.test("pair() shows the words of the daemon, and stores what the daemon registered", async () => {
  const relay = new MemoryRelay();
  const daemon = new ScriptedDaemon(relay);
  const { url, words } = await daemon.pairing();
  const shown: string[] = [];
  const authenticator = new SoftwareAuthenticator(ORIGIN);
  const onWords = (text: string) => shown.push(text);
  const phone = await SoftwarePhone.pair(url, { fetch: relay.fetch, authenticator, onWords });
  try {
    assert.deepEqual(shown, [await words]);
    const record = await phone.record();
    assert.equal(record.daemon, daemon.daemon);
    assert.equal(record.words_key, toBase64url(daemon.words_key));
    assert.deepEqual(record.log.records, daemon.records);
    assert.deepEqual(record.audit_head, { size: 1, head: toBase64url(daemon.audit.root) });
    assert.equal(authenticator.touches, 2);
    const hello = await daemon.expect("hello");
    assert.equal(hello.device, record.device);
  } finally {
    await phone.close();
  }
});

Deno.test("pair() puts the recovery sheet's recipient into the first entry", async () => {
  await withPair(async ({ daemon, phone }) => {
    const keys = await deriveRecoveryKeys(await decodeRecoverySheet(phone.recoverySheet!));
    assert.equal(recipientsOf(daemon.log).at(-1), keys.recipient);
    assert.equal(daemon.log.recovery?.sign_public, keys.sign_public);
  });
});

Deno.test("pair() stores no seed, no PRF output and no recovery sheet", async () => {
  const relay = new MemoryRelay();
  const daemon = new ScriptedDaemon(relay);
  const { url } = await daemon.pairing();
  const authenticator = new SoftwareAuthenticator(ORIGIN);
  const outputs: string[] = [];
  const get = authenticator.get.bind(authenticator);
  authenticator.get = async (options) => {
    const touch = await get(options);
    outputs.push(toBase64url(touch.prf.first), toBase64url(touch.prf.second));
    return touch;
  };
  const phone = await SoftwarePhone.pair(url, { fetch: relay.fetch, authenticator, onWords: () => {} });
  try {
    const stored = recordText(await phone.record());
    assert.equal(outputs.length, 4);
    for (const output of outputs) assert.ok(!stored.includes(output));
    assert.ok(!stored.includes(phone.recoverySheet!));
    assert.ok(!stored.includes("AGE-SECRET-KEY"));
  } finally {
    await phone.close();
  }
});

interface Row {
  name: string;
  kind: string;
  faults?: PairingFaults;
  wrong?: Misbehaviour;
  sheet?: boolean;
  /** The daemon took the registration before the phone saw that something is wrong. */
  registered?: boolean;
}

const REFUSED: Row[] = [
  {
    name: "another recipient than the link promised",
    kind: "pairing_refused",
    faults: { other_recipient: true },
  },
  { name: "a nonce that was changed on the way", kind: "pairing_refused", faults: { other_nonce: true } },
  {
    name: "a daemon that registered something else",
    kind: "pairing_refused",
    faults: { other_record: true },
    registered: true,
  },
  { name: "a passkey without PRF", kind: "no_device", wrong: { no_prf: true } },
  { name: "a PRF that ignores its input", kind: "no_device", wrong: { prf_twice: true } },
  { name: "a second touch that gives another key", kind: "no_device", wrong: { change_prf_on_touch: 2 } },
  { name: "an attestation that nobody asked for", kind: "pairing_refused", wrong: { attest: true } },
  { name: "a passkey without user verification", kind: "pairing_refused", wrong: { no_uv: true } },
  { name: "a passkey of another RP id", kind: "pairing_refused", wrong: { rp_id: "evil.test" } },
  { name: "a recovery sheet that was not proven", kind: "pairing_refused", sheet: false },
  { name: "a person who cancels", kind: "NotAllowedError", wrong: { cancel: true } },
];

for (const row of REFUSED) {
  Deno.test(`pair() enrols nothing with ${row.name}`, async () => {
    const relay = new MemoryRelay();
    const daemon = new ScriptedDaemon(relay);
    const { url, words } = await daemon.pairing(row.faults);
    const authenticator = new SoftwareAuthenticator(ORIGIN);
    authenticator.misbehave = row.wrong ?? {};
    const store = new MemoryStore();
    const shown: string[] = [];
    const stop = new AbortController();
    const pairing = SoftwarePhone.pair(url, {
      fetch: relay.fetch,
      authenticator,
      store,
      signal: stop.signal,
      proveRecoverySheet: () => Promise.resolve(row.sheet ?? true),
      onWords: (text) => {
        shown.push(text);
        if (row.faults?.other_nonce) setTimeout(() => stop.abort(), 50);
      },
    });
    const error = await pairing.then(() => null, (thrown) => thrown);
    assert.equal(error instanceof CustosError ? error.kind : error?.name, row.kind);
    assert.deepEqual(await store.daemons(), []);
    assert.equal(daemon.registers, row.registered ? 1 : 0);
    if (row.faults?.other_nonce) assert.notEqual(shown[0], await words);
  });
}
