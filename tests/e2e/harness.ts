/**
 * One whole custos for the tests of a file: the real relay and the real daemon as processes under their real flags, a
 * paired phone in this process, and an API that records what reaches it. Start-up costs about two seconds, so the tests of
 * a file share one house, and stay apart by their paths and by the names of their agents.
 */

import { fromBase64url } from "@custos/core/bytes";
import { type AuditEvent, type AuditLeaf, readLeaf } from "@custos/core/audit";
import type { Decision } from "@custos/core/messages";
import type { Policy } from "@custos/core/policy";
import type { RelayFetch } from "@custos/core/relay_client";
import { Connection, type PhoneParts, type PhoneStore, type StoredCard } from "@custos/pwa";
import { Client } from "@custos/rpc/client";
import type { HttpParams, HttpResult } from "@custos/rpc/http_schemas";
import { RpcError } from "@custos/rpc/rpc_error";
import { placesIn } from "@custos/tools/paths";
import type { Values } from "@custos/tools/permissions";
import { SoftwareAuthenticator } from "../phone/authenticator.ts";
import { MemoryStore } from "../phone/memory_store.ts";
import type { SoftwarePhone } from "../phone/software_phone.ts";
import { TEXT_KEEPER } from "../phone/text_keeper.ts";
import { ORIGIN, pairPhone, startDaemon, startRelay } from "./harness_parts.ts";
import { custos, type Ran, type RunOptions, type Server } from "./harness_process.ts";
import { StubApi } from "./harness_stub.ts";
import { PATIENCE_MS, until } from "./harness_wait.ts";

/** The secret of CASES.md. */
export const S = "tok_live_4f9c2a7e";
/** Its handle. */
export const HANDLE = "custos:demo-key";

/** Options for tests whose house lives longer than they do. */
export const SHARED: Pick<Deno.TestDefinition, "sanitizeOps" | "sanitizeResources"> = {
  sanitizeOps: false,
  sanitizeResources: false,
};

/** How a house is set up. */
export interface HouseOptions {
  /** The daemon's clock can be put ahead with {@link House.later}. */
  clock?: boolean;
  /** Relay and daemon write what they use: `<folder>/audit.relay` and `audit.daemon`. */
  audited?: boolean;
  /** Where the phone keeps its record; in memory when left out. */
  phone_store?: (folder: string) => PhoneStore<string>;
  /** Leave the phone unpaired and the secret out. */
  empty?: boolean;
}

/** The house that all tests of a file share. It starts before the first of them and is gone after the last. */
export function shareHouse(options: HouseOptions = {}): () => House {
  let house: House | null = null;
  Deno.test.beforeAll(async () => {
    house = await House.start(options);
  });
  Deno.test.afterAll(async () => {
    await house?.[Symbol.asyncDispose]();
  });
  return () => house!;
}

/** What `House.http` is asked: a path of the API, or a whole URL. */
export type HttpAsk = Partial<Omit<HttpParams, "agent">> & { agent: string };

/** Relay, daemon, phone, secret and API. */
export class House implements AsyncDisposable {
  readonly api = new StubApi();
  readonly evil = new StubApi();
  readonly authenticator = new SoftwareAuthenticator(ORIGIN);
  readonly client: Client;
  readonly values: Values;
  readonly parts: PhoneParts<string>;
  relay!: Server;
  daemon!: Server;
  phone!: SoftwarePhone;
  /** Every frame that the phone posted, as it can be posted again. */
  readonly posted: { url: string; init: RequestInit }[] = [];
  relay_url = "";

  private constructor(readonly folder: string, readonly options: HouseOptions) {
    this.values = placesIn(folder, { relay_port: 0, profile: "lan" });
    this.client = new Client({ socket: this.values.socket });
    const record: RelayFetch = (url, init) => {
      if (init.method === "POST") this.posted.push({ url, init: { ...init, signal: null } });
      return fetch(url, init);
    };
    this.parts = {
      store: options.phone_store?.(folder) ?? new MemoryStore(),
      keeper: TEXT_KEEPER,
      authenticator: this.authenticator,
      fetch: record,
      now: Date.now,
      build: "end-to-end test",
    };
  }

