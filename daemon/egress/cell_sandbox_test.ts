import assert from "node:assert/strict";
import { CustosError } from "@custos/core/errors";
import bundle from "./cell.bundle.js" with { type: "text" };
import { Cell } from "./cell.ts";
import type { FromCell, RequestMessage } from "./cell_protocol.ts";
import { cellHosts, cellPermissions, startWorker } from "./cell_worker.ts";
import { localPolicy, seal } from "./testdata/open_cell.ts";
import { ok, RawServer } from "./testdata/raw_server.ts";

/** What code in a worker with a cell's permissions posts back. */
async function probe(source: string, hosts: string[]): Promise<unknown> {
  const url = URL.createObjectURL(new Blob([source], { type: "application/javascript" }));
  const worker = new Worker(url, { type: "module", deno: { permissions: cellPermissions(hosts) } });
  try {
    return await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = (event) => {
        event.preventDefault();
        reject(new Error(event.message));
      };
    });
  } finally {
    worker.terminate();
    URL.revokeObjectURL(url);
  }
}

Deno.test("cellPermissions() let the runtime stop a worker that reaches for anything but its hosts (B179)", async () => {
  await using api = new RawServer(ok("allowed"));
  await using evil = new RawServer(ok("stolen"));
  const attempts: Record<string, string> = {
    "own host": `(await fetch("${api.origin}/")).text()`,
    "other port": `(await fetch("${evil.origin}/")).text()`,
    "other name of the same place": `(await fetch("http://localhost:${api.port}/")).text()`,
    "raw connection": `Deno.connect({ hostname: "127.0.0.1", port: ${evil.port} })`,
    "WebSocket": `new WebSocket("ws://127.0.0.1:${evil.port}/")`,
    "listener": `Deno.listen({ port: 0 })`,
    "DNS": `Deno.resolveDns("evil.test", "A")`,
    "file": `Deno.readTextFile("/etc/hostname")`,
    "file by fetch": `(await fetch("file:///etc/hostname")).text()`,
    "file to write": `Deno.writeTextFile("/tmp/custos-cell-probe", "x")`,
    "environment": `Deno.env.get("HOME")`,
    "system": `Deno.hostname()`,
    "process": `new Deno.Command("true").output()`,
  };
  const source = `
    const attempts = { ${
    Object.entries(attempts).map(([name, code]) => `"${name}": async () => await (${code})`).join(",\n")
  } };
    const out = {};
    for (const [name, attempt] of Object.entries(attempts)) {
      try { out[name] = "did: " + await attempt(); } catch (error) { out[name] = error.name; }
    }
    postMessage(out);`;
  const out = await probe(source, [`127.0.0.1:${api.port}`]) as Record<string, string>;
  assert.equal(out["own host"], "did: allowed");
  const stopped = Object.entries(out).filter(([name]) => name !== "own host");
  assert.equal(stopped.length, Object.keys(attempts).length - 1);
  for (const [name, result] of stopped) assert.equal(result, "NotCapable", name);
  assert.equal(evil.connections, 0);
});

Deno.test("the cell's bundle takes away what no permission covers, before anything else", async () => {
  const names = ["BroadcastChannel", "Worker", "caches", "indexedDB", "localStorage", "sessionStorage"];
  const end = `
    console.log("must not be printed");
    postMessage([
      ...${JSON.stringify(names)}.filter((name) => name in globalThis),
      Object.getOwnPropertyDescriptor(console, "error").writable,
    ]);`;
  assert.deepEqual(await probe(bundle + end, []), [false]);
  // it comes first: nothing after it has run when it throws
  const broken = `Object.defineProperty(globalThis, "caches", { configurable: false, value: {} });`;
  await assert.rejects(probe(broken + bundle + `;postMessage("ran")`, []), /caches cannot be taken away/);
});

