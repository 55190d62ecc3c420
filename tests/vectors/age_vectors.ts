/** The age test vectors of C2SP (CCTV, `npm:cctv-age`), read as their README says. */

import * as vectors from "cctv-age";
import { fromUtf8 } from "@custos/core/bytes";

/** What age must say to a file. */
export type Expected =
  | "success"
  | "no match"
  | "HMAC failure"
  | "header failure"
  | "payload failure"
  | "armor failure";

/** One vector. */
export interface AgeVector {
  name: string;
  expect: Expected;
  /** SHA-256 of the plaintext, in hexadecimal, where it opens. */
  payload: string | null;
  /** In hexadecimal. */
  file_key: string | null;
  identities: string[];
  passphrases: string[];
  armored: boolean;
  file: Uint8Array<ArrayBuffer>;
}

/** All of them. */
export async function ageVectors(): Promise<AgeVector[]> {
  const all = Object.entries(vectors as unknown as Record<string, Uint8Array>);
  return await Promise.all(all.map(([name, bytes]) => readVector(name, bytes)));
}

async function readVector(name: string, bytes: Uint8Array): Promise<AgeVector> {
  const end = bytes.findIndex((byte, at) => byte === 0x0a && bytes[at + 1] === 0x0a);
  const fields = fromUtf8(bytes.subarray(0, end)).split("\n").map((line) => {
    const [key, ...rest] = line.split(": ");
    return [key!, rest.join(": ")] as const;
  });
  const valuesOf = (wanted: string) => fields.filter(([key]) => key === wanted).map(([, value]) => value);
  const [one, packed] = [(key: string) => valuesOf(key)[0] ?? null, Uint8Array.from(bytes.subarray(end + 2))];
  const compressed = one("compressed");
  if (compressed !== null && compressed !== "zlib") throw new Error(`${name} is packed as ${compressed}`);
  return {
    name,
    expect: one("expect") as Expected,
    payload: one("payload"),
    file_key: one("file key"),
    identities: valuesOf("identity"),
    passphrases: valuesOf("passphrase"),
    armored: one("armored") === "yes",
    file: compressed === null ? packed : await inflate(packed),
  };
}

async function inflate(packed: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