  /** Starts everything in a fresh folder. What was started is ended again where something fails. */
  static async start(options: HouseOptions = {}): Promise<House> {
    const house = new House(await Deno.makeTempDir({ prefix: "custos-e2e-" }), options);
    try {
      await Deno.mkdir(house.values.socket.replace(/\/[^/]+$/, ""), { mode: 0o700 });
      await house.startRelay();
      await house.startDaemon();
      if (options.empty !== true) {
        await house.pair();
        await house.dropSecret("demo-key", S);
      }
      return house;
    } catch (error) {
      await house[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Starts the relay. Its port is kept over a restart: the phone's record names it. */
  async startRelay(): Promise<void> {
    const address = this.relay_url === "" ? undefined : this.relay_url.replace("http://", "");
    ({ server: this.relay, url: this.relay_url } = await startRelay(this.values, {
      address,
      ...this.#audit("relay"),
    }));
  }

  /** Starts the daemon. */
  async startDaemon(): Promise<void> {
    this.daemon = await this.newDaemon(this.values);
  }

  /** Starts a daemon at these places, which may be those of a copy. */
  async newDaemon(values: Values): Promise<Server> {
    const clock = this.options.clock === true;
    return await startDaemon(values, this.relay_url, { clock, ...this.#audit("daemon") });
  }

  /** Pairs the phone. */
  async pair(): Promise<void> {
    const { store, fetch } = this.parts;
    this.phone = await pairPhone(this.client, { store, fetch, authenticator: this.authenticator });
  }

  /** Asks for a secret as an agent and answers as the person. */
  async dropSecret(name: string, value: string, policy: Partial<Policy> = {}): Promise<string> {
    const asked = await this.client.call("drop.request", {
      name,
      reason: "set up the test",
      wait_ms: 0,
      agent: { name: "setup" },
    });
    await this.answerDrop(asked.request_id, name, value, policy);
    return asked.request_id;
  }

  /** Answers a drop card with a value for the API of this house. */
  async answerDrop(
    request_id: string,
    name: string,
    value: string,
    policy: Partial<Policy> & { first_grant_seconds?: number } = {},
  ): Promise<void> {
    await this.card(request_id);
    const { origins, rules, placement, first_grant_seconds } = policy;
    const fields = {
      name,
      origins: origins ?? [this.api.origin],
      placement: placement ?? { kind: "bearer" as const },
      rules: rules ?? [{ methods: ["GET", "POST"], path_prefix: "/" }],
      max_seconds: 3_600,
      private_network: true,
      ...(first_grant_seconds === undefined ? {} : { first_grant_seconds }),
    };
    const { status } = await this.phone.drop(request_id, fields, new TextEncoder().encode(value));
    if (status !== "delivered") throw new Error(`The drop is ${status}, not delivered.`);
  }

  /** Asks for a request to the API. Waits for nobody, unless told to. */
  http(path: string, ask: HttpAsk, options: { signal?: AbortSignal } = {}): Promise<HttpResult> {
    const { agent, ...rest } = ask;
    return this.client.call("http.request", {
      handle: HANDLE,
      method: "GET",
      url: path.startsWith("/") ? this.api.origin + path : path,
      reason: "an end-to-end test",
      wait_ms: 0,
      ...rest,
      agent: { name: agent },
    }, options);
  }

  /** Files a request that needs approval. Returns its id and words. */
  async ask(path: string, ask: HttpAsk): Promise<{ id: string; fingerprint: string }> {
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
    return await this.cardWhere((card) => card.message.doc.id === request_id);
  }

  /** The newest card that fits, once the phone has it. */
  async cardWhere(fits: (card: StoredCard) => boolean): Promise<StoredCard> {
    const look = async () => (await this.phone.cards()).findLast(fits) ?? null;
    const found = await this.phone.when(look, PATIENCE_MS);
    if (found === null) throw new Error("The card did not come to the phone.");
    return found;
  }

  /** The pending card of an HTTP request to a path of the API. */
  async cardFor(path: string): Promise<StoredCard> {
    return await this.cardWhere((card) => {
      const { doc } = card.message;
      return card.status === "pending" && doc.type === "http" && new URL(doc.http.url).pathname === path;
    });
  }

  /** Approves a request for this once. Returns when the daemon has said so. */
  async approve(request_id: string, offer?: Parameters<SoftwarePhone["approve"]>[1]): Promise<void> {
    await this.card(request_id);
    const { status } = await this.phone.approve(request_id, offer);
    if (status !== "granted") throw new Error(`The request is ${status}, not granted.`);
  }

  async deny(request_id: string): Promise<void> {
    await this.card(request_id);
    const { status } = await this.phone.deny(request_id);
    if (status !== "denied") throw new Error(`The request is ${status}, not denied.`);
  }

  /** Puts any decision into the phone's channel, as a phone that makes its own could. */
  async sendDecision(decision: Decision): Promise<void> {
    await new Connection(this.parts, this.phone.daemon).send(decision);
  }

  /** Number of entries in the audit log. */
  async logSize(): Promise<number> {
    return (await this.client.call("log.read", { limit: 1 })).size;
  }

  /** Entries of the audit log from `after` on. */
  async log(after = 0): Promise<AuditLeaf[]> {
    const { entries } = await this.client.call("log.read", { after, limit: 1_000 });
    return entries.map(({ leaf }) => readLeaf(fromBase64url(leaf)!));
  }

  /** The entries of an event from `after` on, of one request if it is named, once there is one. */
  async logged(
    event: AuditEvent,
    { after = 0, id }: { after?: number; id?: string } = {},
  ): Promise<AuditLeaf[]> {
    return await until(async () => {
      const all = await this.log(after);
      const found = all.filter((leaf) =>
        leaf.event === event && (id === undefined || leaf.request_id === id)
      );
      return found.length === 0 ? null : found;
    }, `No entry ${event} was written.`);
  }

  /** Puts the daemon's clock 20 minutes ahead, and returns when it has said so to the phone. */
  async later(): Promise<void> {
    const offset = async () => {
      await this.phone.sync(PATIENCE_MS);
      return (await this.phone.record()).clock_offset_ms;
    };
    const before = await offset();
    this.daemon.child.kill("SIGUSR2");
    const moved = async () => await offset() > before + 600_000 || null;
    await until(moved, "The daemon's clock did not move.");
  }

  /** Ends the daemon and starts it on the same state. */
  async restartDaemon(signal: Deno.Signal = "SIGTERM"): Promise<void> {
    await this.daemon.stop(signal);
    await this.startDaemon();
  }

  /** Runs `custos` as an agent. */
  custos(agent: string, args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    return custos(this.values, agent, args, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.phone?.close();
    this.client.close();
    await this.daemon?.stop();
    await this.relay?.stop();
    await this.api[Symbol.asyncDispose]();
    await this.evil[Symbol.asyncDispose]();
    await Deno.remove(this.folder, { recursive: true });
  }

  #audit(part: string): { audit_file?: string } {
    return this.options.audited === true ? { audit_file: `${this.folder}/audit.${part}` } : {};
  }
}
