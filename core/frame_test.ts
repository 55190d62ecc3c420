import assert from "node:assert/strict";
import fc from "fast-check";
import { type Bytes, concat, toHex } from "./bytes.ts";
import {
  type Direction,
  type FrameHead,
  frameKey,
  type FrameKind,
  MAX_PLAINTEXT_BYTES,
  openFrame,
  PADDED_BYTES,
  readHead,
  sealFrame,
} from "./frame.ts";
import { flipBit, hex, kindOf } from "./testdata/samples.ts";
import vectors from "./testdata/session.json" with { type: "json" };

const channel = hex(vectors.channel);
const session = hex(vectors.session);
const key = await frameKey(hex(vectors.to_phone));
const head: FrameHead = { kind: "session", channel, session, number: 7 };
const other: Record<Direction, Direction> = { to_phone: "to_daemon", to_daemon: "to_phone" };

for (const row of vectors.frames) {
  Deno.test(`openFrame() opens the vector of ${row.name}`, async () => {
    const { frame, direction } = { frame: hex(row.frame), direction: row.direction as Direction };
    assert.deepEqual(readHead(frame), { kind: row.kind, channel, session, number: row.number });
    const rowKey = await frameKey(hex(row.key));
    assert.equal(toHex((await openFrame(rowKey, direction, frame))!), row.plaintext);
    assert.equal(await openFrame(rowKey, other[direction], frame), null);
    assert.equal(await openFrame(key, direction, frame) === null, row.key !== vectors.to_phone);
  });
}

Deno.test("openFrame() opens what sealFrame() sealed, whatever its kind, number, direction and length", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 1_100 }),
      fc.constantFrom<FrameKind>("offer", "accept", "session"),
      fc.constantFrom<Direction>("to_phone", "to_daemon"),
      fc.maxSafeNat(),
      async (plaintext, kind, direction, number) => {
        const frame = await sealFrame(key, direction, { ...head, kind, number }, plaintext);
        assert.deepEqual(readHead(frame), { ...head, kind, number });
        assert.equal(toHex((await openFrame(key, direction, frame))!), toHex(plaintext));
        assert.equal(await openFrame(key, other[direction], frame), null);
      },
    ),
    { numRuns: 50 },
  );
});

Deno.test("openFrame() refuses a frame with any one bit flipped, in its head, nonce, body or tag", async () => {
  const frame = await sealFrame(key, "to_phone", head, new Uint8Array(10));
  for (let bit = 0; bit < frame.length * 8; bit++) {
    if (bit > 60 * 8 && bit % 13 !== 0) continue;
    assert.equal(await openFrame(key, "to_phone", flipBit(frame, bit)), null, `bit ${bit}`);
  }
});

Deno.test("openFrame() refuses every cut and every addition", async () => {
  const frame = await sealFrame(key, "to_phone", head, new Uint8Array(10));
  for (const length of [0, 1, 2, 41, 42, 53, 54, 69, 70, frame.length - 16, frame.length - 1]) {
    assert.equal(await openFrame(key, "to_phone", frame.slice(0, length)), null, `${length} bytes`);
  }
  assert.equal(await openFrame(key, "to_phone", concat(frame, Uint8Array.of(0))), null);
  const middle = concat(Uint8Array.of(9, 9), frame, Uint8Array.of(9)).subarray(2, 2 + frame.length);
  assert.notEqual(await openFrame(key, "to_phone", middle), null);
});

Deno.test("sealFrame() draws another nonce each time", async () => {
  const frames = await Promise.all(
    Array.from({ length: 20 }, () => sealFrame(key, "to_phone", head, new Uint8Array(1))),
  );
  assert.equal(new Set(frames.map((frame) => toHex(frame.subarray(42, 54)))).size, 20);
});

const overhead = 42 + 12 + 16;
const SIZES: [plaintext: number, padded: number][] = [
  [0, 256],
  [252, 256],
  [253, 1_024],
  [1_020, 1_024],
  [1_021, 4_096],
  [4_092, 4_096],
  [4_093, 16_384],
  [16_380, 16_384],
  [16_381, 65_536],
  [65_532, 65_536],
  [65_533, PADDED_BYTES.at(-1)!],
  [MAX_PLAINTEXT_BYTES, PADDED_BYTES.at(-1)!],
];

for (const [length, padded] of SIZES) {
  Deno.test(`sealFrame() pads ${length} bytes to ${padded}`, async () => {
    const frame = await sealFrame(key, "to_phone", head, new Uint8Array(length).fill(1));
    assert.equal(frame.length, padded + overhead);
    assert.equal((await openFrame(key, "to_phone", frame))!.length, length);
  });
}

Deno.test("sealFrame() refuses more than the largest size, and a frame fits the relay's 128 KiB", async () => {
  assert.equal(
    await kindOf(() => sealFrame(key, "to_phone", head, new Uint8Array(MAX_PLAINTEXT_BYTES + 1))),
    "body_too_large",
  );
  assert.ok(PADDED_BYTES.at(-1)! + overhead <= 131_072);
  assert.equal(MAX_PLAINTEXT_BYTES, PADDED_BYTES.at(-1)! - 4);
});

/** A frame around any padded bytes, as a broken peer that holds the key could make it. */
async function sealedRaw(padded: Bytes): Promise<Bytes> {
  const frame = await sealFrame(key, "to_phone", head, new Uint8Array(0));
  const [clear, iv] = [frame.slice(0, 42), frame.slice(42, 54)];
  const additionalData = concat(clear, Uint8Array.of(1));
  const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv, additionalData }, key, padded);
  return concat(clear, iv, new Uint8Array(sealed));
}

Deno.test("openFrame() refuses an authentic frame whose padding is not one of the sizes, or says more than it holds", async () => {
  const padded = (size: number, length: number) => {
    const bytes = new Uint8Array(size);
    if (size >= 4) new DataView(bytes.buffer).setUint32(0, length);
    return bytes;
  };
  assert.equal((await openFrame(key, "to_phone", await sealedRaw(padded(256, 252))))!.length, 252);
  for (
    const [size, length] of [[256, 253], [256, 2 ** 32 - 1], [255, 1], [257, 1], [0, 0], [3, 0], [
      512,
      1,
    ]] as const
  ) {
    assert.equal(
      await openFrame(key, "to_phone", await sealedRaw(padded(size, length))),
      null,
      `${size}, ${length}`,
    );
  }
});

Deno.test("readHead() refuses what is not a frame", async () => {
  const frame = await sealFrame(key, "to_phone", head, new Uint8Array(0));
  const rows: [string, Uint8Array][] = [
    ["nothing", new Uint8Array(0)],
    ["less than a head, nonce and tag", frame.slice(0, overhead - 1)],
    ["another version", frame.with(0, 2)],
    ["version 0", frame.with(0, 0)],
    ["kind 0", frame.with(1, 0)],
    ["kind 4", frame.with(1, 4)],
    ["a number beyond 2^53", frame.with(34, 1)],
  ];
  for (const [name, bytes] of rows) assert.equal(readHead(bytes), null, name);
  assert.notEqual(readHead(frame.slice(0, overhead)), null);
});

Deno.test("frameKey() cannot be exported", async () => {
  await assert.rejects(() => crypto.subtle.exportKey("raw", key));
  assert.equal(key.extractable, false);
});
