import assert from "node:assert/strict";
import { refuseUnsafeEnvironment } from "./environment.ts";
import { StartError } from "./start_error.ts";

for (const variable of ["NODE_OPTIONS", "SSLKEYLOGFILE"]) {
  Deno.test(`refuseUnsafeEnvironment() refuses ${variable} by name, without its value`, () => {
    const before = Deno.env.get(variable);
    Deno.env.set(variable, "MARK1234");
    try {
      assert.throws(refuseUnsafeEnvironment, (error) => {
        return error instanceof StartError && error.exitCode === 2 && error.message.includes(variable) &&
          !error.message.includes("MARK1234");
      });
    } finally {
      if (before === undefined) Deno.env.delete(variable);
      else Deno.env.set(variable, before);
    }
  });
}

Deno.test({
  name: "refuseUnsafeEnvironment() reads nothing that it may not read",
  permissions: { env: false },
  fn: () => assert.equal(refuseUnsafeEnvironment(), undefined),
});
