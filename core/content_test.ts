import assert from "node:assert/strict";
import { contentHash, type RequestContent } from "./content.ts";

const CONTENT: RequestContent = {
  method: "POST",
  url: "https://api.example.test/v1/x?q=1",
  headers: [["accept", "application/json"], ["x-a", "1"]],
  body_sha256: "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU",
};

Deno.test("contentHash() is the labelled hash of the canonical document", async () => {
  const text = '{"body_sha256":"47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU",' +
    '"headers":[["accept","application/json"],["x-a","1"]],"method":"POST","url":"https://api.example.test/v1/x?q=1"}';
  const input = new TextEncoder().encode(`custos/content/v1\0${text}`);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", input));
  assert.equal(await contentHash(CONTENT), digest.toBase64({ alphabet: "base64url", omitPadding: true }));
});

Deno.test("contentHash() changes with every part of what is sent", async () => {
  const others: RequestContent[] = [
    { ...CONTENT, method: "PUT" },
    { ...CONTENT, url: "https://api.example.test/v1/x?q=2" },
    { ...CONTENT, headers: [["x-a", "1"], ["accept", "application/json"]] },
    { ...CONTENT, headers: [["accept", "application/json"]] },
    { ...CONTENT, body_sha256: "LPJNul-wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ" },
  ];
  const hashes = await Promise.all([CONTENT, ...others].map(contentHash));
  assert.equal(new Set(hashes).size, others.length + 1);
});
