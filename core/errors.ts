/**
 * The closed union of everything that can go wrong, as codes. Decisions are made on `kind`, never on message text.
 * `rpc/error_codes.ts` maps each kind to one JSON-RPC code and one exit code (DESIGN §9).
 */

/** Every kind of error, in the order of DESIGN §9. */
export const ERROR_KINDS = [
  "needs_approval",
  "denied",
  "expired",
  "withdrawn",
  "cooling_down",
  "no_device",
  "too_many_pending",
  "pairing_refused",
  "unknown_handle",
  "unknown_request",
  "bad_request",
  "host_not_allowed",
  "method_not_allowed",
  "path_not_allowed",
  "header_not_allowed",
  "body_too_large",
  "private_address",
  "upstream_unreachable",
  "upstream_timeout",
  "undecodable_encoding",
  "outcome_unknown",
  "storage",
  "locked",
  "daemon_unreachable",
  "internal",
] as const;

/** One kind of error. */
export type ErrorKind = typeof ERROR_KINDS[number];

/**
 * What travels with an error. `request_id` and `fingerprint` come together or not at all (ADR 0005): one without the
 * other does not decode. `until_ms` is the wall-clock time at which a cool-down ends.
 */
export interface ErrorData {
  kind: ErrorKind;
  request_id?: string;
  fingerprint?: string;
  until_ms?: number;
}

/**
 * An expected failure. The message is for people: what happened, to what, and what to do. It never holds a secret or an
 * expected value (a challenge, a token, a header's value).
 *
 * ```ts
 * import { CustosError } from "@custos/core/errors";
 * const error = new CustosError("unknown_handle", "There is no secret named custos:github.");
 * if (error.kind !== "unknown_handle") throw error;
 * ```
 */
export class CustosError extends Error {
  override readonly name: string = "CustosError";
  readonly kind: ErrorKind;
  /** The request this error is about, with its words; both or neither. */
  readonly request: { readonly id: string; readonly fingerprint: string } | null;
  readonly until_ms: number | null;

  constructor(
    kind: ErrorKind,
    message: string,
    about: { request?: { id: string; fingerprint: string }; until_ms?: number } = {},
  ) {
    super(message);
    this.kind = kind;
    this.request = about.request ?? null;
    this.until_ms = about.until_ms ?? null;
  }

  /** The same error about a request: sets id and words together. */
  withRequest(id: string, fingerprint: string): CustosError {
    return new CustosError(this.kind, this.message, {
      request: { id, fingerprint },
      ...(this.until_ms === null ? {} : { until_ms: this.until_ms }),
    });
  }
}

/** `error` if it is expected, else `internal` without its text, which could hold a value that must not travel. */
export function asCustosError(error: unknown): CustosError {
  if (error instanceof CustosError) return error;
  return new CustosError(
    "internal",
    "Something unexpected failed inside custos. The daemon's log has the place.",
  );
}
