/** Headers against a model of what DESIGN §12 says: which names an agent may never set, and what a value may hold. */

import { CustosError } from "@custos/core/errors";
import { checkHeaders } from "@custos/core/header_rules";
import type { Placement } from "@custos/core/policy";
import type { Find, Random } from "./random.ts";

const FORBIDDEN = [
  ...["connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "host", "content-length"],
  ...[
    "cookie",
    "authorization",
    "proxy-authorization",
    "proxy-connection",
    "range",
    "accept-encoding",
    "forwarded",
  ],
  ...[
    "x-http-method-override",
    "x-http-method",
    "x-method-override",
    "x-original-url",
    "x-rewrite-url",
    "expect",
  ],
  ...["x-forwarded-host", "x-forwarded-for", "sec-fetch-mode"],
];
const FINE = [
  ...[
    "accept",
    "content-type",
    "x-github-api-version",
    "if-none-match",
    "idempotency-key",
    "user-agent",
    "x-a",
    "x-b",
  ],
  ...[
    "stripe-version",
    "accept-language",
    "date",
    "x-amz-target",
    "constructor",
    "__proto__",
    "prefer",
    "link",
  ],
];
const ODD_NAMES = [
  "X Y",
  "x-y:",
  "",
  ":authority",
  "x\r\ny",
  "x\0",
  "\u00e9",
  "x-a ",
  " x-a",
  "a".repeat(129),
  "x(y)",
  "x@y",
];
const VALUES = [
  "1",
  "application/json",
  " padded\t",
  "",
  "caf\u00e9",
  "a\tb",
  "{{secret:demo-key}}",
  "k=v; q=0.5",
  "\u00a0",
];
const ODD_VALUES = [
  "1\r\nX-Injected: yes",
  "1\n",
  "1\0",
  "1\r",
  "\u0100",
  "\x7f",
  "\x1b[0m",
  "\u2028",
  "\x80",
];
const PLACEMENTS: readonly Placement[] = [
  { kind: "bearer" },
  { kind: "header", name: "X-Api-Key", template: "{secret}" },
  { kind: "query", name: "key" },
];

/** Tries one list of headers. */
export function fuzzHeaders(random: Random): Find | null {
  const placement = random.pick(PLACEMENTS);
  const headers = Array.from(
    { length: random.below(5) },
    (): [string, string] => [name(random), value(random)],
  );
  const input = JSON.stringify([headers, placement]);
  const expected = model(headers, placement);
  try {
    const got = checkHeaders({ placement }, headers);
    if (expected === null) return { input, wrong: `it passed as ${JSON.stringify(got)}` };
    return JSON.stringify(got) === JSON.stringify(expected)
      ? null
      : { input, wrong: `it became ${JSON.stringify(got)}` };
  } catch (error) {
    if (!(error instanceof CustosError) || error.kind !== "header_not_allowed") {
      return { input, wrong: `it threw ${error}` };
    }
    if (expected !== null) return { input, wrong: `it was refused: ${error.message}` };
    const told = headers.find(([, value]) => value.length > 3 && error.message.includes(value));
    return told === undefined ? null : { input, wrong: "the refusal repeats a value" };
  }
}

function name(random: Random): string {
  const plain = random.pick(random.once(6) ? ODD_NAMES : random.once(3) ? [...FORBIDDEN, "x-api-key"] : FINE);
  const cased = [...plain].map((c) => random.once(3) ? c.toUpperCase() : c).join("");
  return random.once(10) ? cased.replaceAll("-", "_") : cased;
}

function value(random: Random): string {
  return random.pick(random.once(6) ? ODD_VALUES : VALUES);
}

/** The list that is sent, or `null` where it must be refused. */
function model(headers: readonly [string, string][], placement: Placement): [string, string][] | null {
  const out: [string, string][] = [];
  for (const [given, value] of headers) {
    const lower = given.toLowerCase();
    if (given === "" || given.length > 128) return null;
    for (const c of given) if (!/[A-Za-z0-9]/.test(c) && !"!#$%&'*+-.^_`|~".includes(c)) return null;
    if (FORBIDDEN.includes(lower.split("_").join("-"))) return null;
    if (placement.kind === "header" && lower === placement.name.toLowerCase()) return null;
    if (out.some(([other]) => other === lower)) return null;
    for (const c of value) {
      const code = c.codePointAt(0)!;
      if ((code < 0x20 && code !== 9) || (code > 0x7e && code < 0xa0) || code > 0xff) return null;
    }
    let [from, to] = [0, value.length];
    while (from < to && " \t".includes(value[from]!)) from++;
    while (to > from && " \t".includes(value[to - 1]!)) to--;
    out.push([lower, value.slice(from, to)]);
  }
  return out;
}
