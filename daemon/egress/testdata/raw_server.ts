/**
 * A hostile upstream on 127.0.0.1 that speaks raw bytes: it records each request, and answers as a test says, down to the
 * single byte. Excluded from publishing, as all of `testdata`.
 */

/** One request as it came. */
export interface Seen {
  /** Request line and headers, as Latin-1. */
  head: string;
  body: Uint8Array;
}

/** Answers one request on its connection. Bytes given as text are Latin-1. */
export type Answer = (say: (part: string | Uint8Array) => Promise<void>, seen: Seen) => Promise<void> | void;

/** A running server. Connections stay open after an answer, unless it says otherwise. */
export class RawServer implements AsyncDisposable {
  readonly seen: Seen[] = [];
  connections = 0;
  /** Connections whose other side went away. */
  gone = 0;
  readonly #listener: Deno.TcpListener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #open: Set<Deno.Conn> = new Set();
  readonly #work: Promise<void>;

  /** `greeting` is said at once on every connection, before anything was asked. */
  constructor(public answer: Answer, readonly greeting: string = "") {
    this.#work = this.#accept();
  }

  get port(): number {
    return this.#listener.addr.port;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    for (const connection of this.#open) close(connection);
    await this.#work;
  }

  async #accept(): Promise<void> {
    for await (const connection of this.#listener) {
      this.connections++;
      this.#open.add(connection);
      this.#serve(connection);
    }
  }

  async #serve(connection: Deno.Conn): Promise<void> {
    const input = new Input(connection);
    try {
      if (this.greeting !== "") await connection.write(latin1(this.greeting));
      for (;;) {
        const seen = await readRequest(input);
        if (seen === null) break;
        this.seen.push(seen);
        const say = async (part: string | Uint8Array) => {
          const bytes = typeof part === "string" ? latin1(part) : part;
          for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
        };
        // an answer that never ends is given up when the other side leaves
        await Promise.race([this.answer(say, seen), input.ended()]);
      }
    } catch {
      // the other side left, or the test closed the connection
    }
    this.gone++;
    this.#open.delete(connection);
    close(connection);
  }
}

/** Thrown by an answer to close the connection there. */
export class Hangup extends Error {}

/** An answer that closes the connection after these bytes. */
export function closing(bytes: string | Uint8Array): Answer {
  return async (say) => {
    await say(bytes);
    throw new Hangup();
  };
}

/** Status 200 with this body and a length. */
export function ok(body: string | Uint8Array, headers = ""): Answer {
  return async (say) => {
    const bytes = typeof body === "string" ? latin1(body) : body;
    await say(`HTTP/1.1 200 OK\r\n${headers}Content-Length: ${bytes.length}\r\n\r\n`);
    await say(bytes);
  };
}

/** One chunk of the chunked coding. */
export function chunk(part: string): string {
  return `${part.length.toString(16)}\r\n${part}\r\n`;
}

export function latin1(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** Reads a connection, and can look ahead for its end. */
class Input {
  #next: Promise<Uint8Array | null> | null = null;

  constructor(readonly connection: Deno.Conn) {}

  /** The next bytes, or `null` at the end. */
  async read(): Promise<Uint8Array | null> {
    const next = this.#next ?? this.#start();
    this.#next = null;
    return await next;
  }

  /** Rejects when the other side leaves; never resolves. */
  async ended(): Promise<never> {
    this.#next ??= this.#start();
    if (await this.#next.catch(() => null) === null) throw new Hangup();
    return await new Promise(() => {});
  }

  async #start(): Promise<Uint8Array | null> {
    const buffer = new Uint8Array(65_536);
    const count = await this.connection.read(buffer);
    return count === null ? null : buffer.subarray(0, count);
  }
}

async function readRequest(input: Input): Promise<Seen | null> {
  let data: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  const more = async () => {
    const part = await input.read();
    if (part === null) return false;
    const next = new Uint8Array(data.length + part.length);
    next.set(data);
    next.set(part, data.length);
    data = next;
    return true;
  };
  const text = () => Array.from(data.subarray(0, 65_536), (byte) => String.fromCharCode(byte)).join("");
  let end: number;
  while ((end = text().indexOf("\r\n\r\n")) === -1) if (!await more()) return null;
  const head = text().slice(0, end + 2);
  let body = data.subarray(end + 4);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) {
    while (data.length < end + 4 + Number(length)) if (!await more()) break;
    body = data.subarray(end + 4);
  } else if (/\r\ntransfer-encoding: *chunked/i.test(head)) {
    const last = () => Array.from(data.subarray(-5), (byte) => String.fromCharCode(byte)).join("");
    while (last() !== "0\r\n\r\n") if (!await more()) break;
    body = data.subarray(end + 4);
  }
  return { head, body };
}

function close(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch {
    // closed already
  }
}
