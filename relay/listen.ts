/** Where a relay listens: TCP addresses and unix sockets. */

import { StartError } from "./start_error.ts";

/** One place to listen. Port 0 lets the system choose. */
export type Place = { hostname: string; port: number } | { path: string };

/** What handles requests; {@link Relay.fetch} fits. */
export type Handler = (request: Request, info: Deno.ServeHandlerInfo) => Promise<Response>;

/** A place that listens. */
export interface Listening {
  /** `http://127.0.0.1:8787` or `unix:/path`. */
  address: string;
  /** Takes no more, lets open requests end for `grace_ms`, then cuts them off. */
  stop(grace_ms: number): Promise<void>;
}

/** A place from its text: `127.0.0.1:8787`, `[::1]:8787`, `unix:/path`. Throws {@link StartError} `usage`. */
export function parsePlace(text: string): Place {
  if (/^unix:\/./.test(text)) return { path: text.slice("unix:".length) };
  const [, v6, name, port] = /^(?:\[([0-9a-fA-F:.]+)\]|([\w.-]+)):(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined || Number(port) > 65535) {
    throw new StartError(
      "usage",
      `--listen takes 127.0.0.1:8787, [::1]:8787 or unix:/absolute/path, not ${text}.`,
    );
  }
  return { hostname: v6 ?? name!, port: Number(port) };
}

/** Begins to listen. Throws {@link StartError} `listen` where that is not possible. */
export async function listen(place: Place, handler: Handler): Promise<Listening> {
  const cut = new AbortController();
  const options = {
    signal: cut.signal,
    onListen: () => {},
    onError: () => new Response(null, { status: 500 }),
  };
  try {
    if ("path" in place) {
      await removeStaleSocket(place.path);
      const server = Deno.serve({ ...options, path: place.path }, handler);
      Deno.chmodSync(place.path, 0o600); // tokens guard the mailboxes; this keeps others from the unlimited way in
      return { address: `unix:${place.path}`, stop: (ms) => stopServer(server, cut, ms) };
    }
    const server = Deno.serve({ ...options, ...place }, handler);
    const { hostname, port } = server.addr as Deno.NetAddr;
    const host = hostname.includes(":") ? `[${hostname}]` : hostname;
    return { address: `http://${host}:${port}`, stop: (ms) => stopServer(server, cut, ms) };
  } catch (error) {
    if (error instanceof StartError) throw error;
    const where = "path" in place ? place.path : `${place.hostname}:${place.port}`;
    throw new StartError("listen", `Cannot listen on ${where} (${(error as Error).name}).`);
  }
}

/** A socket that nobody answers on is left over from a crash. Anything else at that path is not ours to remove. */
async function removeStaleSocket(path: string): Promise<void> {
  try {
    if (!Deno.lstatSync(path).isSocket) throw new StartError("listen", `${path} exists and is not a socket.`);
    (await Deno.connect({ transport: "unix", path })).close();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    if (error instanceof Deno.errors.ConnectionRefused) return Deno.removeSync(path);
    throw error;
  }
  throw new StartError("listen", `Another process listens on ${path}.`);
}

async function stopServer(
  server: { shutdown(): Promise<void>; finished: Promise<void> },
  cut: AbortController,
  grace_ms: number,
): Promise<void> {
  const timer = setTimeout(() => cut.abort(), grace_ms); // shutdown() alone waits for ever on a body that never ends
  await Promise.race([server.shutdown(), server.finished]);
  clearTimeout(timer);
}
