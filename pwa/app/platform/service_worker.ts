/**
 * The page's side of the service worker. Trusted Types want a policy for the one script address that is used, and the
 * page's CSP allows that policy by name.
 */

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL: (url: string) => string }): {
    createScriptURL(url: string): string;
  };
}

/** Registers the worker. `onUpdate` is called when a new build waits; what it gets makes the build take over. */
export async function registerWorker(onUpdate: (apply: () => void) => void, onWake: () => void): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  const { serviceWorker } = navigator;
  const registration = await serviceWorker.register(workerUrl(), { type: "module", updateViaCache: "none" });
  const offer = (worker: ServiceWorker | null) => {
    if (worker === null || serviceWorker.controller === null) return;
    onUpdate(() => worker.postMessage("update"));
  };
  offer(registration.waiting);
  registration.addEventListener("updatefound", () => {
    const worker = registration.installing;
    worker?.addEventListener("statechange", () => {
      if (worker.state === "installed") offer(worker);
    });
  });
  let controlled = serviceWorker.controller !== null;
  serviceWorker.addEventListener("controllerchange", () => {
    if (controlled) location.reload(); // the person asked for the update
    controlled = true;
  });
  serviceWorker.addEventListener("message", (event) => {
    if (event.data === "wake") onWake();
  });
}

function workerUrl(): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  if (trustedTypes === undefined) return "sw.js";
  const policy = trustedTypes.createPolicy("custos", {
    createScriptURL: (url) => {
      if (url !== "sw.js") throw new TypeError("custos loads no other script");
      return url;
    },
  });
  return policy.createScriptURL("sw.js");
}
