/**
 * The page's side of the service worker. Trusted Types want a policy for the one script address that is used, and the
 * page's CSP allows that policy by name.
 */

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL: (url: string) => string }): {
    createScriptURL(url: string): string;
  };
}

const SCRIPT = "sw.js";
/** A page that stays open asks for a new build so often, in milliseconds. */
const ASK_MS = 60 * 60 * 1000;

/** What the worker tells the page. */
export interface WorkerEvents {
  /** A new build waits. `apply` makes it take over, which loads the page anew. */
  onUpdate: (apply: () => void) => void;
  /** A push came, or a notification was opened. */
  onWake: () => void;
}

/** Registers the worker. Without one (an old browser, a private window) the app works, but not offline. */
export async function registerWorker(events: WorkerEvents): Promise<void> {
  const { serviceWorker } = navigator;
  if (serviceWorker === undefined) return;
  serviceWorker.addEventListener("message", (event) => {
    if (event.data === "wake") events.onWake();
  });
  let controlled = serviceWorker.controller !== null;
  serviceWorker.addEventListener("controllerchange", () => {
    if (controlled) location.reload(); // the person asked for the new build, in this tab or another
    controlled = true;
  });
  const registration = await serviceWorker.register(scriptUrl(), { updateViaCache: "none" });
  const offer = (worker: ServiceWorker | null) => {
    // Without a controller this is the first build, which takes over by itself.
    if (worker !== null && serviceWorker.controller !== null) {
      events.onUpdate(() => worker.postMessage("update"));
    }
  };
  offer(registration.waiting);
  registration.addEventListener("updatefound", () => {
    const worker = registration.installing;
    worker?.addEventListener("statechange", () => {
      if (worker.state === "installed") offer(worker);
    });
  });
  setInterval(() => void registration.update().catch(() => {}), ASK_MS);
}

function scriptUrl(): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  if (trustedTypes === undefined) return SCRIPT;
  const policy = trustedTypes.createPolicy("custos", {
    createScriptURL: (url) => {
      if (url !== SCRIPT) throw new TypeError("custos loads no other script");
      return url;
    },
  });
  return policy.createScriptURL(SCRIPT);
}
