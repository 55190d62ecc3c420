import assert from "node:assert/strict";
import { checkDocs, REQUIRED } from "./check_docs.ts";
import { findingsIn } from "./fixture.ts";

const ADR = `# 0001 — Folders are trust zones

- Status: accepted
- Date: 2026-11-30
- Area: house

## Context

Why.

## Decision

What.

## Alternatives considered

| Option | Why not |
| --- | --- |

## Evidence

\`core/gate_test.ts::"gate() refuses an expired grant"\`

## Consequences

More work.
`;

const GOOD = {
  ...Object.fromEntries(REQUIRED.map((path) => [path, "Text.\n"])),
  "core/gate.ts": "",
  "core/gate_test.ts": `Deno.test("gate() refuses an expired grant", () => {});`,
  "adr/0001-zones.md": ADR,
};

Deno.test("checkDocs() passes documents that say what is so", async () => {
  const found = await findingsIn({
    ...GOOD,
    "README.md": "[zones](adr/0001-zones.md#decision), [site](https://example.invalid), `[not](a/link)`\n",
    "ARCHITECTURE.md": "`core/gate.ts`, `core/`, `core/*_test.ts`, `custos/prf/v1`, `core`\n",
    "docs/a.md": "[up](../README.md) [folder](../core/) [here](#x)\n",
  }, checkDocs);
  assert.deepEqual(found, []);
});

/** A document, and what the check must say of it. */
const REFUSED: [name: string, path: string, text: string, says: RegExp][] = [
  ["a dead link", "README.md", "[x](docs/nothing.md)", /docs\/nothing\.md leads nowhere/],
  ["a dead link in a folder", "docs/a.md", "[x](README.md)", /leads nowhere/],
  ["a dead path", "ARCHITECTURE.md", "see `core/gone.ts`", /core\/gone\.ts is not there/],
  ["an unknown task", "README.md", "run `deno task nothing`", /no task nothing/],
  ["an unknown task behind npx", "README.md", "    npx -y deno@2.9.6 task nothing", /no task nothing/],
  ["another Deno", "README.md", "npx -y deno@2.9.5 run x", /deno@2\.9\.5 is not the pinned/],
  ["a test file that is not there", "SECURITY.md", "`core/none_test.ts`", /core\/none_test\.ts is not there/],
  [
    "a test that is not there",
    "docs/claims.md",
    '`core/gate_test.ts::"gate() allows"`',
    /has no test "gate\(\) allows"/,
  ],
  [
    "an ADR without a fact",
    "adr/0001-zones.md",
    ADR.replace("- Date: 2026-11-30\n", ""),
    /"- Date: …" is missing/,
  ],
  [
    "an ADR without a heading",
    "adr/0001-zones.md",
    ADR.replace("## Evidence", "## Proof"),
    /"## Evidence" is missing/,
  ],
  [
    "an ADR out of order",
    "adr/0001-zones.md",
    ADR.replace("## Context", "## X").replace("## Evidence", "## Context"),
    /order/,
  ],
  ["an ADR with another number", "adr/0002-zones.md", ADR, /first line must be "# 0002/],
  ["an ADR without a test", "adr/0001-zones.md", ADR.replace(/`core.*`/, "none"), /no test is named/],
  ["an ADR with a file but no test", "adr/0001-zones.md", ADR.replace(/::".*"/, ""), /no test is named/],
  ["an ADR with a wrong name", "adr/zones.md", ADR, /name it adr\/NNNN/],
];

for (const [name, path, text, says] of REFUSED) {
  Deno.test(`checkDocs() finds ${name}`, async () => {
    const found = await findingsIn({ ...GOOD, [path]: text }, checkDocs);
    assert.match(found.join("\n"), says);
  });
}

Deno.test("checkDocs() finds a required document that is missing", async () => {
  const without = { ...GOOD } as Record<string, string>;
  delete without["SECURITY.md"];
  assert.deepEqual(await findingsIn(without, checkDocs), ["SECURITY.md is missing"]);
});
