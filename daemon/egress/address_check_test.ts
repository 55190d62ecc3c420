import assert from "node:assert/strict";
import { parseTarget } from "@custos/core/target";
import { checkAddresses } from "./address_check.ts";

const TARGET = parseTarget("GET", "https://api.example.test/v1/x");

Deno.test("checkAddresses() refuses names that lead inside, mixed answers too (B13)", async () => {
  const rows: [string[], string | null][] = [
    [["93.184.216.34"], null],
    [["93.184.216.34", "[2606:2800:220:1::1]"], null],
    [["169.254.169.254"], "private_address"],
    [["10.0.0.5"], "private_address"],
    [["0.0.0.0"], "private_address"],
    [["[::1]"], "private_address"],
    [["[::ffff:a00:5]"], "private_address"],
    [["93.184.216.34", "10.0.0.5"], "private_address"],
    [[], "upstream_unreachable"],
  ];
  for (const [addresses, kind] of rows) {
    const refusal = await checkAddresses(TARGET, () => Promise.resolve(addresses)).then(
      () => null,
      (error) => error,
    );
    assert.equal(refusal?.kind ?? null, kind, addresses.join());
  }
  const failing = checkAddresses(TARGET, () => Promise.reject(new Error("no resolver")));
  await assert.rejects(failing, { kind: "upstream_unreachable" });
});

Deno.test("checkAddresses() asks the system, hosts file included", async () => {
  await assert.rejects(checkAddresses(parseTarget("GET", "http://localhost/")), { kind: "private_address" });
  await assert.rejects(checkAddresses(parseTarget("GET", "http://[::1]/")), { kind: "private_address" });
});
