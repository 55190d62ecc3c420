/**
 * The compression function of SHA-256 (FIPS 180-4 §6.2.2) as WebAssembly, written out here round by round: twice as fast
 * as the same in JavaScript, and WebCrypto hashes whole messages only. The module has no imports and
 * one memory, so it can touch nothing but the bytes that are put into it.
 */

/** Where the eight words of the state are in memory, little-endian. */
export const STATE_AT = 0;
/** Where the blocks to compress are. */
export const BLOCKS_AT = 1024;
/** Most bytes of blocks at a time. */
export const BLOCKS_BYTES = 65_536;

/** The exports of the module. */
export interface Sha256Code {
  memory: WebAssembly.Memory;
  /** Compresses so many blocks of 64 bytes into the state. */
  compress(blocks: number): void;
}

type Code = number[];

// locals of `compress`: its parameter, the address of the block, a scratch word, then a–h and the 16 words of the schedule
const BLOCKS = 0, AT = 1, SCRATCH = 2, WORKING = 3, SCHEDULE = 11, LOCALS = 27;

const get = (local: number): Code => [0x20, local];
const set = (local: number): Code => [0x21, local];
const int = (value: number): Code => [0x41, ...signed(value | 0)];
const add = (...terms: Code[]): Code => terms.flatMap((term, i) => i === 0 ? term : [...term, 0x6a]);
const and = (a: Code, b: Code): Code => [...a, ...b, 0x71];
const xor = (...terms: Code[]): Code => terms.flatMap((term, i) => i === 0 ? term : [...term, 0x73]);
const shiftRight = (a: Code, bits: number): Code => [...a, ...int(bits), 0x76];
const rotateRight = (a: Code, bits: number): Code => [...a, ...int(bits), 0x78];
const load = (at: Code, offset: number): Code => [...at, 0x28, 2, ...unsigned(offset)];
const store = (
  at: Code,
  offset: number,
  value: Code,
): Code => [...at, ...value, 0x36, 2, ...unsigned(offset)];

const rotations = (x: Code, a: number, b: number, c: number): Code =>
  xor(rotateRight(x, a), rotateRight(x, b), rotateRight(x, c));
const mix = (x: Code, a: number, b: number, shift: number): Code =>
  xor(rotateRight(x, a), rotateRight(x, b), shiftRight(x, shift));

/** A word of the message, which is big-endian (§5.2.1), from memory, which is not. */
function word(index: number): Code {
  const x = load(get(AT), index * 4);
  return add(
    and(rotateRight(x, 8), int(0xff00ff00)),
    and(rotateRight(x, 24), int(0x00ff00ff)),
  );
}

/** One round; `constants[t]` is Kₜ. The letters move by renaming, so no value is copied. */
function round(t: number, constants: Int32Array): Code {
  const [a, b, c, d, e, f, g, h] = Array.from({ length: 8 }, (_, i) => WORKING + (i - t % 8 + 8) % 8);
  const w = (back: number) => get(SCHEDULE + (t - back) % 16);
  const schedule = t < 16
    ? word(t)
    : add(mix(w(2), 17, 19, 10), w(7), mix(w(15), 7, 18, 3), get(SCHEDULE + t % 16));
  const choose = xor(get(g!), and(get(e!), xor(get(f!), get(g!))));
  const majority = xor(and(get(a!), xor(get(b!), get(c!))), and(get(b!), get(c!)));
  return [
    ...schedule,
    ...set(SCHEDULE + t % 16),
    ...add(get(h!), rotations(get(e!), 6, 11, 25), choose, int(constants[t]!), get(SCHEDULE + t % 16)),
    ...set(SCRATCH),
    ...add(get(d!), get(SCRATCH)),
    ...set(d!),
    ...add(get(SCRATCH), rotations(get(a!), 2, 13, 22), majority),
    ...set(h!),
  ];
}

function compress(constants: Int32Array): Code {
  const letters = Array.from({ length: 8 }, (_, i) => i);
  const body = [
    ...letters.flatMap((i) => [...load(int(0), STATE_AT + i * 4), ...set(WORKING + i)]),
    ...Array.from({ length: 64 }, (_, t) => round(t, constants)).flat(),
    ...letters.flatMap((i) =>
      store(int(0), STATE_AT + i * 4, add(load(int(0), STATE_AT + i * 4), get(WORKING + i)))
    ),
    ...add(get(AT), int(64)),
    ...set(AT),
    ...add(get(BLOCKS), int(-1)),
    ...[0x22, BLOCKS], // local.tee
    ...[0x0d, 0], // br_if: again while blocks are left
  ];
  return [...int(BLOCKS_AT), ...set(AT), 0x03, 0x40, ...body, 0x0b, 0x0b]; // loop … end, end
}

/** LEB128, WebAssembly core §5.2.2. */
function unsigned(value: number): Code {
  const out: Code = [];
  for (; value >= 128; value >>>= 7) out.push(value & 127 | 128);
  return [...out, value];
}

function signed(value: number): Code {
  const out: Code = [];
  for (;;) {
    const low = value & 127;
    value >>= 7;
    if ((value === 0 && (low & 64) === 0) || (value === -1 && (low & 64) !== 0)) return [...out, low];
    out.push(low | 128);
  }
}

function section(id: number, content: Code): Code {
  return [id, ...unsigned(content.length), ...content];
}

const name = (text: string): Code => [text.length, ...Array.from(text, (c) => c.charCodeAt(0))];

/** The module with the round constants of §4.2.2 (WebAssembly core §5.5). */
export function sha256Code(constants: Int32Array): Sha256Code {
  const I32 = 0x7f;
  const locals = [1, ...unsigned(LOCALS - 1), I32];
  const code = [...locals, ...compress(constants)];
  const pages = Math.ceil((BLOCKS_AT + BLOCKS_BYTES) / 65_536);
  const module = Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 1, I32, 0]), // a type: one number, no result
    ...section(3, [1, 0]), // a function of that type
    ...section(5, [1, 1, pages, pages]), // a memory that cannot grow
    ...section(7, [2, ...name("memory"), 2, 0, ...name("compress"), 0, 0]),
    ...section(10, [1, ...unsigned(code.length), ...code]),
  ]);
  return new WebAssembly.Instance(new WebAssembly.Module(module)).exports as unknown as Sha256Code;
}
