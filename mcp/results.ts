/**
 * Results of tools. The first text block holds custos's own words and nothing else; text from outside comes after it, in
 * blocks and fields of its own, so that it cannot imitate them (B102). An error is a tool error with a stable code (B97)
 * and carries the request's id and words wherever it is about one (DESIGN §5.3).
 */

import { displaySafe } from "@custos/core/display";
import { asCustosError, type CustosError, type ErrorKind } from "@custos/core/errors";
import { ADVICE } from "./advice.ts";

/** What a tool gives back: MCP's CallToolResult, narrowed to what custos sends. */
export interface ToolResult {
  content: { type: "text"; text: string }[];
  structuredContent: Record<string, unknown>;
  isError?: boolean;
}

/** A request that a result is about. */
export interface About {
  request_id: string;
  fingerprint: string;
}

/** Kinds that say what became of a request; they are the result's `status` too. */
const OUTCOMES: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  "denied",
  "expired",
  "withdrawn",
  "cooling_down",
]);

/** A result: custos's words, the fields, and blocks of text from outside. */
export function toolResult(
  words: string,
  fields: Record<string, unknown>,
  outside: readonly string[] = [],
): ToolResult {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  return {
    content: [words, ...outside].map((text) => ({ type: "text", text: text.toWellFormed() })),
    structuredContent: Object.fromEntries(present),
  };
}

/** The tool error for anything that was thrown. What custos did not expect becomes `internal`, without its text. */
export function errorResult(thrown: unknown): ToolResult {
  const error = asCustosError(thrown);
  const message = displaySafe(error.message);
  const until = error.until_ms === null ? "" : ` Until ${new Date(error.until_ms).toISOString()}.`;
  const about = error.request === null ? "" : ` ${aboutLine(error.request.id, error.request.fingerprint)}`;
  const result = toolResult(`Error ${error.kind}: ${message}${until} ${ADVICE[error.kind]}${about}`, {
    status: OUTCOMES.has(error.kind) ? error.kind : "error",
    error: error.kind,
    message,
    next_step: ADVICE[error.kind],
    request_id: error.request?.id,
    fingerprint: error.request?.fingerprint,
    until_ms: error.until_ms ?? undefined,
  });
  return { ...result, isError: true };
}

/** The line that names a request in text, for clients that show no fields. */
export function aboutLine(id: string, fingerprint: string): string {
  return `Request ${id}, fingerprint: ${fingerprint}.`;
}

/** `error` about the request that a call was waiting for, if it does not name one itself. */
export function withAbout(thrown: unknown, about: About): CustosError {
  const error = asCustosError(thrown);
  return error.request === null ? error.withRequest(about.request_id, about.fingerprint) : error;
}
