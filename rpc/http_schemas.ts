/** `http.request`: an HTTP request made with a handle, inline (`HttpResult`) or streamed (`stream.ts`). */

import { type Bytes, fromBase64, toBase64, utf8 } from "@custos/core/bytes";
import { flag, list, optional, type Schema, shape, text, whole, word } from "@custos/core/schema";
import * as z from "zod/mini";
import { AGENT_PARAM, type AgentParam, FINGERPRINT, HANDLE, ID, METHOD, REASON, WAIT_MS } from "./common.ts";
import { MAX_INLINE_BYTES, MAX_REQUEST_BODY_BYTES } from "./limits.ts";
import { RpcError } from "./rpc_error.ts";

/** A name and a value, in order; names may repeat. */
export type HeaderPair = [string, string];
const headerPairs = (max: number, maxValue: number): Schema<HeaderPair[]> =>
  list(z.tuple([text(256, 1), text(maxValue)]) as unknown as Schema<HeaderPair>, max);

/** How bytes are written in JSON: as text where they are UTF-8, else as standard base64 with padding. */
export type BodyEncoding = "utf8" | "base64";

/** A request body in JSON. */
export interface HttpBody {
  encoding: BodyEncoding;
  data: string;
}

/** Params of `http.request`. */
export interface HttpParams {
  handle: string;
  method: string;
  url: string;
  headers?: HeaderPair[];
  body?: HttpBody;
  reason: string;
  wait_ms?: number;
  /** Bytes of the answer's body to return; the rest is dropped and `truncated` says so. */
  max_bytes?: number;
  agent?: AgentParam;
}

const httpParams = (maxBytes: number): Schema<HttpParams> =>
  shape<HttpParams>({
    handle: HANDLE,
    method: METHOD,
    url: text(8_192, 1),
    headers: optional(headerPairs(100, 8_192)),
    // twice the limit, so that a body just over it is refused as `body_too_large` and not as a malformed call
    body: optional(
      shape<HttpBody>({ encoding: word("utf8", "base64"), data: text(2 * MAX_REQUEST_BODY_BYTES) }),
    ),
    reason: REASON,
    wait_ms: optional(WAIT_MS),
    max_bytes: optional(whole(0, maxBytes)),
    agent: optional(AGENT_PARAM),
  });

/** Schema of {@link HttpParams} for the inline form. */
export const HTTP_PARAMS: Schema<HttpParams> = httpParams(MAX_INLINE_BYTES);
/** Schema of {@link HttpParams} for the streaming form, where `max_bytes` has no bound and is unlimited when absent. */
export const HTTP_STREAM_PARAMS: Schema<HttpParams> = httpParams(Number.MAX_SAFE_INTEGER);

/** Result of `http.request`. `fingerprint` is of the request whose grant allowed it. */
export interface HttpResult {
  request_id: string;
  fingerprint: string;
  status_code: number;
  headers: HeaderPair[];
  body: string;
  body_encoding: BodyEncoding;
  truncated: boolean;
  /** How many times the secret was found in the answer and replaced. */
  redactions: number;
  /** Bytes of body that the upstream sent, after decoding, before scrubbing and truncation. */
  received_bytes: number;
}

/** What a streamed call waits for before its head: the request that is on the phone. */
export interface StreamPending {
  request_id: string;
  fingerprint: string;
}
/** Head of a streamed answer. */
export interface StreamHead {
  request_id: string;
  fingerprint: string;
  status_code: number;
  headers: HeaderPair[];
}
/** End of a streamed answer. */
export interface StreamEnd {
  truncated: boolean;
  redactions: number;
  received_bytes: number;
}

const head = {
  request_id: ID,
  fingerprint: FINGERPRINT,
  status_code: whole(100, 999),
  headers: headerPairs(1_000, 1_048_576),
};
const end = {
  truncated: flag,
  redactions: whole(0, Number.MAX_SAFE_INTEGER),
  received_bytes: whole(0, Number.MAX_SAFE_INTEGER),
};

/** Schema of {@link HttpResult}. */
export const HTTP_RESULT: Schema<HttpResult> = shape<HttpResult>({
  ...head,
  body: text(Math.ceil(MAX_INLINE_BYTES / 3) * 4),
  body_encoding: word("utf8", "base64"),
  ...end,
});
/** Schema of {@link StreamPending}. */
export const STREAM_PENDING: Schema<StreamPending> = shape<StreamPending>({
  request_id: ID,
  fingerprint: FINGERPRINT,
});
/** Schema of {@link StreamHead}. */
export const STREAM_HEAD: Schema<StreamHead> = shape<StreamHead>(head);
/** Schema of {@link StreamEnd}. */
export const STREAM_END: Schema<StreamEnd> = shape<StreamEnd>(end);

/**
 * The bytes of a body in JSON. Throws `bad_request` on broken base64 and `body_too_large` above
 * `MAX_REQUEST_BODY_BYTES`.
 */
export function bodyBytes(body: HttpBody): Bytes {
  const bytes = body.encoding === "utf8" ? utf8(body.data) : fromBase64(body.data);
  if (bytes === null) {
    throw new RpcError("bad_request", "The request body says base64 and is not. Nothing was sent.");
  }
  if (bytes.length > MAX_REQUEST_BODY_BYTES) {
    throw new RpcError(
      "body_too_large",
      `The request body has ${bytes.length} bytes and may have ${MAX_REQUEST_BODY_BYTES}. Nothing was sent.`,
    );
  }
  return bytes;
}

/** Bytes as an inline result has them. The inverse of {@link bodyBytes}, without its limit. */
export function bodyInJson(bytes: Uint8Array): Pick<HttpResult, "body" | "body_encoding"> {
  try {
    const body = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return { body, body_encoding: "utf8" };
  } catch {
    return { body: toBase64(bytes), body_encoding: "base64" };
  }
}
