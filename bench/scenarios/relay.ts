/** One relay on SQLite: durable messages, and phones that wait. */

import { newId } from "@custos/core/ids";
import { randomBytes, toBase64url } from "@custos/core/bytes";
import { hashToken, mailboxPath, MESSAGE_TYPE, messagesPath } from "@custos/core/relay_wire";
import { placesIn } from "../../_tools/paths.ts";
import { Server } from "../../tests/e2e/harness_process.ts";
import { putLoad } from "../load.ts";
import { MissingProgram } from "../peers.ts";
import { Kernel, NO_MEMORY } from "../memory.ts";
import {
  atLeast,
  atMost,
  type Figure,
  median,
  megabytes,
  type Outcome,
  type Scenario,
  type Settings,
} from "../scenario.ts";

const WAITING = 5_000;
const LIMITS = [
  "address_burst=100000000",
  "address_per_second=10000000",
  "address_mailboxes_per_hour=1000000",
  "mailbox_messages_max=10000000",
  "mailbox_bytes_max=10000000000",
  "store_bytes_max=10000000000",
];

interface Mailbox {
  id: string;
  read: string;
  write: string;
}

async function makeMailbox(base: string): Promise<Mailbox> {
  const [id, read, write] = [newId(), toBase64url(randomBytes(32)), toBase64url(randomBytes(32))];
  const body = JSON.stringify({ read_hash: await hashToken(read), write_hash: await hashToken(write) });
  const headers = { "content-type": "application/json" };
  const response = await fetch(base + mailboxPath(id), { method: "PUT", headers, body });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`The relay said ${response.status} to a new mailbox.`);
  return { id, read, write };
}

/** Connects a phone that waits, and returns once the relay has answered with the head of its event stream. */
async function wait(base: string, { id, read }: Mailbox): Promise<Deno.TcpConn> {
  const { hostname, port } = new URL(base);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  const head = `GET ${messagesPath(id)} HTTP/1.1\r\nHost: ${hostname}\r\nAccept: text/event-stream\r\n` +
    `Authorization: Bearer ${read}\r\n\r\n`;
  await connection.write(new TextEncoder().encode(head));
  const count = await connection.read(new Uint8Array(4_096));
  if (count === null) throw new Error("The relay did not keep a waiting phone.");
  return connection;
}

/** Messages and waiting phones. */
export const relay: Scenario = {
  name: "relay",
  method:
    "Messages of 1 KB posted to one mailbox, 16 at a time; each is on disk (SQLite, synchronous=FULL) before it is acknowledged. " +
    `Then ${WAITING} mailboxes with a phone that waits on each, and the relay's resident memory.`,
  async run({ folder, rounds, seconds, tell }: Settings): Promise<Outcome> {
    const values = placesIn(folder, { relay_port: 0, profile: "lan" });
    const args = ["--data", values.relay_dir, "--listen", values.relay_address, "--json"];
    for (const limit of LIMITS) args.push("--limit", limit);
    const server = await Server.start("relay", values, { args });
    const waiting: Deno.TcpConn[] = [];
    try {
      const base = `http://${String((server.ready["listen"] as string[])[0]).replace(/^http:\/\//, "")}`;
      const { id, write } = await makeMailbox(base);
      const rates: number[] = [];
      for (let round = 0; round <= rounds; round++) {
        const measured = await putLoad(folder, {
          url: base + messagesPath(id),
          method: "POST",
          headers: { Authorization: `Bearer ${write}`, "Content-Type": MESSAGE_TYPE },
          body: "m".repeat(1_024),
          at_once: 16,
          seconds,
        });
        if (measured === null) throw new MissingProgram("wrk", "wrk");
        if (measured.failed > 0) throw new Error(`${measured.failed} messages were refused.`);
        if (round > 0) rates.push(measured.per_second);
      }
      tell(`${Math.round(median(rates))} messages/s`);
      const figures: Figure[] = [
        atLeast("durable messages", median(rates), "messages/s", 2_000, "≥ 2,000/s"),
      ];
      for (let i = 0; i < WAITING; i++) waiting.push(await wait(base, await makeMailbox(base)));
      await using kernel = new Kernel();
      const memory = await kernel.held(server.child.pid);
      const notes = memory === null ? [NO_MEMORY] : [];
      if (memory !== null) {
        tell(`${WAITING} waiting: ${megabytes(memory).toFixed(0)} MB`);
        figures.push(atMost(`memory with ${WAITING} waiting`, megabytes(memory), "MB", 400, "≤ 400 MB"));
      }
      return { figures, notes };
    } finally {
      for (const connection of waiting) connection.close();
      await server.stop();
    }
  },
};
