/**
 * The service worker: the app works offline as a shell, and changes only when the person says so (DESIGN §13). A push
 * carries nothing; it shows one visible line and wakes the page (B128, B129).
 */

/// <reference lib="webworker" />

interface Build {
  version: string;
  files: Record<string, string>;
}

const scope = self as unknown as ServiceWorkerGlobalScope;
const CACHE_PREFIX = "build-";

async function currentBuild(): Promise<Build> {
  return await (await fetch("manifest.json", { cache: "no-store" })).json() as Build;
}

scope.addEventListener("install", (event) => {
  event.waitUntil((async () => {
    const { version, files } = await currentBuild();
    const cache = await caches.open(CACHE_PREFIX + version);
    for (const [path, hash] of Object.entries(files)) await cache.put(path, await checkedFile(path, hash));
  })());
});

/** A file as the manifest names it: a build that is half in place is not installed. */
async function checkedFile(path: string, hash: string): Promise<Response> {
  const response = await fetch(path, { cache: "no-store" });
  const bytes = await response.clone().arrayBuffer();
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (!response.ok || hex !== hash) throw new TypeError(`${path} is not the file that manifest.json names`);
  return response;
}

scope.addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    const names = (await caches.keys()).filter((name) => name.startsWith(CACHE_PREFIX));
    // The newest cache is the one this worker filled; names are content hashes, so creation order decides.
    for (const name of names.slice(0, -1)) await caches.delete(name);
    await scope.clients.claim();
  })());
});

scope.addEventListener("message", (event) => {
  if (event.data === "update") scope.skipWaiting();
});

scope.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  if (event.request.method !== "GET" || url.origin !== scope.location.origin) return;
  if (url.pathname.endsWith("/config.json")) {
    event.respondWith(networkFirst(event.request));
    return;
  }
  event.respondWith(cacheFirst(event.request));
});

async function cacheFirst(request: Request): Promise<Response> {
  const page = request.mode === "navigate" ? "index.html" : request;
  return await caches.match(page) ?? await fetch(request);
}

async function networkFirst(request: Request): Promise<Response> {
  const cache = await caches.open("config");
  try {
    const response = await fetch(request);
    if (response.ok) await cache.put(request, response.clone());
    return response;
  } catch (error) {
    const stored = await cache.match(request);
    if (stored !== undefined) return stored;
    throw error;
  }
}

scope.addEventListener("push", (event) => {
  event.waitUntil((async () => {
    const windows = await scope.clients.matchAll({ type: "window" });
    for (const client of windows) client.postMessage("wake");
    await scope.registration.showNotification("custos", { body: "An approval waits for you.", tag: "custos" });
  })());
});

scope.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil((async () => {
    const [open] = await scope.clients.matchAll({ type: "window" });
    if (open === undefined) await scope.clients.openWindow("./");
    else await open.focus();
  })());
});
