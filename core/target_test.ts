import assert from "node:assert/strict";
import fc from "fast-check";
import { CustosError, type ErrorKind } from "./errors.ts";
import { hostScope, isPrivateHost } from "./host_scope.ts";
import { type Policy, readPolicy } from "./policy.ts";
import { checkTarget, parseTarget } from "./target.ts";

const API = "https://api.example.test";

/** Policy P1 of the cases, with parts replaced. */
function policy(parts: Partial<Policy> = {}): Policy {
  return readPolicy({
    v: 1,
    secret_id: "aaaaaaaaaaaaaaaaaaaaaaaaaa",
    name: "demo-key",
    version: 1,
    prev: null,
    origins: [API],
    rules: [{ methods: ["GET", "POST"], path_prefix: "/v1/" }],
    placement: { kind: "bearer" },
    request_hash: null,
    limits: { max_seconds: 900, max_body_bytes: 1024, private_network: false },
    epoch: "aaaaaaaaaaaaaaaaaaaaaaaaaa",
    created_ms: 0,
    ...parts,
  });
}

function privately(origins: string[]): Policy {
  const limits = { max_seconds: 900, max_body_bytes: 1024, private_network: true };
  return policy({ origins, limits });
}

/** Kind and text of the refusal of one request, or the URL that would be sent. */
function verdict(url: string, method = "GET", under = policy()): { kind: ErrorKind | "ok"; text: string } {
  try {
    const target = parseTarget(method, url);
    checkTarget(under, target);
    return { kind: "ok", text: target.url };
  } catch (error) {
    assert(error instanceof CustosError);
    return { kind: error.kind, text: error.message };
  }
}

Deno.test("parseTarget() and checkTarget() refuse every other spelling of the host (B01, B02, B03, B06, B09, B11, B15, B17, B21, B22)", () => {
  const rows: [string, ErrorKind, string?][] = [
    ["http://api.example.test@127.0.0.1/v1/x", "host_not_allowed", "127.0.0.1"], // B01
    ["https://api.example.test@evil.test/v1/x", "host_not_allowed", "evil.test"],
    ["https://api.example.test:443@evil.test/v1/x", "host_not_allowed", "evil.test"], // B02
    ["https://@api.example.test/v1/x", "host_not_allowed"],
    ["https://evil.test\\@api.example.test/v1/x", "bad_request", "evil.test"], // B03
    ["https://api.example.test\\@evil.test/v1/x", "bad_request", "api.example.test"],
    ["https:api.example.test/v1/x", "bad_request"],
    ["https:///evil.test/v1/x", "bad_request", "evil.test"],
    ["https://evilexample.test/", "host_not_allowed"], // B06
    ["https://api.example.test.evil.test/v1/", "host_not_allowed", "api.example.test.evil.test"],
    ["https://evil.test/?h=api.example.test", "host_not_allowed"],
    ["https://api.example.test./v1/x", "host_not_allowed"], // B09
    ["https://api.example.test../v1/x", "host_not_allowed"],
    ["http://2130706433/", "host_not_allowed", "127.0.0.1"], // B11
    ["http://0x7f.1/", "host_not_allowed", "127.0.0.1"],
    ["http://0177.0.0.1/", "host_not_allowed"],
    ["http://127.1/", "host_not_allowed"],
    ["http://0/", "host_not_allowed"],
    ["http://localhost/", "host_not_allowed"],
    ["http://localhost./", "host_not_allowed"],
    ["https://\u0430pi.example.test/v1/x", "host_not_allowed", "xn--pi-6kc.example.test"], // B15
    ["ht\ntps://evil.test/", "bad_request"], // B17
    ["https://ev\til.test/", "bad_request", "evil.test"],
    ["  https://api.example.test/v1/x  ", "bad_request"],
    ["https://api.example.test/v1/x\r\nX-A: 1", "bad_request"],
    ["https://api.example.test/v1/\u0000", "bad_request"],
    ["http://api.example.test/v1/x", "host_not_allowed"], // B21
    ["file:///etc/hostname", "bad_request"],
    ["data:text/plain,hi", "bad_request"],
    ["blob:https://api.example.test/1", "bad_request"],
    ["ftp://api.example.test/", "bad_request"],
    ["ws://api.example.test/v1/x", "bad_request"],
    ["//api.example.test/v1/x", "bad_request"],
    ["/v1/x", "bad_request"],
    ["", "bad_request"],
    ["https://api.example.test:8443/v1/x", "host_not_allowed", ":8443"], // B22
    ["https://api.example.test:99999/v1/x", "bad_request"],
    [`${API}/v1/${"a".repeat(8192)}`, "bad_request"],
  ];
  for (const [url, kind, names] of rows) {
    const { kind: got, text } = verdict(url);
    assert.equal(got, kind, url);
    if (names !== undefined) assert(text.includes(names), `${url}: ${text}`);
  }
});

