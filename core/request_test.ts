import assert from "node:assert/strict";
import fc from "fast-check";
import { fromBase64url, toBase64url } from "./bytes.ts";
import { fingerprintOf } from "./fingerprint.ts";
import {
  coalesceKey,
  handleOf,
  nameOfHandle,
  readRequest,
  REQUEST_LIFE_MS,
  REQUEST_TYPES,
  type RequestDoc,
  requestHash,
} from "./request.ts";
import { anyHash, hex, IDENTITIES, kindOf, samplePolicy, sampleRequest } from "./testdata/samples.ts";
import vectors from "./testdata/documents.json" with { type: "json" };

const hashOf = async (doc: RequestDoc) => toBase64url(await requestHash(doc));
const kind = (doc: unknown) => kindOf(() => readRequest(doc));
const http = () => sampleRequest("http");
const sent = (change: object) => ({ http: { ...http().http, ...change } });
const wanted = (change: object) => ({ wanted: { ...http().wanted, ...change } });

Deno.test("requestHash() and fingerprintOf() give the vector", async () => {
  const doc = readRequest(vectors.request);
  assert.equal(await hashOf(doc), vectors.request_hash);
  const words = await fingerprintOf(hex(vectors.words_key), fromBase64url(vectors.request_hash)!);
  assert.equal(words, vectors.fingerprint);
});

Deno.test("coalesceKey() gives the vector", async () => {
  assert.equal(await coalesceKey(readRequest(vectors.request)), vectors.coalesce_key);
});

for (const type of REQUEST_TYPES) {
  Deno.test(`readRequest() reads a request of type ${type}, and refuses it with a member more or less`, async () => {
    const doc = sampleRequest(type);
    assert.deepEqual(readRequest(doc), doc);
    assert.equal(await kind({ ...doc, approved: true }), "bad_request");
    for (const member of Object.keys(doc)) {
      const { [member]: _, ...rest } = { ...doc } as Record<string, unknown>;
      assert.equal(await kind(rest), "bad_request", member);
    }
    for (const other of REQUEST_TYPES) {
      const sameShape = new Set(["device recovery", "recovery device"]);
      if (other === type || sameShape.has(`${type} ${other}`)) continue;
      assert.equal(await kind({ ...doc, type: other }), "bad_request", other);
    }
  });
}

const REFUSED: [name: string, doc: unknown][] = [
  ["an unknown type", { ...http(), type: "approve" }],
  ["another version", { ...http(), v: 2 }],
  ["an expiry at its making", { ...http(), expires_ms: http().created_ms }],
  ["an expiry before its making", { ...http(), expires_ms: http().created_ms - 1 }],
  ["a time with a fraction", { ...http(), created_ms: 0.5 }],
  ["a short nonce", { ...http(), nonce: toBase64url(new Uint8Array(31)) }],
  ["a padded nonce", { ...http(), nonce: `${http().nonce}=` }],
  ["an id in capitals", { ...http(), id: http().id.toUpperCase() }],
  ["a classical reply recipient", {
    ...http(),
    reply_to: "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p",
  }],
  ["no reply recipient", { ...http(), reply_to: null }],
  ["a handle without its prefix", { ...http(), handle: "github" }],
  ["a handle in capitals", { ...http(), handle: "custos:GitHub" }],
  ["a handle with a path", { ...http(), handle: "custos:../x" }],
  ["an agent without a name member", { ...http(), agent: { client: null } }],
  ["an agent with an empty name", { ...http(), agent: { name: "", client: null } }],
  ["an agent with a long name", { ...http(), agent: { name: "a".repeat(65), client: null } }],
  ["a reason beyond 500", { ...http(), reason: "a".repeat(501) }],
  ["a reason with a lone surrogate", { ...http(), reason: "\ud800" }],
  ["a method in small letters", { ...http(), ...sent({ method: "post" }) }],
  ["a method with a blank", { ...http(), ...sent({ method: "GET " }) }],
  ["a URL beyond 8,192", { ...http(), ...sent({ url: "a".repeat(8_193) }) }],
  ["101 headers", { ...http(), ...sent({ headers: Array(101).fill(["a", "b"]) }) }],
  ["a header of three parts", { ...http(), ...sent({ headers: [["a", "b", "c"]] }) }],
  ["headers as an object", { ...http(), ...sent({ headers: { a: "b" } }) }],
  ["a body of negative size", { ...http(), ...sent({ body_bytes: -1 }) }],
  ["a body beyond 64 MiB", { ...http(), ...sent({ body_bytes: 67_108_865 }) }],
  ["no uses", { ...http(), ...wanted({ uses: 0 }) }],
  ["no methods in a list", { ...http(), ...wanted({ methods: [] }) }],
  ["a bad name for a drop", sampleRequest("drop", { name: "Bad Name" })],
  ["a suggestion of another kind", sampleRequest("drop", { suggest: { value: "x" } })],
  [
    "a device with a classical recipient",
    sampleRequest("device", { device: { ...sampleRequest("device").device, recipient: "age1x" } }),
  ],
  ["nothing", null],
  ["text", "http"],
];

