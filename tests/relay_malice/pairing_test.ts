/**
 * Pairing where somebody else has the code, or the relay plays along (DESIGN §7, cases B135 and B137). Who does not hold the
 * phone at which the person looks is never enrolled, and a refused message leaves nothing behind.
 */

import assert from "node:assert/strict";
import { generateHybridIdentity, identityToRecipient } from "age-encryption";
import { type Bytes, fromBase64url, randomBytes, toBase64url } from "@custos/core/bytes";
import { sealTo } from "@custos/core/custody";
import { commitment, encodePairMessage, type PairMessage } from "@custos/core/pairing";
import { canonicalBytes } from "@custos/core/canonical";
import { flipped } from "../e2e/harness_bytes.ts";
import { failure, until } from "../e2e/harness_wait.ts";
import {
  changed,
  type Code,
  nobodyIsEnrolled,
  pairMessage,
  showCode,
  stateAfter,
  tryPair,
} from "./pairing_attempt.ts";
import { SHARED, shareStage, Stage } from "./stage.ts";

const stage = shareStage(() => Promise.resolve());

/** Types a word into the terminal. */
function type(s: Stage, { pairing_id }: Code, words: string) {
  return s.client.call("pair.confirm", { pairing_id, word: words.split(" ")[0]! });
}

interface Row {
  name: string;
  message: PairMessage["t"];
  change: (message: PairMessage) => Record<string, unknown> | Promise<Record<string, unknown>>;
  /** What the phone does: it refuses by itself, it waits for ever, or it shows words that are not the terminal's. */
  phone: "refuses" | "waits" | "other words";
}

const other = async () => await identityToRecipient(await generateHybridIdentity());
const sealed = (message: PairMessage) => message.t === "reveal" ? message.sealed : "";
const TRANSCRIPT: Row[] = [
  { name: "version of the commitment", message: "commit", change: () => ({ v: 2 }), phone: "waits" },
  {
    name: "commitment",
    message: "commit",
    change: () => ({ c: toBase64url(randomBytes(32)) }),
    phone: "other words",
  },
  { name: "version of the answer", message: "key", change: () => ({ v: 2 }), phone: "waits" },
  { name: "recipient", message: "key", change: async () => ({ recipient: await other() }), phone: "refuses" },
  {
    name: "nonce",
    message: "key",
    change: () => ({ nonce: toBase64url(randomBytes(32)) }),
    phone: "other words",
  },
  { name: "version of the reveal", message: "reveal", change: () => ({ v: 2 }), phone: "other words" },
  {
    name: "reveal, by one bit",
    message: "reveal",
    change: (message) => ({ sealed: flipped(sealed(message)) }),
    phone: "other words",
  },
];

for (const row of TRANSCRIPT) {
  Deno.test(`a relay that changes the ${row.name} pairs nobody`, SHARED, async () => {
    const s = stage();
    const code = await showCode(s);
    s.relay.act = async (passing) => {
      const message = pairMessage(passing);
      if (message?.t !== row.message) return await passing.pass();
      return await passing.pass(changed(message, await row.change(message)));
    };
    const phone = tryPair(code.url);
    if (row.phone === "refuses") {
      assert.equal(await phone.end, "pairing_refused");
    } else if (row.phone === "other words") {
      const words = await phone.words;
      if (row.name === "nonce") {
        assert.equal(await stateAfter(s, code, "waiting"), "confirm");
      }
      assert.equal((await failure(type(s, code, words))).kind, "pairing_refused");
    } else {
      assert.equal(await stateAfter(s, code, "waiting", 300), "waiting");
    }
    s.relay.behave();
    await nobodyIsEnrolled(s, phone);
  });
}

