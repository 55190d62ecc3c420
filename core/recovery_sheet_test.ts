import assert from "node:assert/strict";
import fc from "fast-check";
import { fromHex, toHex } from "./bytes.ts";
import { CustosError } from "./errors.ts";
import { decodeRecoverySheet, encodeRecoverySheet, newRecoverySeed } from "./recovery_sheet.ts";
import { Secret } from "./secret.ts";
import vectors from "./testdata/device_keys.json" with { type: "json" };

const { seed, sheet } = vectors.recovery;
const hexOf = async (text: string) => (await decodeRecoverySheet(text)).expose(toHex);
const isBad = (error: unknown) => error instanceof CustosError && error.kind === "bad_request";

Deno.test("encodeRecoverySheet() gives the vector's 14 groups", async () => {
  assert.equal(await encodeRecoverySheet(new Secret(fromHex(seed)!)), sheet);
  assert.match(sheet, /^(?:[0-9A-HJKMNP-TV-Z]{4}-){13}[0-9A-HJKMNP-TV-Z]{4}$/);
});

Deno.test("encodeRecoverySheet() refuses a seed of any other length", async () => {
  for (const length of [0, 31, 33]) {
    await assert.rejects(encodeRecoverySheet(new Secret(new Uint8Array(length))), isBad, String(length));
  }
});

Deno.test("newRecoverySeed() draws 32 fresh bytes", () => {
  const [one, two] = [newRecoverySeed(), newRecoverySeed()];
  assert.equal(one.length, 32);
  assert.notEqual(one.expose(toHex), two.expose(toHex));
});

Deno.test("decodeRecoverySheet() reads what people type", async () => {
  const rows: [string, string][] = [
    ["as printed", sheet],
    ["lower case", sheet.toLowerCase()],
    ["without hyphens", sheet.replaceAll("-", "")],
    ["spaces and line breaks", ` ${sheet.replaceAll("-", " \r\n")}\n`],
    ["O for zero", sheet.replaceAll("0", "O")],
    ["small L and I for one", sheet.replaceAll("1", "l").replace("l", "i")],
  ];
  for (const [name, text] of rows) assert.equal(await hexOf(text), seed, name);
});

Deno.test("decodeRecoverySheet() finds typing errors and repeats nothing of them", async () => {
  const rows: [string, string, RegExp][] = [
    ["nothing", "", /14 groups of 4 characters; 0 were typed/],
    ["a character missing", sheet.slice(0, -1), /55 were typed/],
    ["a character too many", `${sheet}0`, /57 were typed/],
    ["a group missing", sheet.slice(5), /52 were typed/],
    ["a character never used", sheet.replace(/.$/, "U"), /Group 14 /],
    ["a letter with an accent", sheet.replace(/^./, "É"), /Group 1 /],
    ["a letter that grows in upper case", `ß${sheet.slice(2)}`, /Group 1 /],
    ["a small dotless i", `\u0131${sheet.slice(1)}`, /Group 1 /],
    ["two characters swapped", sheet[1]! + sheet[0]! + sheet.slice(2), /wrong, or two are swapped/],
    ["two groups swapped", sheet.slice(5, 10) + sheet.slice(0, 5) + sheet.slice(10), /wrong, or two/],
  ];
  for (const [name, text, says] of rows) {
    await assert.rejects(decodeRecoverySheet(text), (error: unknown) => {
      assert.ok(isBad(error), name);
      assert.match((error as Error).message, says, name);
      for (const group of text.split("-").filter((part) => part.length === 4)) {
        assert.equal((error as Error).message.includes(group), false, name);
      }
      return true;
    });
  }
});

Deno.test("decodeRecoverySheet() is the inverse of encodeRecoverySheet()", async () => {
  const seeds = fc.uint8Array({ minLength: 32, maxLength: 32 });
  await fc.assert(
    fc.asyncProperty(seeds, async (bytes) => {
      const text = await encodeRecoverySheet(new Secret(bytes.slice()));
      assert.equal(await hexOf(text), toHex(bytes));
    }),
    { numRuns: 50 },
  );
});

Deno.test("decodeRecoverySheet() refuses any one wrong character", async () => {
  const alphabet = [..."0123456789ABCDEFGHJKMNPQRSTVWXYZ"];
  const plain = sheet.replaceAll("-", "");
  const change = fc.record({ at: fc.nat({ max: 55 }), to: fc.constantFrom(...alphabet) })
    .filter(({ at, to }) => plain[at] !== to);
  await fc.assert(
    fc.asyncProperty(change, async ({ at, to }) => {
      await assert.rejects(decodeRecoverySheet(plain.slice(0, at) + to + plain.slice(at + 1)), isBad);
    }),
    { numRuns: 200 },
  );
});
