/** Small valid documents for the tests of core. Each call gives a fresh copy, so that a test may change it. */

import { type Bytes, fromHex, toBase64url } from "../bytes.ts";
import { CustosError, type ErrorKind } from "../errors.ts";
import type { Grant } from "../grant.ts";
import type { Policy } from "../policy.ts";
import type { RequestDoc, RequestOf, RequestType } from "../request.ts";
import documents from "./documents.json" with { type: "json" };
import identities from "./identities.json" with { type: "json" };

/** Fixed hybrid identities with their recipients: making one takes 20 ms. */
export const IDENTITIES = identities.identities as readonly { identity: string; recipient: string }[];

/** Bytes of a hexadecimal vector. */
export function hex(text: string): Bytes {
  const bytes = fromHex(text);
  if (bytes === null) throw new Error("the vector is not hexadecimal");
  return bytes;
}

/** A SHA-256-sized value that names nothing. */
export function anyHash(fill: number): string {
  return toBase64url(new Uint8Array(32).fill(fill));
}

/** The policy of the vectors, with some members replaced. */
export function samplePolicy(change: Partial<Policy> = {}): Policy {
  return { ...structuredClone(documents.policy) as Policy, ...change };
}

/** The grant of the vectors ("this exact request, once"), with some members replaced. */
export function sampleGrant(change: Partial<Grant> = {}): Grant {
  return { ...structuredClone(documents.bundle.grant) as Grant, ...change };
}

/** A request document of any type. */
export function sampleRequest<T extends RequestType>(type: T, change: object = {}): RequestOf<T> {
  const http = structuredClone(documents.request) as RequestOf<"http">;
  const { handle, secret_id, policy_hash, header_sha256, wanted, http: sent, ...base } = http;
  const ref = { handle, secret_id, policy_hash, header_sha256 };
  const device = {
    device_name: "second phone",
    platform: "test",
    recipient: IDENTITIES[3]!.recipient,
    credential_id: "AAAA",
  };
  const all: { [K in RequestType]: RequestDoc } = {
    access: { ...base, ...ref, type: "access", wanted },
    http: { ...base, ...ref, type: "http", wanted, http: sent },
    drop: { ...base, type: "drop", name: "github", suggest: { origins: ["https://api.github.test"] } },
    propose: {
      ...base,
      type: "propose",
      name: "github",
      policy: samplePolicy(),
      age_sha256: anyHash(1),
      replaces: null,
    },
    policy: { ...base, ...ref, type: "policy", change: { kind: "set", policy: samplePolicy() } },
    device: { ...base, type: "device", device },
    recovery: { ...base, type: "recovery", device },
  };
  return { ...all[type], ...change } as RequestOf<T>;
}

/** What `run` throws, which must be a `CustosError`. */
export async function errorOf(run: () => unknown): Promise<CustosError> {
  try {
    await run();
  } catch (error) {
    if (error instanceof CustosError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

/** The kind of error that `run` throws, or `null` if it does not throw. Anything but a `CustosError` goes through. */
export async function kindOf(run: () => unknown): Promise<ErrorKind | null> {
  try {
    await run();
    return null;
  } catch (error) {
    if (error instanceof CustosError) return error.kind;
    throw error;
  }
}

/** A copy with one bit changed. */
export function flipBit(bytes: Uint8Array, bit: number): Bytes {
  const out = Uint8Array.from(bytes);
  const at = Math.floor(bit / 8) % out.length;
  out[at]! ^= 1 << (bit % 8);
  return out;
}