Deno.test(
  "a reveal that opens no commitment does not use up the code, however many come (B135)",
  SHARED,
  async () => {
    const s = stage();
    const code = await showCode(s);
    const inbox = code.boxes.to_daemon.id;
    let bad = 0;
    s.relay.act = async (passing) => {
      const message = pairMessage(passing);
      if (message?.t !== "reveal") return await passing.pass();
      s.relay.behave();
      const recipient = await other();
      const own = { key: toBase64url(randomBytes(32)), nonce: toBase64url(randomBytes(32)) };
      const named = { ...own, device_name: "thief", platform: "x", build: "x" };
      const key = lastKey(s)!;
      const rows: Bytes[] = [
        changed(message, { sealed: flipped(message.sealed) }),
        changed(message, { sealed: toBase64url(await sealTo([recipient], canonicalBytes(named))) }),
        changed(message, { sealed: toBase64url(await sealTo([key.recipient], canonicalBytes(named))) }),
        changed(message, { sealed: toBase64url(await sealTo([key.recipient], randomBytes(300))) }),
        changed(message, { sealed: "" }),
        randomBytes(1),
        randomBytes(60_000),
      ];
      for (let i = 0; i < 20; i++) {
        for (const data of rows) {
          await s.relay.plant(inbox, data);
          bad++;
        }
      }
      return await passing.pass();
    };
    const phone = tryPair(code.url);
    await phone.words;
    assert.equal(await stateAfter(s, code, "waiting"), "confirm");
    assert.equal(bad, 140);
    const { device_name } = await s.client.call("pair.status", { pairing_id: code.pairing_id });
    assert.equal(device_name, "a phone", "the one that committed");
    await s.client.call("pair.begin", {}); // this code ends here
    await nobodyIsEnrolled(s, phone);
  },
);

Deno.test("a mailbox that is filled with rubbish before the phone comes has room for the phone (B135, B153)", async () => {
  await using s = await Stage.open({ mailbox_messages_max: 64, mailbox_bytes_max: 256 * 1024 });
  await s.startDaemon();
  const code = await showCode(s);
  const inbox = code.boxes.to_daemon.id;
  await until(() => s.relay.plant(inbox, randomBytes(1)).catch(() => null), "The daemon made no mailbox.");
  for (let left = 500; left > 0 && await s.relay.plant(inbox, randomBytes(2_000)); left--);
  const phone = tryPair(code.url);
  await phone.words;
  assert.equal(await stateAfter(s, code, "waiting"), "confirm");
  phone.stop();
  assert.notEqual(await phone.end, "paired");
});

function lastKey(s: Stage): Extract<PairMessage, { t: "key" }> | null {
  const posts = s.relay.frames.map(({ data }) => pairMessage({ kind: "post", data }));
  return posts.findLast((message) => message?.t === "key") as Extract<PairMessage, { t: "key" }> ?? null;
}

Deno.test("a commitment that nobody opens holds up this code and no later one", SHARED, async () => {
  const s = stage();
  const code = await showCode(s);
  const c = toBase64url(await commitment(randomBytes(32), randomBytes(32)));
  await until(async () => {
    try {
      return await s.relay.plant(code.boxes.to_daemon.id, encodePairMessage({ v: 1, t: "commit", c }));
    } catch {
      return null; // the daemon has not made the mailbox yet
    }
  }, "The daemon made no mailbox.");
  await until(() => Promise.resolve(lastKey(s)), "The daemon did not answer the commitment.");
  const phone = tryPair(code.url);
  const words = await phone.words;
  assert.equal(await stateAfter(s, code, "waiting", 500), "waiting");
  const refused = await failure(type(s, code, words));
  assert.match(refused.message, /No phone waits for its word now\. Run custos pair again/);
  await nobodyIsEnrolled(s, phone);
  const again = await showCode(s);
  const second = tryPair(again.url);
  await second.words;
  assert.equal(await stateAfter(s, again, "waiting"), "confirm");
  await s.client.call("pair.begin", {});
  await nobodyIsEnrolled(s, second);
});

