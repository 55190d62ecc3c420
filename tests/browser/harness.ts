/**
 * One whole custos with the real phone app: relay, app server and daemon as processes under their real flags, Chromium with
 * a virtual authenticator, and an API that records what reaches it. The tests of a file share one house.
 */

import assert from "node:assert/strict";
import { openVapidKey, SqliteStore, startRelay } from "@custos/relay";
import { Client } from "@custos/rpc/client";
import type { HttpResult } from "@custos/rpc/http_schemas";
import { RpcError } from "@custos/rpc/rpc_error";
import { placesIn } from "@custos/tools/paths";
import type { Values } from "@custos/tools/permissions";
import { Server } from "../e2e/harness_process.ts";
import { StubApi } from "../e2e/harness_stub.ts";
import { PATIENCE_MS } from "../e2e/harness_wait.ts";
import type { TestPushService } from "../../relay/testing_push.ts";
import { BrowserPhone, type PhoneOptions } from "./browser_phone.ts";
import { type Chromium, startChromium } from "./chromium.ts";

/** The secret that the person gives. */
export const SECRET = "tok_browser_7d1f0b52c9";

/** Options for tests whose house lives longer than they do. */
export const SHARED: Pick<Deno.TestDefinition, "sanitizeOps" | "sanitizeResources"> = {
  sanitizeOps: false,
  sanitizeResources: false,
};

/** How a house is set up. */
export interface HouseOptions {
  /** The relay runs in this process and pushes to this service: under its own flags it can reach real ones only. */
  push?: TestPushService;
}

/** The house that all tests of a file share. It starts before the first of them and is gone after the last. */
export function shareBrowserHouse(options: HouseOptions = {}): () => BrowserHouse {
  let house: BrowserHouse | null = null;
  Deno.test.beforeAll(async () => {
    house = await BrowserHouse.start(options);
  });
  Deno.test.afterAll(async () => {
    await house?.[Symbol.asyncDispose]();
  });
  return () => house!;
}

/** Relay, app server, daemon, API and browser. */
export class BrowserHouse implements AsyncDisposable {
  readonly api = new StubApi();
  readonly client: Client;
  readonly values: Values;
  readonly origin: string;
  relay!: { stop(): Promise<unknown> };
  pwa!: Server;
  daemon!: Server;
  chromium!: Chromium;
  relay_url = "";

  private constructor(readonly folder: string, readonly options: HouseOptions) {
    const pwa_port = freePort();
    this.values = placesIn(folder, { relay_port: 0, pwa_port, profile: "lan" });
    this.origin = `http://localhost:${pwa_port}`;
    this.client = new Client({ socket: this.values.socket });
  }

