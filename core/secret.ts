/**
 * A secret as a type. It prints as `[secret]` wherever a value can be printed by accident (template strings, JSON,
 * `console.log`, `Deno.inspect`, Node's `inspect`), and is released only inside a callback, which makes each use of it
 * one greppable place.
 */

const PRINTED = "[secret]";

/**
 * Bytes that must not leave this process.
 *
 * ```ts
 * import { Secret } from "@custos/core/secret";
 * const secret = new Secret(new TextEncoder().encode("not printed"));
 * if (`${secret}` !== "[secret]") throw new Error("leak");
 * ```
 */
export class Secret {
  readonly #bytes: Uint8Array;

  /** Takes the bytes over: the caller must not keep them. */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Length in bytes. */
  get length(): number {
    return this.#bytes.length;
  }

  /** Lends the bytes to `use` for the length of the call. They must not be kept. */
  expose<T>(use: (bytes: Uint8Array) => T): T {
    return use(this.#bytes);
  }

  /** Overwrites the bytes. Best effort: an engine may have copied them. */
  wipe(): void {
    this.#bytes.fill(0);
  }

  toString(): string {
    return PRINTED;
  }

  toJSON(): string {
    return PRINTED;
  }

  [Symbol.toPrimitive](): string {
    return PRINTED;
  }

  [Symbol.for("Deno.customInspect")](): string {
    return PRINTED;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return PRINTED;
  }
}
