/** What the app has of its platform: new builds, wake-ups by a push, and the number on its icon. */

import { computed, effect, type Signal, signal } from "@preact/signals";
import type { Model } from "./model.ts";
import { registerWorker } from "./platform/service_worker.ts";

/** Makes the new build take over, once one waits; `null` before. The page is loaded anew by it. */
export const updateReady: Signal<(() => void) | null> = signal(null);

/** Begins; once. What the browser does not have is left out. */
export function startPlatform(model: Model): void {
  const wake = () => void model.engine().then((engine) => engine.wake()).catch(() => {});
  registerWorker({ onUpdate: (apply) => updateReady.value = apply, onWake: wake }).catch(() => {});
  document.addEventListener("visibilitychange", () => {
    // After sleep a long poll may be dead without knowing it (B141).
    if (document.visibilityState === "visible" && model.daemons.value.length > 0) wake();
  });
  const waiting = computed(() => model.ready.value ? model.badge.value : null);
  effect(() => showBadge(waiting.value));
  const mailboxes = computed(() => model.daemons.value.map(({ record }) => record.to_phone.id).join());
  effect(() => {
    // A relay may have lost what it knew, and a new computer has another mailbox: both are told again.
    if (mailboxes.value === "" || permission() !== "granted") return;
    void import("./platform/push.ts").then(({ renewPush }) => renewPush(model)).catch(() => {});
  });
}

/** The number of cards that wait, on the app's icon. */
function showBadge(waiting: number | null): void {
  if (waiting === null) return;
  if (waiting === 0) void navigator.clearAppBadge?.().catch(() => {});
  else void navigator.setAppBadge?.(waiting).catch(() => {});
}

function permission(): NotificationPermission | null {
  return "Notification" in globalThis ? Notification.permission : null;
}
