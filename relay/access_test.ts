import assert from "node:assert/strict";
import { sameText } from "./access.ts";

const ROWS: [string, string, boolean][] = [
  ["", "", true],
  ["token", "token", true],
  ["token", "tokem", false],
  ["token", "Token", false],
  ["token", "token ", false],
  ["token", "", false],
];
for (const [a, b, same] of ROWS) {
  Deno.test(`sameText() says ${same} for "${a}" and "${b}"`, () => assert.equal(sameText(a, b), same));
}
