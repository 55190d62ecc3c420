/**
 * The request document: what somebody asked, in the one form that is hashed, shown and signed (DESIGN §5.2). The nonce
 * is drawn by the daemon after the agent's input is fixed, so nobody can search for a hash they like.
 */

import { type Bytes, toBase64url } from "./bytes.ts";
import { canonicalBytes } from "./canonical.ts";
import { isHybridRecipient } from "./custody.ts";
import { CustosError } from "./errors.ts";
import { labelledHash } from "./labels.ts";
import {
  NAME_PATTERN,
  type Placement,
  placementSchema,
  type Policy,
  type PolicyRule,
  policySchema,
} from "./policy.ts";
import { type PolicyChange, policyChangeSchema } from "./policy_change.ts";
import {
  base64urlOf,
  decode,
  exactly,
  hash,
  id,
  list,
  nullable,
  oneOf,
  optional,
  pattern,
  type Schema,
  shape,
  text,
  timeMs,
  whole,
} from "./schema.ts";
import * as z from "zod/mini";

/** Every type of request. */
export const REQUEST_TYPES = ["access", "http", "drop", "propose", "policy", "device", "recovery"] as const;
/** One type of request. */
export type RequestType = typeof REQUEST_TYPES[number];

/** Who asks. Both are self-declared; the card says "calls itself". */
export interface Agent {
  /** From `--agent` or `CUSTOS_AGENT`. */
  name: string | null;
  /** From the MCP client's `clientInfo`. */
  client: { name: string; version: string } | null;
}

/** What every request has. */
export interface RequestBase {
  v: 1;
  id: string;
  daemon: string;
  daemon_name: string;
  agent: Agent;
  reason: string;
  created_ms: number;
  expires_ms: number;
  /** One-time hybrid recipient of the daemon; its private half is only in memory. */
  reply_to: string;
  /** 32 bytes, base64url. */
  nonce: string;
}

/** What a request about an existing secret has: exactly which secret, policy version and ciphertext. */
export interface SecretRef {
  handle: string;
  secret_id: string;
  policy_hash: string;
  /** Hash of the secret's age header: a card cannot swap the ciphertext. */
  header_sha256: string;
}

/** What is wanted, in the agent's terms; the human decides. */
export interface Wanted {
  uses: number | null;
  seconds: number | null;
  methods: string[] | null;
  path_prefix: string | null;
}

/** The exact HTTP request. */
export interface HttpWanted {
  method: string;
  url: string;
  headers: [string, string][];
  body_sha256: string;
  body_bytes: number;
  /** The first bytes of the body as text, or `null` where it is not text. */
  body_preview: string | null;
}

/** An agent's suggestions for a secret that does not exist yet. Shown as such, never pre-filled as origin. */
export interface DropSuggestion {
  origins?: string[] | undefined;
  placement?: Placement | undefined;
  rules?: PolicyRule[] | undefined;
  max_seconds?: number | undefined;
}

/** A new device, as it described itself in pairing. */
export interface DeviceWanted {
  device_name: string;
  platform: string;
  recipient: string;
  credential_id: string;
}

/** The request document of each type. */
export type RequestDoc =
  | (RequestBase & SecretRef & { type: "access"; wanted: Wanted })
  | (RequestBase & SecretRef & { type: "http"; wanted: Wanted; http: HttpWanted })
  | (RequestBase & { type: "drop"; name: string; suggest: DropSuggestion })
  | (RequestBase & {
    type: "propose";
    name: string;
    policy: Policy;
    age_sha256: string;
    replaces: string | null;
  })
  | (RequestBase & SecretRef & { type: "policy"; change: PolicyChange })
  | (RequestBase & { type: "device"; device: DeviceWanted })
  | (RequestBase & { type: "recovery"; device: DeviceWanted });

/** A request document of one type. */
export type RequestOf<T extends RequestType> = Extract<RequestDoc, { type: T }>;

/** Longest texts, in code points, and other limits of a request document. */
export const REQUEST_LIMITS = {
  reason: 500,
  agent_name: 64,
  url: 8_192,
  headers: 100,
  header_value: 8_192,
  body_preview: 4_096,
  name: 63,
} as const;

/** Life of a pending request by type, in milliseconds (DESIGN §5.2). */
export const REQUEST_LIFE_MS: Readonly<Record<RequestType, number>> = {
  access: 900_000,
  http: 900_000,
  propose: 900_000,
  policy: 900_000,
  drop: 3_600_000,
  device: 900_000,
  recovery: 900_000,
};

/** `custos:<name>`. */
export function handleOf(name: string): string {
  return `custos:${name}`;
}

/** The name in a handle, or `null` if it is not one. */
export function nameOfHandle(handle: string): string | null {
  const name = handle.startsWith("custos:") ? handle.slice(7) : "";
  return NAME_PATTERN.test(name) ? name : null;
}

