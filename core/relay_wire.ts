/**
 * What a relay and those who talk to it must agree on: limits, formats, paths, and the shapes of bodies. It is framing
 * only and imports nothing: a relay sees ids, sizes and times, never content (DESIGN §8). `relay/wire.md` says it in prose.
 *
 * Decoders are strict: an unknown member, a second spelling or a number out of range gives `null`.
 */

/** Largest message, in bytes, and smallest: an empty one says nothing. */
export const MESSAGE_BYTES_MAX: number = 128 * 1024;
/** Longest time a relay keeps a message that nobody took, in milliseconds; also the default. */
export const TTL_MS_MAX: number = 24 * 60 * 60 * 1000;
/** Longest wait of one read, in milliseconds: with {@link REPLY_MS_MAX} a dead connection shows within 30 s (B141). */
export const WAIT_MS_MAX: number = 25_000;
/** How long a reply may take beyond the wait that was asked for, in milliseconds. */
export const REPLY_MS_MAX: number = 5_000;
/** Most messages in one page. */
export const PAGE_MESSAGES_MAX: number = 64;
/** Most bytes of data in one page, before base64url. A single message always fits. */
export const PAGE_BYTES_MAX: number = 1024 * 1024;
/** Largest JSON body that a relay reads, in bytes: the two hashes of a mailbox, or a push subscription. */
export const JSON_BYTES_MAX: number = 4096;
/** Largest JSON reply that a client reads, in bytes: a full page in base64url with its framing. */
export const REPLY_BYTES_MAX: number = Math.ceil(PAGE_BYTES_MAX * 4 / 3) + PAGE_MESSAGES_MAX * 128 + 1024;

/** `GET`: the public key with which this relay signs its pushes, or 404 where it sends none. */
export const PUSH_KEY_PATH: string = "/v1/push-key";
/** The header that carries the invite of a relay that asks for one. */
export const INVITE_HEADER: string = "custos-invite";
/** The only type of a posted message. It is not on CORS's safe list, so a foreign page cannot post without a preflight. */
export const MESSAGE_TYPE: string = "application/octet-stream";

const MAILBOX_ID = /^[a-z2-7]{25}[aeimquy4]$/; // 16 bytes; the last character carries 3 bits and 2 zeros
const BASE64URL = /^[A-Za-z0-9_-]*$/;
const BASE64URL_ENDS = [/^/, /(?!)/, /[AQgw]$/, /[AEIMQUYcgkosw048]$/]; // by length mod 4: unused bits are zero
const TOKEN_CHARACTERS = 43; // 32 bytes
const MESSAGE_CHARACTERS_MAX = Math.ceil(MESSAGE_BYTES_MAX * 4 / 3);
const ENDPOINT_CHARACTERS_MAX = 2048;

/** Whether `text` is a mailbox id: 16 bytes, 26 characters of lower-case base32, in its one spelling. */
export function isMailboxId(text: string): boolean {
  return MAILBOX_ID.test(text);
}

/** Whether `text` is unpadded base64url in its one spelling: unused bits are zero. */
export function isBase64url(text: string): boolean {
  return BASE64URL.test(text) && BASE64URL_ENDS[text.length % 4]!.test(text.slice(-4));
}

/** Whether `text` is a token: 32 bytes as unpadded base64url. */
export function isToken(text: string): boolean {
  return text.length === TOKEN_CHARACTERS && isBase64url(text);
}

/** Whether `text` is the hash of a token: the same form as a token. */
export function isTokenHash(text: string): boolean {
  return isToken(text);
}

/**
 * What a relay keeps instead of a token: SHA-256 over the token's 43 ASCII characters, as unpadded base64url. Tokens have
 * 256 random bits, so a stolen relay database does not give them back and no salt or slow hash is needed.
 */
