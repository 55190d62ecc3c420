/**
 * Flags of what runs only in a checkout: demo, tests, bench. They start Deno, so they could do everything; the lists keep
 * them honest about what they mean to do. Network is loopback only.
 */
import { DENIED_TESTS } from "./permission_lists.ts";

/** Programs that tests and the bench use where they are installed. */
export const PROGRAMS: readonly string[] = [
  "bash",
  "script",
  "unshare",
  "nats-server",
  "chromium",
  "nginx",
  "mitmdump",
  "wrk",
];

const LOOPBACK = ["--allow-net", `--deny-net=${DENIED_TESTS.join(",")}`];
const UNSTABLE = ["--unstable-worker-options", "--unstable-no-legacy-abort"];

/** The demo and the bench: they start parts, write in a folder that they make, and meet the world on loopback. */
export function demoFlags(programs: readonly string[] = []): string[] {
  return ["--frozen", ...testFlags(programs)];
}

/** The tests. `programs` are the ones found on this machine. */
export function testFlags(programs: readonly string[]): string[] {
  return [
    "--no-prompt",
    ...UNSTABLE,
    "--allow-read",
    "--allow-write",
    "--allow-env",
    // Playwright, which drives the browser, asks where the home folder is.
    "--allow-sys=homedir",
    ...LOOPBACK,
    `--allow-run=${["deno", ...programs].join(",")}`,
  ];
}
