import assert from "node:assert/strict";
import { type Bytes, concat, utf8 } from "@custos/core/bytes";
import { newId } from "@custos/core/ids";
import { Client } from "./client.ts";
import { frame, KIND } from "./frames.ts";
import { RpcError } from "./rpc_error.ts";
import { STREAM_TYPE } from "./stream.ts";
import { streamReply, type StreamSource } from "./stream_reply.ts";
import { decodeUpload, encodeUpload } from "./upload.ts";

const PARAMS = '{"handle":"custos:demo-key"}';
const PENDING = { request_id: newId(), fingerprint: "rocket velvet oasis" };
const CALL = { handle: "custos:demo-key", method: "POST", url: "https://api.example.test/v1/x", reason: "r" };

function cutInto(bytes: Bytes, size: number): ReadableStream<Bytes> {
  return ReadableStream.from((function* () {
    for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
  })());
}

async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Bytes> {
  return concat(...await Array.fromAsync(stream));
}

const source = (text: string): StreamSource => ({
  head: { ...PENDING, status_code: 200, headers: [] },
  body: ReadableStream.from([utf8(text)]),
  end: () => ({ truncated: false, redactions: 0, received_bytes: text.length }),
});

Deno.test("encodeUpload() and decodeUpload() carry params and a body whatever the pieces (B50)", async () => {
  const body = crypto.getRandomValues(new Uint8Array(60_000));
  for (const [inSize, outSize] of [[60_000, 200_000], [1_000, 7], [7, 65_541], [59_999, 1]] as const) {
    const frames = await bytesOf(encodeUpload(PARAMS, cutInto(body, inSize)));
    const got = await decodeUpload(cutInto(frames, outSize));
    assert.equal(got.params, PARAMS);
    assert.deepEqual(await bytesOf(got.body), Uint8Array.from(body));
  }
  const empty = await decodeUpload(encodeUpload(PARAMS, ReadableStream.from([])));
  assert.equal((await bytesOf(empty.body)).length, 0);
});

Deno.test("decodeUpload() takes no cut or malformed upload for a whole one (B82)", async () => {
  const whole = await bytesOf(encodeUpload(PARAMS, ReadableStream.from([utf8("hello")])));
  for (let length = 0; length < whole.length; length++) {
    await assert.rejects(
      async () => {
        const got = await decodeUpload(cutInto(whole.slice(0, length), 3));
        await bytesOf(got.body);
      },
      { kind: "bad_request" },
      `${length}`,
    );
  }
  const params = frame(KIND.params, utf8(PARAMS));
  const rows: [string, Bytes[]][] = [
    ["a body first", [frame(KIND.body, utf8("x")), params, frame(KIND.end, utf8(""))]],
    ["params twice", [params, params, frame(KIND.end, utf8(""))]],
    ["an end that says something", [params, frame(KIND.end, utf8("x"))]],
    ["something after the end", [params, frame(KIND.end, utf8("")), frame(KIND.body, utf8("x"))]],
    ["a frame that is too long", [params, Uint8Array.of(KIND.body, 0, 2, 0, 0)]],
    ["params that are not text", [frame(KIND.params, Uint8Array.of(255)), frame(KIND.end, utf8(""))]],
    ["frames of nothing", [params, ...Array<Bytes>(1_000).fill(frame(KIND.body, utf8("")))]],
  ];
  for (const [what, parts] of rows) {
    await assert.rejects(
      async () => {
        const got = await decodeUpload(ReadableStream.from(parts));
        await bytesOf(got.body);
      },
      { kind: "bad_request" },
      what,
    );
  }
});

Deno.test("encodeUpload() reads its body no faster than its frames are read", async () => {
  let read = 0;
  const body = new ReadableStream<Bytes>({
    pull(controller) {
      read++;
      controller.enqueue(new Uint8Array(1_000));
    },
  }, { highWaterMark: 0 });
  const frames = encodeUpload(PARAMS, body).getReader();
  for (let i = 0; i < 5; i++) await frames.read();
  assert(read <= 5, `${read}`);
  await frames.cancel();
});

