import assert from "node:assert/strict";
import { auditFindings } from "./audit.ts";
import { fixture } from "./fixture.ts";
import { launch } from "./launch.ts";
import { placesIn } from "./paths.ts";
import { flagsOf } from "./permissions.ts";

const FLAGS = [
  "--no-prompt",
  "--allow-read=/s/custos.sock,/state",
  "--allow-net=unix:/s/custos.sock,custos.invalid:80,localhost",
  "--allow-env=HOME",
  "--ignore-env",
];

function audit(...rows: [permission: string, value: string | null][]): string {
  return rows.map(([permission, value]) => JSON.stringify({ v: 1, permission, value }) + "\n").join("");
}

Deno.test("auditFindings() passes uses that a flag covers", () => {
  const used = audit(
    ["read", "/s/custos.sock"],
    ["read", "/state/a/b"],
    ["net", "unix:/s/custos.sock"],
    ["net", "http://custos.invalid/rpc"],
    ["net", "http://localhost:8787/v1"],
    ["net", null],
    ["env", "HOME"],
    ["env", "NODE_DEBUG"],
  );
  assert.deepEqual(auditFindings(FLAGS, used), { undeclared: [], unused: [] });
});

Deno.test("auditFindings() names uses that no flag covers, and kinds that nothing used", () => {
  const rows: [string, string][] = [
    ["read", "/s/custos.sock2"],
    ["read", "/statement"],
    ["write", "/state/a"],
    ["net", "https://custos.invalid/rpc"],
    ["net", "localhost.example:80"],
    ["net", "unix:/s/other.sock"],
    ["sys", "hostname"],
    ["run", "deno"],
  ];
  for (const [kind, value] of rows) {
    assert.deepEqual(auditFindings(FLAGS, audit([kind, value])).undeclared, [`${kind} ${value}`]);
  }
  assert.deepEqual(auditFindings(FLAGS, "").unused, ["env", "net", "read"]);
  const strict = FLAGS.filter((flag) => flag !== "--ignore-env");
  assert.deepEqual(auditFindings(strict, audit(["env", "NODE_DEBUG"])).undeclared, ["env NODE_DEBUG"]);
});

Deno.test("auditFindings() reads what the runtime writes", async () => {
  const probe =
    `Deno.env.get("HOME"); try { Deno.readTextFileSync("/etc/hostname"); } catch { /* refused */ }`;
  const root = await fixture({ "cli/main.ts": probe });
  try {
    const values = placesIn(`${root}/state`);
    const audit_file = `${root}/audit.jsonl`;
    await launch("cli", values, { root, audit_file }).status;
    const found = auditFindings(flagsOf("cli", values), await Deno.readTextFile(audit_file));
    assert.deepEqual(found, { undeclared: ["read /etc/hostname"], unused: ["net", "read", "write"] });
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
