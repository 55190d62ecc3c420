/**
 * URLs against a model that shares nothing with the product: it never calls `URL`, and reads what would be sent with one
 * regular expression and with the eyes of the worst server. What is plainly right must pass; what passes must be right.
 */

import { CustosError } from "@custos/core/errors";
import { newId } from "@custos/core/ids";
import { type Policy, readPolicy } from "@custos/core/policy";
import { checkTarget, parseTarget } from "@custos/core/target";
import type { Find, Random } from "./random.ts";
import { missed, unsafe } from "./urls_model.ts";

function policy(parts: Partial<Policy>): Policy {
  return readPolicy({
    v: 1,
    secret_id: newId(),
    name: "demo-key",
    version: 1,
    prev: null,
    origins: ["https://api.example.test"],
    rules: [{ methods: ["GET", "POST"], path_prefix: "/v1/" }],
    placement: { kind: "bearer" },
    request_hash: null,
    limits: { max_seconds: 900, max_body_bytes: 0, private_network: false },
    epoch: newId(),
    created_ms: 0,
    ...parts,
  });
}

const POLICIES: readonly Policy[] = [
  policy({}),
  policy({
    rules: [{ methods: ["GET"], path_prefix: "/v1/user" }, {
      methods: ["DELETE"],
      path_prefix: "/v1/user/a/",
    }],
    placement: { kind: "query", name: "key" },
  }),
  policy({
    origins: ["https://api.example.test", "http://127.0.0.1:8080"],
    rules: [{ methods: ["GET"], path_prefix: "/" }, { methods: ["POST"], path_prefix: "/v1" }],
    limits: { max_seconds: 900, max_body_bytes: 0, private_network: true },
  }),
];

const SCHEMES = [
  "https://",
  "https://",
  "https://",
  "http://",
  "HTTPS://",
  "https:/",
  "https:",
  "https:///",
  "https:\\\\",
];
const MORE_SCHEMES = [
  "ftp://",
  "//",
  "",
  "ht\ntps://",
  " https://",
  "file://",
  "blob:https://",
  "javascript:",
  "wss://",
];
const USERS = [
  "",
  "",
  "",
  "",
  "a@",
  "api.example.test@",
  "api.example.test:443@",
  "@",
  "a:b@",
  "%40",
  "evil.test\\@",
];
const HOSTS = [
  "api.example.test",
  "api.example.test",
  "api.example.test",
  "127.0.0.1",
  "API.Example.test",
  "evil.test",
];
const MORE_HOSTS = [
  "api.example.test.",
  "api.example.test..",
  "evilapi.example.test",
  "api.example.test.evil.test",
  "2130706433",
  "0x7f.1",
  "0177.0.0.1",
  "127.1",
  "[::1]",
  "[::ffff:127.0.0.1]",
  "\u0430pi.example.test",
  "api\u3002example.test",
  "api%2eexample.test",
  "api.example.test%00",
  "api.exa\tmple.test",
  "localhost",
  "\uff41pi.example.test",
  "",
];
const PORTS = ["", "", "", ":443", ":0443", ":", ":8443", ":80", ":8080", ":99999", ":-1", ":443@evil.test"];
const PATHS = [
  "/",
  "/",
  "/",
  "v1",
  "v1",
  "user",
  "users",
  "a",
  "admin",
  "V1",
  "..",
  ".",
  "%2e%2e",
  "%2E.",
  "%2f",
  "%252f",
];
const MORE_PATHS = [
  "%5c",
  "\\",
  "..;",
  ";x",
  "%00",
  "%c0%af",
  "%u2215",
  "%25252e",
  "~",
  "\u00e9",
  " ",
  "%",
  "//",
  "%3f",
];
const QUERIES = ["a", "=", "&", "b", "1", "%20", "+", "~", "_method", "key"];
const MORE_QUERIES = [
  "%5fmethod",
  "_METHOD",
  "K%65y",
  ";",
  "%",
  "#",
  "%zz",
  "?",
  "/..",
  "%26",
  "'",
  "\u00e9",
  "%6bey",
];
const MEMBERS = [
  "a=1",
  "b",
  "_method=DELETE",
  "_METHOD=x",
  "%5fmethod=1",
  "_meth%6Fd",
  "key=1",
  "KEY",
  "K%65y=1",
  "=",
  "c=%26",
];
const ODD = ["\0", "\r\n", "\t", "\\", "@", "#", "?", "%", "\u202e", "/", ":", ".", "\u2028", "\ud800"];
const VERBS = ["GET", "GET", "POST", "get", "DELETE", "PATCH", "TRACE", "CONNECT", "FOO", "GET ", "", "pOsT"];

function sometimes(random: Random, often: readonly string[], seldom: readonly string[]): string {
  return random.pick(random.once(4) ? seldom : often);
}

function url(random: Random): string {
  const host = sometimes(random, HOSTS, MORE_HOSTS);
  const path = random.pick(["/", "/v1/", "/v1/", "/v1/user", "/v1/user/a/"]) +
    random.join(random.once(3) ? [...PATHS, ...MORE_PATHS] : PATHS, 9);
  const members = Array.from({ length: 1 + random.below(3) }, () => random.pick(MEMBERS)).join(
    random.pick(["&", ";"]),
  );
  const query = random.once(4)
    ? `?${members}`
    : random.once(2)
    ? ""
    : "?" + random.join(random.once(3) ? [...QUERIES, ...MORE_QUERIES] : QUERIES, 7);
  const text = sometimes(random, SCHEMES, MORE_SCHEMES) + random.pick(USERS) + host + random.pick(PORTS) +
    path + query;
  if (!random.once(8)) return text;
  const at = random.below(text.length + 1);
  return text.slice(0, at) + random.pick(ODD) + text.slice(at);
}

/** Tries one URL under one policy. */
export function fuzzUrl(random: Random): Find | null {
  const under = random.pick(POLICIES);
  const [verb, text] = [random.pick(VERBS), random.once(5) ? plain(random) : url(random)];
  const input = JSON.stringify([verb, text, POLICIES.indexOf(under)]);
  let sent: { method: string; url: string } | null = null;
  try {
    const target = parseTarget(verb, text);
    checkTarget(under, target);
    sent = target;
  } catch (error) {
    if (!(error instanceof CustosError)) return { input, wrong: `it threw ${error}` };
    if (error.kind === "internal") return { input, wrong: "the refusal is internal" };
  }
  const wrong = sent === null ? missed(verb, text, under) : unsafe(text, sent, under);
  return wrong === null ? null : { input, wrong };
}

function plain(random: Random): string {
  const segments = ["/v1", "/user", "/users", "/a", "/x-1_~", "/admin", "/b%20c", "/%41"];
  return "https://api.example.test/v1" + random.join(segments, 4) +
    random.pick(["", "?a=1", "?a=1&b=%20+~", "?key=1"]);
}
