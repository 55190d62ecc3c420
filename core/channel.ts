/**
 * One session of a channel, as both sides hold it: two traffic keys, the next sequence to send, and the window of what
 * was received. All state is plain data plus kept keys, so that it can be stored before a message is acted on.
 */

import { type Bytes, concat, fromHex, toHex } from "./bytes.ts";
import { CustosError } from "./errors.ts";
import { type Direction, frameKey, openFrame, readHead, sealFrame } from "./frame.ts";
import { labelledHash } from "./labels.ts";
import { acceptSequence, NEW_WINDOW, type ReplayWindow } from "./replay_window.ts";
import type { SessionSecrets } from "./handshake.ts";

/**
 * How a side keeps keys. A browser keeps non-extractable `CryptoKey`s; a test phone keeps text in a file. The channel
 * code is the same for both.
 */
export interface KeyKeeper<K> {
  /** Turns fresh key bytes into what is stored. The bytes are wiped by the caller afterwards. */
  keep(bytes: Bytes, use: "root" | "frame"): Promise<K>;
  /** The usable key. */
  load(kept: K, use: "root" | "frame"): Promise<CryptoKey>;
}

/** A session as it is stored. `id` is its 16 bytes in hexadecimal. */
export interface Session<K> {
  id: string;
  to_phone: K;
  to_daemon: K;
  next_sequence: number;
  window: ReplayWindow;
}

/** What a received frame came to. `replayed` and `undecipherable` change nothing. */
export type Received<S> = { ok: false; why: "undecipherable" | "replayed" } | {
  ok: true;
  plaintext: Bytes;
  session: S;
};

/** Keeps the keys of a fresh session and wipes their bytes. `next_root` is left to the caller. */
export async function newSession<K>(
  keeper: KeyKeeper<K>,
  id: string,
  secrets: SessionSecrets,
): Promise<Session<K>> {
  const session: Session<K> = {
    id,
    to_phone: await keeper.keep(secrets.to_phone, "frame"),
    to_daemon: await keeper.keep(secrets.to_daemon, "frame"),
    next_sequence: 1,
    window: NEW_WINDOW,
  };
  secrets.to_phone.fill(0);
  secrets.to_daemon.fill(0);
  return session;
}

/**
 * Seals one message with the sequence `session.next_sequence`. The caller must have stored a session with a higher
 * `next_sequence` before it sends the frame, so that no sequence is ever used twice.
 */
export async function sealMessage<K>(
  keeper: KeyKeeper<K>,
  session: Session<K>,
  channel: Bytes,
  direction: Direction,
  plaintext: Uint8Array,
): Promise<Bytes> {
  if (session.next_sequence >= 2 ** 48) {
    throw new CustosError("internal", "This session has sent all it may send.");
  }
  const head = {
    kind: "session",
    channel,
    session: fromHex(session.id)!,
    number: session.next_sequence,
  } as const;
  return await sealFrame(await keeper.load(session[direction], "frame"), direction, head, plaintext);
}

/** Opens one message and moves the window. The returned session must be stored before the plaintext is acted on. */
export async function openMessage<K>(
  keeper: KeyKeeper<K>,
  session: Session<K>,
  direction: Direction,
  frame: Uint8Array,
): Promise<Received<Session<K>>> {
  const head = readHead(frame);
  if (head === null || head.kind !== "session" || toHex(head.session) !== session.id) {
    return { ok: false, why: "undecipherable" };
  }
  const plaintext = await openFrame(await keeper.load(session[direction], "frame"), direction, frame);
  if (plaintext === null) return { ok: false, why: "undecipherable" };
  const window = acceptSequence(session.window, head.number); // only after the frame proved authentic
  if (window === null) return { ok: false, why: "replayed" };
  return { ok: true, plaintext, session: { ...session, window } };
}

/** Opens a handshake frame under a kept handshake secret. `null` if it is not authentic. */
export async function openHandshake(
  secret: Bytes,
  direction: Direction,
  frame: Uint8Array,
): Promise<Bytes | null> {
  return await openFrame(await frameKey(secret), direction, frame);
}

/** What both sides saw of a handshake: `H("custos/session/v1", offer frame || accept frame)`. */
export async function handshakeTranscript(offer: Uint8Array, accept: Uint8Array): Promise<Bytes> {
  return await labelledHash("session", concat(offer, accept));
}
