/** Request documents for tests of the stores. */

import { generateHybridIdentity, identityToRecipient } from "age-encryption";
import { randomBytes, toBase64url } from "@custos/core/bytes";
import { coolDownKey } from "@custos/core/fatigue";
import { fingerprintOf } from "@custos/core/fingerprint";
import { newId } from "@custos/core/ids";
import { coalesceKey, type RequestDoc, requestHash, type RequestOf } from "@custos/core/request";
import type { NewRequest } from "../request_store.ts";

const reply_to = await identityToRecipient(await generateHybridIdentity());
const hash = toBase64url(new Uint8Array(32));

/** An http request document; `change` overrides what a test is about. */
export function httpDoc(change: Partial<RequestOf<"http">> = {}): RequestDoc {
  const now = Date.now();
  return {
    v: 1,
    type: "http",
    id: newId(),
    daemon: newId(),
    daemon_name: "test computer",
    agent: { name: "agent", client: null },
    reason: "because",
    created_ms: now,
    expires_ms: now + 900_000,
    reply_to,
    nonce: toBase64url(randomBytes(32)),
    handle: "custos:demo",
    secret_id: newId(),
    policy_hash: hash,
    header_sha256: hash,
    wanted: { uses: 1, seconds: null, methods: null, path_prefix: null },
    http: {
      method: "GET",
      url: "https://api.example.test/v1/x",
      headers: [],
      body_sha256: hash,
      body_bytes: 0,
      body_preview: "",
    },
    ...change,
  };
}

/** A row for the request store. */
export async function newRequest(doc: RequestDoc = httpDoc()): Promise<NewRequest> {
  const bytes = await requestHash(doc);
  return {
    doc,
    hash: toBase64url(bytes),
    fingerprint: await fingerprintOf(new Uint8Array(32), bytes),
    coalesce_key: await coalesceKey(doc),
    cool_key: coolDownKey(doc),
  };
}
