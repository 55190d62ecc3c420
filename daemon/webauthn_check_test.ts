import assert from "node:assert/strict";
import type { Assertion, AssertionDevice } from "@custos/core/assertion";
import { toBase64url } from "@custos/core/bytes";
import fc from "fast-check";
import {
  approval,
  bytesOf,
  challenge,
  device,
  keyOf,
  registration,
  stepOf,
  vectors,
} from "./testdata/webauthn.ts";
import { verifyApproval, type WebauthnStep } from "./webauthn_check.ts";

const approve = async (assertion: Assertion, of = device, expected: Uint8Array = challenge, stored = 0) =>
  stepOf(await verifyApproval(assertion, of, expected, stored));

for (const { name, step, assertion } of vectors.assertions) {
  Deno.test(`verifyApproval() ${step === null ? "accepts" : "refuses"} ${name}`, async () => {
    assert.equal(await approve(assertion), step);
  });
}

const counted = (count: number) => {
  const name = count === 0 ? "as it should be" : count === 5 ? "a counter" : `a counter of ${count}`;
  return vectors.assertions.find((row) => row.name === name)!.assertion;
};

Deno.test("verifyApproval() lets a counter of 0 stay at 0, and no other stay or fall (B117)", async () => {
  for (let time = 0; time < 5; time++) assert.equal(await approve(counted(0), device, challenge, 0), null);
  const rows: [number, number, WebauthnStep | null][] = [
    [0, 5, null],
    [4, 5, null],
    [5, 6, null],
    [5, 5, "counter"],
    [5, 4, "counter"],
    [5, 0, "counter"],
    [1, 0, "counter"],
    [4_294_967_295, 6, "counter"],
    [NaN, 5, "counter"],
    [NaN, 0, "counter"],
  ];
  for (const [stored, received, step] of rows) {
    const name = `stored ${stored}, received ${received}`;
    assert.equal(await approve(counted(received), device, challenge, stored), step, name);
  }
});

Deno.test("verifyApproval() returns the counter to store", async () => {
  assert.deepEqual(await verifyApproval(counted(6), device, challenge, 5), { ok: true, sign_count: 6 });
});

Deno.test("verifyApproval() raises no counter alarm for a signature that is not valid", async () => {
  const forged = { ...counted(4), signature: counted(6).signature };
  assert.equal(await approve(forged, device, challenge, 5), "signature");
});

Deno.test("verifyApproval() refuses a good assertion of another device, page or request (B116, B120)", async () => {
  const otherId = toBase64url(bytesOf(device.credential_id).map((byte) => byte ^ 1));
  const rows: [string, Partial<AssertionDevice>, WebauthnStep][] = [
    ["another id", { credential_id: otherId }, "credential"],
    ["another key", { public_key: keyOf(registration) }, "signature"],
    ["another RP", { rp_id: "example.test" }, "rp_id"],
    ["another origin", { origin: "https://phone.example.test:8443" }, "origin"],
  ];
  for (const [name, change, step] of rows) {
    assert.equal(await approve(approval, { ...device, ...change }), step, name);
  }
  assert.equal(await approve(approval, device, challenge.map((byte) => byte ^ 1)), "challenge");
});

Deno.test("verifyApproval() refuses any single flipped bit", async () => {
  const fields = ["client_data_json", "authenticator_data", "signature"] as const;
  const places = fields.flatMap((field) =>
    Array.from({ length: bytesOf(approval[field]).length * 8 }, (_, bit) => ({ field, bit }))
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...places), async ({ field, bit }) => {
      const bytes = bytesOf(approval[field]);
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      assert.notEqual(await approve({ ...approval, [field]: toBase64url(bytes) }), null);
    }),
    { numRuns: 200 },
  );
});
