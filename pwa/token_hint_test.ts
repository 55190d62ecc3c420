import assert from "node:assert/strict";
import { tokenHint } from "./token_hint.ts";

Deno.test("tokenHint() warns when a known kind of key goes elsewhere, and never repeats it", () => {
  const rows: [string, string[], string | null][] = [
    ["ghp_abcdefghijkl", ["https://api.github.com"], null],
    ["ghp_abcdefghijkl", ["https://github.com:8443"], null],
    ["ghp_abcdefghijkl", ["https://api.example.test"], "GitHub"],
    ["ghp_abcdefghijkl", ["https://api.github.com", "https://evil.test"], "GitHub"],
    ["ghp_abcdefghijkl", ["https://notgithub.com"], "GitHub"],
    ["sk_live_abcdefgh", ["https://api.stripe.com.evil.test"], "Stripe"],
    ["an unknown value", ["https://evil.test"], null],
  ];
  for (const [value, origins, provider] of rows) {
    const hint = tokenHint(value, origins);
    assert.equal(hint === null, provider === null, value);
    assert.ok(hint === null || (hint.includes(provider!) && !hint.includes(value.slice(4))), value);
  }
});
