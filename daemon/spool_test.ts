import assert from "node:assert/strict";
import type { Bytes } from "@custos/core/bytes";
import { fromHex, toBase64url } from "@custos/core/bytes";
import { sha256 } from "@custos/core/labels";
import { IN_MEMORY_BYTES, Spool, SPOOL_FILES, SPOOL_QUOTA_BYTES } from "./spool.ts";

const MAX = 67_108_864;

async function withSpool(work: (spool: Spool, folder: string) => Promise<void>): Promise<void> {
  const state = await Deno.makeTempDir();
  await Deno.chmod(state, 0o700);
  try {
    await work(Spool.open(state), `${state}/spool`);
  } finally {
    await Deno.remove(state, { recursive: true });
  }
}

function bodyOf(size: number, piece = 10_007): { bytes: Bytes; stream: ReadableStream<Bytes> } {
  const bytes = Uint8Array.from({ length: size }, (_, i) => (i * 7 + (i >> 8)) & 255);
  const stream = ReadableStream.from((function* () {
    for (let at = 0; at < size; at += piece) yield bytes.slice(at, at + piece);
  })());
  return { bytes, stream };
}

const names = (folder: string) => [...Deno.readDirSync(folder)].map(({ name }) => name);

async function gather(content: Bytes | ReadableStream<Bytes> | null): Promise<Bytes> {
  return new Uint8Array(await new Response(content).arrayBuffer());
}

Deno.test("Spool.take() keeps a small body in memory and a larger one in a file of 0600", () =>
  withSpool(async (spool, folder) => {
    for (const size of [0, 5, IN_MEMORY_BYTES]) {
      const { bytes, stream } = bodyOf(size);
      const body = await spool.take(stream, MAX);
      assert.deepEqual(names(folder), []);
      assert.equal(body.size, size);
      assert.equal(body.content() === null, size === 0);
      assert.deepEqual(await gather(body.content()), bytes);
    }
    for (const size of [IN_MEMORY_BYTES + 1, 3 * 65_536 + IN_MEMORY_BYTES, 5_000_011]) {
      const { bytes, stream } = bodyOf(size);
      const body = await spool.take(stream, MAX);
      const [name, ...more] = names(folder);
      assert.equal(more.length, 0);
      assert.equal((Deno.statSync(`${folder}/${name}`).mode ?? 0) & 0o777, 0o600);
      assert.equal(Deno.statSync(`${folder}/${name}`).size, size);
      assert.equal((Deno.statSync(folder).mode ?? 0) & 0o777, 0o700);
      assert.equal(spool.bytes, size);
      assert.equal(body.size, size);
      assert.equal(body.sha256, toBase64url(await sha256(bytes)));
      assert.deepEqual(body.head, bytes.slice(0, 65_536));
      await body.check();
      assert.deepEqual(await gather(body.content()), bytes);
      body.dispose();
      body.dispose();
      assert.deepEqual(names(folder), []);
      assert.equal(spool.bytes, 0);
    }
  }));

Deno.test("Spool.take() refuses what is too large and leaves nothing behind (B50)", () =>
  withSpool(async (spool, folder) => {
    const rows: [string, ReadableStream<Bytes>, number, string][] = [
      ["a small body above a small limit", bodyOf(11).stream, 10, "body_too_large"],
      ["a body above the limit", bodyOf(3_000_001).stream, 3_000_000, "body_too_large"],
      [
        "a body that breaks",
        new ReadableStream(
          {
            pull(controller) {
              if (this.left-- > 0) controller.enqueue(new Uint8Array(65_536));
              else controller.error(Object.assign(new Error("cut"), { kind: "cut" }));
            },
            left: 40,
          } as UnderlyingDefaultSource & { left: number },
        ),
        MAX,
        "storage",
      ],
    ];
    for (const [what, stream, max, kind] of rows) {
      await assert.rejects(spool.take(stream, max), { kind }, what);
      assert.deepEqual([names(folder), spool.bytes], [[], 0], what);
    }
  }));

Deno.test("Spool.take() holds all bodies together to its quota", () =>
  withSpool(async (spool, folder) => {
    // one piece of memory many times over: the bytes do not matter, their number does
    const piece = new Uint8Array(1_048_576);
    const zeros = (count: number) => ReadableStream.from(Array<Bytes>(count).fill(piece));
    const held = [];
    for (let i = 0; i < 4; i++) held.push(await spool.take(zeros(64), MAX));
    assert.equal(spool.bytes, SPOOL_QUOTA_BYTES);
    await assert.rejects(spool.take(zeros(2), MAX), { kind: "too_many_pending" });
    assert.equal(names(folder).length, 4);
    for (const body of held) body.dispose();
    assert.deepEqual([names(folder), spool.bytes], [[], 0]);
    for (let i = 0; i < SPOOL_FILES; i++) held.push(await spool.take(zeros(2), MAX));
    await assert.rejects(spool.take(zeros(2), MAX), { kind: "too_many_pending" });
    for (const body of held) body.dispose();
    assert.deepEqual(names(folder), []);
  }));

Deno.test("a spooled body whose file was touched is refused, and no changed byte is passed on (B143)", () =>
  withSpool(async (spool, folder) => {
    const { bytes } = bodyOf(2_000_000);
    const other = await Deno.makeTempFile();
    Deno.writeFileSync(other, bytes.map((byte) => byte ^ 1));
    const rows: [string, (path: string) => void][] = [
      ["one bit at the start", (path) => change(path, 0)],
      ["one bit in the middle", (path) => change(path, 1_000_000)],
      ["one bit at the end", (path) => change(path, 1_999_999)],
      ["cut", (path) => Deno.truncateSync(path, 1_999_999)],
      ["emptied", (path) => Deno.truncateSync(path, 0)],
      ["grown", (path) => Deno.writeFileSync(path, Uint8Array.of(1), { append: true })],
      ["removed", (path) => Deno.removeSync(path)],
      ["swapped for a link", (path) => {
        Deno.removeSync(path);
        Deno.symlinkSync(other, path);
      }],
    ];
    for (const [what, touch] of rows) {
      const body = await spool.take(bodyOf(2_000_000).stream, MAX);
      const [name] = names(folder);
      touch(`${folder}/${name}`);
      await assert.rejects(body.check(), { kind: "storage" }, what);
      const passed: number[] = [];
      await assert.rejects(
        async () => {
          for await (const part of body.content() as ReadableStream<Bytes>) passed.push(...part);
        },
        { kind: "storage" },
        what,
      );
      assert.deepEqual(Uint8Array.from(passed), bytes.subarray(0, passed.length), what);
      body.dispose();
      assert.deepEqual(names(folder), []);
    }
    await Deno.remove(other);
  }));

Deno.test("Spool.open() removes what a daemon that died left behind", () =>
  withSpool(async (spool, folder) => {
    await spool.take(bodyOf(2_000_000).stream, MAX);
    assert.match(names(folder)[0]!, /^[0-9a-f]{32}$/);
    assert.notEqual(fromHex(names(folder)[0]!), null);
    Spool.open(folder.replace(/\/spool$/, ""));
    assert.deepEqual(names(folder), []);
  }));

function change(path: string, at: number): void {
  using file = Deno.openSync(path, { read: true, write: true });
  const byte = new Uint8Array(1);
  file.seekSync(at, Deno.SeekMode.Start);
  file.readSync(byte);
  byte[0]! ^= 4;
  file.seekSync(at, Deno.SeekMode.Start);
  file.writeSync(byte);
}
