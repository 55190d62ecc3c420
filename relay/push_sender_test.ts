import assert from "node:assert/strict";
import { messagesPath, PUSH_KEY_PATH, pushPath } from "@custos/core/relay_wire";
import { newVapidKey } from "./push_key.ts";
import type { PushOptions, PushTiming } from "./push_sender.ts";
import { mailboxOf, type TestRelay, withRelay } from "./testing.ts";
import { type PushAnswer, TestPushService, TestSubscription, vapidClaims } from "./testing_push.ts";

const A = mailboxOf("a");
const JSON_TYPE = { "content-type": "application/json" };
const CONTACT = "mailto:owner@custos.example";
/** Short, so that what should not happen shows soon. An answer may take long on a busy machine. */
const TIMING: PushTiming = {
  grace_ms: 20,
  quiet_ms: 60,
  answer_ms: 20_000,
  retry_ms: [10, 20],
  pause_max_ms: 2_000,
};
/** Long enough for everything that a test does before the first push. */
const SLOW: PushTiming = { ...TIMING, grace_ms: 1_000, quiet_ms: 1_000 };

interface Scene {
  relay: TestRelay;
  service: TestPushService;
  subscription: TestSubscription;
  lines: string[];
  /** The first `count` pushes, once they came. */
  pushes(count: number): Promise<TestPushService["taken"]>;
}

/** A mailbox with a subscription at a service that answers so. */
async function withPush(
  answers: PushAnswer[],
  body: (scene: Scene) => Promise<void>,
  options: Partial<PushOptions> = {},
): Promise<void> {
  await using service = new TestPushService(...answers);
  const lines: string[] = [];
  const key = await newVapidKey();
  const push = { key, contact: CONTACT, fetch: service.fetch, timing: TIMING, ...options };
  await withRelay({ push, report: (line) => lines.push(line) }, async (relay) => {
    const subscription = await TestSubscription.make();
    await relay.make(A);
    assert.equal(await subscribe(relay, subscription), 200);
    const pushes = async (count: number) => {
      for (let left = 500; service.taken.length < count; left--) {
        assert.ok(left > 0, `${service.taken.length} pushes came, not ${count}`);
        await pause(10);
      }
      return service.taken;
    };
    await body({ relay, service, subscription, lines, pushes });
  });
}

async function subscribe(relay: TestRelay, value: unknown): Promise<number> {
  const body = JSON.stringify(value);
  return (await relay.call("PUT", pushPath(A.id), { token: A.read, body, headers: JSON_TYPE })).status;
}

/** Long enough for everything that could still be tried. */
const pause = (ms = 250) => new Promise((resolve) => setTimeout(resolve, ms));

const pushTest = (
  name: string,
  answers: PushAnswer[],
  body: (scene: Scene) => Promise<void>,
  timing: PushTiming = TIMING,
) => Deno.test(name, () => withPush(answers, body, { timing }));

pushTest("PushSender calls a phone that does not read, and says nothing (B129)", [201], async (scene) => {
  const { relay, subscription, pushes } = scene;
  const { body: { key } } = await relay.call("GET", PUSH_KEY_PATH);
  await relay.post(A, "https://api.example.test/private?reason=secret ".repeat(200));
  const [push] = await pushes(1);
  assert.equal(await subscription.open(push!.body), "wake");
  assert.ok(push!.body.length < 3_000);
  assert.equal(push!.path, "/fcm.googleapis.com/fcm/send/one");
  const { ttl, urgency, topic } = Object.fromEntries(push!.headers);
  assert.deepEqual({ ttl, urgency, topic }, { ttl: "900", urgency: "high", topic: "custos" });
  const claims = await vapidClaims(push!.headers.get("authorization")!);
  assert.deepEqual([claims["aud"], claims["sub"], claims.key], ["https://fcm.googleapis.com", CONTACT, key]);
  assert.ok(Number(claims["exp"]) <= Date.now() / 1000 + 24 * 3600);
  assert.ok(![...push!.headers].join().includes("private") && ![...push!.headers].join().includes(A.id));
});

