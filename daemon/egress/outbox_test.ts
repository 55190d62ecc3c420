import assert from "node:assert/strict";
import { Outbox } from "./outbox.ts";

Deno.test("Outbox.send() posts the messages of one turn together, in order", async () => {
  const posted: number[][] = [];
  const outbox = new Outbox<number>((messages) => posted.push(messages));
  for (const message of [1, 2, 3]) outbox.send(message);
  assert.deepEqual(posted, [], "nothing is posted before the turn is over");
  await Promise.resolve();
  outbox.send(4);
  await Promise.resolve();
  assert.deepEqual(posted, [[1, 2, 3], [4]]);
});

Deno.test("Outbox.send() posts what transfers something at once, and after what was said before", async () => {
  const posted: { messages: string[]; transfer: Transferable[] }[] = [];
  const outbox = new Outbox<string>((messages, transfer) => posted.push({ messages, transfer }));
  const buffer = new ArrayBuffer(8);
  outbox.send("before");
  outbox.send("chunk", [buffer]);
  outbox.send("after");
  assert.deepEqual(posted, [
    { messages: ["before"], transfer: [] },
    { messages: ["chunk"], transfer: [buffer] },
  ]);
  await Promise.resolve();
  assert.deepEqual(posted.slice(2), [{ messages: ["after"], transfer: [] }]);
});
