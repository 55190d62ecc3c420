/**
 * Messages between the daemon and a cell, in lists (see `outbox.ts`). Buffers are transferred, never copied. `id` counts requests of one cell; the
 * cell answers each `request` with `head` and chunks up to one `end`, with `whole`, or with `failed`.
 */

import type { ErrorKind } from "@custos/core/errors";
import type { Policy } from "@custos/core/policy";
import type { TimeLimits } from "./time_limits.ts";

/** Bytes of a body that a cell may send before the daemon has taken any. */
export const WINDOW_BYTES = 524_288;
/** Credit is given in steps of at least this, so that it costs few messages. */
export const CREDIT_STEP_BYTES = 65_536;
/** A body whose length is declared and at most this comes in one message with its headers. */
export const WHOLE_BYTES = 32_768;

/** The secret to use: an age file, the key of exactly this file, and the policy it must hold. */
export interface OpenMessage {
  type: "open";
  age_file: Uint8Array;
  file_key: Uint8Array;
  policy: Policy;
  policy_hash: string;
}

/** One request. `body` is bytes, a stream that is transferred, or nothing. */
export interface RequestMessage extends TimeLimits {
  type: "request";
  id: number;
  method: string;
  url: string;
  headers: [string, string][];
  body: Uint8Array | ReadableStream<Uint8Array> | null;
  /** Bytes that a stream will give, where that is known: it is then sent with its length, else chunked. */
  body_bytes: number | null;
  /** Most bytes of the scrubbed body; what is beyond is left out and said to be. */
  max_bytes: number;
  /** Whether a connection may be kept and used again: the runtime may then repeat a GET or HEAD by itself. */
  keep_alive: boolean;
}

/** What the daemon says. */
export type ToCell =
  | OpenMessage
  | RequestMessage
  | { type: "credit"; id: number; bytes: number }
  | { type: "abort"; id: number };

/** What a finished answer adds to its bytes. */
export interface CellSummary {
  /** Forms of the secret that were replaced, in headers and body. */
  redactions: number;
  /** Whether `max_bytes` left something out. */
  truncated: boolean;
  /** Bytes of the body as they came, decoded, before scrubbing. */
  received_bytes: number;
  /** SHA-256 of the scrubbed body, as base64url. */
  sha256: string;
}

/** Status and scrubbed headers. */
export interface CellHead {
  status: number;
  headers: [string, string][];
}

/** What the cell says. */
export type FromCell =
  | { type: "opened" }
  | { type: "refused"; kind: ErrorKind; message: string }
  | { type: "head"; id: number; head: CellHead }
  | { type: "chunk"; id: number; bytes: Uint8Array<ArrayBuffer> }
  | { type: "end"; id: number; summary: CellSummary }
  | { type: "whole"; id: number; head: CellHead; bytes: Uint8Array<ArrayBuffer>; summary: CellSummary }
  | { type: "failed"; id: number; kind: ErrorKind; message: string };
