/** All enrolled phones: who is told of a request, and how each is reached. */

import { beginRun } from "@custos/core/channel_daemon";
import type { DeviceRecord } from "@custos/core/policy_entry";
import type { RelayClient } from "@custos/core/relay_client";
import { ChannelLine, KEEPER, type LineState } from "./channel_line.ts";
import { type LinkParts, PhoneLink } from "./phone_link.ts";
import type { StoredRequest } from "./request_store.ts";

/** The phones of one daemon. */
export class Phones {
  readonly #client: RelayClient;
  readonly #parts: LinkParts;
  readonly #links: PhoneLink[] = [];

  constructor(client: RelayClient, parts: LinkParts) {
    this.#client = client;
    this.#parts = parts;
  }

  /** Begins a new session with every enrolled phone. */
  async start(): Promise<void> {
    for (const stored of this.#parts.channels.all()) {
      const device = this.#parts.policies.state.devices.get(stored.device_id);
      if (device === undefined) continue; // removed: its channel is not opened again
      const run = await beginRun(KEEPER, stored.state);
      this.#parts.channels.saveState(stored.device_id, run.state);
      const mailboxes = { to_daemon: stored.to_daemon, to_phone: stored.to_phone };
      const owner = { saveState() {}, saveCursor() {}, onRefused() {}, onMessage: nothing, onUp: nothing };
      const line = new ChannelLine(this.#client, mailboxes, run, stored.cursor, owner);
      this.adopt(device, line);
      line.loop();
    }
  }

  /** Takes over a running line as that of an enrolled phone. */
  adopt(device: DeviceRecord, line: ChannelLine): void {
    const link = new PhoneLink(device, line, this.#parts);
    line.owner = link;
    this.#links.push(link);
  }

  /** Sends a card to every phone. Never rejects. */
  async sendCard(request: StoredRequest): Promise<void> {
    await Promise.all(this.#links.map((link) => link.sendCard(request)));
  }

  /** Tells every phone how a request ended. */
  sendDecided(request: StoredRequest): void {
    for (const link of this.#links) link.sendDecided(request);
  }

  /** The worst state of all lines, which is what a person must know; `offline` without any phone. */
  get state(): { state: LineState; since_ms: number } {
    const order: LineState[] = ["refused", "offline", "connecting", "connected"];
    const states = this.#links.map((link) => link.line.state);
    states.sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
    return states[0] ?? { state: "connecting", since_ms: Date.now() };
  }

  /** Ends every line. */
  stop(): void {
    for (const link of this.#links) link.line.stop();
  }
}

function nothing(): Promise<void> {
  return Promise.resolve();
}