for (const [name, doc] of REFUSED) {
  Deno.test(`readRequest() refuses a document with ${name}`, async () =>
    assert.equal(await kind(doc), "bad_request"));
}

/** Each leaf of a document, as a path. */
function leaves(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== "object" || value === null) return [path];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, [...path, key]));
}

/** A copy with another value at `path`. */
function changedAt(doc: unknown, path: readonly (string | number)[]): unknown {
  const copy = structuredClone(doc) as Record<string | number, unknown>;
  let at = copy;
  for (const key of path.slice(0, -1)) at = at[key] as Record<string | number, unknown>;
  const last = path.at(-1)!;
  const old = at[last];
  at[last] = typeof old === "number"
    ? old + 1
    : typeof old === "boolean"
    ? !old
    : old === null
    ? 1
    : `${old}x`;
  return copy;
}

for (const type of REQUEST_TYPES) {
  Deno.test(`requestHash() of a request of type ${type} changes with each of its values`, async () => {
    const doc = sampleRequest(type);
    const paths = leaves(doc);
    const hashes = await Promise.all(paths.map((path) => hashOf(changedAt(doc, path) as RequestDoc)));
    assert.ok(paths.length > 12);
    assert.equal(new Set([await hashOf(doc), ...hashes]).size, paths.length + 1);
  });
}

Deno.test("requestHash() does not depend on the order in which members were set", async () => {
  const doc = http();
  const reversed = Object.fromEntries(Object.entries(doc).reverse()) as unknown as RequestDoc;
  assert.equal(await hashOf(reversed), await hashOf(doc));
});

const other = IDENTITIES[2]!.recipient;
const IGNORED: [name: string, change: object][] = [
  ["the reason", { reason: "another" }],
  ["the nonce", { nonce: anyHash(1) }],
  ["the id", { id: "aaaaaaaaaaaaaaaaaaaaaaaaaa" }],
  ["times", { created_ms: 1, expires_ms: 2 }],
  ["the reply recipient", { reply_to: other }],
  ["the MCP client", { agent: { name: "codex", client: null } }],
  ["the policy version", { policy_hash: anyHash(1) }],
  ["the preview of the body", sent({ body_preview: null })],
];
const COUNTED: [name: string, change: object][] = [
  ["the agent's name", { agent: { name: "other", client: null } }],
  ["no agent's name", { agent: { name: null, client: null } }],
  ["the handle", { handle: "custos:gitlab" }],
  ["the method", sent({ method: "PUT" })],
  ["the URL's query", sent({ url: `${http().http.url}&x` })],
  ["a header", sent({ headers: [["accept", "application/json"], ["x-note", "2"]] })],
  ["the order of headers", sent({ headers: [...http().http.headers].reverse() })],
  ["the body", sent({ body_sha256: anyHash(1) })],
  ["the number of uses", wanted({ uses: 2 })],
  ["the time wanted", wanted({ seconds: 60 })],
  ["the methods wanted", wanted({ methods: ["GET"] })],
  ["the prefix wanted", wanted({ path_prefix: "/" })],
];

for (const [name, change] of IGNORED) {
  Deno.test(`coalesceKey() does not depend on ${name}`, async () => {
    const doc = sampleRequest("http", change);
    assert.notDeepEqual(doc, http());
    assert.equal(await coalesceKey(doc), await coalesceKey(http()));
  });
}

for (const [name, change] of COUNTED) {
  Deno.test(`coalesceKey() tells apart ${name}`, async () => {
    assert.notEqual(await coalesceKey(sampleRequest("http", change)), await coalesceKey(http()));
  });
}

Deno.test("coalesceKey() tells apart types, and what a drop or a policy asks for", async () => {
  const keys = await Promise.all(
    [
      ...REQUEST_TYPES.map((type) => sampleRequest(type)),
      sampleRequest("drop", { name: "gitlab" }),
      sampleRequest("drop", { suggest: {} }),
      sampleRequest("drop", { suggest: { max_seconds: 60 } }),
      sampleRequest("propose", { policy: samplePolicy({ name: "gitlab" }) }),
    ].map(coalesceKey),
  );
  assert.equal(new Set(keys).size, keys.length);
});

Deno.test("nameOfHandle() reads back handleOf() and refuses everything else (B113)", () => {
  fc.assert(fc.property(fc.stringMatching(/^[a-z][a-z0-9_-]{0,62}$/), (name) => {
    assert.equal(nameOfHandle(handleOf(name)), name);
  }));
  const bad = [
    "github",
    "custos:",
    "custos:Github",
    "Custos:github",
    "custos:custos:x",
    "custos: x",
    "custos:x\n",
    "",
  ];
  for (const handle of bad) assert.equal(nameOfHandle(handle), null, handle);
});

Deno.test("REQUEST_LIFE_MS is 15 minutes, and 60 for a drop (DESIGN §5.2)", () => {
  for (const type of REQUEST_TYPES) {
    assert.equal(REQUEST_LIFE_MS[type], type === "drop" ? 3_600_000 : 900_000, type);
  }
});
