/**
 * A custos whose relay is in the test's hands: the hostile relay and the phone in this process, the real daemon as a process
 * under its declared flags, and an API that counts what reaches it.
 */

import { verifyLog } from "@custos/core/audit";
import { type Bytes, fromBase64, fromBase64url } from "@custos/core/bytes";
import type { PhoneParts, StoredCard } from "@custos/pwa";
import type { RelayLimits } from "@custos/relay";
import { Client } from "@custos/rpc/client";
import type { HttpParams, HttpResult } from "@custos/rpc/http_schemas";
import { RpcError } from "@custos/rpc/rpc_error";
import { commandLine, runDeno } from "@custos/tools/launch";
import { placesIn } from "@custos/tools/paths";
import type { Values } from "@custos/tools/permissions";
import { ORIGIN } from "../e2e/harness_parts.ts";
import { Server } from "../e2e/harness_process.ts";
import { StubApi } from "../e2e/harness_stub.ts";
import { PATIENCE_MS, until } from "../e2e/harness_wait.ts";
import { SoftwareAuthenticator } from "../phone/authenticator.ts";
import { MemoryStore } from "../phone/memory_store.ts";
import { SoftwarePhone } from "../phone/software_phone.ts";
import { TEXT_KEEPER } from "../phone/text_keeper.ts";
import { HostileRelay } from "./hostile_relay.ts";

/** The secret of CASES.md. */
export const S = "tok_live_4f9c2a7e";
/** Its name, and its handle. */
export const NAME = "demo-key";
/** The handle of {@link NAME}. */
export const HANDLE = `custos:${NAME}`;

/** Options for tests whose stage lives longer than they do. */
export const SHARED: Pick<Deno.TestDefinition, "sanitizeOps" | "sanitizeResources"> = {
  sanitizeOps: false,
  sanitizeResources: false,
};

/** The stage that all tests of a file share. `prepare` runs before the first of them. */
export function shareStage(
  prepare: (stage: Stage) => Promise<unknown> = (stage) => stage.settle(),
  limits?: Partial<RelayLimits>,
): () => Stage {
  let stage: Stage | null = null;
  Deno.test.beforeAll(async () => {
    stage = await Stage.open(limits);
    await stage.startDaemon();
    await prepare(stage);
  });
  Deno.test.afterAll(async () => {
    await stage?.[Symbol.asyncDispose]();
  });
  return () => stage!;
}

/** What an agent asks for in a test. */
export type Ask = Partial<Omit<HttpParams, "agent">> & { agent?: string };

/** Relay, daemon, phone and API. */
export class Stage implements AsyncDisposable {
  readonly api = new StubApi();
  readonly authenticator = new SoftwareAuthenticator(ORIGIN);
  readonly relay: HostileRelay;
  readonly values: Values;
  readonly client: Client;
  readonly parts: PhoneParts<string>;
  daemon: Server | null = null;
  /** The daemon's process from its first moment on, ready or not. */
  process: Deno.ChildProcess | null = null;
  phone: SoftwarePhone | null = null;
  /** A module that is loaded before the daemon's own code, or none. */
  preload: string | null = null;

  private constructor(readonly folder: string, limits?: Partial<RelayLimits>) {
    this.values = placesIn(folder, { relay_port: 0, profile: "lan" });
    this.client = new Client({ socket: this.values.socket });
    this.relay = new HostileRelay(this.values.relay_dir, limits);
    this.parts = {
      store: new MemoryStore(),
      keeper: TEXT_KEEPER,
      authenticator: this.authenticator,
      fetch: (url, init) => fetch(url, init),
      now: Date.now,
      build: "hostile relay test",
    };
  }

  /** A stage with nobody on it yet. The relay has no limits but those. */
  static async open(limits?: Partial<RelayLimits>): Promise<Stage> {
    const stage = new Stage(await Deno.makeTempDir({ prefix: "custos-malice-" }), limits);
    await Deno.mkdir(stage.values.socket.replace(/\/[^/]+$/, ""), { mode: 0o700 });
    return stage;
  }

  /** The arguments of the daemon. */
  get daemonArgs(): string[] {
    const { daemon_dir, socket, profile } = this.values;
    const { urls } = this.relay;
    return [
      ...["--state", daemon_dir, "--socket", socket, "--profile", profile],
      ...["--relay", urls.daemon, "--relay-url", urls.phone],
      ...["--pwa-origin", ORIGIN, "--name", "test computer", "--json"],
    ];
  }

  /** The whole command line of the daemon, after `deno`. */
  get daemonCommand(): string[] {
    const [run, ...rest] = commandLine("daemon", this.values, this.daemonArgs);
    return [run!, ...(this.preload === null ? [] : ["--preload", this.preload]), ...rest];
  }

  /** Starts the daemon on whatever state there is. */
  async startDaemon(): Promise<void> {
    this.process = runDeno(this.daemonCommand, { stdout: "piped", stderr: "piped" });
    this.daemon = await Server.of("daemon", this.process);
  }

  /** Ends the daemon and starts it on the same state. */
  async restartDaemon(signal: Deno.Signal = "SIGKILL"): Promise<void> {
    await this.daemon?.stop(signal);
    await this.startDaemon();
  }

  /** Pairs the phone and gives it the secret. */
  async settle(): Promise<void> {
    await this.pair();
    await this.dropSecret(NAME, S);
  }

