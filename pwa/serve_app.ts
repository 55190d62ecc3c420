/** The answers of the app's server: known files, `config.json`, and nothing else. */

import { fromBase64, utf8 } from "@custos/core/bytes";
import type { Asset } from "./assets.ts";
import { contentType } from "./content_types.ts";
import { securityHeaders } from "./security_headers.ts";

/** A built file's name carries the hash of its content where it ends so; such a file never changes. */
const HASHED_NAME = /-[A-Z0-9]{8}\.js$/;

interface File {
  body: Uint8Array<ArrayBuffer>;
  headers: Readonly<Record<string, string>>;
}

/**
 * Makes the handler. `assets` are the built files by name; `relays` the origins that the page may speak to, which it also
 * reads in `config.json`.
 *
 * Only `GET` and `HEAD` of exact names are answered. There is no path to walk: names are looked up as they come, so
 * `..%2f` and its kin are names that do not exist.
 */
export function createPwa(
  assets: Readonly<Record<string, Asset>>,
  relays: readonly string[],
): (request: Request) => Response {
  const common = securityHeaders(relays);
  const files = new Map<string, File>();
  const add = (name: string, body: Uint8Array<ArrayBuffer>) => {
    const cache = HASHED_NAME.test(name) ? "public, max-age=31536000, immutable" : "no-cache";
    files.set(`/${name}`, {
      body,
      headers: { ...common, "content-type": contentType(name), "cache-control": cache },
    });
  };
  for (const [name, asset] of Object.entries(assets)) {
    add(name, "text" in asset ? utf8(asset.text) : fromBase64(asset.base64)!);
  }
  add("config.json", utf8(JSON.stringify({ relays })));
  const index = files.get("/index.html");
  if (index !== undefined) files.set("/", index);

  return (request) => {
    if (request.method !== "GET" && request.method !== "HEAD") {
      return refusal(405, "Only GET and HEAD work here.", { ...common, allow: "GET, HEAD" });
    }
    const file = files.get(new URL(request.url).pathname);
    if (file === undefined) return refusal(404, "There is no such file.", common);
    return new Response(request.method === "HEAD" ? null : file.body, { headers: file.headers });
  };
}

function refusal(status: number, text: string, headers: Record<string, string>): Response {
  return new Response(`${text}\n`, {
    status,
    headers: { ...headers, "content-type": "text/plain; charset=utf-8", "cache-control": "no-store" },
  });
}
