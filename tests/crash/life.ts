/**
 * The life of a custos whose daemon may die at any moment: what its people and agents do, step by step, and what they were
 * told. Every step ends by itself, whatever happens to the daemon meanwhile.
 */

import { nextPolicy, type StoredCard } from "@custos/pwa";
import type { Client } from "@custos/rpc/client";
import { SoftwarePhone } from "../phone/software_phone.ts";
import { HANDLE, NAME, S, type Stage } from "../relay_malice/stage.ts";
import type { Trigger } from "./moments.ts";

/** What somebody was told, and must stay true. */
export interface Facts {
  /** Requests whose end the phone has seen. */
  ended: Map<string, "granted" | "delivered" | "denied">;
  /** Secrets that the person was told are there, with the version of their policy. */
  secrets: Map<string, number>;
  /** How often the API may have been called at most, by path. */
  may_send: Map<string, number>;
  /** Every request that was filed. */
  asked: Set<string>;
}

/** How long to wait for a card, in milliseconds. The step gives up earlier where its caller was told that all is over. */
const CARD_MS = 10_000;

/** The life. */
export class Life {
  readonly facts: Facts = { ended: new Map(), secrets: new Map(), may_send: new Map(), asked: new Set() };
  /** The watcher of the present step. */
  trigger: Trigger | null = null;
  /** Resolves when the daemon that is struck in this step runs again. */
  risen: Promise<void> = Promise.resolve();
  #paths = 0;

  constructor(readonly stage: Stage) {
    stage.relay.act = (passing) => this.trigger === null ? passing.pass() : this.trigger.relay(passing);
  }

  /** Pairs. A daemon that died in between is asked whether it knows the phone, as a person would look. */
  async pair(): Promise<void> {
    let last: unknown = null;
    for (let attempt = 0; attempt < 5 && this.stage.phone === null; attempt++) {
      const stop = new AbortController();
      const { store, fetch } = this.stage.parts;
      const { authenticator } = this.stage;
      let pairing: Promise<SoftwarePhone> | null = null;
      try {
        const { pairing_id, url } = await this.#call("pair.begin", {});
        const words = Promise.withResolvers<string>();
        pairing = SoftwarePhone.pair(url, {
          onWords: words.resolve,
          store,
          authenticator,
          fetch,
          signal: stop.signal,
        });
        pairing.catch(words.reject);
        const word = (await withLimit(words.promise, CARD_MS)).split(" ")[0]!;
        await this.#call("pair.status", { pairing_id, wait_ms: 10_000 });
        await this.#call("pair.confirm", { pairing_id, word });
        this.stage.phone = await withLimit(pairing, 15_000);
      } catch (error) {
        last = error;
        await this.#up();
        const { devices } = await this.#look("devices.list");
        if (pairing !== null && devices.length > 0) {
          this.stage.phone = await withLimit(pairing, 20_000);
        } else {
          stop.abort();
          await pairing?.catch(() => {});
        }
      }
    }
    if (this.stage.phone === null) throw new Error(`The phone could not be paired: ${last}`);
  }

