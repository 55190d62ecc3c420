/**
 * The daemon's side of JSON-RPC 2.0: one call in, one response out. No batches and no notifications: every call that may
 * act has an answer that somebody waits for. A result is checked before it leaves, so that a result without its words
 * fails in the daemon as loudly as it would in a client (DESIGN §5.3).
 */

import { CustosError } from "@custos/core/errors";
import { type Schema, shape, text } from "@custos/core/schema";
import * as z from "zod/mini";
import { decodeParams, decodeResult } from "./decode.ts";
import { PROTOCOL_CODES } from "./error_codes.ts";
import { HTTP_STREAM_PARAMS, type HttpParams } from "./http_schemas.ts";
import { ACTS, isMethodName, type MethodName, METHODS, type Params, type Result } from "./methods.ts";
import { type JsonRpcErrorResponse, type JsonRpcId, RpcError } from "./rpc_error.ts";

/** One function for each method. `C` is what the daemon knows of the caller (its signal, its connection). */
export type Handlers<C> = { [M in MethodName]: (params: Params<M>, context: C) => Promise<Result<M>> };

/** A JSON-RPC response with a result. */
export interface JsonRpcResultResponse {
  jsonrpc: "2.0";
  id: JsonRpcId;
  result: unknown;
}

/** Any JSON-RPC response. */
export type JsonRpcResponse = JsonRpcResultResponse | JsonRpcErrorResponse;

/** Called with an error that is not a `CustosError`; its text must not travel, but the daemon may want its place. */
export type OnUnexpected = (error: unknown, method: MethodName) => void;

interface Call {
  jsonrpc: "2.0";
  id: string | number;
  method: string;
  params?: Record<string, unknown>;
}

const ID_SCHEMA = z.union([text(64), z.number().check(z.int())]) as unknown as Schema<string | number>;
const CALL: Schema<Call> = shape<Call>({
  jsonrpc: z.literal("2.0") as unknown as Schema<"2.0">,
  id: ID_SCHEMA,
  method: text(64),
  params: z.optional(z.record(z.string(), z.unknown())) as unknown as Schema<
    Record<string, unknown> | undefined
  >,
});

/**
 * Answers one call, already parsed from JSON. Never throws: whatever goes wrong is a response.
 * A method that `handlers` lacks is answered like one that does not exist.
 */
export async function dispatch<C>(
  handlers: Partial<Handlers<C>>,
  request: unknown,
  context: C,
  onUnexpected: OnUnexpected = () => {},
): Promise<JsonRpcResponse> {
  const call = decodeResult(CALL, request);
  if (call === null) {
    return protocolError(idOf(request), "invalid_request", "This is not one JSON-RPC 2.0 call with an id.");
  }
  const { id, method } = call;
  if (!isMethodName(method) || handlers[method] === undefined) {
    return protocolError(id, "method_not_found", "The daemon has no method of this name.");
  }
  try {
    return { jsonrpc: "2.0", id, result: await run(handlers, method, call.params ?? {}, context) };
  } catch (error) {
    if (!(error instanceof CustosError)) onUnexpected(error, method);
    return RpcError.from(error).toJsonRpc(id);
  }
}

/** {@link dispatch} for the text of a call. */
export async function dispatchText<C>(
  handlers: Partial<Handlers<C>>,
  body: string,
  context: C,
  onUnexpected: OnUnexpected = () => {},
): Promise<JsonRpcResponse> {
  let request: unknown;
  try {
    request = JSON.parse(body);
  } catch {
    return protocolError(null, "parse_error", "The call is not JSON.");
  }
  return await dispatch(handlers, request, context, onUnexpected);
}

/** Params of the streaming form of `http.request`, from the text of its body. Throws `bad_request`. */
export function readStreamParams(body: string): HttpParams {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    throw new RpcError("bad_request", "The call is not JSON. Nothing was sent.");
  }
  return decodeParams(HTTP_STREAM_PARAMS, value, "http.request");
}

async function run<C, M extends MethodName>(
  handlers: Partial<Handlers<C>>,
  method: M,
  params: unknown,
  context: C,
): Promise<Result<M>> {
  const table = METHODS[method];
  const handler = handlers[method] as Handlers<C>[M];
  const result = await handler(decodeParams<Params<M>>(table.params, params, method), context);
  const decoded = decodeResult<Result<M>>(table.result, result);
  if (decoded !== null) return decoded;
  throw new RpcError(
    ACTS[method] ? "outcome_unknown" : "internal",
    `The daemon made a result of ${method} that does not have the agreed form. This is a bug in custos.` +
      (ACTS[method] ? " The action may have happened: look at custos log before you try again." : ""),
  );
}

function protocolError(
  id: JsonRpcId,
  code: keyof typeof PROTOCOL_CODES,
  message: string,
): JsonRpcErrorResponse {
  const error = new RpcError("bad_request", `${message} Nothing was done.`);
  return { jsonrpc: "2.0", id, error: error.toErrorObject(PROTOCOL_CODES[code]) };
}

/** The id of a malformed call where it can be read, as JSON-RPC 2.0 §5 asks, else `null`. */
function idOf(request: unknown): JsonRpcId {
  const id = typeof request === "object" && request !== null ? (request as { id?: unknown }).id : null;
  return decodeResult(ID_SCHEMA, id);
}
