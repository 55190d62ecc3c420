import assert from "node:assert/strict";
import fc from "fast-check";
import { toHex } from "@custos/core/bytes";
import { sha256 } from "@custos/core/labels";
import { Sha256Stream } from "./sha256_stream.ts";

function streamed(parts: readonly Uint8Array[]): string {
  const hash = new Sha256Stream();
  for (const part of parts) hash.update(part);
  return toHex(hash.digest());
}

Deno.test("Sha256Stream agrees with the vectors of FIPS 180", () => {
  const utf8 = new TextEncoder();
  assert.equal(streamed([]), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  assert.equal(
    streamed([utf8.encode("abc")]),
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
  const million = Array.from({ length: 1000 }, () => utf8.encode("a".repeat(1000)));
  assert.equal(streamed(million), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
});

Deno.test("Sha256Stream agrees with WebCrypto for any bytes in any pieces", async () => {
  const parts = fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 8 });
  await fc.assert(fc.asyncProperty(parts, async (pieces) => {
    const whole = Uint8Array.from(pieces.flatMap((piece) => [...piece]));
    assert.equal(streamed(pieces), toHex(await sha256(whole)));
  }));
});
