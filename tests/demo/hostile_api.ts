/** The outside world of the demo: an API on loopback that gives back every header it gets, the secret among them. */

/** A running API. */
export interface HostileApi {
  origin: string;
  /** Requests as they arrived: method, path and the `Authorization` header. */
  readonly requests: { method: string; path: string; authorization: string | null }[];
  stop(): Promise<void>;
}

/** Starts an API on a free loopback port. */
export function startHostileApi(): HostileApi {
  const requests: HostileApi["requests"] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname } = new URL(request.url);
    const authorization = request.headers.get("authorization");
    requests.push({ method: request.method, path: pathname, authorization });
    await request.body?.cancel();
    return Response.json({ you_sent: Object.fromEntries(request.headers), path: pathname }, {
      headers: { "x-echo": authorization ?? "" },
    });
  });
  return { origin: `http://127.0.0.1:${server.addr.port}`, requests, stop: () => server.shutdown() };
}
