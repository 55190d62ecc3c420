/** A `fetch` whose requests custos makes: for programs and SDKs that take one of their own. */

import { Client } from "./client.ts";
import type { AgentParam } from "./common.ts";
import { CustosFetchError } from "./fetch_error.ts";
import { outgoingBody, outgoingHeaders } from "./fetch_request.ts";
import type { StreamPending } from "./http_schemas.ts";
import { RpcError } from "./rpc_error.ts";
import type { StreamedHttp } from "./stream.ts";

/** How {@link custosFetch} asks. */
export interface CustosFetchOptions {
  /** Path of the daemon's socket; or `client`. */
  socket?: string;
  /** A client that is there already. */
  client?: Client;
  /** Why, in words that the card shows as the agent's own: one text, or one for each request. */
  reason: string | ((request: Request) => string);
  /** Who asks, as the card shows it. */
  agent?: AgentParam;
  /** How long a request waits for the person, in milliseconds; 60 s when absent, at most 120 s, 0 returns at once. */
  wait_ms?: number;
  /** Hears the three words as soon as the person is asked, so that they can be told. */
  onWords?: (pending: StreamPending) => void | Promise<void>;
  /**
   * Names of headers that are left out, because custos puts the secret there: an SDK that insists on a key puts its
   * placeholder into them. `authorization` when absent.
   */
  replaces?: readonly string[];
}

/** Statuses whose response has no body (Fetch standard, null body status). */
const WITHOUT_BODY: ReadonlySet<number> = new Set([101, 103, 204, 205, 304]);

/**
 * Makes a `fetch` that sends every request with `handle`. The answer streams in constant memory. What differs from
 * `fetch`: nothing is sent before a person has approved it or a grant covers it; a redirect is handed back and never
 * followed; `set-cookie` and the secret are taken out of the answer; `credentials`, `cache`, `mode` and `referrer` mean
 * nothing.
 *
 * It rejects with a {@link CustosFetchError}, a `TypeError` whose `cause` is the `RpcError`, or with the signal's reason.
 * Turn retries of an SDK off: after `outcome_unknown` the request may have been carried out, and after `denied` a person
 * has said no.
 *
 * ```ts
 * import { custosFetch } from "@custos/rpc/custos_fetch";
 * const fetch = custosFetch("custos:github", { socket: "/run/user/1000/custos/custos.sock", reason: "list the issues" });
 * // const response = await fetch("https://api.github.com/repos/acme/site/issues");
 * if (typeof fetch !== "function") throw fetch;
 * ```
 */
export function custosFetch(handle: string, options: CustosFetchOptions): typeof fetch {
  const client = options.client ??
    (options.socket === undefined ? null : new Client({ socket: options.socket }));
  if (client === null) throw new TypeError("custosFetch needs a socket or a client.");
  return async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    request.signal.throwIfAborted();
    try {
      return await responseOf(await send(client, handle, request, options), request);
    } catch (error) {
      if (request.signal.aborted) throw request.signal.reason;
      throw error instanceof CustosFetchError ? error : new CustosFetchError(RpcError.from(error));
    }
  };
}

async function send(
  client: Client,
  handle: string,
  request: Request,
  options: CustosFetchOptions,
): Promise<StreamedHttp> {
  const { reason, agent, wait_ms, onWords, replaces = ["authorization"] } = options;
  const { body, upload } = await outgoingBody(request.body);
  return await client.streamHttp({
    handle,
    method: request.method,
    url: withoutFragment(request.url),
    headers: outgoingHeaders(request.headers, replaces),
    body,
    reason: typeof reason === "string" ? reason : reason(request),
    wait_ms,
    agent,
  }, { signal: request.signal, body: upload, onPending: onWords });
}

/** A fragment is for the caller alone (RFC 9110 §4.2.5). */
function withoutFragment(url: string): string {
  const at = url.indexOf("#");
  return at < 0 ? url : url.slice(0, at);
}

async function responseOf({ head, body }: StreamedHttp, request: Request): Promise<Response> {
  const about = (why: string) =>
    new CustosFetchError(new RpcError("internal", why).withRequest(head.request_id, head.fingerprint));
  const status = head.status_code;
  if (status < 200 || status > 599) {
    await body.cancel();
    throw about(`The server answered ${status}, which fetch has no response for.`);
  }
  if (request.redirect === "error" && status >= 300 && status < 400) {
    await body.cancel();
    throw about(`The server answered ${status}, and the caller wanted no redirect.`);
  }
  const empty = WITHOUT_BODY.has(status);
  if (empty) { for await (const _ of body); // its end says whether the answer was whole
   }
  const response = new Response(empty ? null : body, { status, headers: head.headers });
  // a made response has no address, and SDKs look at it
  return Object.defineProperty(response, "url", { value: withoutFragment(request.url) });
}