export async function hashToken(token: string): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token)));
  return btoa(String.fromCharCode(...hash)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

/** `/v1/mailboxes/:id`: `PUT` makes it, `DELETE` removes it. */
export function mailboxPath(id: string): string {
  return `/v1/mailboxes/${id}`;
}

/** `/v1/mailboxes/:id/messages`: `POST`, `GET ?after=&wait_ms=`, `DELETE ?through=`. */
export function messagesPath(id: string): string {
  return `${mailboxPath(id)}/messages`;
}

/** `/v1/mailboxes/:id/push`: `PUT` stores a Web Push subscription. */
export function pushPath(id: string): string {
  return `${mailboxPath(id)}/push`;
}

/** Body of `PUT /v1/mailboxes/:id`. */
export interface MailboxHashes {
  read_hash: string;
  write_hash: string;
}

/** One message as it is read. `seq` only grows in a mailbox, with gaps; `data` is unpadded base64url. */
export interface WireMessage {
  seq: number;
  posted_ms: number;
  data: string;
}

/** Reply to a read: what the mailbox holds above `after`, lowest `seq` first. */
export interface WirePage {
  messages: WireMessage[];
}

/** Reply to a post. */
export interface WirePosted {
  seq: number;
  expires_ms: number;
}

/** A browser's Web Push subscription (Push API §8, RFC 8291), as its `toJSON()` gives it. */
export interface PushSubscription {
  endpoint: string;
  keys: { p256dh: string; auth: string };
}

/** Every refusal of a relay, with its one HTTP status. */
export const RELAY_STATUS = {
  bad_request: 400,
  unauthorized: 401,
  invite_required: 403,
  origin_not_allowed: 403,
  unknown_path: 404,
  unknown_mailbox: 404,
  method_not_allowed: 405,
  too_slow: 408,
  mailbox_conflict: 409,
  too_large: 413,
  wrong_type: 415,
  too_many: 429,
  internal: 500,
  stopping: 503,
  full: 507,
} as const;

/** A kind of refusal. */
export type RelayErrorKind = keyof typeof RELAY_STATUS;

/** Body of every refusal. Decisions are made on `kind`; `message` is for people. */
export interface RelayErrorBody {
  kind: RelayErrorKind;
  message: string;
}

/** A count in a query: decimal digits without a sign or leading zero, in `[0, max]`; else `null`. */
export function decodeCount(text: string, max: number = Number.MAX_SAFE_INTEGER): number | null {
  if (!/^(?:0|[1-9]\d{0,15})$/.test(text)) return null;
  const count = Number(text);
  return count <= max ? count : null;
}

/** The two hashes of a new mailbox, or `null`. They must differ: who may write must not be able to read (B153). */
export function decodeMailboxHashes(value: unknown): MailboxHashes | null {
  if (!hasExactly(value, "read_hash", "write_hash")) return null;
  const { read_hash, write_hash } = value;
  if (typeof read_hash !== "string" || typeof write_hash !== "string") return null;
  if (!isTokenHash(read_hash) || !isTokenHash(write_hash) || read_hash === write_hash) return null;
  return { read_hash, write_hash };
}

/** A page, or `null`. `seq` must grow strictly and the page must keep its limits. */
export function decodePage(value: unknown): WirePage | null {
  if (!hasExactly(value, "messages") || !Array.isArray(value.messages)) return null;
  if (value.messages.length > PAGE_MESSAGES_MAX) return null;
  const messages: WireMessage[] = [];
  for (const item of value.messages) {
    const message = decodeMessage(item);
    if (message === null || message.seq <= (messages.at(-1)?.seq ?? 0)) return null;
    messages.push(message);
  }
  return { messages };
}

/** One message of a page or of an event stream, or `null`. */
export function decodeMessage(value: unknown): WireMessage | null {
  if (!hasExactly(value, "seq", "posted_ms", "data")) return null;
  const { seq, posted_ms, data } = value;
  if (!isCount(seq) || seq === 0 || !isCount(posted_ms) || typeof data !== "string") return null;
  if (data.length === 0 || data.length > MESSAGE_CHARACTERS_MAX || !isBase64url(data)) return null;
  return { seq, posted_ms, data };
}

/** The reply to a post, or `null`. */
export function decodePosted(value: unknown): WirePosted | null {
  if (!hasExactly(value, "seq", "expires_ms")) return null;
  const { seq, expires_ms } = value;
  return isCount(seq) && seq > 0 && isCount(expires_ms) ? { seq, expires_ms } : null;
}

/** A refusal, or `null` where the body is not a relay's: a proxy or captive portal has answered instead. */
export function decodeRelayError(value: unknown): RelayErrorBody | null {
  if (!hasExactly(value, "kind", "message")) return null;
  const { kind, message } = value;
  if (typeof kind !== "string" || typeof message !== "string" || message.length > 1024) return null;
  return Object.hasOwn(RELAY_STATUS, kind) ? { kind: kind as RelayErrorKind, message } : null;
}

/** `{key}`: a P-256 point, uncompressed (RFC 8292 §3.2), as base64url; or `null`. */
export function decodePushKey(value: unknown): string | null {
  if (!hasExactly(value, "key") || typeof value.key !== "string") return null;
  return value.key.length === 87 && value.key.startsWith("B") && isBase64url(value.key) ? value.key : null;
}

/**
 * A push subscription, or `null`. Browsers add `expirationTime`, which is not kept. The endpoint must be `https` on its
 * own port, by name and without user info, so that a sender can compare its host with a list of push services.
 */
export function decodePushSubscription(value: unknown): PushSubscription | null {
  if (!isObject(value)) return null;
  const { expirationTime: _unused, ...rest } = value;
  if (!hasExactly(rest, "endpoint", "keys") || !hasExactly(rest.keys, "p256dh", "auth")) return null;
  const { endpoint, keys: { p256dh, auth } } = rest as { endpoint: unknown; keys: Record<string, unknown> };
  if (typeof endpoint !== "string" || endpoint.length > ENDPOINT_CHARACTERS_MAX) return null;
  const url = URL.parse(endpoint);
  if (url === null || url.protocol !== "https:" || url.port !== "" || url.href !== endpoint) return null;
  if (url.username !== "" || url.password !== "" || !/\.[a-z][a-z0-9-]*$/.test(url.hostname)) return null;
  if (typeof p256dh !== "string" || p256dh.length !== 87 || !isBase64url(p256dh)) return null;
  if (typeof auth !== "string" || auth.length !== 22 || !isBase64url(auth)) return null;
  return { endpoint, keys: { p256dh, auth } };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function hasExactly(value: unknown, ...names: readonly string[]): value is Record<string, unknown> {
  return isObject(value) && Object.keys(value).length === names.length &&
    names.every((name) => Object.hasOwn(value, name));
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