pushTest("PushSender makes pushes of one length, whatever was posted", [201], async ({ relay, pushes }) => {
  await relay.post(A, "x");
  await pushes(1);
  await relay.post(A, "y".repeat(60_000));
  const [first, second] = await pushes(2);
  assert.equal(first!.body.length, second!.body.length);
});

pushTest(
  "PushSender calls once for many messages, and once more for what came meanwhile",
  [201],
  async ({ relay, service, pushes }) => {
    const many = () => Promise.all(Array.from({ length: 10 }, (_, i) => relay.post(A, `${i}`)));
    await many();
    await pushes(1);
    await many();
    await pushes(2);
    await pause(2_500);
    assert.equal(service.taken.length, 2);
  },
  SLOW,
);

pushTest("PushSender does not call for what was read already", [201], async ({ relay, service }) => {
  const { body } = await relay.post(A, "x");
  assert.deepEqual(await relay.texts(A), ["x"]);
  await relay.call("DELETE", `${messagesPath(A.id)}?through=${body["seq"]}`, { token: A.read });
  await pause(1_500);
  assert.equal(service.taken.length, 0);
}, SLOW);

pushTest("PushSender does not call a phone that reads at this moment", [201], async ({ relay, service }) => {
  const { body } = await relay.post(A, "x");
  const reading = relay.call("GET", `${messagesPath(A.id)}?after=${body["seq"]}&wait_ms=2500`, {
    token: A.read,
  });
  await pause(1_800);
  assert.equal(service.taken.length, 0);
  await reading;
}, SLOW);

pushTest(
  "PushSender does not call for a mailbox that was removed (B139)",
  [201],
  async ({ relay, service }) => {
    await relay.post(A, "x");
    await relay.call("DELETE", `/v1/mailboxes/${A.id}`, { token: A.read });
    await pause(1_500);
    assert.equal(service.taken.length, 0);
  },
  SLOW,
);

const ENDS: [string, PushAnswer[], number, RegExp | null][] = [
  ["404", [404], 1, null],
  ["410", [410], 1, null],
  ["400", [400], 1, /refused a push with 400/],
  ["401", [401], 1, /refused a push with 401/],
  ["403", [403], 1, /refused a push with 403/],
  ["413", [413], 1, /refused a push with 413/],
  [
    "a redirect",
    [{ status: 307, headers: { location: "http://127.0.0.1:1/" } }],
    1,
    /refused a push with 307/,
  ],
];
for (const [name, answers, tries, said] of ENDS) {
  pushTest(
    `PushSender forgets a subscription after ${name}, and tries it no more (B128)`,
    answers,
    async (scene) => {
      const { relay, service, lines, pushes } = scene;
      await relay.post(A, "x");
      await pushes(tries);
      await pause();
      await relay.post(A, "y");
      await pause();
      assert.equal(service.taken.length, tries);
      if (said === null) assert.deepEqual(lines, []);
      else assert.match(lines.join(), said);
      assert.ok(!lines.join().includes("/fcm/send"), "the endpoint is a secret of the phone");
    },
  );
}

const AGAIN: [string, PushAnswer[], number][] = [
  ["429", [429, 201], 2],
  ["429 with a pause in seconds", [{ status: 429, headers: { "retry-after": "1" } }, 201], 2],
  ["429 with a pause until a date", [
    { status: 429, headers: { "retry-after": new Date(0).toUTCString() } },
    201,
  ], 2],
  ["500", [500, 502, 201], 3],
];
for (const [name, answers, tries] of AGAIN) {
  pushTest(`PushSender tries again after ${name}`, answers, async ({ relay, service, lines, pushes }) => {
    await relay.post(A, "x");
    await pushes(tries);
    await pause();
    assert.equal(service.taken.length, tries);
    assert.deepEqual(lines, []);
  });
}

