/** Stand-ins for the APIs of the examples, on 127.0.0.1. They know one key, and count who called with it. */

/** A running stand-in. */
export interface ExampleApi extends AsyncDisposable {
  origin: string;
  /** Every request, as `METHOD /path`, with the key it came with. */
  seen: { call: string; key: string | null; body: string }[];
}

/** Answers by `METHOD /path`; the function gets the body. */
export type Routes = Readonly<Record<string, (body: string) => Response>>;

/** Starts a stand-in that answers 401 to everybody without `key`. */
export function exampleApi(key: string, routes: Routes): ExampleApi {
  const seen: ExampleApi["seen"] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const body = await request.text();
    const call = `${request.method} ${new URL(request.url).pathname}`;
    const given = request.headers.get("authorization");
    seen.push({ call, key: given, body });
    if (given !== `Bearer ${key}`) return Response.json({ message: "Bad credentials" }, { status: 401 });
    const route = routes[call];
    return route === undefined ? Response.json({ message: "Not Found" }, { status: 404 }) : route(body);
  });
  return {
    origin: `http://127.0.0.1:${server.addr.port}`,
    seen,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
