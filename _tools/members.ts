/** The members of the workspace that ship as packages. */
import { readIfThere } from "./files.ts";

/** Packages in the order in which they may import each other. */
export const MEMBERS = ["core", "rpc", "relay", "pwa", "daemon", "cli", "mcp"] as const;

/** What a member's `deno.json` says it exports: name to file. */
export function exportsOf(root: string, member: string): Record<string, string> {
  const text = readIfThere(`${root}/${member}/deno.json`);
  const found = text === null
    ? {}
    : (JSON.parse(text) as { exports?: string | Record<string, string> }).exports ?? {};
  return typeof found === "string" ? { ".": found } : found;
}
