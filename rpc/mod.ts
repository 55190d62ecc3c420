/**
 * What an agent can say to the daemon: methods with their schemas, errors with their codes, a client and the helpers of
 * a server. Importing one part by its own name (`@custos/rpc/client`) loads no more than that part.
 *
 * @module
 */

export {
  type CallOptions,
  Client,
  type ClientOptions,
  type FetchLike,
  type StreamOptions,
} from "./client.ts";
export { custosFetch, type CustosFetchOptions } from "./custos_fetch.ts";
export { CustosFetchError } from "./fetch_error.ts";
export type { AgentParam, AgentView, Delivery, RequestStatus, RequestType } from "./common.ts";
export type { ChannelView, DaemonLockResult, DaemonStatusResult, RelayView } from "./daemon_schemas.ts";
export { ERROR_CODES, type ErrorCode, type ExitCode, exitCodeOf } from "./error_codes.ts";
export {
  bodyBytes,
  type BodyEncoding,
  type HeaderPair,
  type HttpBody,
  type HttpParams,
  type HttpResult,
  type StreamEnd,
  type StreamHead,
  type StreamPending,
} from "./http_schemas.ts";
export type {
  DevicesListResult,
  DeviceView,
  GrantsListResult,
  GrantsRevokeParams,
  GrantsRevokeResult,
  GrantView,
  HandlesListResult,
  HandleView,
  PlacementView,
  RecipientsListResult,
  RecipientView,
} from "./inventory_schemas.ts";
export {
  DEFAULT_MAX_BYTES,
  DEFAULT_WAIT_MS,
  MAX_CALL_BYTES,
  MAX_INLINE_BYTES,
  MAX_LOG_ENTRIES,
  MAX_REPLY_BYTES,
  MAX_REQUEST_BODY_BYTES,
  MAX_UPLOAD_BYTES,
  MAX_WAIT_MS,
} from "./limits.ts";
export type { LogCheckpointResult, LogEntryView, LogReadParams, LogReadResult } from "./log_schemas.ts";
export {
  ACTS,
  isMethodName,
  type Method,
  type MethodName,
  METHODS,
  type Methods,
  type Params,
  type Result,
} from "./methods.ts";
export type {
  PairBeginResult,
  PairConfirmParams,
  PairConfirmResult,
  PairState,
  PairStatusParams,
  PairStatusResult,
} from "./pair_schemas.ts";
export type {
  AccessRequestParams,
  AccessRequestResult,
  AccessStatusParams,
  AccessStatusResult,
  AccessWithdrawParams,
  AccessWithdrawResult,
  DropRequestParams,
  DropRequestResult,
  DropSuggestions,
  PolicyConfirmParams,
  PolicyConfirmResult,
  ReceiptGetParams,
  ReceiptGetResult,
  RequestResult,
  RequestsListParams,
  RequestsListResult,
  RequestView,
  SecretProposeParams,
  SecretProposeResult,
} from "./request_schemas.ts";
export { type JsonRpcErrorObject, type JsonRpcErrorResponse, type JsonRpcId, RpcError } from "./rpc_error.ts";
export {
  dispatch,
  dispatchText,
  type Handlers,
  type JsonRpcResponse,
  type JsonRpcResultResponse,
  type OnUnexpected,
  readStreamParams,
} from "./server.ts";
export { ConnectFailed, type Exchange, postUnix } from "./unix_http.ts";
export { streamReply, type StreamSource } from "./stream_reply.ts";
export { decodeUpload, encodeUpload, type Upload } from "./upload.ts";
export {
  decodeStream,
  encodeStream,
  type OnPending,
  STREAM_TYPE,
  type StreamedHttp,
  streamErrorResponse,
  streamResponse,
} from "./stream.ts";
