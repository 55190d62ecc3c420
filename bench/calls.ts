/** Calls of `http.request` as load: what an agent sends, for a load generator. */

import type { HttpParams } from "@custos/rpc/http_schemas";
import { AGENT } from "./house.ts";
import type { Load } from "./load.ts";

/** The params of a request that the bench's agent makes with a handle. */
export function paramsOf(name: string, method: "GET" | "POST", url: string, body?: string): HttpParams {
  return {
    handle: `custos:${name}`,
    method,
    url,
    reason: "bench",
    wait_ms: 0,
    agent: { name: AGENT },
    ...(body === undefined ? {} : { body: { encoding: "utf8", data: body } }),
  };
}

type Call = Pick<Load, "url" | "method" | "headers" | "body">;
const headers = { "Content-Type": "application/json" };

/** The call as MCP makes it: JSON-RPC, the answer inline. */
export function rpcCall(door: string, params: HttpParams): Call {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "http.request", params });
  return { url: `${door}/rpc`, method: "POST", headers, body };
}

/** The call as `custos http` makes it: the answer streams. */
export function streamCall(door: string, params: HttpParams): Call {
  return { url: `${door}/http`, method: "POST", headers, body: JSON.stringify(params) };
}
