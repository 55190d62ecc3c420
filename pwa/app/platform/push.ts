/**
 * Web Push on the phone's side. A push says only that something waits; the page then reads its mailboxes as always. Each
 * relay is told where to push for each mailbox, and told again whenever the app starts (B128).
 */

import { fromBase64url } from "@custos/core/bytes";
import { CustosError } from "@custos/core/errors";
import { RelayClient } from "@custos/core/relay_client";
import { decodePushKey, decodePushSubscription, PUSH_KEY_PATH } from "@custos/core/relay_wire";
import type { Model } from "../model.ts";

/**
 * - `unsupported`: this browser has no push, or only for an app that was installed (iOS).
 * - `denied`: the person, or the browser, refused notifications. Only the browser's own settings can undo it.
 * - `off`, `on`: what it says.
 */
export type PushState = "unsupported" | "denied" | "off" | "on";

/** What to say about each state, and what the person can do. */
export const PUSH_TEXTS: Readonly<Record<PushState, string>> = {
  unsupported: "This browser cannot be woken. On an iPhone or iPad, add custos to the home screen first.",
  denied:
    "Notifications are blocked for this page. Allow them in the browser's settings for this site, then come back.",
  off: "This phone is not woken when something waits. Keep custos open, or turn notifications on.",
  on: "This phone is woken when something waits. The notification says no more than that.",
};

/** How many computers will wake this phone, of how many. */
export interface PushReach {
  woken: number;
  computers: number;
}

/** How things are. Asks nobody. */
export async function pushState(): Promise<PushState> {
  const worker = await registration();
  if (worker === null) return "unsupported";
  if (Notification.permission === "denied") return "denied";
  return await worker.pushManager.getSubscription() === null ? "off" : "on";
}

/**
 * Asks for permission and subscribes. Call it from a click: browsers ignore it otherwise. Throws `no_device` where the
 * browser cannot or the person said no, `daemon_unreachable` where no relay could be told.
 */
export async function enablePush(model: Model): Promise<PushReach> {
  const worker = await registration();
  if (worker === null) throw new CustosError("no_device", PUSH_TEXTS.unsupported);
  if (await Notification.requestPermission() !== "granted") {
    throw new CustosError(
      "no_device",
      Notification.permission === "denied" ? PUSH_TEXTS.denied : PUSH_TEXTS.off,
    );
  }
  const reach = await tellRelays(model, worker);
  if (reach.woken > 0) return reach;
  throw new CustosError(
    "daemon_unreachable",
    "No relay could be told to wake this phone. It may not send pushes, or it cannot be reached now.",
  );
}

/** Tells the relays again where permission was given and not taken back. Asks nobody and never throws for a relay. */
export async function renewPush(model: Model): Promise<void> {
  const worker = await registration();
  if (worker === null || Notification.permission !== "granted") return;
  // Turned off here stays off: without a subscription nothing is renewed.
  if (await worker.pushManager.getSubscription() !== null) await tellRelays(model, worker);
}

/** Ends the subscription. The relays find it gone at their next push, and forget it. */
export async function disablePush(): Promise<void> {
  const subscription = await (await registration())?.pushManager.getSubscription();
  await subscription?.unsubscribe();
}

async function registration(): Promise<ServiceWorkerRegistration | null> {
  if (!("Notification" in globalThis) || navigator.serviceWorker === undefined) return null;
  const found = await navigator.serviceWorker.getRegistration();
  return found === undefined || !("pushManager" in found) ? null : found;
}

/** A browser has one subscription, made for the key of one relay; computers at a relay with another are not woken. */
async function tellRelays(model: Model, worker: ServiceWorkerRegistration): Promise<PushReach> {
  const records = model.daemons.value.map(({ record }) => record);
  let woken = 0;
  for (const { relay, to_phone } of records) {
    try {
      const key = await pushKey(relay);
      const subscription = key === null ? null : await subscribe(worker, key);
      if (subscription === null) continue;
      const client = new RelayClient({ url: relay, fetch: (url, init) => fetch(url, init) });
      const { kind } = await client.putPush(to_phone.id, to_phone.read_token, subscription);
      if (kind === "ok") woken++;
    } catch (error) {
      if (records.length === 1) throw explained(error);
    }
  }
  return { woken, computers: records.length };
}

async function pushKey(relay: string): Promise<string | null> {
  const response = await fetch(relay + PUSH_KEY_PATH, { redirect: "error", credentials: "omit" });
  return response.ok ? decodePushKey(await response.json()) : null;
}

async function subscribe(
  worker: ServiceWorkerRegistration,
  key: string,
): Promise<ReturnType<typeof decodePushSubscription>> {
  const found = await worker.pushManager.getSubscription();
  const same = found !== null && sameKey(found, key);
  if (found !== null && !same) await found.unsubscribe(); // the relay has a new key, or this is another relay
  const subscription = same ? found : await worker.pushManager.subscribe({
    userVisibleOnly: true,
    applicationServerKey: fromBase64url(key)!,
  });
  return decodePushSubscription(subscription.toJSON());
}

function sameKey(subscription: PushSubscription, key: string): boolean {
  const bytes = subscription.options.applicationServerKey;
  const wanted = fromBase64url(key)!;
  return bytes !== null && new Uint8Array(bytes).toString() === wanted.toString();
}

function explained(error: unknown): CustosError {
  if (error instanceof CustosError) return error;
  return new CustosError(
    "daemon_unreachable",
    "This browser's push service or the relay cannot be reached now.",
  );
}
