import assert from "node:assert/strict";
import { type Bytes, concat, utf8 } from "@custos/core/bytes";
import { newId } from "@custos/core/ids";
import { frame, KIND, MAX_BODY_FRAME_BYTES } from "./frames.ts";
import type { StreamEnd, StreamHead } from "./http_schemas.ts";
import { RpcError } from "./rpc_error.ts";
import { decodeStream, encodeStream } from "./stream.ts";

const head: StreamHead = {
  request_id: newId(),
  fingerprint: "rocket velvet oasis",
  status_code: 200,
  headers: [["content-type", "text/plain"]],
};
const end: StreamEnd = { truncated: false, redactions: 2, received_bytes: 9 };
const json = (value: unknown) => utf8(JSON.stringify(value));

async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Bytes> {
  return concat(...await Array.fromAsync(stream));
}

function cutInto(bytes: Bytes, size: number): ReadableStream<Bytes> {
  return ReadableStream.from((function* () {
    for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
  })());
}

const is = (kind: string, about: boolean) => (error: unknown) =>
  error instanceof RpcError && error.kind === kind && (error.request !== null) === about &&
  (!about || error.request?.fingerprint === head.fingerprint);

Deno.test("encodeStream() and decodeStream() carry a body whatever the pieces", async () => {
  const body = crypto.getRandomValues(new Uint8Array(60_000));
  for (const [inSize, outSize] of [[60_000, 70_000], [1_000, 7], [7, 65_541], [59_999, 1]] as const) {
    const frames = await bytesOf(encodeStream(head, cutInto(body, inSize), () => end));
    const got = await decodeStream(cutInto(frames, outSize));
    assert.deepEqual(got.head, head);
    assert.throws(() => got.end(), RpcError);
    assert.deepEqual(await bytesOf(got.body), Uint8Array.from(body));
    assert.deepEqual(got.end(), end);
  }
});

Deno.test("encodeStream() splits a large chunk into frames of at most 64 KiB", async () => {
  const frames = await Array.fromAsync(
    encodeStream(head, ReadableStream.from([new Uint8Array(200_000)]), () => end),
  );
  assert.equal(frames.length, 1 + 4 + 1);
  for (const one of frames) assert.ok(one.length <= MAX_BODY_FRAME_BYTES + 5);
});

Deno.test("encodeStream() sends an empty body, and errors of the body and of the end, with the request", async () => {
  const empty = await decodeStream(encodeStream(head, ReadableStream.from([]), () => end));
  assert.equal((await bytesOf(empty.body)).length, 0);
  assert.deepEqual(empty.end(), end);

  const failing = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.error(new RpcError("outcome_unknown", "The upstream stopped half way."));
    },
  });
  const first = await decodeStream(encodeStream(head, failing, () => end));
  await assert.rejects(bytesOf(first.body), is("outcome_unknown", true));

  const second = await decodeStream(encodeStream(head, ReadableStream.from([]), () => {
    throw new TypeError('secret text: "tok_live"');
  }));
  await assert.rejects(
    bytesOf(second.body),
    (error) => is("internal", true)(error) && !(error as Error).message.includes("tok_live"),
  );
});

Deno.test("encodeStream() refuses a head without words before a byte is sent", () => {
  const { fingerprint: _words, ...without } = head;
  assert.throws(
    () => encodeStream(without as StreamHead, ReadableStream.from([]), () => end),
    is("outcome_unknown", false),
  );
});

Deno.test("decodeStream() calls an answer that stops early outcome_unknown, with the request (B82)", async () => {
  const whole = await bytesOf(encodeStream(head, cutInto(utf8("123456789"), 3), () => end));
  const headLength = 5 + json(head).length;
  for (let length = headLength; length < whole.length; length++) {
    const got = await decodeStream(cutInto(whole.slice(0, length), 64));
    await assert.rejects(bytesOf(got.body), is("outcome_unknown", true), `${length}`);
  }
  for (const length of [0, 1, 5, headLength - 1]) {
    await assert.rejects(decodeStream(cutInto(whole.slice(0, length), 64)), is("outcome_unknown", false));
  }
});

Deno.test("decodeStream() refuses frames that do not have the agreed form", async () => {
  const { fingerprint: _words, ...withoutWords } = head;
  const before: Bytes[] = [
    frame(KIND.head, json(withoutWords)),
    frame(KIND.head, json({ ...head, extra: 1 })),
    frame(KIND.head, utf8("{")),
    frame(KIND.body, utf8("body before head")),
    frame(KIND.end, json(end)),
    frame(9, json(head)),
    frame(KIND.error, json({ code: 1 })),
    Uint8Array.of(KIND.head, 255, 255, 255, 255),
  ];
  for (const bytes of before) {
    await assert.rejects(decodeStream(cutInto(bytes, 99)), is("outcome_unknown", false));
  }

  const start = frame(KIND.head, json(head));
  const after: Bytes[] = [
    frame(KIND.head, json(head)),
    frame(9, utf8("")),
    frame(KIND.end, json({ ...end, redactions: -1 })),
    frame(KIND.end, utf8("{")),
    frame(KIND.error, json({ code: -32_020 })),
    concat(frame(KIND.end, json(end)), frame(KIND.body, utf8("more"))),
    Uint8Array.of(KIND.body, 0, 1, 0, 1),
  ];
  for (const bytes of after) {
    const got = await decodeStream(cutInto(concat(start, bytes), 99));
    await assert.rejects(bytesOf(got.body), is("outcome_unknown", true), bytes.join());
  }
});

Deno.test("decodeStream() throws the error that came in place of a head", async () => {
  const error = RpcError.needsApproval(head.request_id, head.fingerprint);
  await assert.rejects(
    decodeStream(cutInto(frame(KIND.error, json(error.toErrorObject())), 10)),
    is("needs_approval", true),
  );
});

Deno.test("cancelling a decoded body cancels the source of the frames", async () => {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  let sent = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent++;
      controller.enqueue(new Uint8Array(65_536));
    },
    cancel: (reason) => resolve(reason),
  }, { highWaterMark: 0 });
  const got = await decodeStream(encodeStream(head, endless, () => end));
  const reader = got.body.getReader();
  for (let i = 0; i < 100; i++) await reader.read();
  assert.ok(sent <= 102, `read ahead: ${sent}`); // back-pressure: nothing is read that nobody asked for
  await reader.cancel("enough");
  assert.equal(await promise, "enough");
});
