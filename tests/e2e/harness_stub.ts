/**
 * The outside world of the tests: an API on 127.0.0.1 that keeps the raw bytes of every request and answers by path. It
 * speaks HTTP by hand, so that a connection that sent nothing is counted too.
 */

/** One request as it came. */
export interface Seen {
  method: string;
  path: string;
  /** Request line and headers, as Latin-1. */
  head: string;
  body: string;
}

/**
 * Routes, by the beginning of the path:
 *
 * - `/echo…`: all request headers as JSON, and the `Authorization` header in a header of its own
 * - `/redirect…`: 302 to the `to` in the query
 * - `/status/404…`: that status
 * - `/slow…`: reads the request and answers only when {@link StubApi.release} is called
 * - `/cut…`: closes the connection once it has read the request
 * - everything else: 200 `ok`
 */
export class StubApi implements AsyncDisposable {
  readonly seen: Seen[] = [];
  connections = 0;
  readonly #listener: Deno.TcpListener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #open = new Set<Deno.Conn>();
  readonly #work: Promise<void>;
  #slow = Promise.withResolvers<void>();
  #arrived: (() => void)[] = [];

  constructor() {
    this.#work = this.#accept();
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#listener.addr.port}`;
  }

  /** How many requests came for this path. */
  count(path: string): number {
    return this.seen.filter((one) => one.path === path).length;
  }

  /** Resolves once a request for this path was read. */
  async arrival(path: string): Promise<void> {
    while (this.count(path) === 0) await new Promise<void>((resolve) => this.#arrived.push(resolve));
  }

  /** Lets every waiting `/slow` answer go. */
  release(): void {
    this.#slow.resolve();
    this.#slow = Promise.withResolvers<void>();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    this.release();
    for (const connection of this.#open) close(connection);
    await this.#work;
  }

  async #accept(): Promise<void> {
    const served: Promise<void>[] = [];
    for await (const connection of this.#listener) {
      this.connections++;
      this.#open.add(connection);
      served.push(this.#serve(connection));
    }
    await Promise.allSettled(served);
  }

  async #serve(connection: Deno.Conn): Promise<void> {
    try {
      const request = await readRequest(connection);
      if (request !== null) {
        this.seen.push(request);
        for (const arrived of this.#arrived.splice(0)) arrived();
        await this.#answer(connection, request);
      }
    } catch {
      // the other side has left, or the test closed the connection
    }
    this.#open.delete(connection);
    close(connection);
  }

  async #answer(connection: Deno.Conn, { path, head }: Seen): Promise<void> {
    if (path.startsWith("/cut")) return;
    if (path.startsWith("/slow")) await this.#slow.promise;
    if (path.startsWith("/redirect")) {
      const to = new URL(path, "http://stub.invalid").searchParams.get("to") ?? "/";
      return await say(connection, "302 Found", `Location: ${to}\r\n`, "");
    }
    const status = /^\/status\/(\d{3})/.exec(path)?.[1];
    if (status !== undefined) return await say(connection, `${status} Told`, "", "told to");
    if (!path.startsWith("/echo")) return await say(connection, "200 OK", "", "ok");
    const headers = headersOf(head);
    const echo = `X-Echo: ${headers["authorization"] ?? ""}\r\nContent-Type: application/json\r\n`;
    await say(connection, "200 OK", echo, JSON.stringify({ you_sent: headers }));
  }
}

async function say(connection: Deno.Conn, status: string, headers: string, body: string): Promise<void> {
  const head = `HTTP/1.1 ${status}\r\n${headers}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
  const bytes = Uint8Array.from(head + body, (character) => character.charCodeAt(0));
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}

function headersOf(head: string): Record<string, string> {
  const lines = head.split("\r\n").slice(1).filter((line) => line !== "");
  return Object.fromEntries(lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  }));
}

async function readRequest(connection: Deno.Conn): Promise<Seen | null> {
  const buffer = new Uint8Array(65_536);
  let text = "";
  const more = async () => {
    const count = await connection.read(buffer);
    if (count === null) return false;
    for (const byte of buffer.subarray(0, count)) text += String.fromCharCode(byte);
    return true;
  };
  while (!text.includes("\r\n\r\n")) if (!await more()) return null;
  const end = text.indexOf("\r\n\r\n") + 4;
  const head = text.slice(0, end);
  const headers = headersOf(head);
  const chunked = headers["transfer-encoding"] === "chunked";
  const length = Number(headers["content-length"] ?? "0");
  const whole = () => chunked ? text.endsWith("0\r\n\r\n") : text.length >= end + length;
  while (!whole()) if (!await more()) break;
  const [method = "", path = ""] = head.split(" ");
  const sent = text.slice(end);
  return { method, path, head, body: chunked ? unchunked(sent) : sent };
}

/** The body of the chunked coding (RFC 9112 §7.1), without extensions and trailers. */
function unchunked(sent: string): string {
  let body = "";
  for (let at = 0; at < sent.length;) {
    const line = sent.indexOf("\r\n", at);
    const size = parseInt(sent.slice(at, line), 16);
    if (!(size > 0)) break;
    body += sent.slice(line + 2, line + 2 + size);
    at = line + 2 + size + 2;
  }
  return body;
}

function close(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch {
    // closed already
  }
}
