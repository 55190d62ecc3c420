/**
 * The service worker: the app works offline as a shell, and changes only when the person says so (DESIGN §13). A push
 * carries nothing; it shows one visible line and wakes the page (B128, B129).
 *
 * The build puts the names and hashes of its files in front of this script. Whatever changes in the app changes the
 * worker too, which is how a browser notices; and what is kept is exactly what was built, or nothing.
 */

/// <reference lib="webworker" />

/** SHA-256 in hex by file name, as `manifest.json` has it, without this worker. */
declare const CUSTOS_BUILD: { version: string; files: Record<string, string> };

const scope = self as unknown as ServiceWorkerGlobalScope;
const CACHE_PREFIX = "build-";
const CACHE = CACHE_PREFIX + CUSTOS_BUILD.version;
const CONFIG_CACHE = "config";
const SHELL = "index.html";
/** Its address: some hosts redirect from the file's own name. */
const SHELL_URL = "./";
/** How long a page waits for fresh headers before it opens with those that are kept, in milliseconds. */
const HEADERS_MS = 800;
/** The one notification: a newer one takes its place. */
const TAG = "custos";

scope.addEventListener("install", (event) => {
  event.waitUntil((async () => {
    const cache = await caches.open(CACHE);
    for (const name of Object.keys(CUSTOS_BUILD.files)) await cache.put(name, await builtFile(name));
  })());
});

scope.addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    for (const name of await caches.keys()) {
      if (name.startsWith(CACHE_PREFIX) && name !== CACHE) await caches.delete(name);
    }
    await scope.clients.claim();
  })());
});

scope.addEventListener("message", (event) => {
  if (event.data === "update") scope.skipWaiting(); // only pages of this origin can send it
});

scope.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (event.request.method !== "GET" || url.origin !== scope.location.origin) return;
  const name = url.href.slice(scope.registration.scope.length).replace(/[?#].*$/, "");
  if (event.request.mode === "navigate") event.respondWith(page(event.request));
  else if (name === "config.json") event.respondWith(config(event.request));
  else if (Object.hasOwn(CUSTOS_BUILD.files, name)) event.respondWith(kept(event.request, name));
});

/** A file from the network, if it is the one that was built. Throws `TypeError` where it is not. */
async function builtFile(name: string): Promise<Response> {
  const url = name === SHELL ? SHELL_URL : name;
  const response = await fetch(url, { cache: "no-store", redirect: "error" });
  const digest = await crypto.subtle.digest("SHA-256", await response.clone().arrayBuffer());
  const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (!response.ok || hex !== CUSTOS_BUILD.files[name]) {
    throw new TypeError(`${name} is not the file of this build`);
  }
  return response;
}

/** A kept file. Where the browser has dropped all of them, the page comes from the network as if there was no worker. */
async function kept(request: Request, name: string): Promise<Response> {
  const cache = await caches.open(CACHE);
  const found = await cache.match(name, { ignoreVary: true });
  if (found !== undefined) return found;
  return await cache.match(SHELL, { ignoreVary: true }) === undefined
    ? await fetch(request)
    : await builtFile(name);
}

/**
 * The page: its text is the kept one, its headers are today's where they come in time. The policy in them names the
 * relays, which may have changed since this build was installed.
 */
async function page(request: Request): Promise<Response> {
  const cache = await caches.open(CACHE);
  const found = await cache.match(SHELL, { ignoreVary: true });
  if (found === undefined) return await fetch(request);
  const fresh = await freshHeaders();
  if (fresh === null) return found;
  await cache.put(SHELL, new Response(await found.clone().blob(), { headers: fresh }));
  return new Response(found.body, { headers: fresh });
}

async function freshHeaders(): Promise<Headers | null> {
  try {
    const signal = AbortSignal.timeout(HEADERS_MS);
    const response = await fetch(SHELL_URL, { method: "HEAD", cache: "no-store", redirect: "error", signal });
    const headers = new Headers(response.headers);
    for (const name of ["content-encoding", "content-length", "transfer-encoding"]) headers.delete(name);
    // Anything else that answers here, such as a captive portal, does not have this policy.
    const policy = headers.get("content-security-policy") ?? "";
    return response.ok && policy.startsWith("default-src 'none';") ? headers : null;
  } catch {
    return null;
  }
}

async function config(request: Request): Promise<Response> {
  const cache = await caches.open(CONFIG_CACHE);
  try {
    const response = await fetch(request);
    if (response.ok) await cache.put("config.json", response.clone());
    return response;
  } catch (error) {
    const stored = await cache.match("config.json", { ignoreVary: true });
    if (stored !== undefined) return stored;
    throw error;
  }
}

scope.addEventListener("push", (event) => {
  event.waitUntil((async () => {
    const windows = await scope.clients.matchAll({ type: "window" });
    for (const client of windows) client.postMessage("wake");
    // Always visible: browsers take the right to push from an app that shows nothing (B128).
    await scope.registration.showNotification("custos", {
      body: "Something waits for you. Open custos to see it.",
      icon: "icon-180.png",
      badge: "icon-180.png",
      tag: TAG,
    });
    // The badge has no number: this worker cannot read the mailboxes. The page sets it when it has.
    await scope.navigator.setAppBadge?.().catch(() => {});
  })());
});

scope.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil((async () => {
    const windows = await scope.clients.matchAll({ type: "window" });
    const open = windows.find((client) => client.visibilityState === "visible") ?? windows[0];
    if (open === undefined) await scope.clients.openWindow("./");
    else {
      open.postMessage("wake");
      await open.focus();
    }
  })());
});