const recipient: Schema<string> = z.string().check(z.refine(isHybridRecipient));
const methods: Schema<string[]> = list(pattern(/^[A-Z]{1,16}$/), 16, 1);

const agentSchema: Schema<Agent> = shape<Agent>({
  name: nullable(text(REQUEST_LIMITS.agent_name, 1)),
  client: nullable(shape<{ name: string; version: string }>({ name: text(64), version: text(64) })),
});

const wantedSchema: Schema<Wanted> = shape<Wanted>({
  uses: nullable(whole(1, 1_000_000)),
  seconds: nullable(whole(1, 2_592_000)),
  methods: nullable(methods),
  path_prefix: nullable(text(1_024, 1)),
});

const headerSchema = z.tuple([text(128, 1), text(REQUEST_LIMITS.header_value)]) as unknown as Schema<
  [string, string]
>;

const httpSchema: Schema<HttpWanted> = shape<HttpWanted>({
  method: pattern(/^[A-Z]{1,16}$/),
  url: text(REQUEST_LIMITS.url, 1),
  headers: list(headerSchema, REQUEST_LIMITS.headers),
  body_sha256: hash,
  body_bytes: whole(0, 67_108_864),
  body_preview: nullable(text(REQUEST_LIMITS.body_preview)),
});

const deviceSchema: Schema<DeviceWanted> = shape<DeviceWanted>({
  device_name: text(64, 1),
  platform: text(64),
  recipient,
  credential_id: text(1_400, 1),
});

const base = {
  v: exactly(1),
  id,
  daemon: id,
  daemon_name: text(64, 1),
  agent: agentSchema,
  reason: text(REQUEST_LIMITS.reason),
  created_ms: timeMs,
  expires_ms: timeMs,
  reply_to: recipient,
  nonce: base64urlOf(32),
} as const;

const secretRef = {
  handle: pattern(/^custos:[a-z][a-z0-9_-]{0,62}$/),
  secret_id: id,
  policy_hash: hash,
  header_sha256: hash,
} as const;

const suggestSchema: Schema<DropSuggestion> = shape<DropSuggestion>({
  origins: optional(list(text(300, 1), 20)),
  placement: optional(placementSchema),
  rules: optional(list(shape<PolicyRule>({ methods, path_prefix: text(1_024, 1) }), 50)),
  max_seconds: optional(whole(1, 2_592_000)),
});

/** The schema of every request document. */
export const requestSchema: Schema<RequestDoc> = oneOf<RequestDoc>(
  shape<RequestOf<"access">>({ ...base, ...secretRef, type: exactly("access"), wanted: wantedSchema }),
  shape<RequestOf<"http">>({
    ...base,
    ...secretRef,
    type: exactly("http"),
    wanted: wantedSchema,
    http: httpSchema,
  }),
  shape<RequestOf<"drop">>({
    ...base,
    type: exactly("drop"),
    name: pattern(NAME_PATTERN),
    suggest: suggestSchema,
  }),
  shape<RequestOf<"propose">>({
    ...base,
    type: exactly("propose"),
    name: pattern(NAME_PATTERN),
    policy: policySchema,
    age_sha256: hash,
    replaces: nullable(hash),
  }),
  shape<RequestOf<"policy">>({ ...base, ...secretRef, type: exactly("policy"), change: policyChangeSchema }),
  shape<RequestOf<"device">>({ ...base, type: exactly("device"), device: deviceSchema }),
  shape<RequestOf<"recovery">>({ ...base, type: exactly("recovery"), device: deviceSchema }),
);

/** Reads an untrusted request document. Throws `bad_request`. */
export function readRequest(value: unknown): RequestDoc {
  const doc = decode(requestSchema, value, "request document");
  if (doc.expires_ms <= doc.created_ms) {
    throw new CustosError("bad_request", "The request document expires before it was made.");
  }
  return doc;
}

/** `H("custos/request/v1", JCS(doc))`, 32 bytes. */
export async function requestHash(doc: RequestDoc): Promise<Bytes> {
  return await labelledHash("request", canonicalBytes(doc));
}

/**
 * What makes two requests identical for coalescing: all that the agent chose except its reason (DESIGN §5.2). Only a
 * request that is still pending is ever joined.
 */
export async function coalesceKey(doc: RequestDoc): Promise<string> {
  const { agent, type } = doc;
  const what = "handle" in doc ? doc.handle : "name" in doc ? doc.name : null;
  const http = doc.type === "http" ? { ...doc.http, body_preview: null } : null;
  const wanted = "wanted" in doc ? doc.wanted : null;
  const rest = doc.type === "drop"
    ? doc.suggest
    : doc.type === "policy"
    ? doc.change
    : doc.type === "propose"
    ? doc.policy
    : doc.type === "device" || doc.type === "recovery"
    ? doc.device
    : null;
  const bytes = canonicalBytes({ agent: agent.name, type, what, http, wanted, rest });
  return toBase64url(await labelledHash("coalesce", bytes));
}