Deno.test("streamReply() says at once what it waits for, and then the answer or the error", async () => {
  const call = async (answer: Promise<StreamSource>, pending: Promise<typeof PENDING>) => {
    const response = await streamReply(answer, pending, () => {});
    const heard: unknown[] = [];
    const client = new Client({ socket: "", fetch: () => Promise.resolve(response) });
    const outcome = await client.streamHttp(CALL, { onPending: (pending) => void heard.push(pending) })
      .then(async (got) => new TextDecoder().decode(await bytesOf(got.body)), (error) => error);
    return { heard, outcome, type: response.headers.get("content-type") };
  };
  const later = <T>(value: () => T) =>
    new Promise<T>((resolve, reject) =>
      setTimeout(() => {
        try {
          resolve(value());
        } catch (error) {
          reject(error);
        }
      })
    );
  const never = new Promise<typeof PENDING>(() => {});
  const denied = () => {
    throw new RpcError("denied", "No.").withRequest(PENDING.request_id, PENDING.fingerprint);
  };
  const now = await call(Promise.resolve(source("at once")), never);
  assert.deepEqual(now, { heard: [], outcome: "at once", type: STREAM_TYPE });
  const waited = await call(later(() => source("in the end")), Promise.resolve(PENDING));
  assert.deepEqual(waited, { heard: [PENDING], outcome: "in the end", type: STREAM_TYPE });
  for (const pending of [never, Promise.resolve(PENDING)]) {
    const { heard, outcome, type } = await call(later(denied), pending);
    assert.deepEqual(heard, pending === never ? [] : [PENDING]);
    assert(outcome instanceof RpcError && outcome.kind === "denied");
    assert.equal(outcome.request?.fingerprint, PENDING.fingerprint);
    assert.equal(type === STREAM_TYPE, pending !== never);
  }
});

Deno.test("streamReply() tells that the caller left, and cancels an answer that comes later", async () => {
  let left = 0;
  let cancelled = 0;
  const late = Promise.withResolvers<StreamSource>();
  const response = await streamReply(late.promise, Promise.resolve(PENDING), () => left++);
  const reader = response.body!.getReader();
  assert.equal((await reader.read()).value![0], KIND.pending);
  const reading = reader.read();
  await reader.cancel();
  await reading;
  assert.equal(left, 1);
  const body = new ReadableStream<Uint8Array>({ cancel: () => void cancelled++ });
  late.resolve({ ...source(""), body });
  await new Promise((resolve) => setTimeout(resolve, 10));
  assert.equal(cancelled, 1);
});

Deno.test("a stream that breaks after its pending frame is outcome_unknown about that request", async () => {
  const frames = ReadableStream.from([frame(KIND.pending, utf8(JSON.stringify(PENDING)))]);
  const response = new Response(frames, { headers: { "content-type": STREAM_TYPE } });
  const client = new Client({ socket: "", fetch: () => Promise.resolve(response) });
  await assert.rejects(
    client.streamHttp(CALL),
    (error) =>
      error instanceof RpcError && error.kind === "outcome_unknown" &&
      error.request?.id === PENDING.request_id,
  );
});

Deno.test("Client.streamHttp() uploads over the socket, hears an early refusal, and passes on what its body throws", async () => {
  const folder = await Deno.makeTempDir();
  const socket = `${folder}/s`;
  const got: { size: number; type: string | null }[] = [];
  let refuse = false;
  const server = Deno.serve({ path: socket, transport: "unix", onListen() {} }, async (request) => {
    if (refuse) return Response.json(new RpcError("path_not_allowed", "Not there.").toJsonRpc(null));
    try {
      const { body } = await decodeUpload(request.body!);
      let size = 0;
      for await (const part of body) size += part.length;
      got.push({ size, type: request.headers.get("content-type") });
    } catch {
      got.push({ size: -1, type: "broken" });
    }
    return await streamReply(Promise.resolve(source("fine")), new Promise(() => {}), () => {});
  });
  const client = new Client({ socket });
  const piece = new Uint8Array(65_536);
  const body = (count: number, end: (controller: ReadableStreamDefaultController) => void) =>
    new ReadableStream<Uint8Array>({
      pull: (controller) => count-- > 0 ? controller.enqueue(piece) : end(controller),
    }, { highWaterMark: 0 });
  const answer = await client.streamHttp(CALL, { body: body(100, (c) => c.close()) });
  assert.equal(new TextDecoder().decode(await bytesOf(answer.body)), "fine");
  assert.deepEqual(got, [{ size: 6_553_600, type: STREAM_TYPE }]);

  const tooLarge = new RpcError("body_too_large", "Too much.");
  await assert.rejects(client.streamHttp(CALL, { body: body(5, (c) => c.error(tooLarge)) }), tooLarge);
  for (let i = 0; i < 200 && got.length < 2; i++) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(got[1], { size: -1, type: "broken" });

  refuse = true;
  let cancelled = false;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(piece),
    cancel: () => void (cancelled = true),
  }, { highWaterMark: 0 });
  await assert.rejects(client.streamHttp(CALL, { body: endless }), { kind: "path_not_allowed" });
  assert(cancelled);
  await server.shutdown();
  await Deno.remove(folder, { recursive: true });
});