pushTest(
  "PushSender tries again where no answer comes in time",
  ["silence", 201],
  async ({ relay, pushes }) => {
    await relay.post(A, "x");
    await pushes(2);
  },
  { ...TIMING, answer_ms: 300 },
);

const STOPS: [string, PushAnswer[], number][] = [
  ["three failures", [500], 3],
  ["a pause that is too long", [{ status: 429, headers: { "retry-after": "86400" } }], 1],
];
for (const [name, answers, tries] of STOPS) {
  pushTest(`PushSender stops after ${name}, says so, and tries the next message`, answers, async (scene) => {
    const { relay, service, lines, pushes } = scene;
    await relay.post(A, "x");
    await pushes(tries);
    await pause();
    assert.equal(service.taken.length, tries);
    assert.match(lines.join(), /fcm\.googleapis\.com/);
    await relay.post(A, "y");
    await pushes(tries + 1);
  });
}

Deno.test("PushSender stops trying when the phone has read", async () => {
  await withPush([500], async ({ relay, service, pushes }) => {
    const { body } = await relay.post(A, "x");
    await pushes(1);
    await relay.call("DELETE", `${messagesPath(A.id)}?through=${body["seq"]}`, { token: A.read });
    await pause(2_000);
    assert.equal(service.taken.length, 1);
  }, { timing: { ...TIMING, retry_ms: [1_500, 1_500] } });
});

Deno.test("PushSender refuses a subscription anywhere else than at a push service, and never calls it", async () => {
  const away = [
    "https://evil.example.test/x",
    "https://fcm.googleapis.com.evil.test/x",
    "https://notify.windows.com.evil.test/x",
    "https://xnotify.windows.com/x",
    "https://metadata.google.internal/x",
  ];
  await withPush([201], async ({ relay, service }) => {
    for (const endpoint of away) {
      assert.equal(await subscribe(relay, await TestSubscription.make(endpoint)), 400, endpoint);
    }
    for (
      const endpoint of ["https://wns2-par02p.notify.windows.com/w/?token=x", "https://web.push.apple.com/x"]
    ) {
      assert.equal(await subscribe(relay, await TestSubscription.make(endpoint)), 200, endpoint);
    }
    assert.equal(service.taken.length, 0);
  });
  // One that was kept under another list is not called either.
  const services = ["fcm.googleapis.com"];
  await withPush([201], async ({ relay, service, lines }) => {
    services[0] = "other.example.test";
    await relay.post(A, "x");
    await pause();
    assert.equal(service.taken.length, 0);
    assert.match(lines.join(), /subscription is removed/);
  }, { services });
});

Deno.test("PushSender forgets a subscription whose key is no point of the curve", async () => {
  await withPush([201], async ({ relay, service, lines }) => {
    const { endpoint, keys } = (await TestSubscription.make()).toJSON();
    const off = { endpoint, keys: { ...keys, p256dh: "B".padEnd(86, "x") + "A" } };
    assert.equal(await subscribe(relay, off), 200);
    await relay.post(A, "x");
    await pause();
    assert.equal(service.taken.length, 0);
    assert.match(lines.join(), /subscription is removed/);
  });
});

Deno.test("createRelay() without a contact has no push key, and calls nobody", async () => {
  await withRelay({}, async (relay) => {
    assert.equal((await relay.call("GET", PUSH_KEY_PATH)).status, 404);
  });
});

Deno.test("TestSubscription.open() opens the example of RFC 8291 §5", async () => {
  const subscription = await TestSubscription.of({
    p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    auth: "BTBZMqHH6r4Tts7J_aSIgg",
  }, "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94");
  const body =
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8w" +
    "EqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN";
  const plain = await subscription.open(Uint8Array.fromBase64(body, { alphabet: "base64url" }));
  assert.equal(plain, "When I grow up, I want to be a watermelon");
});
