/** Pairing of the first phone with a real daemon (DESIGN §7): words that are typed, one phone, nothing half done. */

import assert from "node:assert/strict";
import { SoftwareAuthenticator } from "../phone/authenticator.ts";
import { MemoryStore } from "../phone/memory_store.ts";
import { SoftwarePhone } from "../phone/software_phone.ts";
import { SHARED, shareHouse } from "./harness.ts";
import { ORIGIN } from "./harness_parts.ts";
import { failure, PATIENCE_MS } from "./harness_wait.ts";

const house = shareHouse({ empty: true });

/** Begins a pairing and brings a phone to its words, on both sides. The phone is ended by `leave`. */
async function atTheWords(authenticator = new SoftwareAuthenticator(ORIGIN)) {
  const { client } = house();
  const { pairing_id, url } = await client.call("pair.begin", {});
  const words = Promise.withResolvers<string>();
  const leave = new AbortController();
  const store = new MemoryStore();
  const phone = SoftwarePhone.pair(url, {
    onWords: words.resolve,
    store,
    authenticator,
    signal: leave.signal,
  });
  phone.catch(words.reject);
  const shown = await words.promise;
  const { state } = await client.call("pair.status", { pairing_id, wait_ms: PATIENCE_MS });
  assert.equal(state, "confirm");
  return { pairing_id, words: shown, phone, store, leave };
}

Deno.test("without a phone nothing can be asked, and everybody is told what to do", SHARED, async () => {
  const h = house();
  const agent = { name: "early" };
  const drop = failure(h.client.call("drop.request", { name: "early", reason: "r", wait_ms: 0, agent }));
  assert.equal((await drop).kind, "no_device");
  const ran = await h.custos("early", ["drop", "early", "--reason", "r"]);
  assert.equal(ran.code, 6);
  assert.match(ran.stderr, /custos pair/);
  assert.equal((await h.client.call("requests.list", {})).requests.length, 0);
});

Deno.test("three wrong words make a pairing void, and leave nothing on either side", SHARED, async () => {
  const h = house();
  const { pairing_id, words, phone, store, leave } = await atTheWords();
  const ends = assert.rejects(phone);
  const [, second] = words.split(" ");
  for (let i = 0; i < 3; i++) {
    const error = await failure(h.client.call("pair.confirm", { pairing_id, word: second! }));
    assert.equal(error.kind, "pairing_refused");
  }
  assert.equal((await h.client.call("pair.status", { pairing_id })).state, "failed");
  const [first] = words.split(" ");
  assert.equal(
    (await failure(h.client.call("pair.confirm", { pairing_id, word: first! }))).kind,
    "pairing_refused",
  );
  leave.abort();
  await ends;
  assert.deepEqual(await store.daemons(), []);
  assert.deepEqual((await h.client.call("devices.list", {})).devices, []);
  assert.equal((await h.logged("pairing_failed")).length, 1);
});

Deno.test("a passkey without PRF is not enrolled, and the terminal hears why", SHARED, async () => {
  const h = house();
  const authenticator = new SoftwareAuthenticator(ORIGIN);
  authenticator.misbehave = { no_prf: true };
  const { pairing_id, words, phone } = await atTheWords(authenticator);
  const ends = assert.rejects(phone, { kind: "no_device" });
  await h.client.call("pair.confirm", { pairing_id, word: words.split(" ")[0]! });
  await ends;
  const status = await h.client.call("pair.status", { pairing_id, wait_ms: PATIENCE_MS });
  assert.equal(status.state, "failed");
  assert.deepEqual((await h.client.call("devices.list", {})).devices, []);
});

Deno.test(
  "a new pairing voids the one before, and after the first phone there is no other",
  SHARED,
  async () => {
    const h = house();
    const old = await h.client.call("pair.begin", {});
    await h.pair();
    assert.equal(
      (await failure(h.client.call("pair.status", { pairing_id: old.pairing_id }))).kind,
      "pairing_refused",
    );
    const { devices } = await h.client.call("devices.list", {});
    assert.deepEqual(devices.map(({ name }) => name), ["software phone"]);
    assert.equal((await failure(h.client.call("pair.begin", {}))).kind, "pairing_refused");
    assert.equal((await h.custos("second", ["pair"], { stdin: "word\n" })).code, 4);
    await h.dropSecret("demo-key", "tok_live_4f9c2a7e");
    const asked = await h.ask("/paired", { agent: "paired" });
    await h.approve(asked.id);
    assert.equal((await h.http("/paired", { agent: "paired" })).status_code, 200);
  },
);