Deno.test("the cell's bundle imports nothing at run time, because the runtime ignores import: false of a worker", () => {
  assert.doesNotMatch(bundle, /\bimport\b\s*(?:\(|[{*"'\w])|\brequire\s*\(|\bfrom\s*["']/);
  assert.doesNotMatch(bundle, /\beval\s*\(|\bFunction\s*\(/);
});

Deno.test("a cell checks URL, method, headers and body itself, whatever the daemon sends", async () => {
  await using api = new RawServer(ok("never"));
  const rules = [{ methods: ["GET", "POST"], path_prefix: "/v1" }];
  const limits = { max_seconds: 900, max_body_bytes: 4, private_network: true };
  const policy = localPolicy([api.origin], { rules, limits });
  const sealed = await seal(policy);
  const worker = startWorker(cellHosts(policy, { lan: true }));
  try {
    const say = (message: unknown) =>
      new Promise<FromCell>((resolve) => {
        worker.onmessage = ({ data }) => resolve(data[0]);
        worker.postMessage([message]);
      });
    const plain: RequestMessage = {
      ...{
        type: "request",
        id: 1,
        method: "GET",
        url: `${api.origin}/v1/x`,
        headers: [],
        body: null,
        body_bytes: null,
      },
      ...{ max_bytes: 1000, keep_alive: false, header_ms: 5000, total_ms: 5000 },
    };
    const closed = await say(plain);
    assert(closed.type === "failed" && closed.kind === "internal");
    const open = {
      type: "open",
      age_file: sealed.file,
      file_key: sealed.key,
      policy,
      policy_hash: sealed.hash,
    };
    assert.equal((await say(open)).type, "opened");
    const rows: [Partial<RequestMessage>, string][] = [
      [{ url: "http://127.0.0.1:1/v1/x" }, "host_not_allowed"],
      [{ url: `${api.origin}/v2/x` }, "path_not_allowed"],
      [{ url: `${api.origin}/v1/..%2fadmin` }, "path_not_allowed"],
      [{ method: "DELETE" }, "method_not_allowed"],
      [{ headers: [["authorization", "Bearer mine"]] }, "header_not_allowed"],
      [{ headers: [["x-a", "1\r\nx-b: 2"]] }, "header_not_allowed"],
      [{ method: "POST", body: new Uint8Array(5) }, "body_too_large"],
      [{ body: new Uint8Array(1) }, "bad_request"],
    ];
    for (const [part, kind] of rows) {
      const answer = await say({ ...plain, ...part });
      assert(answer.type === "failed", JSON.stringify(part));
      assert.equal(answer.kind, kind, JSON.stringify(part));
    }
    assert.equal(api.connections, 0);
    assert.equal((await say(open)).type, "refused"); // a second secret in the same cell
  } finally {
    worker.terminate();
  }
});

Deno.test("Cell.open() refuses another key, another file, and a policy that differs from the sealed one", async () => {
  const policy = localPolicy(["http://127.0.0.1:9999"]);
  const wider = { ...policy, rules: [{ methods: ["DELETE"], path_prefix: "/" }] };
  const sealed = await seal(policy);
  const other = await seal(wider);
  const flipped = Uint8Array.from(sealed.file);
  flipped[flipped.length - 1]! ^= 1;
  const rows: [string, typeof policy, Uint8Array, Uint8Array, string, string | null][] = [
    ["as sealed", policy, sealed.file, sealed.key, sealed.hash, null],
    ["another key", policy, sealed.file, other.key, sealed.hash, "bad_request"],
    ["another file", policy, other.file, sealed.key, sealed.hash, "bad_request"],
    ["altered file", policy, flipped, sealed.key, sealed.hash, "bad_request"],
    ["no file", policy, new Uint8Array(0), sealed.key, sealed.hash, "bad_request"],
    ["another hash", policy, sealed.file, sealed.key, other.hash, "storage"],
    ["another clear policy", wider, sealed.file, sealed.key, sealed.hash, "storage"],
    ["another clear policy with its hash", wider, sealed.file, sealed.key, other.hash, "storage"],
  ];
  for (const [what, clear, file, key, hash, kind] of rows) {
    const cell = Cell.start(clear, { lan: true });
    try {
      const refusal = await cell.open(file, Uint8Array.from(key), hash).then(() => null, (error) => error);
      assert.equal(refusal?.kind ?? null, kind, what);
    } finally {
      cell.terminate(new CustosError("locked", "The test is over."));
    }
  }
});

Deno.test("Cell.open() refuses values that its placement cannot carry", async () => {
  for (const value of ["two lines\nof a secret", "tok_live_4f9c2a7e\n", "tok_live_\u00e9_4f9c2a7e"]) {
    const sealed = await seal(localPolicy(["http://127.0.0.1:9999"]), value);
    const cell = Cell.start(sealed.policy, { lan: true });
    try {
      await assert.rejects(cell.open(sealed.file, sealed.key, sealed.hash), { kind: "bad_request" });
    } finally {
      cell.terminate(new CustosError("locked", "The test is over."));
    }
  }
});

Deno.test("cellHosts() names exact ports, and private origins only in the lan profile with the policy's flag", () => {
  const closed = { max_seconds: 900, max_body_bytes: 0, private_network: false };
  const rows: [string, boolean, boolean, string | null][] = [
    ["https://api.example.test", false, false, "api.example.test:443"],
    ["https://api.example.test:8443", false, false, "api.example.test:8443"],
    ["http://api.example.test", false, true, "api.example.test:80"],
    ["http://127.0.0.1:8080", true, true, "127.0.0.1:8080"],
    ["http://[::1]:8080", true, true, "[::1]:8080"],
    ["http://127.0.0.1:8080", false, true, null],
    ["https://10.0.0.1", true, false, null],
    ["https://localhost", true, false, null],
    ["http://169.254.169.254", true, true, null],
    ["https://[fe80::1]", true, true, null],
  ];
  for (const [origin, lan, flag, host] of rows) {
    const policy = localPolicy([origin], flag ? {} : { limits: closed });
    if (host === null) assert.throws(() => cellHosts(policy, { lan }), { kind: "private_address" }, origin);
    else assert.deepEqual(cellHosts(policy, { lan }), [host]);
  }
});
