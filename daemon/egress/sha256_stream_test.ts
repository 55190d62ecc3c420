import assert from "node:assert/strict";
import fc from "fast-check";
import { toHex } from "@custos/core/bytes";
import { sha256 } from "@custos/core/labels";
import { Sha256Stream } from "./sha256_stream.ts";

async function streamed(parts: readonly Uint8Array[]): Promise<string> {
  const hash = new Sha256Stream();
  for (const part of parts) hash.update(part);
  return toHex(await hash.digest());
}

Deno.test("Sha256Stream agrees with the vectors of FIPS 180", async () => {
  const utf8 = new TextEncoder();
  assert.equal(await streamed([]), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  assert.equal(
    await streamed([utf8.encode("abc")]),
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
  const million = Array.from({ length: 1000 }, () => utf8.encode("a".repeat(1000)));
  assert.equal(await streamed(million), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
});

Deno.test("Sha256Stream agrees with WebCrypto for any bytes in any pieces", async () => {
  const parts = fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 8 });
  await fc.assert(fc.asyncProperty(parts, async (pieces) => {
    const whole = Uint8Array.from(pieces.flatMap((piece) => [...piece]));
    assert.equal(await streamed(pieces), toHex(await sha256(whole)));
  }));
});

Deno.test("Sha256Stream agrees with WebCrypto around every border, alone and among other streams", async () => {
  const bytes = Uint8Array.from({ length: 200_000 }, (_, i) => (i * 31 + (i >> 8)) & 255);
  for (const size of [65_535, 65_536, 65_537, 65_591, 65_592, 65_599, 65_600, 131_072, 131_073, 200_000]) {
    for (const piece of [1_000, 65_536, 65_537, 200_000]) {
      const [one, two] = [new Sha256Stream(), new Sha256Stream()];
      for (let at = 0; at < size; at += piece) {
        const part = bytes.slice(at, Math.min(at + piece, size));
        one.update(part);
        two.update(part.map((byte) => byte ^ 255));
        part.fill(0); // what was added is not read again
      }
      assert.equal(
        toHex(await one.digest()),
        toHex(await sha256(bytes.slice(0, size))),
        `${size} by ${piece}`,
      );
      const other = bytes.slice(0, size).map((byte) => byte ^ 255);
      assert.equal(toHex(await two.digest()), toHex(await sha256(other)));
    }
  }
});
