/** Two sides of a channel over a relay that the test plays. Keys are kept as text, so that states can be compared. */

import { type Bytes, fromHex, toHex, utf8 } from "../bytes.ts";
import type { KeyKeeper } from "../channel.ts";
import { beginRun, type DaemonChannel, type DaemonRun, receive, send, takeAccept } from "../channel_daemon.ts";
import { type PhoneChannel, type PhoneReceived, phoneReceive, phoneSend } from "../channel_phone.ts";
import { frameKey } from "../frame.ts";
import { rootKey } from "../handshake.ts";

/** Keeps keys as hexadecimal. */
export const TEXT_KEEPER: KeyKeeper<string> = {
  keep: (bytes) => Promise.resolve(toHex(bytes)),
  load: (kept, use) => use === "root" ? rootKey(fromHex(kept)!) : frameKey(fromHex(kept)!),
};

/** The channel's id. */
export const CHANNEL = "000102030405060708090a0b0c0d0e0f";
const ROOT = "11".repeat(32);

/** What a daemon has after pairing. */
export function freshDaemon(): DaemonChannel<string> {
  return { channel: CHANNEL, generation: 0, root: ROOT, next: null };
}

/** The phone of a channel: stores each state, as it must, before it answers. */
export class TestPhone {
  state: PhoneChannel<string> = {
    channel: CHANNEL,
    generation: 0,
    root: ROOT,
    session: null,
    pending: [],
    superseded: [],
    locked: null,
  };

  /** Takes a frame; a copy of the state goes through JSON, as a store would do it. */
  async take(frame: Uint8Array): Promise<PhoneReceived<string>> {
    const received = await phoneReceive(TEXT_KEEPER, this.state, frame);
    if (received.kind !== "refused") this.state = received.state;
    return received;
  }

  /** Takes an offer and returns the acceptance. */
  async accept(offer: Uint8Array): Promise<Bytes> {
    const received = await this.take(offer);
    if (received.kind !== "answer") throw new Error(`the offer came to ${JSON.stringify(received)}`);
    return received.frame;
  }

  async send(text: string): Promise<Bytes> {
    const sent = await phoneSend(TEXT_KEEPER, this.state, utf8(text));
    if (sent === null) throw new Error("the phone has no session");
    this.state = sent.state;
    return sent.frame;
  }
}

/** A daemon with its disk: `disk` is what a restart finds. */
export class TestDaemon {
  run: DaemonRun<string> | null = null;

  constructor(public disk: DaemonChannel<string> = freshDaemon()) {}

  /** Begins a run, with what is on the disk only. Returns its offer. */
  async start(): Promise<Bytes> {
    this.run = await beginRun(TEXT_KEEPER, structuredClone(this.disk));
    this.disk = this.run.state;
    return this.run.offer;
  }

  /** Takes an acceptance. Whether it was one for this run. */
  async accept(frame: Uint8Array): Promise<boolean> {
    const run = await takeAccept(TEXT_KEEPER, this.run!, frame);
    if (run === null) return false;
    this.run = run;
    this.disk = run.state;
    return true;
  }

  async send(text: string): Promise<Bytes> {
    const sent = await send(TEXT_KEEPER, this.run!, utf8(text));
    if (sent === null) throw new Error("the daemon has no session");
    this.run = sent.run;
    return sent.frame;
  }

  /** The text of a message, or why it was refused. */
  async take(frame: Uint8Array): Promise<string> {
    const received = await receive(TEXT_KEEPER, this.run!, frame);
    if (!received.ok) return received.why;
    this.run = received.session;
    this.disk = this.run.state;
    return new TextDecoder().decode(received.plaintext);
  }

  /** Somebody with a copy of this daemon's disk. */
  stolen(): TestDaemon {
    return new TestDaemon(structuredClone(this.disk));
  }
}

/** Start, offer, acceptance, and a first message each way. */
export async function connect(daemon: TestDaemon, phone: TestPhone): Promise<void> {
  if (!await daemon.accept(await phone.accept(await daemon.start()))) throw new Error("not accepted");
  await talk(daemon, phone);
}

/** A message each way, which must arrive. */
export async function talk(daemon: TestDaemon, phone: TestPhone): Promise<void> {
  const down = await phone.take(await daemon.send("card"));
  if (down.kind !== "message") throw new Error(`the phone got ${JSON.stringify(down)}`);
  const up = await daemon.take(await phone.send("decision"));
  if (up !== "decision") throw new Error(`the daemon got ${up}`);
}