  /** Starts everything in a fresh folder. What was started is ended again where something fails. */
  static async start(options: HouseOptions = {}): Promise<BrowserHouse> {
    const house = new BrowserHouse(await Deno.makeTempDir({ prefix: "custos-browser-" }), options);
    try {
      await Deno.mkdir(house.values.socket.replace(/\/[^/]+$/, ""), { mode: 0o700 });
      house.chromium = await startChromium();
      await house.startRelay();
      await house.startPwa();
      await house.startDaemon();
      return house;
    } catch (error) {
      await house[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Starts the relay. Its port is kept over a restart. */
  async startRelay(): Promise<void> {
    const { relay_dir, relay_socket } = this.values;
    if (this.options.push !== undefined) return await this.#startRelayHere(this.options.push);
    const address = this.relay_url === "" ? this.values.relay_address : this.relay_url.replace("http://", "");
    const args = ["--data", relay_dir, "--listen", address, "--listen", `unix:${relay_socket}`];
    args.push("--limit", "address_burst=100000", "--limit", "address_per_second=10000");
    args.push("--pwa-origin", this.origin, "--json");
    const relay = await Server.start("relay", { ...this.values, relay_address: address }, { args });
    this.relay = relay;
    this.relay_url = (relay.ready["listen"] as string[]).find((item) => !item.startsWith("unix:"))!;
  }

  /** Starts the server of the phone app. */
  async startPwa(): Promise<void> {
    const args = ["--listen", `localhost:${this.values.pwa_port}`, "--relay", this.relay_url, "--json"];
    this.pwa = await Server.start("pwa", this.values, { args });
  }

  /** Starts the daemon, on what is there. */
  async startDaemon(): Promise<void> {
    const { daemon_dir, socket, profile, relay_socket } = this.values;
    this.daemon = await Server.start("daemon", this.values, {
      args: [
        ...["--state", daemon_dir, "--socket", socket, "--profile", profile],
        ...["--relay", `unix:${relay_socket}`, "--relay-url", this.relay_url],
        ...["--pwa-origin", this.origin, "--name", "test computer", "--json"],
      ],
    });
  }

  /** A browser that is not paired, on no page yet. */
  async newPhone(options: PhoneOptions = {}): Promise<BrowserPhone> {
    return await BrowserPhone.open(this.chromium.browser, this.origin, options);
  }

  /** Opens a pairing link and types the first word into the terminal. Returns the pairing's id. */
  async beginPairing(
    phone: BrowserPhone,
    look: (screen: string) => Promise<void> = async () => {},
  ): Promise<string> {
    const { pairing_id, url } = await this.client.call("pair.begin", {});
    await phone.page.goto(url);
    const words = await phone.words();
    assert.equal(new URL(phone.page.url()).hash, "", "the link is cleared at once");
    await look("words");
    const { state } = await this.client.call("pair.status", { pairing_id, wait_ms: PATIENCE_MS });
    assert.equal(state, "confirm");
    await this.client.call("pair.confirm", { pairing_id, word: words.split(" ")[0]! });
    return pairing_id;
  }

  /** Reads the recovery sheet and types what is asked of it. */
  async proveSheet(
    phone: BrowserPhone,
    look: (screen: string) => Promise<void> = async () => {},
  ): Promise<void> {
    const { page } = phone;
    await page.getByTestId("sheet").waitFor();
    await look("sheet");
    const groups = await page.locator(".sheet-groups li").allInnerTexts();
    await phone.press("I have it");
    const label = await page.locator("label[for=sheet-proof]").innerText();
    await look("sheet proof");
    await page.locator("#sheet-proof").fill(groups[Number(/\d+/.exec(label)![0]) - 1]!);
    await phone.press("It is kept. Go on");
  }

  /** Pairs through the page, as a person does. `look` is called on each screen by its name. */
  async pair(phone: BrowserPhone, look: (screen: string) => Promise<void> = async () => {}): Promise<void> {
    const { page } = phone;
    const pairing_id = await this.beginPairing(phone, look);
    await this.proveSheet(phone, look);
    await page.getByRole("heading", { name: "Paired with test computer" }).waitFor();
    await look("paired");
    for (let state = ""; state !== "done";) {
      assert.notEqual(state, "failed");
      ({ state } = await this.client.call("pair.status", { pairing_id, wait_ms: 1_000 }));
    }
    await phone.press("To the inbox");
    await phone.screen("inbox");
  }

  /** Asks for a secret as an agent and gives it through the page. Returns the handle. */
  async giveSecret(
    phone: BrowserPhone,
    name: string,
    { look = async () => {}, origin = this.api.origin, reason = "set up the test" }: {
      look?: (screen: string) => Promise<void>;
      /** Where the secret may go; `null`: where the form says by itself. */
      origin?: string | null;
      reason?: string;
    } = {},
  ): Promise<string> {
    const { page } = phone;
    const agent = { name: "claude" };
    const asked = await this.client.call("drop.request", {
      name,
      reason,
      wait_ms: 0,
      agent,
    });
    await page.getByTestId("pending").click();
    await phone.screen("drop");
    assert.equal(await phone.words(), asked.fingerprint);
    await look("drop");
    await page.locator("#value").fill(SECRET);
    if (origin !== null) {
      await page.locator("#origins").fill(origin);
      await page.getByRole("checkbox", { name: /in your own network/ }).check();
    }
    await look("drop filled");
    await phone.press("Store it");
    await phone.screen("gone");
    const { status, handle } = await this.client.call("access.status", {
      request_id: asked.request_id,
      wait_ms: PATIENCE_MS,
    });
    assert.equal(status, "delivered");
    await phone.press("To the inbox");
    return handle!;
  }

  /** An agent that asks for a request and waits for the answer. */
  http(handle: string, path: string, agent: string, wait_ms = PATIENCE_MS): Promise<HttpResult> {
    return this.client.call("http.request", {
      handle,
      method: "GET",
      url: this.api.origin + path,
      reason: "a test in a real browser",
      wait_ms,
      agent: { name: agent },
    });
  }

  /** Files a request and does not wait. Returns its id and words. */
  async ask(handle: string, path: string, agent: string): Promise<{ id: string; fingerprint: string }> {
    try {
      await this.http(handle, path, agent, 0);
    } catch (error) {
      if (error instanceof RpcError && error.kind === "needs_approval") return error.request!;
      throw error;
    }
    throw new Error("The request was answered without an approval.");
  }

  async #startRelayHere(push: TestPushService): Promise<void> {
    const { relay_dir, relay_socket } = this.values;
    const store = new SqliteStore(relay_dir);
    const relay = await startRelay({
      store,
      listen: [{ hostname: "127.0.0.1", port: 0 }, { path: relay_socket! }],
      origins: [this.origin],
      push: {
        key: await openVapidKey(relay_dir),
        contact: "mailto:tests@custos.example",
        fetch: push.fetch,
        timing: { grace_ms: 300 },
      },
    });
    this.relay = relay;
    this.relay_url = relay.addresses[0]!;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.chromium?.[Symbol.asyncDispose]();
    this.client.close();
    for (const server of [this.daemon, this.pwa, this.relay]) await server?.stop();
    await this.api[Symbol.asyncDispose]();
    await Deno.remove(this.folder, { recursive: true });
  }
}

/** A port that was free a moment ago: the app's origin must be known before anything starts. */
function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return port;
}
