/** Bodies of requests, read within a limit of bytes and of time. */

import { JSON_BYTES_MAX } from "@custos/core/relay_wire";
import { Refusal } from "./refusal.ts";

/**
 * The whole body, at least 1 and at most `bytes_max` bytes, within `ms`. `Content-Length` can only refuse early: what
 * counts is what arrives (a chunked body has no length, and a length can lie). Throws {@link Refusal} `too_large`,
 * `too_slow`, or `bad_request` for an empty or broken body.
 */
export async function readBody(
  request: Request,
  bytes_max: number,
  ms: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const tooLarge = new Refusal("too_large", `The body may have at most ${bytes_max} bytes.`);
  if (Number(request.headers.get("content-length") ?? 0) > bytes_max) throw tooLarge;
  const reader = request.body?.getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    reader?.cancel().catch(() => {}); // ends the pending read (B153: slow bodies)
  }, ms);
  try {
    for (let read = await reader?.read(); read?.done === false; read = await reader?.read()) {
      length += read.value.length;
      if (length > bytes_max) {
        reader?.cancel().catch(() => {});
        throw tooLarge;
      }
      parts.push(read.value);
    }
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal("bad_request", "The body broke off.");
  } finally {
    clearTimeout(timer);
  }
  if (late) throw new Refusal("too_slow", `The body did not arrive within ${ms} ms.`);
  if (length === 0) throw new Refusal("bad_request", "The body is empty.");
  const body = new Uint8Array(length);
  for (let i = 0, at = 0; i < parts.length; at += parts[i++]!.length) body.set(parts[i]!, at);
  return body;
}

/** A JSON body as `decode` accepts it. Throws {@link Refusal}. */
export async function readJson<T>(
  request: Request,
  ms: number,
  decode: (value: unknown) => T | null,
): Promise<T> {
  requireType(request, "application/json");
  const bytes = await readBody(request, JSON_BYTES_MAX, ms);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new Refusal("bad_request", "The body is not JSON.");
  }
  const decoded = decode(value);
  if (decoded === null) {
    throw new Refusal("bad_request", "The body does not have the members that it should.");
  }
  return decoded;
}

/** Refuses any other content type. Throws {@link Refusal} `wrong_type`. */
export function requireType(request: Request, type: string): void {
  const [given = ""] = (request.headers.get("content-type") ?? "").split(";");
  if (given.trim().toLowerCase() !== type) throw new Refusal("wrong_type", `The body must be ${type}.`);
}