  /** Pairs the phone; the first of its words is typed into the terminal. */
  async pair(): Promise<void> {
    const { pairing_id, url } = await this.client.call("pair.begin", {});
    const words = Promise.withResolvers<string>();
    const { store, fetch } = this.parts;
    const setup = { onWords: words.resolve, store, authenticator: this.authenticator, fetch };
    const paired = SoftwarePhone.pair(url, setup);
    paired.catch(words.reject);
    const [word] = (await words.promise).split(" ");
    let { state } = await this.client.call("pair.status", { pairing_id, wait_ms: PATIENCE_MS });
    if (state !== "confirm") throw new Error(`The pairing is ${state}, not at its words.`);
    ({ state } = await this.client.call("pair.confirm", { pairing_id, word: word! }));
    this.phone = await paired;
    while (state !== "done") {
      if (state === "failed") throw new Error("The pairing failed.");
      ({ state } = await this.client.call("pair.status", { pairing_id, wait_ms: 1_000 }));
    }
  }

  /** Asks for a secret as an agent and answers as the person. Returns the request's id. */
  async dropSecret(name: string, value: string): Promise<string> {
    const asked = await this.client.call("drop.request", {
      name,
      reason: "set up the test",
      wait_ms: 0,
      agent: { name: "setup" },
    });
    await this.card(asked.request_id);
    const fields = {
      name,
      origins: [this.api.origin],
      placement: { kind: "bearer" as const },
      rules: [{ methods: ["GET", "POST"], path_prefix: "/" }],
      max_seconds: 3_600,
      private_network: true,
    };
    const { status } = await this.phone!.drop(asked.request_id, fields, new TextEncoder().encode(value));
    if (status !== "delivered") throw new Error(`The drop is ${status}, not delivered.`);
    return asked.request_id;
  }

  /** Asks for a request to the API. Waits for nobody, unless told to. */
  http(path: string, ask: Ask = {}): Promise<HttpResult> {
    const { agent = "agent", ...rest } = ask;
    return this.client.call("http.request", {
      handle: HANDLE,
      method: "POST",
      url: this.api.origin + path,
      body: { encoding: "utf8", data: "pay 20" },
      reason: "a request of the test",
      wait_ms: 0,
      ...rest,
      agent: { name: agent },
    });
  }

  /** Files a request that needs approval. Returns its id and words. */
  async ask(path: string, ask: Ask = {}): Promise<{ id: string; fingerprint: string }> {
    try {
      await this.http(path, ask);
    } catch (error) {
      if (error instanceof RpcError && error.kind === "needs_approval") return error.request!;
      throw error;
    }
    throw new Error("The request was answered without an approval.");
  }

  /** The card of a request, once the phone has it. */
  async card(request_id: string): Promise<StoredCard> {
    const look = async () =>
      (await this.phone!.cards()).findLast((card) => card.message.doc.id === request_id) ?? null;
    const found = await this.phone!.when(look, PATIENCE_MS);
    if (found === null) throw new Error("The card did not come to the phone.");
    return found;
  }

  /** Approves a request for this once. Returns when the daemon has said so. */
  async approve(request_id: string): Promise<void> {
    await this.card(request_id);
    const { status } = await this.phone!.approve(request_id);
    if (status !== "granted") throw new Error(`The request is ${status}, not granted.`);
  }

  /** How a request stands. */
  async status(request_id: string): Promise<string> {
    return (await this.client.call("access.status", { request_id })).status;
  }

  /** The events of the audit log from `after` on. */
  async events(after = 0): Promise<{ event: string; why: string | undefined }[]> {
    const { entries } = await this.client.call("log.read", { after, limit: 1_000 });
    return entries.map(({ leaf }) => {
      const { event, why } = JSON.parse(new TextDecoder().decode(fromBase64url(leaf)!));
      return { event, why };
    });
  }

  /** Number of entries in the audit log. */
  async logSize(): Promise<number> {
    return (await this.client.call("log.read", { limit: 1 })).size;
  }

  /** All leaves of the audit log, held against the signed checkpoint. Throws where they do not fit. */
  async verifiedLog(): Promise<Bytes[]> {
    const leaves: Bytes[] = [];
    for (;;) {
      const page = await this.client.call("log.read", { after: leaves.length, limit: 1_000 });
      leaves.push(...page.entries.map(({ leaf }) => fromBase64url(leaf)!));
      if (leaves.length < page.size) continue;
      const [, origin, key] = /^([^+]+)\+[0-9a-f]{8}\+(.+)$/.exec(page.key)!;
      const verdict = await verifyLog(leaves, page.checkpoint, origin!, fromBase64(key!)!.slice(1));
      if (!verdict.ok) throw new Error(`The log does not verify: ${verdict.why}`);
      return leaves;
    }
  }

  /** Proves that phone and daemon still work together: one more request, asked, approved, sent once. */
  async recovers(path: string): Promise<void> {
    this.relay.behave();
    await until(async () => await this.phone!.sync(5_000) || null, "The phone did not come back.");
    const { id } = await this.ask(path, { agent: "recovers" });
    await this.approve(id);
    await this.http(path, { agent: "recovers" });
    const { channel, alarm } = await this.phone!.record();
    if (channel.locked !== null || alarm !== null) throw new Error("The phone no longer trusts the daemon.");
    if (this.api.count(path) !== 1) throw new Error("The request was not sent once.");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.phone?.close();
    this.client.close();
    await this.daemon?.stop();
    await this.relay[Symbol.asyncDispose]();
    await this.api[Symbol.asyncDispose]();
    await Deno.remove(this.folder, { recursive: true });
  }
}
