import assert from "node:assert/strict";
import { ASSETS } from "../assets.ts";
import { createPwa } from "../serve_app.ts";
import { expectedBuild } from "./expected_build.ts";
import { verifyPwa } from "./verify_pwa.ts";

const ORIGIN = "https://custos.example";
const RELAYS = ["https://relay.example"];
const app = createPwa(ASSETS, RELAYS);
const expected = await expectedBuild();

/** Findings about an origin that answers as the app does, but for what `change` makes of it. */
async function findings(
  change: (path: string, response: Response) => Response | Promise<Response>,
): Promise<string[]> {
  const asked: string[] = [];
  const verified = await verifyPwa(ORIGIN, expected, async (url, init) => {
    assert.equal(init.redirect, "manual");
    asked.push(url);
    return await change(new URL(url).pathname, app(new Request(url)));
  });
  assert.ok(asked.every((url) => url.startsWith(`${ORIGIN}/`)));
  return verified.findings;
}

/** The same answer with other headers; `null` takes one away. */
function headers(response: Response, change: Record<string, string | null>): Response {
  const out = new Response(response.body, response);
  for (const [name, value] of Object.entries(change)) {
    if (value === null) out.headers.delete(name);
    else out.headers.set(name, value);
  }
  return out;
}

Deno.test("verifyPwa() finds nothing where the same app is served, and says which relays it names", async () => {
  const verified = await verifyPwa(ORIGIN, expected, (url) => Promise.resolve(app(new Request(url))));
  assert.deepEqual(verified, {
    version: expected.version,
    files: Object.keys(ASSETS).length,
    relays: RELAYS,
    findings: [],
  });
});

Deno.test("verifyPwa() takes the same headers in another order and spacing, and other headers beside them", async () => {
  const found = await findings((_, response) => {
    const csp = response.headers.get("content-security-policy")!.split("; ").toReversed().join(" ;  ");
    return headers(response, {
      "content-security-policy": csp,
      "strict-transport-security": "max-age=1",
      server: "x",
    });
  });
  assert.deepEqual(found, []);
});

const ROWS: [string, string, (response: Response) => Response, RegExp][] = [
  ["a changed script", "/main.js", () => new Response("evil()"), /main\.js: is not the file/],
  ["a changed page", "/", (r) => new Response("<script src=evil.js>", r), /the page: is not the file/],
  ["a changed worker", "/sw.js", (r) => new Response("evil()", r), /sw\.js: is not the file/],
  [
    "a missing file",
    "/style.css",
    () => new Response(null, { status: 404 }),
    /style\.css: is missing \(status 404\)/,
  ],
  ["an error", "/main.js", () => new Response(null, { status: 500 }), /main\.js: is missing \(status 500\)/],
  [
    "a redirect",
    "/main.js",
    () => Response.redirect("https://cdn.example/main.js", 302),
    /main\.js: redirects \(302\)/,
  ],
  ["another type", "/main.js", (r) => headers(r, { "content-type": "text/html" }), /comes as text\/html/],
  ["no type", "/main.js", (r) => headers(r, { "content-type": null }), /comes as no type/],
  [
    "no policy",
    "/",
    (r) => headers(r, { "content-security-policy": null }),
    /has no content-security-policy/,
  ],
  [
    "a policy that allows more",
    "/",
    (r) =>
      headers(r, {
        "content-security-policy": r.headers.get("content-security-policy") + " https://evil.example",
      }),
    /its content-security-policy differs/,
  ],
  [
    "a relay in the policy that config.json does not name",
    "/",
    (r) =>
      headers(r, {
        "content-security-policy": r.headers.get("content-security-policy")!.replace(
          "relay.example",
          "relay.example https://evil.example",
        ),
      }),
    /its content-security-policy differs/,
  ],
  ["framing allowed", "/", (r) => headers(r, { "x-frame-options": "SAMEORIGIN" }), /x-frame-options differs/],
  [
    "no opener policy",
    "/",
    (r) => headers(r, { "cross-origin-opener-policy": null }),
    /has no cross-origin-opener/,
  ],
  [
    "a larger permission",
    "/",
    (r) => headers(r, { "permissions-policy": "camera=*" }),
    /permissions-policy differs/,
  ],
  [
    "more files",
    "/manifest.json",
    (r) => new Response(JSON.stringify({ files: { "evil.js": "00" } }), r),
    /"evil\.js": is served, and is not of this version/,
  ],
  ["no config", "/config.json", () => new Response(null, { status: 404 }), /config\.json: is missing/],
  ["a config of another form", "/config.json", () => new Response("[]"), /config\.json: is not a list/],
  [
    "a config with a path",
    "/config.json",
    () => Response.json({ relays: ["https://a.example/x"] }),
    /not a list/,
  ],
  [
    "a page for every name",
    "/no-such-file-5f3b.js",
    () => new Response("page"),
    /no such file, and something is/,
  ],
];
for (const [what, path, change, said] of ROWS) {
  Deno.test(`verifyPwa() finds ${what}`, async () => {
    const found = await findings((at, response) => at === path ? change(response) : response);
    assert.match(found.join("\n"), said);
  });
}

Deno.test("verifyPwa() says once what is wrong with the headers of every file", async () => {
  const found = await findings((_, response) => headers(response, { "x-frame-options": null }));
  assert.deepEqual(found, [`the page and ${Object.keys(ASSETS).length - 1} more: has no x-frame-options`]);
});

Deno.test("verifyPwa() finds an origin that cannot be reached, or sends without end", async () => {
  const gone = await findings(() => Promise.reject(new TypeError("secret text of the runtime")));
  assert.ok(gone.length >= Object.keys(ASSETS).length);
  assert.ok(gone.every((line) => /cannot be fetched \(TypeError\)/.test(line)));
  const endless = () =>
    new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1 << 20)) }));
  const found = await findings((path, response) => path === "/main.js" ? endless() : response);
  assert.match(found.join(), /main\.js: is larger than/);
});
