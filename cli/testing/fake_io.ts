/** Streams for tests: what a command wrote, by where it went. */

import { Client } from "@custos/rpc/client";
import { type Io, OutputClosed, type Terminals } from "../io.ts";
import { run } from "../run.ts";
import { lineReader } from "../system_io.ts";

/** What a test may choose. */
export interface FakeOptions {
  terminals?: Partial<Terminals>;
  /** Whether there is a controlling terminal. */
  tty?: boolean;
  stdin?: string | Uint8Array | ReadableStream<Uint8Array>;
  env?: Record<string, string>;
  /** Hears that a line was written to the controlling terminal. */
  onTty?: () => void;
  now?: number;
  /** The reader of stdout leaves after so many writes. */
  closesAfter?: number;
}

/** What a run left behind. */
export interface Ran {
  code: number;
  out: string;
  bytes: Uint8Array;
  err: string;
  tty: string;
}

/** Runs `custos` in this process against a socket. */
export async function custos(socket: string, args: string[], options: FakeOptions = {}): Promise<Ran> {
  const out: Uint8Array[] = [];
  const said = { err: "", tty: "" };
  const input = options.stdin ?? "";
  const stdin = () =>
    input instanceof ReadableStream ? input : new Blob([input as string | Uint8Array<ArrayBuffer>]).stream();
  const io: Io = {
    terminals: { stdin: false, stdout: false, stderr: false, ...options.terminals },
    columns: 80,
    colour: false,
    out(data) {
      if (out.length === options.closesAfter) return Promise.reject(new OutputClosed());
      out.push(typeof data === "string" ? new TextEncoder().encode(data) : data.slice());
      return Promise.resolve();
    },
    err(text) {
      said.err += text;
    },
    tty(line) {
      if (options.tty === false) return Promise.resolve(false);
      said.tty += `${line}\n`;
      options.onTty?.();
      return Promise.resolve(true);
    },
    readLine: lineReader(stdin),
    stdin,
    env: (name) => ({ CUSTOS_SOCKET: socket, ...options.env })[name],
    now: () => options.now ?? Date.now(),
  };
  const code = await run(args, io, (path) => new Client({ socket: path }));
  const bytes = new Uint8Array(await new Blob(out as BlobPart[]).arrayBuffer());
  return { code, bytes, out: new TextDecoder().decode(bytes), ...said };
}
