/**
 * The one table from error kinds to numbers: one JSON-RPC code for programs, one exit code for shells (DESIGN §9, §11).
 * It is total over `ErrorKind` by its type, so a new kind does not compile until it has both.
 */

import { ERROR_KINDS, type ErrorKind } from "@custos/core/errors";

/** What a command's exit code can be (DESIGN §11). */
export type ExitCode = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;

/** The two numbers of a kind. */
export interface ErrorCode {
  /** JSON-RPC `error.code`, unique to the kind, in the range that JSON-RPC 2.0 §5.1 leaves to servers. */
  json_rpc: number;
  /** Exit code of the CLI. */
  exit: ExitCode;
}

/** Codes by kind. The JSON-RPC numbers are part of the protocol: a kind keeps its number for ever. */
export const ERROR_CODES: { readonly [K in ErrorKind]: ErrorCode } = {
  needs_approval: { json_rpc: -32000, exit: 3 },
  denied: { json_rpc: -32001, exit: 4 },
  expired: { json_rpc: -32002, exit: 4 },
  withdrawn: { json_rpc: -32003, exit: 4 },
  cooling_down: { json_rpc: -32004, exit: 4 },
  no_device: { json_rpc: -32005, exit: 6 },
  too_many_pending: { json_rpc: -32006, exit: 4 },
  pairing_refused: { json_rpc: -32007, exit: 4 },
  unknown_handle: { json_rpc: -32008, exit: 7 },
  unknown_request: { json_rpc: -32009, exit: 2 },
  bad_request: { json_rpc: -32010, exit: 2 },
  host_not_allowed: { json_rpc: -32011, exit: 7 },
  method_not_allowed: { json_rpc: -32012, exit: 7 },
  path_not_allowed: { json_rpc: -32013, exit: 7 },
  header_not_allowed: { json_rpc: -32014, exit: 7 },
  body_too_large: { json_rpc: -32015, exit: 7 },
  private_address: { json_rpc: -32016, exit: 7 },
  upstream_unreachable: { json_rpc: -32017, exit: 8 },
  upstream_timeout: { json_rpc: -32018, exit: 8 },
  undecodable_encoding: { json_rpc: -32019, exit: 8 },
  outcome_unknown: { json_rpc: -32020, exit: 5 },
  storage: { json_rpc: -32021, exit: 5 },
  locked: { json_rpc: -32022, exit: 6 },
  daemon_unreachable: { json_rpc: -32023, exit: 6 },
  internal: { json_rpc: -32024, exit: 5 },
};

/** Codes that JSON-RPC 2.0 §5.1 reserves for faults of the envelope; custos sends them with kind `bad_request`. */
export const PROTOCOL_CODES = {
  parse_error: -32700,
  invalid_request: -32600,
  method_not_found: -32601,
} as const;

/** The exit code of a kind. */
export function exitCodeOf(kind: ErrorKind): ExitCode {
  return ERROR_CODES[kind].exit;
}

/** Whether `code` is one that an error of this kind may carry. */
export function codeFits(kind: ErrorKind, code: number): boolean {
  if (ERROR_CODES[kind].json_rpc === code) return true;
  return kind === "bad_request" && Object.values<number>(PROTOCOL_CODES).includes(code);
}

/** Whether a word is one of the closed union of kinds. */
export function isErrorKind(word: string): word is ErrorKind {
  return (ERROR_KINDS as readonly string[]).includes(word);
}
