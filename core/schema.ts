/**
 * The building blocks of document schemas: strict objects (an unknown member is an error, so that two readers can never
 * disagree about what was signed), bounded strings and lists, and one way to read untrusted values.
 */

import * as z from "zod/mini";
import { fromBase64url } from "./bytes.ts";
import { CustosError } from "./errors.ts";
import { isId } from "./ids.ts";

/** A schema whose output type is written out, as JSR asks of exported values. */
export type Schema<T> = z.ZodMiniType<T, T>;

/** A member list for {@link shape}: one schema for each member of `T`. */
export type Shape<T> = { [K in keyof T]-?: z.ZodMiniType<T[K], T[K]> };

/** An object with exactly these members. */
export function shape<T extends object>(members: Shape<T>): Schema<T> {
  return z.strictObject(members) as unknown as Schema<T>;
}

/** A member that may be absent. */
export function optional<T>(schema: Schema<T>): Schema<T | undefined> {
  return z.optional(schema) as unknown as Schema<T | undefined>;
}

/** A value or `null`. */
export function nullable<T>(schema: Schema<T>): Schema<T | null> {
  return z.nullable(schema) as unknown as Schema<T | null>;
}

/** At most `max` items, at least `min`. */
export function list<T>(schema: Schema<T>, max: number, min = 0): Schema<T[]> {
  return z.array(schema).check(z.minLength(min), z.maxLength(max)) as unknown as Schema<T[]>;
}

/** One of several shapes. */
export function oneOf<T>(...schemas: readonly Schema<T>[]): Schema<T> {
  return z.union(schemas as unknown as [Schema<T>, Schema<T>]) as unknown as Schema<T>;
}

/** Exactly this value. */
export function exactly<T extends string | number | boolean>(value: T): Schema<T> {
  return z.literal(value) as unknown as Schema<T>;
}

/** One of these words. */
export function word<T extends string>(...words: readonly T[]): Schema<T> {
  return z.enum(words as unknown as [T, ...T[]]) as unknown as Schema<T>;
}

/** Text of at least `min` and at most `max` code points (as zod counts them) that has a well-formed UTF-8 form. */
export function text(max: number, min = 0): Schema<string> {
  const wellFormed = (value: string) => value.isWellFormed();
  return z.string().check(z.minLength(min), z.maxLength(max), z.refine(wellFormed));
}

/** Text that matches an anchored pattern. */
export function pattern(regex: RegExp): Schema<string> {
  return z.string().check(z.regex(regex));
}

/** A whole number in `[min, max]`. */
export function whole(min: number, max: number): Schema<number> {
  return z.number().check(z.int(), z.gte(min), z.lte(max));
}

/** A time in integer milliseconds since 1970, up to the last one a `Date` can hold. */
export const timeMs: Schema<number> = whole(0, 8_640_000_000_000_000);

/** An id of {@link isId}. */
export const id: Schema<string> = z.string().check(z.refine(isId));

/** `true` or `false`. */
export const flag: Schema<boolean> = z.boolean();

/** Unpadded base64url of exactly `length` bytes. */
export function base64urlOf(length: number): Schema<string> {
  return z.string().check(z.refine((value) => fromBase64url(value)?.length === length));
}

/** Unpadded base64url of at most `max` bytes. */
export function base64urlUpTo(max: number): Schema<string> {
  const fits = (value: string) => {
    if (value.length > Math.ceil(max * 4 / 3)) return false;
    return fromBase64url(value) !== null;
  };
  return z.string().check(z.refine(fits));
}

/** A SHA-256, as unpadded base64url. */
export const hash: Schema<string> = base64urlOf(32);

/**
 * `value` as `T`. Throws `bad_request` that names `what` and the first member that does not fit, never its value.
 */
export function decode<T>(schema: Schema<T>, value: unknown, what: string): T {
  const result = z.safeParse(schema, value);
  if (result.success) return result.data as T;
  const path = result.error.issues[0]?.path.map(String).join(".") ?? "";
  const place = /^[\w.]{1,80}$/.test(path) ? ` at "${path}"` : "";
  throw new CustosError("bad_request", `This is not a valid ${what}${place}. Nothing was done with it.`);
}
