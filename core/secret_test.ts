import assert from "node:assert/strict";
import { Console } from "node:console";
import { Writable } from "node:stream";
import { format, inspect } from "node:util";
import { fromUtf8, toBase64, toHex, utf8 } from "./bytes.ts";
import { canonicalBytes } from "./canonical.ts";
import { CustosError } from "./errors.ts";
import { Secret } from "./secret.ts";

const TEXT = "correct horse battery";
const FORMS = [
  TEXT,
  toHex(utf8(TEXT)),
  toBase64(utf8(TEXT)),
  [...utf8(TEXT)].join(","),
  [...utf8(TEXT)].join(", "),
];
const fresh = () => new Secret(utf8(TEXT));

function consoleText(write: (console: Console) => void): string {
  let text = "";
  const sink = new Writable({
    write(chunk, _, done) {
      text += String(chunk);
      done();
    },
  });
  write(new Console(sink, sink));
  return text;
}

const s = fresh();
const printed: [string, string][] = [
  ["a template", `${s}`],
  ["String()", String(s)],
  ["concatenation", "" + s],
  ["join", [s, s].join()],
  ["JSON.stringify", JSON.stringify({ s, list: [s] })],
  ["canonical JSON", fromUtf8(canonicalBytes({ s }))],
  [
    "Deno.inspect",
    Deno.inspect({ s, map: new Map([[s, s]]) }, { depth: 10, showHidden: true, getters: true }),
  ],
  ["inspect of node:util", inspect({ s }, { showHidden: true, getters: true, depth: 10 })],
  [
    "inspect without custom inspection",
    inspect(s, { customInspect: false, showHidden: true, getters: true }),
  ],
  ["format of node:util", format("%s %o %O %j %d %i %f %c", s, s, s, s, s, s, s, s)],
  ["an error's message", String(new Error(`failed with ${s}`))],
  ["an error's cause", Deno.inspect(new Error("failed", { cause: s }))],
  ["an expected error", inspect(new CustosError("internal", `failed with ${s}`))],
  ["console.log", consoleText((console) => console.log("%s", s, s, { s }))],
  ["console.table", consoleText((console) => console.table([{ s }]))],
  ["console.dir", consoleText((console) => console.dir(s, { showHidden: true, customInspect: false }))],
  ["Object.entries", JSON.stringify(Object.entries(s))],
  ["spread", JSON.stringify({ ...s }) + Deno.inspect({ ...s })],
  ["structuredClone", Deno.inspect(structuredClone(s), { showHidden: true })],
];

for (const [name, text] of printed) {
  Deno.test(`Secret does not show its bytes through ${name}`, () => {
    for (const form of FORMS) assert.ok(!text.includes(form), text);
  });
}

Deno.test("Secret prints as [secret] where it prints at all", () => {
  const shown = printed.filter(([name]) =>
    ["a template", "String()", "JSON.stringify", "Deno.inspect", "inspect of node:util", "console.log"]
      .includes(name)
  );
  assert.equal(shown.length, 6);
  for (const [name, text] of shown) assert.ok(text.includes("[secret]"), name);
});

Deno.test("Secret has no property that holds its bytes, inherited getters included", () => {
  const secret = fresh();
  assert.deepEqual(Reflect.ownKeys(secret), []);
  for (
    let object: object | null = Secret.prototype;
    object !== null;
    object = Object.getPrototypeOf(object)
  ) {
    for (const key of Reflect.ownKeys(object)) {
      if (key === "__proto__") continue;
      const value: unknown = Reflect.get(object, key, secret);
      assert.ok(!(value instanceof Uint8Array) && value !== TEXT, String(key));
    }
  }
});

Deno.test("Secret.expose() lends the bytes and returns what the callback does", () => {
  const secret = fresh();
  assert.equal(secret.expose(fromUtf8), TEXT);
  assert.equal(secret.length, utf8(TEXT).length);
});

Deno.test("Secret.wipe() overwrites the bytes that were handed in", () => {
  const bytes = utf8(TEXT);
  const secret = new Secret(bytes);
  secret.wipe();
  assert.ok(bytes.every((byte) => byte === 0));
  assert.equal(secret.expose((exposed) => exposed.some((byte) => byte !== 0)), false);
});
