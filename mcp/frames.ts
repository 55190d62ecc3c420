/**
 * One line of the MCP stdio transport as a JSON-RPC message. What cannot be one is answered, with the sender's id where
 * it can be seen, and never dropped in silence: a client that gets no answer waits for ever (B86, B87).
 */

import {
  INVALID_REQUEST,
  type JSONRPCMessage,
  LATEST_PROTOCOL_VERSION,
  PARSE_ERROR,
  parseJSONRPCMessage,
} from "@modelcontextprotocol/server";
import type { Line } from "./lines.ts";

/** The answer to a line that is not a message. `id` is null where the sender's cannot be known. */
export interface Refusal {
  jsonrpc: "2.0";
  id: string | number | null;
  error: { code: number; message: string };
}

/** What a line holds: a message, a refusal to send back, or nothing. */
export type Frame =
  | { readonly kind: "message"; readonly message: JSONRPCMessage }
  | { readonly kind: "refusal"; readonly refusal: Refusal }
  | { readonly kind: "nothing" };

/** Reads one line. Never throws. */
export function readFrame(line: Line): Frame {
  if (line.kind === "too_long") {
    return refuse(INVALID_REQUEST, "This line is too long. Send at most 8 MiB a message.");
  }
  if (line.kind === "not_utf8") return refuse(PARSE_ERROR, "This line is not UTF-8.");
  if (line.text.trim() === "") return { kind: "nothing" };
  let value: unknown;
  try {
    value = JSON.parse(line.text);
  } catch {
    return refuse(PARSE_ERROR, "This line is not JSON.");
  }
  if (Array.isArray(value)) {
    return refuse(INVALID_REQUEST, "Batches are not supported. Send one message a line.");
  }
  if (typeof value !== "object" || value === null) {
    return refuse(INVALID_REQUEST, "A message must be an object.");
  }
  const id = idOf(value);
  try {
    return { kind: "message", message: parseJSONRPCMessage(withVersion(value)) };
  } catch {
    return refuse(
      INVALID_REQUEST,
      'This is not a JSON-RPC 2.0 message: check "jsonrpc", "id", "method", "params".',
      id,
    );
  }
}

function refuse(code: number, message: string, id: string | number | null = null): Frame {
  return { kind: "refusal", refusal: { jsonrpc: "2.0", id, error: { code, message } } };
}

function idOf(value: object): string | number | null {
  const id = (value as { id?: unknown }).id;
  return typeof id === "string" || (typeof id === "number" && Number.isSafeInteger(id)) ? id : null;
}

/** An `initialize` that names no version gets the newest: the answer says which it is, and the client decides (B100). */
function withVersion(value: object): object {
  const { method, params } = value as { method?: unknown; params?: unknown };
  if (
    method !== "initialize" || typeof params !== "object" || params === null || "protocolVersion" in params
  ) {
    return value;
  }
  return { ...value, params: { ...params, protocolVersion: LATEST_PROTOCOL_VERSION } };
}
