import assert from "node:assert/strict";
import { fromBase64, toBase64, toBase64url, utf8 } from "./bytes.ts";
import { logOrigin, openCheckpoint, signCheckpoint, verifierKey } from "./checkpoint.ts";
import { hex } from "./testdata/samples.ts";
import vectors from "./testdata/checkpoint.json" with { type: "json" };

const { origin, note, size } = vectors;
const publicKey = hex(vectors.public_key);
const root = hex(vectors.root);
const jwk = { kty: "OKP", crv: "Ed25519", d: toBase64url(hex(vectors.seed)), x: toBase64url(publicKey) };
const key = await crypto.subtle.importKey("jwk", jwk, "Ed25519", false, ["sign"]);
const sign = async (bytes: Uint8Array<ArrayBuffer>) =>
  new Uint8Array(await crypto.subtle.sign("Ed25519", key, bytes));

Deno.test("signCheckpoint() gives the vector's note, byte for byte", async () => {
  assert.equal(logOrigin(vectors.daemon), origin);
  assert.equal(await signCheckpoint({ origin, size, root }, publicKey, sign), note);
});

Deno.test("verifierKey() gives the vector's key in the form of C2SP signed-note", async () => {
  assert.equal(await verifierKey(origin, publicKey), vectors.verifier_key);
});

Deno.test("openCheckpoint() reads the vector", async () => {
  assert.deepEqual(await openCheckpoint(note, origin, publicKey), { origin, size, root });
});

const [l1, l2, l3, , signature] = note.split("\n") as [string, string, string, string, string];
const blob = fromBase64(signature.split(" ")[2]!)!;
const resigned = (bytes: Uint8Array) => `${l1}\n${l2}\n${l3}\n\n— ${l1} ${toBase64(bytes)}\n`;
const otherRoot = toBase64(new Uint8Array(32).fill(1));

const REFUSED: [name: string, note: string][] = [
  ["another size", note.replace("\n8\n", "\n7\n")],
  ["a size with a leading zero", note.replace("\n8\n", "\n08\n")],
  ["a size that is no number", note.replace("\n8\n", "\nx\n")],
  ["a negative size", note.replace("\n8\n", "\n-8\n")],
  ["another root", note.replace(l3, otherRoot)],
  ["a short root", note.replace(l3, toBase64(new Uint8Array(31)))],
  ["another origin", note.replaceAll(origin, `${origin}x`)],
  ["another origin in the body only", note.replace(origin, `${origin}x`)],
  ["another signer's name", note.replace(`— ${origin}`, "— example.test")],
  ["another key id", resigned(blob.with(0, blob[0]! ^ 1))],
  ["a flipped bit in the signature", resigned(blob.with(20, blob[20]! ^ 1))],
  ["a signature of zeros", resigned(Uint8Array.from([...blob.slice(0, 4), ...new Uint8Array(64)]))],
  ["a short signature", resigned(blob.slice(0, 67))],
  ["no signature", `${l1}\n${l2}\n${l3}\n\n`],
  ["two signatures", `${note}${signature}\n`],
  ["an extension line", `${l1}\n${l2}\n${l3}\nextra\n\n${signature}\n`],
  ["a hyphen for the dash", note.replace("—", "-")],
  ["no line break at the end", note.slice(0, -1)],
  ["a line break too many", `${note}\n`],
  ["carriage returns", note.replaceAll("\n", "\r\n")],
  ["a text before it", `x\n${note}`],
  ["nothing in it", ""],
];

for (const [name, bad] of REFUSED) {
  Deno.test(`openCheckpoint() refuses a note with ${name} (B162)`, async () => {
    assert.notEqual(bad, note);
    assert.equal(await openCheckpoint(bad, origin, publicKey), null);
  });
}

Deno.test("openCheckpoint() refuses a note that was signed for another origin or key", async () => {
  const other = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]) as CryptoKeyPair;
  const otherKey = new Uint8Array(await crypto.subtle.exportKey("raw", other.publicKey));
  assert.equal(await openCheckpoint(note, logOrigin("aaaaaaaaaaaaaaaaaaaaaaaaaa"), publicKey), null);
  assert.equal(await openCheckpoint(note, origin, otherKey), null);
  assert.equal(await openCheckpoint(note, origin, publicKey.slice(1)), null);
  assert.equal(await openCheckpoint(note, origin, new Uint8Array(32)), null);
  // the true key's id and name, another key's signature
  const forged = await signCheckpoint(
    { origin, size: 9, root },
    publicKey,
    async (bytes) => new Uint8Array(await crypto.subtle.sign("Ed25519", other.privateKey, bytes)),
  );
  assert.equal(await openCheckpoint(forged, origin, publicKey), null);
  // the true key over another log's body, under this log's name
  const body = note.slice(0, note.indexOf("\n\n") + 1).replace(origin, `${origin}x`);
  const signed = Uint8Array.from([...blob.slice(0, 4), ...await sign(utf8(body))]);
  const crossed = `${body}\n— ${origin} ${toBase64(signed)}\n`;
  assert.equal(await openCheckpoint(crossed, origin, publicKey), null);
});
