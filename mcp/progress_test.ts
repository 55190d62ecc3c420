import assert from "node:assert/strict";
import { Progress } from "./progress.ts";

Deno.test("Progress speaks at once, goes on by itself with rising numbers, and is silent after its end (B91)", async () => {
  const heard: [number, number, string][] = [];
  const third = Promise.withResolvers<void>();
  const progress = new Progress(
    (value, total, message) => {
      heard.push([value, total, message]);
      if (heard.length === 4) third.resolve();
      return Promise.resolve();
    },
    45,
    1,
  );
  progress.say("first");
  assert.equal(heard.length, 1);
  progress.say("second");
  await third.promise;
  progress.end();
  const count = heard.length;
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(heard.length, count);
  assert.deepEqual(heard.map(([, , message]) => message).slice(0, 3), ["first", "second", "second"]);
  for (let i = 1; i < heard.length; i++) assert.ok(heard[i]![0] > heard[i - 1]![0]);
  for (const [value, total] of heard) assert.ok(value >= 0 && total >= 45);
});

Deno.test("Progress without a token says nothing, and outlives a client that is gone", async () => {
  new Progress(null, 45, 1).say("nobody hears this");
  const progress = new Progress(() => Promise.reject(new Error("gone")), 45, 1);
  progress.say("x");
  await new Promise((resolve) => setTimeout(resolve, 5));
  progress.end();
});
