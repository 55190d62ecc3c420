/** The tasks of the checkout, with their flags: `deno.json` must say the same, and a check holds it to that. */

/**
 * Tasks that start parts. Who may start Deno may do everything, so a narrower list here would only look narrow: what each
 * part may do is in `permissions.ts`.
 */
const LAUNCHER =
  "deno run --no-prompt --allow-run=deno --allow-read --allow-write --allow-env _tools/main.ts";

/** Checks: they read the checkout, run Deno's own commands, and write in temporary folders. */
const CHECKER = "deno run --no-prompt --allow-run=deno --allow-read --allow-write --allow-env _tools/";

/** Every task by name. */
export const TASKS: Readonly<Record<string, string>> = {
  "demo": `${LAUNCHER} demo`,
  "test": `${CHECKER}run_tests.ts`,
  "start": `${LAUNCHER} start`,
  "custos": `${LAUNCHER} custos`,
  "mcp": `${LAUNCHER} mcp`,
  "verify-pwa": `${LAUNCHER} verify-pwa`,
  "phone": `${LAUNCHER} phone`,
  "bench": `${LAUNCHER} bench`,
  "crash": `${LAUNCHER} crash`,
  // needs nothing: it tries functions
  "fuzz": "deno run --no-prompt tests/fuzz/main.ts",
  "install": `${CHECKER}install/main.ts`,
  "ok": `${CHECKER}ok.ts`,
  "check": `${CHECKER}ok.ts --static`,
  "pwa:shots": `${LAUNCHER} shots`,
  "pwa:build": `${CHECKER}build_pwa.ts`,
  "build:cell": `${CHECKER}build_cell.ts`,
  "permissions": `${CHECKER}check_permissions.ts --write`,
  "golden": `${CHECKER}write_golden.ts`,
};
