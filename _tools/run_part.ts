/** `deno task custos|mcp|verify-pwa|phone`: one part under its narrow flags, with this terminal, and its exit code as ours. */
import { resolve } from "node:path";
import { follow, launch } from "./launch.ts";
import { places, privateFolder } from "./paths.ts";
import type { Values } from "./permissions.ts";

const TERMINAL = { stdin: "inherit", stdout: "inherit", stderr: "inherit" } as const;

/**
 * Runs the CLI or the MCP server. Its socket is `--socket PATH`, else `CUSTOS_SOCKET`, else where `deno task start` puts it
 * (a flag wins, case B191); it gets permission for that one.
 */
export async function runCaller(part: "cli" | "mcp", args: readonly string[]): Promise<number> {
  const found = places(Deno.env.get);
  const named = valueOf(args, "--socket") ?? Deno.env.get("CUSTOS_SOCKET");
  const socket = named === undefined || named === "" ? found.socket : named;
  return await follow(
    launch(part, { ...found, socket }, { ...TERMINAL, args, env: { CUSTOS_SOCKET: socket } }),
  );
}

/**
 * Runs the software phone. Its folder is `--state DIR`, else a folder beside the daemon's; it may reach loopback, or the
 * host of `--relay URL`.
 */
export async function runPhone(args: readonly string[]): Promise<number> {
  const found = places(Deno.env.get);
  const named = valueOf(args, "--state");
  const phone_dir = named === undefined ? found.phone_dir : resolve(named);
  const relay = valueOf(args, "--relay");
  const values: Values = {
    ...found,
    phone_dir,
    phone_net: relay === undefined ? found.phone_net : [new URL(relay).host],
  };
  privateFolder(phone_dir);
  const rest = named === undefined ? [...args, "--state", phone_dir] : args;
  return await follow(launch("phone", values, { ...TERMINAL, args: rest }));
}

/** Compares what an origin serves with the app of this checkout. It may reach that origin and nothing else. */
export async function runVerify(args: readonly string[]): Promise<number> {
  const origin = args.find((arg) => !arg.startsWith("-"));
  const url = origin === undefined ? null : URL.parse(origin);
  // What is no origin is left to the part itself, which says what it wants.
  const verify_host = url === null || url.hostname === ""
    ? null
    : `${url.hostname}:${url.port !== "" ? url.port : url.protocol === "https:" ? 443 : 80}`;
  return await follow(launch("verify-pwa", { ...places(Deno.env.get), verify_host }, { ...TERMINAL, args }));
}

/** The value of `--name VALUE` or `--name=VALUE` before a `--`, without taking it out. */
function valueOf(args: readonly string[], name: string): string | undefined {
  for (const [at, arg] of args.entries()) {
    if (arg === "--") return undefined;
    if (arg === name) return args[at + 1];
    if (arg.startsWith(`${name}=`)) return arg.slice(name.length + 1);
  }
  return undefined;
}
