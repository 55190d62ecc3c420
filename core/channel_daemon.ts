/**
 * The daemon's side of a channel. It offers a session at each start, under the newest root that it knows, and forgets the
 * old root after the first message under the new one (DESIGN §7).
 */

import { generateHybridIdentity, identityToRecipient } from "age-encryption";
import { type Bytes, fromHex, randomBytes, toHex } from "./bytes.ts";
import {
  handshakeTranscript,
  type KeyKeeper,
  newSession,
  openHandshake,
  openMessage,
  type Received,
  sealMessage,
  type Session,
} from "./channel.ts";
import { openWithIdentity } from "./custody.ts";
import { frameKey, readHead, sealFrame } from "./frame.ts";
import { encodeOffer, handshakeSecret, MAX_EARLIER, readAccept, sessionSecrets } from "./handshake.ts";

/** What the daemon stores of a channel. `next` is there between the phone's acceptance and its first message. */
export interface DaemonChannel<K> {
  /** 16 bytes in hexadecimal. */
  channel: string;
  generation: number;
  root: K;
  next: K | null;
  /** Session ids that were offered in this generation, oldest first; absent where none was. */
  offered?: readonly string[];
}

/** One run's session: lives in memory only, as its keys must not outlive the daemon. */
export interface DaemonRun<K> {
  state: DaemonChannel<K>;
  id: string;
  identity: string;
  offer: Bytes;
  session: Session<K> | null;
}

/**
 * Begins a run. If the last run ended between acceptance and first message, the newer root is the one to offer under: the
 * phone has it, because it made it. The caller stores `state` **before** it sends `offer`: each offer names the ones before
 * it, by which the phone tells a restart from a second daemon.
 */
export async function beginRun<K>(keeper: KeyKeeper<K>, stored: DaemonChannel<K>): Promise<DaemonRun<K>> {
  const state: DaemonChannel<K> = stored.next === null
    ? stored
    : { channel: stored.channel, generation: stored.generation + 1, root: stored.next, next: null };
  const earlier = state.offered ?? [];
  const identity = await generateHybridIdentity();
  const id = toHex(randomBytes(16));
  const secret = await handshakeSecret(await keeper.load(state.root, "root"));
  const head = {
    kind: "offer",
    channel: fromHex(state.channel)!,
    session: fromHex(id)!,
    number: state.generation,
  } as const;
  const plaintext = encodeOffer(await identityToRecipient(identity), earlier);
  const offer = await sealFrame(await frameKey(secret), "to_phone", head, plaintext);
  const offered = [...earlier, id].slice(-MAX_EARLIER);
  return { state: { ...state, offered }, id, identity, offer, session: null };
}

/**
 * Takes the phone's acceptance. `null` if it is not for this run's offer, not authentic, or came before. The caller must
 * store the returned state (it holds `next`) before it sends under the new session.
 */
export async function takeAccept<K>(
  keeper: KeyKeeper<K>,
  run: DaemonRun<K>,
  frame: Uint8Array,
): Promise<DaemonRun<K> | null> {
  const head = readHead(frame);
  if (run.session !== null || head === null || head.kind !== "accept") return null;
  if (toHex(head.session) !== run.id || head.number !== run.state.generation) return null;
  const root = await keeper.load(run.state.root, "root");
  const opened = await openHandshake(await handshakeSecret(root), "to_daemon", frame);
  if (opened === null) return null;
  try {
    const fresh = await openWithIdentity(run.identity, readAccept(opened));
    if (fresh.length !== 32) return null;
    const secrets = await sessionSecrets(root, fresh, await handshakeTranscript(run.offer, frame));
    const session = await newSession(keeper, run.id, secrets);
    const next = await keeper.keep(secrets.next_root, "root");
    return { ...run, session, state: { ...run.state, next } };
  } catch {
    return null; // authentic but malformed: the phone of this channel is broken, and says so by silence
  }
}

/**
 * Opens a message. The first one of a session makes its root the only one; the caller stores `run.state` whenever it
 * changed, before it acts.
 */
export async function receive<K>(
  keeper: KeyKeeper<K>,
  run: DaemonRun<K>,
  frame: Uint8Array,
): Promise<Received<DaemonRun<K>>> {
  if (run.session === null) return { ok: false, why: "undecipherable" };
  const received = await openMessage(keeper, run.session, "to_daemon", frame);
  if (!received.ok) return received;
  const { state } = run;
  const committed = state.next === null
    ? state
    : { channel: state.channel, generation: state.generation + 1, root: state.next, next: null };
  return {
    ok: true,
    plaintext: received.plaintext,
    session: { ...run, session: received.session, state: committed },
  };
}

/** Seals a message and counts its sequence. `null` while no phone has accepted this run's offer. */
export async function send<K>(
  keeper: KeyKeeper<K>,
  run: DaemonRun<K>,
  plaintext: Uint8Array,
): Promise<{ run: DaemonRun<K>; frame: Bytes } | null> {
  if (run.session === null) return null;
  const frame = await sealMessage(keeper, run.session, fromHex(run.state.channel)!, "to_phone", plaintext);
  const session = { ...run.session, next_sequence: run.session.next_sequence + 1 };
  return { run: { ...run, session }, frame };
}
