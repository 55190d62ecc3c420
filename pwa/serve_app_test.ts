import assert from "node:assert/strict";
import { ASSETS } from "./assets.ts";
import { createPwa } from "./serve_app.ts";

const RELAYS = ["https://relay.example", "http://127.0.0.1:8787"];
const app = createPwa(ASSETS, RELAYS);
const get = (path: string, method = "GET") => app(new Request(`http://localhost:8788${path}`, { method }));

Deno.test("createPwa() serves every built file with its type", async () => {
  const types = new Set<string>();
  for (const name of Object.keys(ASSETS)) {
    const response = get(`/${name}`);
    assert.equal(response.status, 200, name);
    types.add(`${name.split(".").at(-1)} ${response.headers.get("content-type")}`);
    assert.ok((await response.bytes()).length > 0, name);
  }
  assert.deepEqual([...types].sort(), [
    "css text/css; charset=utf-8",
    "html text/html; charset=utf-8",
    "js text/javascript; charset=utf-8",
    "json application/json",
    "png image/png",
    "svg image/svg+xml",
    "webmanifest application/manifest+json",
  ]);
  assert.equal(await get("/").text(), await get("/index.html").text());
  assert.deepEqual(await get("/config.json").json(), { relays: RELAYS });
});

Deno.test("createPwa() serves bytes that manifest.json names, and names every file", async () => {
  const { files } = await get("/manifest.json").json() as { files: Record<string, string> };
  assert.deepEqual(
    Object.keys(files).sort(),
    Object.keys(ASSETS).filter((name) => name !== "manifest.json").sort(),
  );
  for (const [name, hash] of Object.entries(files)) {
    const bytes = await get(`/${name}`).bytes();
    assert.equal(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex(), hash, name);
  }
});

const NOT_THERE = [
  "/index.htm",
  "/dist/index.html",
  "//index.html",
  "/index.html/",
  "/./../serve.ts",
  "/..%2fserve.ts",
  "/%2e%2e/serve.ts",
  "/..%5cserve.ts",
  "/main.js%00.html",
  "/MAIN.JS",
  "/main.js.map",
  "/__proto__",
  "/constructor",
  "/toString",
  "/hasOwnProperty",
  "/.well-known/webauthn",
  "/inbox",
  "/%",
];
for (const path of NOT_THERE) {
  Deno.test(`createPwa() has nothing at ${path}`, async () => {
    const response = get(path);
    assert.equal(response.status, 404);
    assert.equal(response.headers.get("content-type"), "text/plain; charset=utf-8");
    assert.equal(await response.text(), "There is no such file.\n");
  });
}

for (const method of ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND"]) {
  Deno.test(`createPwa() refuses ${method}`, () => {
    const { status, headers } = get("/index.html", method);
    assert.deepEqual([status, headers.get("allow")], [405, "GET, HEAD"]);
  });
}

Deno.test("createPwa() answers HEAD as GET without a body", async () => {
  const [head, full] = [get("/main.js", "HEAD"), get("/main.js")];
  assert.equal(head.status, 200);
  assert.equal((await head.bytes()).length, 0);
  assert.deepEqual([...head.headers], [...full.headers]);
});

Deno.test("createPwa() keeps other pages out of every answer, errors too (B131)", () => {
  for (const path of ["/", "/main.js", "/sw.js", "/config.json", "/gone"]) {
    const { headers } = get(path);
    const policy = (headers.get("content-security-policy") ?? "").split("; ");
    for (
      const directive of [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types custos",
        "connect-src 'self' https://relay.example http://127.0.0.1:8787",
      ]
    ) assert.ok(policy.includes(directive), `${path}: ${directive}`);
    assert.ok(!/unsafe|\*|data:|blob:/.test(policy.join()), path);
    assert.equal(headers.get("x-frame-options"), "DENY");
    assert.equal(headers.get("cross-origin-opener-policy"), "same-origin");
    assert.equal(headers.get("cross-origin-resource-policy"), "same-origin");
    assert.equal(headers.get("x-content-type-options"), "nosniff");
    assert.equal(headers.get("referrer-policy"), "no-referrer");
    assert.match(
      headers.get("permissions-policy")!,
      /camera=\(self\).*publickey-credentials-get=\(self\).*usb=\(\)/,
    );
    assert.equal(headers.get("access-control-allow-origin"), null);
  }
});

Deno.test("createPwa() lets only files be kept whose name holds their hash", () => {
  for (const name of Object.keys(ASSETS)) {
    const hashed = /-[A-Z0-9]{8}\.js$/.test(name);
    assert.equal(
      get(`/${name}`).headers.get("cache-control"),
      hashed ? "public, max-age=31536000, immutable" : "no-cache",
      name,
    );
  }
});

Deno.test("index.html needs nothing that the policy refuses", async () => {
  const html = await get("/").text();
  assert.ok(
    !/<style|\sstyle=|\son\w+=|javascript:|<script>|<script (?!type="module" src="main\.js")/.test(html),
  );
  assert.ok(!/(?:src|href)="(?:https?:)?\/\//.test(html));
});
