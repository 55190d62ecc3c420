/** From the command line of `custos http` to the params of `http.request`. */

import { displayLine } from "@custos/core/display";
import { CustosError } from "@custos/core/errors";
import type { HeaderPair, HttpParams } from "@custos/rpc/http_schemas";
import { toHandle, wholeNumber } from "./args.ts";
import type { Context, Given } from "./command.ts";
import { type InputBody, stdinBody } from "./stdin_body.ts";

/** What the arguments mean. */
export interface HttpInput {
  /** Without a wait. */
  params: HttpParams;
  /** A body that is too large for the params. It can be read once. */
  upload?: ReadableStream<Uint8Array>;
}

/** Reads the arguments, and stdin where they say so. Asks the daemon for handles where none is named. */
export async function httpInput(given: Given, context: Context): Promise<HttpInput> {
  const url = given.positionals[0]!;
  const origin = originOf(url);
  const { body, upload } = await bodyOf(given, context);
  const method = body === undefined && upload === undefined ? "GET" : "POST";
  const maxBytes = given.one("max-bytes");
  const params: HttpParams = {
    handle: "",
    method: (given.one("request") ?? method).toUpperCase(),
    url,
    headers: given.all("header").map(headerOf),
    body,
    reason: given.one("reason") ?? "(no reason given)",
    ...(maxBytes === undefined ? {} : { max_bytes: wholeNumber(maxBytes, "--max-bytes", 0, 2 ** 50) }),
    agent: context.agent,
  };
  const handle = given.one("handle");
  params.handle = handle === undefined ? await onlyHandle(origin, context) : toHandle(handle);
  return { params, upload };
}

function originOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    throw new CustosError("bad_request", "The last argument is a URL that begins with https:// or http://.");
  }
  return parsed.origin;
}

/** `K: V` as curl takes it. The message does not repeat the text, which could hold a token. */
function headerOf(text: string): HeaderPair {
  const colon = text.indexOf(":");
  if (colon < 1) throw new CustosError("bad_request", "-H takes a name and a value: -H 'Accept: text/html'.");
  return [text.slice(0, colon).trim(), text.slice(colon + 1).trim()];
}

async function bodyOf(given: Given, { io }: Context): Promise<InputBody> {
  const data = given.one("data");
  if (data === undefined) return {};
  if (data === "@-") return await stdinBody(io.stdin());
  if (!data.startsWith("@")) return { body: { encoding: "utf8", data } };
  throw new CustosError("bad_request", "custos opens no files. Give the body through stdin: -d @- <FILE");
}

/** The one handle whose policy has this origin. Guessing between two would choose a secret for the human. */
async function onlyHandle(origin: string, { client }: Context): Promise<string> {
  const { handles } = await client.call("handles.list", {});
  const fitting = handles.filter((handle) => handle.origins.includes(origin));
  if (fitting.length === 1) return fitting[0]!.handle;
  const shown = displayLine(origin, 80);
  if (fitting.length > 1) {
    const names = fitting.map((handle) => handle.handle).join(", ");
    throw new CustosError(
      "bad_request",
      `Several secrets may go to ${shown}: ${names}. Choose with --handle.`,
    );
  }
  const known = handles.map((handle) => `${handle.handle} (${handle.origins.join(" ")})`).join(", ");
  throw new CustosError(
    "unknown_handle",
    `No secret may go to ${shown}. ` +
      (known === ""
        ? "There is none yet; ask for one with custos drop."
        : `There are: ${displayLine(known, 400)}.`),
  );
}
