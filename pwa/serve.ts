/**
 * Serves the phone app from its own module graph, with headers that leave a page no room: no inline script or style, no
 * frame, no third party, and connections to the named relays only (DESIGN §13, B131).
 *
 * Usage: serve.ts --listen 127.0.0.1:8788 --relay ORIGIN [--relay ORIGIN]… [--json]
 */

import { parseArgs } from "node:util";
import { fromBase64, utf8 } from "@custos/core/bytes";
import { CustosError } from "@custos/core/errors";
import { ASSETS } from "./assets.ts";

const TYPES: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  json: "application/json",
  webmanifest: "application/manifest+json",
  svg: "image/svg+xml",
  png: "image/png",
};

/** Every security header of the app. `relays` are origins. */
export function securityHeaders(relays: readonly string[]): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    `connect-src 'self' ${relays.join(" ")}`.trim(),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types custos",
  ];
  return {
    "content-security-policy": policy.join("; "),
    "permissions-policy":
      "camera=(self), publickey-credentials-get=(self), publickey-credentials-create=(self), clipboard-read=(), " +
      "geolocation=(), microphone=(), payment=(), usb=(), interest-cohort=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "strict-transport-security": "max-age=31536000",
  };
}

/** The answer to a request. Only `GET` and `HEAD` of known files; nothing else exists. */
export function answer(request: Request, relays: readonly string[]): Response {
  const headers = new Headers(securityHeaders(relays));
  if (request.method !== "GET" && request.method !== "HEAD") {
    headers.set("allow", "GET, HEAD");
    return new Response("Only GET and HEAD.", { status: 405, headers });
  }
  const name = new URL(request.url).pathname.slice(1) || "index.html";
  const body = name === "config.json" ? utf8(JSON.stringify({ relays })) : bytesOf(name);
  if (body === null) return new Response("There is no such file.", { status: 404, headers });
  headers.set("content-type", TYPES[name.split(".").at(-1)!] ?? "application/octet-stream");
  // A chunk's name is the hash of its content; everything else is asked for again.
  headers.set(
    "cache-control",
    /-[A-Z0-9]{8}\.js$/.test(name) ? "public, max-age=31536000, immutable" : "no-cache",
  );
  return new Response(request.method === "HEAD" ? null : body, { headers });
}

function bytesOf(name: string) {
  const asset = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined;
  if (asset === undefined) return null;
  return "text" in asset ? utf8(asset.text) : fromBase64(asset.base64);
}

/** Reads the command line. Throws `bad_request`. */
export function readServeArgs(
  argv: readonly string[],
): { hostname: string; port: number; relays: string[]; json: boolean } {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      listen: { type: "string", default: "127.0.0.1:8788" },
      relay: { type: "string", multiple: true, default: [] },
      json: { type: "boolean", default: false },
    },
  });
  const address = /^([^:]+):(\d{1,5})$/.exec(values.listen);
  const relays = values.relay.map((one) => URL.canParse(one) ? new URL(one).origin : "");
  if (address === null || Number(address[2]) > 65_535) {
    throw new CustosError("bad_request", "--listen is an address and a port, as 127.0.0.1:8788.");
  }
  if (relays.length === 0 || relays.some((one) => !/^https?:\/\//.test(one))) {
    throw new CustosError(
      "bad_request",
      "--relay names the relay's origin, as https://relay.example. Give at least one.",
    );
  }
  return { hostname: address[1]!, port: Number(address[2]), relays, json: values.json };
}

if (import.meta.main) {
  try {
    const { hostname, port, relays, json } = readServeArgs(Deno.args);
    const ended = new AbortController();
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
      Deno.addSignalListener(signal, () => ended.abort());
    }
    Deno.addSignalListener("SIGUSR1", () => Deno.exit(1)); // the runtime opens its inspector on it (DESIGN §3)
    const server = Deno.serve(
      { hostname, port, signal: ended.signal, onListen: () => {} },
      (request) => answer(request, relays),
    );
    const listen = `${hostname}:${server.addr.port}`;
    console.log(
      json ? JSON.stringify({ ready: true, listen: [listen] }) : `The phone app is on http://${listen}.`,
    );
    await server.finished;
  } catch (error) {
    console.error(error instanceof Error ? error.message : "The phone app could not be served.");
    Deno.exit(error instanceof CustosError ? 2 : 1);
  }
}
