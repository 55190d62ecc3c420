/** The command line of `deno task start`. */
import { parseArgs } from "node:util";
import { DEFAULT_PWA_PORT, places } from "./paths.ts";
import type { Values } from "./permissions.ts";

/** What is started, beside the places in `Values`. */
export interface StartOptions {
  readonly json: boolean;
  readonly serve_pwa: boolean;
  /** The origin at which browsers find the phone app. */
  readonly pwa_origin: string;
  /** The relay as phones reach it; null: where it listens. */
  readonly relay_url: string | null;
  readonly push_contact: string | null;
  readonly name: string | null;
}

/** Reads it. Throws `RangeError` with what to do. */
export function parseStart(args: readonly string[]): { values: Values; options: StartOptions } {
  const given = parse(args);
  const { profile, state } = given;
  if (profile !== "public" && profile !== "lan") throw new RangeError("--profile is public or lan.");
  const relay_port = portOf("--relay-port", given["relay-port"], 0);
  const pwa_port = portOf("--pwa-port", given["pwa-port"], 1);
  const values = places(Deno.env.get, {
    profile,
    push: given["push-contact"] !== undefined,
    ...(state === undefined ? {} : { state }),
    ...(relay_port === null ? {} : { relay_port }),
    ...(pwa_port === null ? {} : { pwa_port }),
  });
  return {
    values,
    options: {
      json: given.json,
      serve_pwa: !given["no-pwa"],
      pwa_origin: originOf("--pwa-origin", given["pwa-origin"]) ??
        `http://localhost:${pwa_port ?? DEFAULT_PWA_PORT}`,
      relay_url: originOf("--relay-url", given["relay-url"]),
      push_contact: given["push-contact"] ?? null,
      name: given.name ?? null,
    },
  };
}

// deno-lint-ignore explicit-function-return-type
function parse(args: readonly string[]) {
  const text = { type: "string" } as const;
  try {
    return parseArgs({
      args: [...args],
      options: {
        json: { type: "boolean", default: false },
        "no-pwa": { type: "boolean", default: false },
        profile: { type: "string", default: "public" },
        state: text,
        "relay-port": text,
        "relay-url": text,
        "pwa-port": text,
        "pwa-origin": text,
        "push-contact": text,
        name: text,
      },
    }).values;
  } catch (error) {
    throw new RangeError(error instanceof Error ? error.message : String(error));
  }
}

/** The phone app has no port 0: passkeys belong to its origin, so that must stay the same. */
function portOf(name: string, text: string | undefined, least: number): number | null {
  if (text === undefined) return null;
  if (/^\d{1,5}$/.test(text) && Number(text) >= least && Number(text) <= 65_535) return Number(text);
  throw new RangeError(`${name} is a number from ${least} to 65535.`);
}

function originOf(name: string, text: string | undefined): string | null {
  if (text === undefined) return null;
  const url = URL.parse(text);
  if (url !== null && url.origin === text && /^https?:$/.test(url.protocol)) return text;
  throw new RangeError(`${name} is an origin such as https://custos.example, without a path.`);
}