Deno.test("parseTarget() never repeats login data (B05)", () => {
  const { kind, text } = verdict("https://bob:hunter2@api.example.test/v1/x");
  assert.equal(kind, "host_not_allowed");
  assert(!text.includes("hunter2") && !text.includes("bob"));
});

Deno.test("parseTarget() gives equal spellings one form and keeps the query byte for byte (B18, B22)", () => {
  const rows: [string, string][] = [
    [`${API}:443/v1/x`, `${API}/v1/x`], // B22
    [`${API}:0443/v1/x`, `${API}/v1/x`],
    [`${API}:/v1/x`, `${API}/v1/x`],
    ["HTTPS://API.EXAMPLE.TEST/v1/x", `${API}/v1/x`],
    [`${API}/v1/./x`, `${API}/v1/x`], // B18
    [`${API}/v1/y/../x`, `${API}/v1/x`],
    [`${API}/v1/x#part`, `${API}/v1/x`],
    [`${API}/v1/x?`, `${API}/v1/x`],
    [`${API}/v1/x?a=%20+~%7E&&b=%2f;c=%zz`, `${API}/v1/x?a=%20+~%7E&&b=%2f;c=%zz`],
  ];
  for (const [url, sent] of rows) assert.deepEqual(verdict(url), { kind: "ok", text: sent });
});

Deno.test("parseTarget() is a fixed point: what it would send parses to itself", () => {
  const path = fc.string({ unit: fc.constantFrom(..."/.%25eEfF2;a~'\"<>|?&=é") });
  fc.assert(fc.property(path, (rest) => {
    const first = parseTarget("GET", `${API}/${rest}`);
    assert.deepEqual(parseTarget("GET", first.url), first);
  }));
});

Deno.test("checkTarget() holds a request inside the path rule (B18, B20)", () => {
  const user = policy({ rules: [{ methods: ["GET"], path_prefix: "/v1/user" }] });
  const all = policy({ rules: [{ methods: ["GET"], path_prefix: "/" }] });
  const rows: [Policy, string, boolean][] = [
    [policy(), "/v1/x", true],
    [policy(), "/v1/", true],
    [policy(), "/v1", false],
    [policy(), "/v1/../admin", false],
    [policy(), "/v1/%2e%2e/admin", false],
    [policy(), "/v1/.%2e/admin", false],
    [policy(), "/v1/..%2fadmin", false],
    [policy(), "/v1/..%2Fadmin", false],
    [policy(), "/v1/a%2fb", false],
    [policy(), "/v1/a%5cb", false],
    [policy(), "/v1/%252e%252e/admin", false],
    [policy(), "/v1/%25252fadmin", false],
    [policy(), "/v1/%25%32%66admin", false],
    [policy(), "/v1/..;/admin", false],
    [policy(), "/v1/..;x=1/admin", false],
    [policy(), "/v1/%c0%ae%c0%ae/admin", false],
    [policy(), "/v1/%u002e%u002e/admin", false],
    [policy(), "/v1/x%00.json", false],
    [policy(), "/v1/%2525252525252e", false],
    [policy(), "/v1/a.b..c/...", true],
    [policy(), "/v1/50%25/caf%C3%A9%20x", true],
    [user, "/v1/user", true],
    [user, "/v1/user/1", true],
    [user, "/v1/user?x=1", true],
    [user, "/v1/users", false],
    [user, "/v1/user-admin", false],
    [user, "/V1/user", false],
    [user, "/v1/%75ser", false],
    [all, "/v1/a%2Fb", true],
    [all, "/", true],
  ];
  for (const [under, path, allowed] of rows) {
    const { kind } = verdict(API + path, "GET", under);
    assert.equal(kind, allowed ? "ok" : "path_not_allowed", path);
  }
});