Deno.test(
  "of two phones that use a code at the same instant, at most the one that the person holds counts (B135)",
  SHARED,
  async () => {
    const s = stage();
    const code = await showCode(s);
    const [mine, theirs] = [tryPair(code.url, "mine"), tryPair(code.url, "theirs")];
    const words = await Promise.all([mine.words, theirs.words]);
    assert.notEqual(words[0], words[1]);
    assert.equal(await stateAfter(s, code, "waiting"), "confirm");
    const { device_name } = await s.client.call("pair.status", { pairing_id: code.pairing_id });
    const loser = words[device_name === "mine" ? 1 : 0]!;
    for (const says of [/This is not the first word/, /This is not the first word/, /wrong three times/]) {
      assert.match((await failure(type(s, code, loser))).message, says);
    }
    const { state, reason } = await s.client.call("pair.status", { pairing_id: code.pairing_id });
    assert.deepEqual([state, reason], ["failed", "the word was wrong three times"]);
    await nobodyIsEnrolled(s, mine, theirs);
  },
);

Deno.test("an answer that was captured in another pairing is none in this one", SHARED, async () => {
  const s = stage();
  const first = await showCode(s);
  const before = s.relay.frames.length;
  const old = tryPair(first.url, "old");
  await old.words;
  assert.equal(await stateAfter(s, first, "waiting"), "confirm");
  const captured = s.relay.frames.slice(before).filter(({ from }) => from === "phone").map(({ data }) =>
    data
  );
  assert.equal(captured.length, 2);

  const code = await showCode(s); // the first code is void now
  assert.notEqual(code.boxes.to_daemon.id, first.boxes.to_daemon.id);
  s.relay.act = async (passing) => {
    const response = await passing.pass();
    if (pairMessage(passing)?.t !== "commit") return response;
    s.relay.behave();
    for (const data of captured) await s.relay.plant(code.boxes.to_daemon.id, data);
    return response;
  };
  const phone = tryPair(code.url, "new");
  await phone.words;
  assert.equal(await stateAfter(s, code, "waiting"), "confirm");
  const { device_name } = await s.client.call("pair.status", { pairing_id: code.pairing_id });
  assert.equal(device_name, "new");
  await s.client.call("pair.begin", {});
  await nobodyIsEnrolled(s, old, phone);
});

Deno.test(
  "a phone that photographed the code is not answered after the person's own was paired (B135, B137)",
  SHARED,
  async () => {
    const s = stage();
    const code = await showCode(s);
    const mine = tryPair(code.url, "mine");
    const words = await mine.words;
    assert.equal(await stateAfter(s, code, "waiting"), "confirm");
    // A second good answer: the same reveal again, while the word is typed.
    const reveal = s.relay.frames.findLast(({ data }) =>
      pairMessage({ kind: "post", data })?.t === "reveal"
    )!;
    await s.relay.plant(reveal.mailbox, reveal.data);
    await type(s, code, words);
    const phone = await mine.paired;
    assert.equal(await stateAfter(s, code, "registering"), "done");
    await phone.close();

    const [before, frames] = [await s.logSize(), s.relay.frames.length];
    const theirs = tryPair(code.url, "theirs");
    setTimeout(() => theirs.stop(), 700);
    assert.equal(await theirs.end, "pairing_refused");
    assert.deepEqual(await theirs.store.daemons(), []);
    const answers = s.relay.frames.slice(frames).filter(({ from }) => from === "daemon");
    assert.deepEqual(answers, []);
    assert.equal(await s.logSize(), before);
    const { devices } = await s.client.call("devices.list", {});
    assert.deepEqual(devices.map(({ name }) => name), ["mine"]);
    assert.equal((await failure(s.client.call("pair.begin", {}))).kind, "pairing_refused");

    // What the code holds opens nothing of the channel that it led to (B137).
    const record = await mine.store.read((await mine.store.daemons())[0]!);
    const all = JSON.stringify(record);
    for (const box of Object.values(code.boxes)) {
      assert.ok(!all.includes(box.id) && !all.includes(box.read_token) && !all.includes(box.write_token));
    }
    assert.equal(fromBase64url(record!.to_phone.read_token)!.length, 32);
  },
);
