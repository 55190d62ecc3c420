/**
 * What a failed `fetch` means. The runtime's errors have no codes, so this one file reads their text, as measured on Deno
 * 2.9.6, and everything that it does not know is `outcome_unknown` (DESIGN §9). No text of the runtime is passed on: it
 * holds the URL and may hold a header's value, and with them the secret (B70).
 */

import { CustosError, type ErrorKind } from "@custos/core/errors";
import { hostScope } from "@custos/core/host_scope";
import type { Target } from "@custos/core/target";

/** Methods that change nothing at the server (RFC 9110 §9.2.1), so that asking again is harmless. */
export function isSafeMethod(method: string): boolean {
  return method === "GET" || method === "HEAD" || method === "OPTIONS";
}

/** Causes of a failed connection: [text of the runtime, our words]. */
const CONNECT_REASONS: readonly (readonly [RegExp, string])[] = [
  [/dns error/, "its name does not resolve"],
  [/Connection refused/, "it refused the connection"],
  [/timed out/, "it did not answer"],
  [/unreachable|No route/, "there is no route to it"],
  [/certificate|UnknownIssuer|NotValidForName/i, "its TLS certificate was not accepted"],
  [/corrupt message|tls|handshake|alert|InvalidContentType/i, "the TLS handshake failed"],
  [/reset|closed|eof/i, "it closed the connection at once"],
];

/** What a rejected `fetch` means for a request to `target`. Never holds text of the error. */
export function classifyFetchError(error: unknown, target: Target): CustosError {
  const { name, text } = describe(error);
  if (name === "NotCapable" || (text.includes("(Connect)") && text.includes("Requires net access to"))) {
    return deniedByRuntime(name, target);
  }
  if (/^Fetch failed: Requests to port \d+ are blocked/.test(text)) {
    return never(
      "host_not_allowed",
      `The runtime does not connect to the port of ${target.host}. Nothing was sent.`,
    );
  }
  if (text.includes("client error (Connect)")) {
    const reason = CONNECT_REASONS.find(([pattern]) => pattern.test(text))?.[1] ?? "the connection failed";
    return never("upstream_unreachable", `${target.host} cannot be reached: ${reason}. Nothing was sent.`);
  }
  if (/^Invalid header (?:name|value)/.test(text)) {
    return never("header_not_allowed", "The runtime refused a header of this request. Nothing was sent.");
  }
  const about = /message head is too large/.test(text)
    ? `The answer of ${target.host} has more than 100 headers, or too large ones, so it was not read.`
    : `The connection to ${target.host} ended before an answer came.`;
  return new CustosError("outcome_unknown", `${about} ${mayBeDone(target.method)}`);
}

/** What a body that broke off means: bytes that came before were passed on, the rest is missing (B82). */
export function brokenBody(target: Target, received: number): CustosError {
  return new CustosError(
    "outcome_unknown",
    `The answer of ${target.host} broke off after ${received} bytes. What came is incomplete. ${
      mayBeDone(target.method)
    }`,
  );
}

/** A time limit. Only safe methods have a known outcome: asking again does no harm (B77, B167). */
export function timedOut(target: Target, milliseconds: number, what: "headers" | "total"): CustosError {
  const kind: ErrorKind = isSafeMethod(target.method) ? "upstream_timeout" : "outcome_unknown";
  const limit = what === "headers" ? "began no answer" : "did not finish its answer";
  return new CustosError(
    kind,
    `${target.host} ${limit} within ${milliseconds} ms. ${mayBeDone(target.method)}`,
  );
}

/** What the caller should know about a request whose answer is missing. */
export function mayBeDone(method: string): string {
  return isSafeMethod(method)
    ? "The request may have been sent."
    : `The ${method} may have been carried out, so look before you send it again.`;
}

/** The runtime's own check, before DNS as `NotCapable`, after it as text: a name that points inside ends here (B13). */
function deniedByRuntime(name: string, target: Target): CustosError {
  const afterDns = name !== "NotCapable";
  if (afterDns || hostScope(target.hostname) !== "public") {
    return never(
      "private_address",
      `${target.host} is at an address that this daemon may not reach. Nothing was sent.`,
    );
  }
  return never(
    "host_not_allowed",
    `The sandbox of this secret may not reach ${target.host}. Nothing was sent.`,
  );
}

function never(kind: ErrorKind, message: string): CustosError {
  return new CustosError(kind, message);
}

/** Name and text of an error with those of its causes. */
function describe(error: unknown): { name: string; text: string } {
  const parts: string[] = [];
  let name = "";
  for (let at: unknown = error; at instanceof Error && parts.length < 4; at = at.cause) {
    name ||= at.name;
    parts.push(at.message);
  }
  return { name, text: parts.join(" | ") };
}
