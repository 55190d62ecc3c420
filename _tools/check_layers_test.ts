import assert from "node:assert/strict";
import { checkLayers } from "./check_layers.ts";
import { findingsIn } from "./fixture.ts";

/** Names that this file must not hold in one piece: the check reads it too. */
const COMMAND = ["Deno", "Command"].join(".");
const ONLY = ["Deno", "test", "only"].join(".");

const CORE = {
  "core/errors.ts": "export const kind = 1;\n",
  "core/relay_wire.ts": `export { kind } from "./errors.ts";\n`,
};

Deno.test("checkLayers() passes the arrows that DESIGN draws", async () => {
  const found = await findingsIn({
    ...CORE,
    "daemon/main.ts":
      `// ${COMMAND} is only named here\nimport { kind } from "@custos/core/errors";\nDeno.exit(kind);\n`,
    "relay/main.ts":
      `import { kind } from "@custos/core/relay_wire";\nimport "node:sqlite";\nDeno.exit(kind);\n`,
    "tests/all_test.ts": `import "../daemon/main.ts";\n`,
    "core/errors_test.ts": `import "node:assert/strict";\nDeno.test("kind", () => {});\n`,
    "relay/a_test.ts":
      `import "@custos/core/errors";\nimport "node:crypto";\nexport const text = "${COMMAND}";\n`,
    "core/show.ts": `export const key = Symbol.for("Deno.customInspect");\n`,
  }, checkLayers);
  assert.deepEqual(found, []);
});

/** What is written where, and what the check must say. */
const REFUSED: [name: string, path: string, text: string, says: RegExp][] = [
  ["core imports rpc", "core/a.ts", `import "../rpc/b.ts";`, /core may not import rpc/],
  [
    "a type import against the arrow",
    "rpc/a.ts",
    `import type { X } from "../daemon/b.ts"; export type Y = X;`,
    /rpc may not import/,
  ],
  [
    "a lazy import against the arrow",
    "cli/a.ts",
    `await import("../daemon/b.ts");`,
    /cli may not import daemon/,
  ],
  ["an import of tests", "daemon/a_test.ts", `import "../tests/b.ts";`, /daemon may not import tests/],
  ["a path across members", "daemon/a.ts", `import "../core/errors.ts";`, /crosses folders by path/],
  [
    "relay beyond the framing",
    "relay/a.ts",
    `import "@custos/core/errors";`,
    /only @custos\/core\/relay_wire/,
  ],
  ["node: in core", "core/a.ts", `import "node:fs";`, /core is pure/],
  ["Deno in core", "core/a.ts", `export const t = Deno.readTextFileSync("x");`, /this zone is pure/],
  ["starting a program", "daemon/a.ts", `new ${COMMAND}("ls");`, /only _tools\/launch.ts/],
  ["starting a program in a tool of tests", "tests/a.ts", `new ${COMMAND}("ls");`, /only _tools\/launch.ts/],
  ["starting a program in a test", "daemon/a_test.ts", `new ${COMMAND}("ls");`, /only _tools\/launch.ts/],
  ["starting a program by node", "daemon/a.ts", `import "node:child_process";`, /starts programs/],
  ["code from elsewhere", "mcp/a.ts", `import "https://example.invalid/x.ts";`, /code from elsewhere/],
  ["npm written in place", "mcp/a.ts", `import "npm:zod@4.6.7";`, /root import map/],
  ["no such module", "mcp/a.ts", `import "@custos/core/nothing";`, /does not resolve|nothing/],
  ["syntax error", "mcp/a.ts", `import {`, /mcp\/a\.ts/],
  ["all permissions", "daemon/run.sh", `deno run --no-prompt -A main.ts`, /everything is allowed/],
  ["run permission", "cli/deno.json", `{"tasks": {"x": "deno run --allow-run=ls x.ts"}}`, /no program/],
  ["bare net", "cli/run.sh", `deno run --allow-net x.ts`, /bare net/],
  ["a lone test", "tests/a_test.ts", `${ONLY}("x", () => {});`, /does not run/],
];

for (const [name, path, text, says] of REFUSED) {
  Deno.test(`checkLayers() finds ${name}`, async () => {
    const targets = {
      "rpc/b.ts": "export type X = 1;",
      "daemon/b.ts": "export type X = 1;",
      "tests/b.ts": "",
    };
    const found = await findingsIn({ ...CORE, ...targets, [path]: text }, checkLayers);
    assert.equal(found.length > 0, true, "nothing was found");
    assert.match(found.join("\n"), says);
    assert.match(found.join("\n"), new RegExp(path.replaceAll(".", "\\.")));
  });
}
