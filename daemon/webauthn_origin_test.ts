import assert from "node:assert/strict";
import { CustosError } from "@custos/core/errors";
import { normaliseOrigin } from "./webauthn_origin.ts";

Deno.test("normaliseOrigin() writes an origin in its one form (B116)", () => {
  const rows: [string, string, string][] = [
    ["https://phone.example", "https://phone.example", "phone.example"],
    ["https://phone.example/", "https://phone.example", "phone.example"],
    ["https://X.example:443/", "https://x.example", "x.example"],
    ["HTTPS://Phone.Example", "https://phone.example", "phone.example"],
    ["https://phone.example:8443/", "https://phone.example:8443", "phone.example"],
    ["https://xn--bcher-kva.example", "https://xn--bcher-kva.example", "xn--bcher-kva.example"],
    ["http://localhost:4173", "http://localhost:4173", "localhost"],
    ["http://localhost:80/", "http://localhost", "localhost"],
    ["http://phone.localhost:4173", "http://phone.localhost:4173", "phone.localhost"],
    ["https://localhost", "https://localhost", "localhost"],
  ];
  for (const [written, origin, rp_id] of rows) {
    assert.deepEqual(normaliseOrigin(written), { origin, rp_id }, written);
    assert.deepEqual(normaliseOrigin(origin), { origin, rp_id }, `${written}, again`);
  }
});

Deno.test("normaliseOrigin() refuses what is not just an origin (B116)", () => {
  const rows = [
    "",
    "phone.example",
    "https://",
    "https:phone.example",
    "https:///phone.example",
    "https://phone.example/app",
    "https://phone.example//",
    "https://phone.example/.",
    "https://phone.example?",
    "https://phone.example/?a",
    "https://phone.example#",
    "https://phone.example\\",
    "https://phone.example ",
    " https://phone.example",
    "https://phone.example\n",
    "https://phone.ex\tample",
    "https://phone.example.",
    "https://.phone.example",
    "https://phone..example",
    "https://*.phone.example",
    "https://user@phone.example",
    "https://user:pass@phone.example",
    "https://phone.example@evil.test",
    "https://phone.example:0",
    "https://phone.example:",
    "https://phone.example:65536",
    "https://phone.example:443:443",
    "https://phone.example, https://evil.test",
    "https://bücher.example",
    "https://phone%2eexample",
    "https://192.0.2.1",
    "https://2130706433",
    "https://0x7f.1",
    "https://[::1]",
    "http://phone.example",
    "http://127.0.0.1:4173",
    "http://localhost.evil.test",
    "http://notlocalhost",
    "ftp://phone.example",
    "wss://phone.example",
    "javascript:alert(1)",
    "null",
  ];
  for (const written of rows) {
    const isBad = (error: unknown) => error instanceof CustosError && error.kind === "bad_request";
    assert.throws(() => normaliseOrigin(written), isBad, JSON.stringify(written));
  }
});
