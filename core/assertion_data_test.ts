import assert from "node:assert/strict";
import {
  FLAGS,
  isAssertionTail,
  isExtensionsPart,
  readAuthenticatorData,
  refusedFlag,
} from "./assertion_data.ts";
import { fromHex } from "./bytes.ts";

const ED = FLAGS.extensions;

Deno.test("readAuthenticatorData() gives the parts of a structure", () => {
  const bytes = fromHex("ab".repeat(32) + "05" + "01020304" + "a0")!;
  assert.deepEqual(readAuthenticatorData(bytes), {
    rp_id_hash: fromHex("ab".repeat(32)),
    flags: 5,
    sign_count: 0x01020304,
    rest: fromHex("a0"),
  });
});

Deno.test("readAuthenticatorData() reads a view into a larger buffer", () => {
  const buffer = fromHex("ff".repeat(8) + "00".repeat(33) + "00000007" + "ff".repeat(8))!;
  assert.equal(readAuthenticatorData(buffer.subarray(8, 45))?.sign_count, 7);
});

Deno.test("readAuthenticatorData() refuses fewer than 37 bytes", () => {
  for (const length of [0, 32, 36]) assert.equal(readAuthenticatorData(new Uint8Array(length)), null);
});

Deno.test("refusedFlag() asks for presence and verification, and for backup flags that agree", () => {
  const rows: [number, ReturnType<typeof refusedFlag>][] = [
    [0x05, null],
    [0x0d, null], // may be backed up
    [0x1d, null], // is backed up
    [0x00, "user_presence"],
    [0x04, "user_presence"],
    [0x01, "user_verification"],
    [0x19, "user_verification"],
    [0x15, "backup_flags"],
  ];
  for (const [flags, refused] of rows) assert.equal(refusedFlag(flags), refused, flags.toString(16));
});

Deno.test("isExtensionsPart() accepts exactly one CBOR map, where it is announced", () => {
  const rows: [string, string][] = [
    ["an empty map", "a0"],
    ["a boolean", "a16b686d61632d736563726574f5"],
    ["32 encrypted bytes", `a16b686d61632d7365637265745820${"ab".repeat(32)}`],
    ["a two-byte length", `a16161590100${"ab".repeat(256)}`],
    ["four levels", "a10181820102"],
    ["a negative number and null", "a12026"],
  ];
  for (const [name, hex] of rows) {
    assert.equal(isExtensionsPart(ED, fromHex(hex)!), true, name);
    assert.equal(isExtensionsPart(0, fromHex(hex)!), false, `${name}, not announced`);
  }
  assert.equal(isExtensionsPart(0, new Uint8Array(0)), true);
});

Deno.test("isExtensionsPart() refuses everything else", () => {
  const rows: [string, string][] = [
    ["nothing", ""],
    ["a number", "01"],
    ["a list", "80"],
    ["two maps", "a0a0"],
    ["a byte after the map", "a000"],
    ["a key without a value", "a101"],
    ["a text that runs over the end", "a1016261"],
    ["a text that runs over the end, with a long length", "a1017affffffff"],
    ["a length cut short", "a10159"],
    ["an endless map", "bfff"],
    ["an endless text", "a1017f6161ff"],
    ["a reserved length", "bc"],
    ["an eight-byte length", "bb0000000000000001"],
    ["a tag", "a101c000"],
    ["a float", "a101f90000"],
    ["six levels", "a1018181818100"],
    ["2^32 - 1 members", "baffffffff"],
  ];
  for (const [name, hex] of rows) assert.equal(isExtensionsPart(ED, fromHex(hex)!), false, name);
});

Deno.test("isAssertionTail() refuses attested credential data", () => {
  const data = { rp_id_hash: new Uint8Array(32), sign_count: 0, rest: new Uint8Array(0) };
  assert.equal(isAssertionTail({ ...data, flags: 0x05 }), true);
  assert.equal(isAssertionTail({ ...data, flags: 0x45 }), false);
});
