/** Every command by name, with its line in the overview. A command's own file is loaded only when it is called. */

import type { Command } from "./command.ts";

/** A command that has not been loaded yet. */
export interface CommandEntry {
  summary: string;
  load: () => Promise<{ command: Command }>;
}

/** The commands, in the order of the overview. */
export const COMMANDS: Readonly<Record<string, CommandEntry>> = {
  status: { summary: "the daemon, its relay, its phones", load: () => import("./commands/status.ts") },
  pair: { summary: "pair a phone", load: () => import("./commands/pair.ts") },
  devices: { summary: "phones that are paired", load: () => import("./commands/devices.ts") },
  handles: {
    summary: "secrets that can be used, never their values",
    load: () => import("./commands/handles.ts"),
  },
  http: { summary: "make an HTTP request with a secret", load: () => import("./commands/http.ts") },
  request: { summary: "ask to use a secret", load: () => import("./commands/request.ts") },
  drop: { summary: "ask for a secret that is not there yet", load: () => import("./commands/drop.ts") },
  wait: { summary: "wait for the answer to a request", load: () => import("./commands/wait.ts") },
  withdraw: { summary: "take a request back", load: () => import("./commands/withdraw.ts") },
  requests: {
    summary: "what was asked, and what became of it",
    load: () => import("./commands/requests.ts"),
  },
  grants: { summary: "what may be done right now", load: () => import("./commands/grants.ts") },
  revoke: { summary: "end a grant, or all of a secret's", load: () => import("./commands/revoke.ts") },
  lock: { summary: "end every grant at once", load: () => import("./commands/lock.ts") },
  policy: { summary: "confirm a change that allows more", load: () => import("./commands/policy.ts") },
  log: { summary: "what happened; log verify checks it", load: () => import("./commands/log.ts") },
  watch: {
    summary: "pending requests, grants and the log, live on this terminal",
    load: () => import("./commands/watch.ts"),
  },
  doctor: { summary: "what is wrong, and what to do", load: () => import("./commands/doctor.ts") },
  "mcp-config": {
    summary: "how to give an agent the MCP server",
    load: () => import("./commands/mcp_config.ts"),
  },
  completions: {
    summary: "completions for bash, zsh, fish",
    load: () => import("./commands/completions.ts"),
  },
};

/** The command of this name, or `null`. `Object.hasOwn`, so that `constructor` is not one. */
export function commandEntry(name: string): CommandEntry | null {
  return Object.hasOwn(COMMANDS, name) ? COMMANDS[name]! : null;
}
