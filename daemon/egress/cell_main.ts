/** Entry of a cell: a worker that holds one secret and may reach that secret's hosts (DESIGN §12). */

import "./cell_lockdown.ts"; // first: see there
import { asCustosError, CustosError } from "@custos/core/errors";
import { AnswerWriter, type Post } from "./answer_writer.ts";
import type { FromCell, OpenMessage, RequestMessage, ToCell } from "./cell_protocol.ts";
import { CellClients, runRequest } from "./cell_request.ts";
import { type CellSecret, openSecret } from "./cell_secret.ts";
import { Outbox } from "./outbox.ts";

/** The part of a worker's global scope that is used; the type library of the daemon knows only the main scope's. */
interface CellScope {
  postMessage(message: unknown, transfer: Transferable[]): void;
  addEventListener(type: "message", listener: (event: MessageEvent<ToCell[]>) => void): void;
  addEventListener(type: "unhandledrejection", listener: (event: Event) => void): void;
}

interface Running {
  writer: AnswerWriter;
  abort: AbortController;
}

const scope = globalThis as unknown as CellScope;
const outbox = new Outbox<FromCell>((messages, transfer) => scope.postMessage(messages, transfer));
const post: Post = (message, transfer) => outbox.send(message, transfer);
const running = new Map<number, Running>();
let secret: CellSecret | null = null;
const clients = new CellClients();

// an error that nobody waits for would be printed with its text, which may hold the secret (B71)
scope.addEventListener("unhandledrejection", (event) => event.preventDefault());

scope.addEventListener("message", ({ data }) => data.forEach(receive));

function receive(message: ToCell): void {
  switch (message.type) {
    case "open":
      return void open(message);
    case "request":
      return void request(message);
    case "credit":
      return running.get(message.id)?.writer.credit(message.bytes);
    case "abort":
      return running.get(message.id)?.abort.abort();
  }
}

async function open(message: OpenMessage): Promise<void> {
  try {
    if (secret !== null) throw new CustosError("internal", "This cell holds a secret already.");
    secret = await openSecret(message);
    post({ type: "opened" }, []);
  } catch (error) {
    const { kind, message } = asCustosError(error);
    post({ type: "refused", kind, message }, []);
  }
}

async function request(message: RequestMessage): Promise<void> {
  const abort = new AbortController();
  const writer = new AnswerWriter(message.id, post, abort.signal);
  running.set(message.id, { writer, abort });
  try {
    if (secret === null) {
      throw new CustosError("internal", "This cell holds no secret, so nothing was sent.");
    }
    await runRequest(secret, clients, message, writer, abort);
  } catch (error) {
    const { kind, message: text } = asCustosError(error);
    writer.flush();
    post({ type: "failed", id: message.id, kind, message: text }, []);
  } finally {
    running.delete(message.id);
  }
}
