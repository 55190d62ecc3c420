/** Reading params and results with messages that help: which member does not fit, and what its rule is, never its value. */

import type { Schema } from "@custos/core/schema";
import * as z from "zod/mini";
import { RpcError } from "./rpc_error.ts";

/** Rules in words, by the name of the member that broke them. */
const RULES: Readonly<Record<string, string>> = {
  handle: "A handle is custos: and a name, such as custos:github.",
  name: "A name has 1 to 63 of a-z, 0-9, _ and -, and begins with a letter.",
  reason: "A reason has 1 to 500 characters, not only blanks.",
  request_id: "A request id has 26 characters of a-z and 2-7.",
  grant_id: "A grant id has 26 characters of a-z and 2-7.",
  pairing_id: "A pairing id has 26 characters of a-z and 2-7.",
  wait_ms: "A wait is 0 to 120,000 milliseconds.",
  max_bytes: "An inline answer has at most 16,777,216 bytes; larger ones stream.",
  method: "A method is written in capitals, such as GET.",
  methods: "Methods are a list of names in capitals, such as GET.",
  url: "A URL has 1 to 8,192 characters.",
  headers: "Headers are at most 100 pairs of name and value.",
  body: 'A body has an encoding, "utf8" or "base64", and data.',
  path_prefix: "A path prefix begins with /, holds no blanks, and has at most 1,024 characters.",
  agent: "An agent has a name and a client of at most 64 characters each.",
  seconds: "Seconds are a whole number from 1 to 2,592,000.",
  uses: "Uses are a whole number from 1 to 1,000,000.",
  word: "The word is one of the three that the phone shows.",
};

/**
 * `value` as params of `method`. Throws `bad_request` that names the member and its rule. An unknown member is an error:
 * a misspelt limit must not be dropped in silence (B07).
 */
export function decodeParams<T>(schema: Schema<T>, value: unknown, method: string): T {
  const result = z.safeParse(schema, value);
  if (result.success) return result.data as T;
  const issue = result.error.issues[0];
  const path = (issue?.path ?? []).map(String);
  if (issue?.code === "unrecognized_keys") {
    const keys = issue.keys.filter((key) => /^\w{1,40}$/.test(key)).map((key) => ` "${key}"`).join(",");
    throw new RpcError("bad_request", `${method} does not know the member${keys}. Nothing was done.`);
  }
  const where = path.join(".");
  const place = /^[\w.]{1,80}$/.test(where) ? `"${where}" of ${method}` : `What was given to ${method}`;
  const rule = path.map((part) => RULES[part]).find((text) => text !== undefined) ?? "";
  throw new RpcError(
    "bad_request",
    `${place} does not fit. ${rule === "" ? "" : `${rule} `}Nothing was done.`,
  );
}

/** `value` as a result, or `null` if it does not decode. */
export function decodeResult<T>(schema: Schema<T>, value: unknown): T | null {
  const result = z.safeParse(schema, value);
  return result.success ? result.data as T : null;
}