Deno.test("parseTarget() and checkTarget() decide on the method in one spelling (B48, B49)", () => {
  const rows: [string, string, ErrorKind | "ok"][] = [
    ["get", "/v1/x", "ok"],
    ["gEt", "/v1/x", "ok"],
    ["POST", "/v1/x", "ok"],
    ["patch", "/v1/x", "method_not_allowed"],
    ["PATCH", "/v1/x", "method_not_allowed"],
    ["HEAD", "/v1/x", "method_not_allowed"],
    ["TRACE", "/v1/x", "method_not_allowed"],
    ["CONNECT", "/v1/x", "method_not_allowed"],
    ["FOO", "/v1/x", "method_not_allowed"],
    ["GET ", "/v1/x", "method_not_allowed"],
    ["opt\u0131ons", "/v1/x", "method_not_allowed"],
    ["", "/v1/x", "method_not_allowed"],
    ["POST", "/v1/x?_method=DELETE", "method_not_allowed"],
    ["POST", "/v1/x?a=1&%5fMethod=DELETE", "method_not_allowed"],
    ["POST", "/v1/x?a_method=DELETE", "ok"],
  ];
  for (const [method, path, kind] of rows) {
    assert.equal(verdict(API + path, method).kind, kind, method + path);
  }
});

Deno.test("checkTarget() takes path and method from the same rule", () => {
  const split = policy({
    rules: [{ methods: ["GET"], path_prefix: "/a" }, { methods: ["POST"], path_prefix: "/b" }],
  });
  assert.equal(verdict(`${API}/a`, "GET", split).kind, "ok");
  assert.equal(verdict(`${API}/b`, "GET", split).kind, "method_not_allowed");
  assert.equal(verdict(`${API}/a/1`, "POST", split).kind, "method_not_allowed");
});

Deno.test("checkTarget() keeps the secret's own query member for the secret (B54)", () => {
  const keyed = policy({ placement: { kind: "query", name: "api_key" } });
  assert.equal(verdict(`${API}/v1/x?q=1`, "GET", keyed).kind, "ok");
  for (const query of ["api_key=mine", "q=1&API_KEY=mine", "%61pi_key", "q;api_key=1"]) {
    assert.equal(verdict(`${API}/v1/x?${query}`, "GET", keyed).kind, "bad_request", query);
  }
});

Deno.test("checkTarget() reaches private hosts only by exact origin and flag (B11, B13)", () => {
  const lan = privately([
    "http://127.0.0.1:8080",
    "http://nas",
    "http://[::1]:8080",
    "http://169.254.169.254",
  ]);
  const rules = [{ methods: ["GET"], path_prefix: "/" }];
  const rows: [Policy, string, ErrorKind | "ok"][] = [
    [lan, "http://127.1:8080/v1/", "ok"],
    [lan, "http://nas/v1/", "ok"],
    [lan, "http://[0:0::1]:8080/v1/", "ok"],
    [lan, "http://127.0.0.1:8081/v1/", "host_not_allowed"],
    [lan, "http://169.254.169.254/v1/", "private_address"],
    [policy({ origins: ["https://10.0.0.5"], rules }), "https://10.0.0.5/", "private_address"],
    [policy({ origins: ["https://nas"], rules }), "https://nas/", "private_address"],
    [policy({ origins: ["https://[fd00::1]"], rules }), "https://[fd00::1]/", "private_address"],
  ];
  for (const [under, url, kind] of rows) assert.equal(verdict(url, "GET", under).kind, kind, url);
});

Deno.test("hostScope() sorts spellings of hosts", () => {
  const rows: Record<string, string[]> = {
    public: ["api.example.test", "8.8.8.8", "172.32.0.1", "[2606:4700::1]", "xn--pi-6kc.example.test"],
    private: [
      ...[
        "10.1.2.3",
        "127.255.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "localhost",
        "a.localhost",
      ],
      ...["nas", "nas.local", "metadata.google.internal", "[::1]", "[fc00::1]", "[::ffff:a00:1]"],
    ],
    forbidden: [
      ...[
        "0.0.0.0",
        "100.64.0.1",
        "169.254.169.254",
        "192.0.0.1",
        "198.19.0.1",
        "224.0.0.1",
        "255.255.255.255",
      ],
      ...[
        "[::]",
        "[fe80::1]",
        "[ff02::1]",
        "[::ffff:a9fe:a9fe]",
        "[64:ff9b::a00:1]",
        "[2002:a00:1::]",
        "[2001::1]",
      ],
    ],
  };
  for (const [scope, hosts] of Object.entries(rows)) {
    for (const host of hosts) {
      assert.equal(hostScope(host), scope, host);
      assert.equal(isPrivateHost(host), scope !== "public", host);
    }
  }
});
