/** Request documents and sealed secrets as a daemon makes them, for tests of the phone. */

import { identityToRecipient } from "age-encryption";
import { type Bytes, randomBytes, toBase64url, utf8 } from "@custos/core/bytes";
import { headerHash, sealSecret, splitHeader } from "@custos/core/custody";
import { newId } from "@custos/core/ids";
import { sha256 } from "@custos/core/labels";
import { type Policy, policyHash } from "@custos/core/policy";
import type { PolicyChange } from "@custos/core/policy_change";
import { recipientsOf } from "@custos/core/policy_log";
import type { RequestBase, RequestDoc, RequestOf } from "@custos/core/request";
import type { CardMessage } from "@custos/pwa";
import type { ScriptedDaemon } from "./scripted_daemon.ts";

/** A secret that the daemon holds, and the file as it is stored. */
export interface HeldSecret {
  policy: Policy;
  policy_hash: string;
  file: Bytes;
  header: Bytes;
  header_sha256: string;
}

/** The value in every {@link holdSecret}. */
export const VALUE = "value-of-a-test-secret";

/** Seals a secret to the devices of the log. */
export async function holdSecret(daemon: ScriptedDaemon, change: Partial<Policy> = {}): Promise<HeldSecret> {
  const policy: Policy = {
    v: 1,
    secret_id: newId(),
    name: "demo",
    version: 1,
    prev: null,
    origins: ["https://api.example.test"],
    rules: [{ methods: ["GET", "POST"], path_prefix: "/v1/" }],
    placement: { kind: "bearer" },
    request_hash: null,
    limits: { max_seconds: 3_600, max_body_bytes: 1_000_000, private_network: false },
    epoch: daemon.epoch,
    created_ms: 1_000,
    ...change,
  };
  const file = await sealSecret(recipientsOf(daemon.log), policy, utf8(VALUE));
  const { header } = splitHeader(file);
  return {
    policy,
    policy_hash: await policyHash(policy),
    file,
    header,
    header_sha256: await headerHash(header),
  };
}

async function base(daemon: ScriptedDaemon): Promise<RequestBase> {
  const now = Date.now();
  return {
    v: 1,
    id: newId(),
    daemon: daemon.daemon,
    daemon_name: daemon.daemon_name,
    agent: { name: "tester", client: null },
    reason: "a test",
    created_ms: now,
    expires_ms: now + 900_000,
    reply_to: await identityToRecipient(await daemon.reply),
    nonce: toBase64url(randomBytes(32)),
  };
}

/** A drop card. */
export async function dropCard(
  daemon: ScriptedDaemon,
  change: Partial<RequestOf<"drop">> = {},
): Promise<CardMessage> {
  const doc: RequestOf<"drop"> = {
    ...await base(daemon),
    type: "drop",
    name: "demo",
    suggest: {},
    ...change,
  };
  return { t: "card", doc, policy: null, header: null, previous: null };
}

/** An http card about a held secret. */
export async function httpCard(
  daemon: ScriptedDaemon,
  secret: HeldSecret,
  change: Partial<RequestOf<"http">> = {},
): Promise<CardMessage> {
  const doc: RequestDoc = {
    ...await base(daemon),
    ...refOf(secret),
    type: "http",
    wanted: { uses: null, seconds: null, methods: null, path_prefix: null },
    http: {
      method: "GET",
      url: "https://api.example.test/v1/things?q=1",
      headers: [["accept", "application/json"]],
      body_sha256: toBase64url(await sha256(new Uint8Array(0))),
      body_bytes: 0,
      body_preview: null,
    },
    ...change,
  };
  return cardOf(doc, secret);
}

/** An access card about a held secret. */
export async function accessCard(
  daemon: ScriptedDaemon,
  secret: HeldSecret,
  wanted: Partial<RequestOf<"access">["wanted"]> = {},
): Promise<CardMessage> {
  const all = { uses: null, seconds: null, methods: null, path_prefix: null, ...wanted };
  return cardOf({ ...await base(daemon), ...refOf(secret), type: "access", wanted: all }, secret);
}

/** A card that changes a held secret. */
export async function policyCard(
  daemon: ScriptedDaemon,
  secret: HeldSecret,
  change: PolicyChange,
): Promise<CardMessage> {
  const doc: RequestOf<"policy"> = {
    ...await base(daemon),
    ...refOf(secret),
    agent: { name: null, client: null },
    reason: "",
    type: "policy",
    change,
  };
  return cardOf(doc, secret);
}

function refOf({ policy, policy_hash, header_sha256 }: HeldSecret) {
  return { handle: `custos:${policy.name}`, secret_id: policy.secret_id, policy_hash, header_sha256 };
}

function cardOf(doc: RequestDoc, { policy, header }: HeldSecret): CardMessage {
  return { t: "card", doc, policy, header: toBase64url(header), previous: null };
}