  /** Gives custos a secret. The first one gets the name that the other steps use. */
  async drop(): Promise<void> {
    const { phone, api } = this.stage;
    const name = this.facts.secrets.has(NAME) ? `${NAME}-${++this.#paths}` : NAME;
    for (let attempt = 0; attempt < 4; attempt++) {
      const agent = { name: `drop ${++this.#paths}` };
      const asked = this.#call("drop.request", { name, reason: "a secret", wait_ms: 0, agent }).catch(() =>
        null
      );
      const card = await this.#card((one) => one.message.doc.agent.name === agent.name, asked);
      if (card !== null) {
        const fields = {
          name,
          origins: [api.origin],
          placement: { kind: "bearer" as const },
          rules: [{ methods: ["GET", "POST"], path_prefix: "/" }],
          max_seconds: 3_600,
          private_network: true,
        };
        const value = new TextEncoder().encode(S);
        const answer = await phone!.drop(card.message.doc.id, fields, value).catch(() => null);
        if (answer?.status === "delivered") this.facts.ended.set(card.message.doc.id, "delivered");
      }
      await this.#up();
      const { handles } = await this.#look("handles.list");
      if (handles.some((handle) => handle.name === name)) {
        this.facts.secrets.set(name, 1); // told on the phone, or seen on the computer
        return;
      }
    }
    throw new Error("No secret could be given.");
  }

  /** One request that is approved for this once, and sent by the call that waits for it. */
  async once(): Promise<void> {
    const path = this.#path("once", 1);
    const body = { encoding: "utf8" as const, data: "pay 20" };
    await this.#asked(path, { method: "POST", body }, (phone, id) => phone.approve(id));
    // Whoever asks again must not send again: the grant is spent, or died with the daemon.
    await this.#http(path, { method: "POST", body, wait_ms: 0 }).catch(() => null);
  }

  /** A request that is denied. */
  async deny(): Promise<void> {
    await this.#asked(this.#path("deny", 0), { method: "GET" }, (phone, id) => phone.deny(id));
  }

  /** A grant for some minutes, two calls under it, and a lock that ends it. */
  async lock(): Promise<void> {
    const path = this.#path("lock", 3);
    await this.#asked(path, { method: "GET" }, (phone, id) => phone.approve(id, { kind: "path" }));
    await this.#http(path, { method: "GET", wait_ms: 0 }).catch(() => null);
    const locked = await this.#call("daemon.lock", {}).catch(() => null);
    if (locked === null) return;
    const before = this.stage.api.count(path);
    await this.#http(path, { method: "GET", wait_ms: 0 }).catch(() => null);
    if (this.stage.api.count(path) > before) throw new Error("A locked daemon sent something.");
  }

  /** A change of the secret's policy that the person begins on the phone. */
  async policy(): Promise<void> {
    const phone = this.stage.phone!;
    const old = (await phone.record()).policies.find(({ name }) => name === NAME);
    if (old === undefined) return; // the phone does not have it yet; it asked for it, and the next life changes it
    const limits = { ...old.limits, max_seconds: old.limits.max_seconds - 1 };
    const policy = await nextPolicy(old, { ...old, limits }, Date.now());
    await phone.say({ t: "change", secret_id: old.secret_id, change: { kind: "set", policy } });
    const card = await this.#card((one) => one.message.doc.type === "policy" && one.age_file !== null);
    if (card === null) return;
    this.facts.asked.add(card.message.doc.id);
    const answer = await phone.change(card.request_hash).catch(() => null);
    if (answer?.status !== "granted") return;
    this.facts.ended.set(card.message.doc.id, "granted");
    this.facts.secrets.set(NAME, policy.version);
  }

  /** A stop and a start; dying in the middle of the start is what this step is for. */
  async restart(): Promise<void> {
    await this.stage.daemon?.stop("SIGTERM");
    if (this.trigger?.struck === true) return; // then another one starts already
    await this.stage.startDaemon().catch(() => {});
  }

  /** A list, asked for again where the daemon died over it. */
  async #look<M extends "devices.list" | "handles.list">(method: M) {
    try {
      return await this.stage.client.call(method, {});
    } catch {
      await this.#up();
      return await this.stage.client.call(method, {});
    }
  }

  /** A daemon that was struck runs again; nobody waits where none was. */
  async #up(): Promise<void> {
    if (this.trigger?.struck === true) await this.risen;
  }

  async #asked(
    path: string,
    ask: Parameters<Stage["http"]>[1],
    answer: (phone: SoftwarePhone, id: string) => Promise<{ status: StoredCard["status"] | null }>,
  ): Promise<void> {
    this.stage.api.arrival(path).then(() => this.trigger?.sent());
    const call = this.#http(path, { ...ask, wait_ms: 30_000 }).catch(() => null);
    const ofPath = ({ message: { doc } }: StoredCard) =>
      doc.type === "http" && new URL(doc.http.url).pathname === path;
    const card = await this.#card(ofPath, call);
    if (card !== null) {
      const { id } = card.message.doc;
      this.facts.asked.add(id);
      const said = await answer(this.stage.phone!, id).catch(() => null);
      if (said?.status === "granted" || said?.status === "denied") this.facts.ended.set(id, said.status);
    }
    await call;
  }

  /** The pending card that fits. `null` once `call` is over, the daemon runs again, and there is none. */
  async #card(fits: (card: StoredCard) => boolean, call?: Promise<unknown>): Promise<StoredCard | null> {
    const phone = this.stage.phone!;
    let over = false;
    call?.then(async () => {
      await this.#up();
      setTimeout(() => over = true, 1_000);
    });
    const look = async () => {
      const card = (await phone.cards()).find((one) => one.status === "pending" && fits(one));
      return card ?? (over ? "over" as const : null);
    };
    const found = await phone.when(look, CARD_MS);
    return found === "over" ? null : found;
  }

  #http(path: string, ask: Parameters<Stage["http"]>[1]) {
    const { method, ...rest } = ask!;
    const body = method === "GET" ? { body: undefined } : {};
    return this.#counted(this.stage.http(path, { method, ...rest, ...body, handle: HANDLE, agent: path }));
  }

  #call: Client["call"] = (method, params, options) =>
    this.#counted(this.stage.client.call(method, params, options));

  async #counted<T>(call: Promise<T>): Promise<T> {
    const result = await call;
    this.trigger?.answered();
    return result;
  }

  #path(step: string, may_send: number): string {
    const path = `/${step}/${++this.#paths}`;
    this.facts.may_send.set(path, may_send);
    return path;
  }
}

async function withLimit<T>(work: Promise<T>, ms: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("It took too long.")), ms);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
