/** A real cell with a real sealed secret, for tests. */

import { generateHybridIdentity, identityToRecipient } from "age-encryption";
import { utf8 } from "@custos/core/bytes";
import { openHeader, sealSecret, splitHeader } from "@custos/core/custody";
import { CustosError } from "@custos/core/errors";
import { newId } from "@custos/core/ids";
import { type Policy, policyHash, readPolicy } from "@custos/core/policy";
import { Cell, type OutgoingRequest, type RequestOptions } from "../cell.ts";
import type { CellSummary } from "../cell_protocol.ts";

/** The secret of the cases. */
export const S = "tok_live_4f9c2a7e";
/** What stands for it. */
export const MARK = "[custos:demo-key]";

/** A policy for a local origin, with parts replaced. */
export function localPolicy(origins: string[], parts: Partial<Policy> = {}): Policy {
  return readPolicy({
    v: 1,
    secret_id: newId(),
    name: "demo-key",
    version: 1,
    prev: null,
    origins,
    rules: [{ methods: ["GET", "HEAD", "POST", "DELETE"], path_prefix: "/" }],
    placement: { kind: "bearer" },
    request_hash: null,
    limits: { max_seconds: 900, max_body_bytes: 8_388_608, private_network: true },
    epoch: newId(),
    created_ms: 0,
    ...parts,
  });
}

/** A sealed secret and the key of its file. */
export interface Sealed {
  policy: Policy;
  file: Uint8Array;
  key: Uint8Array;
  hash: string;
}

let identity: string | null = null;

/** Seals a value with its policy, as the phone does. */
export async function seal(policy: Policy, value: string | Uint8Array = S): Promise<Sealed> {
  identity ??= await generateHybridIdentity();
  const bytes = typeof value === "string" ? utf8(value) : value;
  const file = await sealSecret([await identityToRecipient(identity)], policy, bytes);
  const key = await openHeader(identity, splitHeader(file).header);
  return { policy, file, key, hash: await policyHash(policy) };
}

/** A started and opened cell, ended with the block. */
export async function openCell(policy: Policy, value: string | Uint8Array = S): Promise<Cell & Disposable> {
  const sealed = await seal(policy, value);
  const cell = disposable(Cell.start(policy, { lan: true }));
  await cell.open(sealed.file, sealed.key, sealed.hash);
  return cell;
}

/** The cell, ended with the block that holds it. */
export function disposable(cell: Cell): Cell & Disposable {
  return Object.assign(cell, {
    [Symbol.dispose]: () => cell.terminate(new CustosError("locked", "The test is over.")),
  });
}

/** A whole answer, or how it failed. */
export interface Got {
  status: number;
  headers: [string, string][];
  body: Uint8Array;
  text: string;
  summary: CellSummary | null;
  error: CustosError | null;
}

/** Sends a request and reads all of the answer; a failure before or after the headers is in `error`. */
export async function get(
  cell: Cell,
  request: Partial<OutgoingRequest> & { url: string },
  options: Partial<RequestOptions> = {},
): Promise<Got> {
  const got: Got = { status: 0, headers: [], body: new Uint8Array(0), text: "", summary: null, error: null };
  const parts: number[] = [];
  try {
    const outgoing = { method: "GET", headers: [], body: null, ...request };
    const response = await cell.request(outgoing, { max_bytes: 100_000_000, ...options });
    got.status = response.status;
    got.headers = response.headers;
    for await (const part of response.body) for (const byte of part) parts.push(byte);
    got.summary = await response.finished;
  } catch (error) {
    if (!(error instanceof CustosError)) throw error;
    got.error = error;
  }
  got.body = Uint8Array.from(parts);
  got.text = parts.map((byte) => String.fromCharCode(byte)).join("");
  return got;
}
