/** Another build of the app, made from the one that is checked in, and a server for it. */

import { type Asset, ASSETS } from "../../pwa/assets.ts";
import { createPwa } from "../../pwa/serve_app.ts";

/** What {@link otherBuild} adds to the style sheet. */
export const MARK = "/* a newer build */";

/** The build with another style sheet. `whole: false`: the files are not those that its worker names. */
export async function otherBuild(whole = true): Promise<Record<string, Asset>> {
  const style = textOf("style.css") + MARK;
  const [head, ...rest] = textOf("sw.js").split("\n");
  const build = JSON.parse(/^const CUSTOS_BUILD=(.*);$/.exec(head!)![1]!) as {
    version: string;
    files: Record<string, string>;
  };
  build.version = "0123456789abcdef";
  const digest = await crypto.subtle.digest(
    "SHA-256",
    new TextEncoder().encode(whole ? style : "something else"),
  );
  build.files["style.css"] = new Uint8Array(digest).toHex();
  const worker = [`const CUSTOS_BUILD=${JSON.stringify(build)};`, ...rest].join("\n");
  return { ...ASSETS, "style.css": { text: style }, "sw.js": { text: worker } };
}

/** Serves a build on a port of localhost. */
export function serveBuild(port: number, relays: string[], assets: Record<string, Asset>): AsyncDisposable {
  const ended = new AbortController();
  const app = createPwa(assets, relays);
  const server = Deno.serve({ hostname: "127.0.0.1", port, signal: ended.signal, onListen: () => {} }, app);
  return {
    async [Symbol.asyncDispose]() {
      ended.abort();
      await server.finished;
    },
  };
}

function textOf(name: string): string {
  const asset = ASSETS[name]!;
  if (!("text" in asset)) throw new Error(`${name} is not text.`);
  return asset.text;
}
