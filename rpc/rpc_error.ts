/**
 * Errors on the wire. `ErrorData` carries a request's id and its words together or not at all, and an error that is about
 * a request cannot be written or read without them: the words are how the human matches the card on every path
 * (DESIGN §5.3, ADR 0005).
 */

import { asCustosError, CustosError, ERROR_KINDS, type ErrorData, type ErrorKind } from "@custos/core/errors";
import { optional, type Schema, shape, text, timeMs, whole, word } from "@custos/core/schema";
import * as z from "zod/mini";
import { FINGERPRINT, ID } from "./common.ts";
import { codeFits, ERROR_CODES } from "./error_codes.ts";

/** The `error` member of a JSON-RPC response. */
export interface JsonRpcErrorObject {
  code: number;
  message: string;
  data: ErrorData;
}

/** The id of a JSON-RPC call; `null` only in replies to calls whose id could not be read. */
export type JsonRpcId = string | number | null;

/** A JSON-RPC response that reports an error. */
export interface JsonRpcErrorResponse {
  jsonrpc: "2.0";
  id: JsonRpcId;
  error: JsonRpcErrorObject;
}

/** Kinds that say what became of one request, and so mean nothing without it. */
const ABOUT_A_REQUEST: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  "needs_approval",
  "denied",
  "expired",
  "withdrawn",
]);

const dataShape: Schema<ErrorData> = shape<ErrorData>({
  kind: word<ErrorKind>(...ERROR_KINDS),
  request_id: optional(ID),
  fingerprint: optional(FINGERPRINT),
  until_ms: optional(timeMs),
});

/** Schema of error data: id and words together, and present wherever the kind is about a request. */
export const ERROR_DATA: Schema<ErrorData> = dataShape.check(
  z.refine((data) => (data.request_id === undefined) === (data.fingerprint === undefined)),
  z.refine((data) => data.request_id !== undefined || !ABOUT_A_REQUEST.has(data.kind)),
);

const ERROR_OBJECT: Schema<JsonRpcErrorObject> = shape<JsonRpcErrorObject>({
  code: whole(-32_768, -32_000),
  message: text(4_000),
  data: ERROR_DATA,
});

/**
 * A `CustosError` that knows its wire form.
 *
 * ```ts
 * import { RpcError } from "@custos/rpc/rpc_error";
 * const error = RpcError.needsApproval("aaaaaaaaaaaaaaaaaaaaaaaaaa", "rocket velvet oasis");
 * const back = RpcError.fromJsonRpc(error.toJsonRpc(1).error);
 * if (back?.request?.fingerprint !== "rocket velvet oasis") throw error;
 * ```
 */
export class RpcError extends CustosError {
  override readonly name: string = "RpcError";

  /** `needs_approval` about a request: nothing was sent, and the human has to answer first. */
  static needsApproval(id: string, fingerprint: string): RpcError {
    return new RpcError(
      "needs_approval",
      "Nothing was sent. This needs an answer on the phone first: compare the three words there with these.",
    ).withRequest(id, fingerprint);
  }

  /** Any error as an `RpcError`; an unexpected one becomes `internal` without its text, which could hold a value. */
  static from(error: unknown): RpcError {
    if (error instanceof RpcError) return error;
    const known = asCustosError(error);
    return new RpcError(known.kind, known.message, aboutOf(known.request, known.until_ms));
  }

  /**
   * The error that a JSON-RPC error object describes, or `null` where it does not decode: an unknown kind, a code of
   * another kind, an unknown member, an id without words, words without an id. The caller decides what an undecodable
   * reply means for its method.
   */
  static fromJsonRpc(object: unknown): RpcError | null {
    const result = z.safeParse(ERROR_OBJECT, object);
    if (!result.success) return null;
    const { code, message, data } = result.data as JsonRpcErrorObject;
    if (!codeFits(data.kind, code)) return null;
    const request = data.request_id !== undefined && data.fingerprint !== undefined
      ? { id: data.request_id, fingerprint: data.fingerprint }
      : null;
    return new RpcError(data.kind, message, aboutOf(request, data.until_ms ?? null));
  }

  /** The same error about a request: sets id and words together. */
  override withRequest(id: string, fingerprint: string): RpcError {
    return new RpcError(this.kind, this.message, aboutOf({ id, fingerprint }, this.until_ms));
  }

  /** What travels beside the message. */
  get data(): ErrorData {
    return {
      kind: this.kind,
      ...(this.request === null
        ? {}
        : { request_id: this.request.id, fingerprint: this.request.fingerprint }),
      ...(this.until_ms === null ? {} : { until_ms: this.until_ms }),
    };
  }

  /**
   * The error object on the wire. An error whose own data would not decode at the other end (a bug: `denied` without its
   * request) goes out as `internal`, so that it fails here, in the daemon, and not in every client.
   */
  toErrorObject(code: number = ERROR_CODES[this.kind].json_rpc): JsonRpcErrorObject {
    const object = { code, message: this.message.toWellFormed().slice(0, 4_000), data: this.data };
    if (z.safeParse(ERROR_OBJECT, object).success) return object;
    return {
      code: ERROR_CODES.internal.json_rpc,
      message:
        `custos made an error of kind ${this.kind} that does not name its request. This is a bug in custos.`,
      data: { kind: "internal" },
    };
  }

  /** The whole JSON-RPC response to the call with this id. */
  toJsonRpc(id: JsonRpcId): JsonRpcErrorResponse {
    return { jsonrpc: "2.0", id, error: this.toErrorObject() };
  }
}

function aboutOf(
  request: { id: string; fingerprint: string } | null,
  until_ms: number | null,
): { request?: { id: string; fingerprint: string }; until_ms?: number } {
  return { ...(request === null ? {} : { request }), ...(until_ms === null ? {} : { until_ms }) };
}
