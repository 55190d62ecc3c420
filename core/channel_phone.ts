/**
 * The phone's side of a channel: answers offers, keeps the session of the newest one until it proves itself, and locks when
 * two daemons claim one name (DESIGN §7). One daemon's offers form a chain: each names those before it. So an offer that
 * comes twice or late is known by its session id and refused, whatever order the relay chooses, and an authentic offer that
 * has no place in the chain was made by somebody else who holds the key.
 */

import { type Bytes, fromHex, randomBytes, toHex } from "./bytes.ts";
import {
  handshakeTranscript,
  type KeyKeeper,
  newSession,
  openHandshake,
  openMessage,
  sealMessage,
  type Session,
} from "./channel.ts";
import { sealTo } from "./custody.ts";
import { frameKey, readHead, sealFrame } from "./frame.ts";
import {
  encodeAccept,
  handshakeSecret,
  MAX_EARLIER,
  type Offer,
  readOffer,
  sessionSecrets,
} from "./handshake.ts";

/** A session that the phone accepted and that has not yet proved itself. `answer` is sent again for the same offer. */
export interface PendingSession<K> {
  session: Session<K>;
  root: K;
  answer: Bytes;
  /** Session ids of this generation that the daemon, by its own word, has left behind. */
  earlier: readonly string[];
}

/** A root that no daemon may use any more. Its handshake secret verifies, and opens nothing. */
export interface SupersededRoot {
  generation: number;
  secret: Bytes;
  /** Offers under it that are known: to see one of them again proves nothing. */
  sessions: readonly string[];
}

/** What the phone stores of a channel. */
export interface PhoneChannel<K> {
  channel: string;
  generation: number;
  root: K;
  session: Session<K> | null;
  /** At most one: the newest offer that was answered. */
  pending: PendingSession<K>[];
  /** At most {@link MAX_SUPERSEDED}, newest last. */
  superseded: SupersededRoot[];
  locked: "superseded_handshake" | null;
}

/** Superseded roots that are remembered. */
export const MAX_SUPERSEDED = 64;

/** What a frame from the daemon came to. A refused frame changes no state. */
export type PhoneReceived<K> =
  | { kind: "refused"; why: "undecipherable" | "replayed" | "locked" }
  | { kind: "answer"; state: PhoneChannel<K>; frame: Bytes }
  | { kind: "locked"; state: PhoneChannel<K> }
  | { kind: "message"; state: PhoneChannel<K>; plaintext: Bytes };

const UNREADABLE = { kind: "refused", why: "undecipherable" } as const;
const REPLAYED = { kind: "refused", why: "replayed" } as const;

/** Takes any frame of this channel. The caller stores the returned state before it acts or answers. */
export async function phoneReceive<K>(
  keeper: KeyKeeper<K>,
  state: PhoneChannel<K>,
  frame: Uint8Array,
): Promise<PhoneReceived<K>> {
  if (state.locked !== null) return { kind: "refused", why: "locked" };
  const head = readHead(frame);
  if (head === null || toHex(head.channel) !== state.channel) return UNREADABLE;
  if (head.kind === "offer") return await takeOffer(keeper, state, toHex(head.session), head.number, frame);
  if (head.kind === "session") return await takeMessage(keeper, state, toHex(head.session), frame);
  return UNREADABLE;
}

/** Seals a message to the daemon and counts its sequence. `null` before there is a session, or when locked. */
export async function phoneSend<K>(
  keeper: KeyKeeper<K>,
  state: PhoneChannel<K>,
  plaintext: Uint8Array,
): Promise<{ state: PhoneChannel<K>; frame: Bytes } | null> {
  // The newest accepted session is the daemon's newest run: before its first message arrives, ours may already go there.
  const newest = state.pending.at(-1);
  const session = newest?.session ?? state.session;
  if (state.locked !== null || session === null) return null;
  const frame = await sealMessage(keeper, session, fromHex(state.channel)!, "to_daemon", plaintext);
  const counted = { ...session, next_sequence: session.next_sequence + 1 };
  if (newest === undefined) return { state: { ...state, session: counted }, frame };
  return {
    state: { ...state, pending: [...state.pending.slice(0, -1), { ...newest, session: counted }] },
    frame,
  };
}

async function takeOffer<K>(
  keeper: KeyKeeper<K>,
  state: PhoneChannel<K>,
  id: string,
  generation: number,
  frame: Uint8Array,
): Promise<PhoneReceived<K>> {
  const known = state.pending.find((one) => one.session.id === id);
  if (known !== undefined) return { kind: "answer", state, frame: known.answer };
  if (state.session?.id === id || state.pending.some((one) => one.earlier.includes(id))) return REPLAYED;
  if (generation === state.generation) {
    const answered = await answer(keeper, state, id, frame);
    if (answered !== null) return answered;
  }
  if (generation === state.generation + 1) {
    // The daemon processed our acceptance and restarted before its first message reached us.
    for (const one of state.pending) {
      if (!await proves(keeper, one.root, frame)) continue;
      return await answer(keeper, await promote(keeper, state, one), id, frame) ?? UNREADABLE;
    }
  }
  for (const old of state.superseded) {
    if (old.generation !== generation || await openHandshake(old.secret, "to_phone", frame) === null) {
      continue;
    }
    return old.sessions.includes(id) ? REPLAYED : locked(state);
  }
  return UNREADABLE;
}

async function proves<K>(keeper: KeyKeeper<K>, root: K, frame: Uint8Array): Promise<boolean> {
  const secret = await handshakeSecret(await keeper.load(root, "root"));
  return await openHandshake(secret, "to_phone", frame) !== null;
}

function locked<K>(state: PhoneChannel<K>): PhoneReceived<K> {
  return { kind: "locked", state: { ...state, locked: "superseded_handshake", session: null, pending: [] } };
}

/** Answers an offer under the current root. `null` if it is not authentic, or not well formed. */
async function answer<K>(
  keeper: KeyKeeper<K>,
  state: PhoneChannel<K>,
  id: string,
  offerFrame: Uint8Array,
): Promise<PhoneReceived<K> | null> {
  const root = await keeper.load(state.root, "root");
  const secret = await handshakeSecret(root);
  const opened = await openHandshake(secret, "to_phone", offerFrame);
  if (opened === null) return null;
  const fresh = randomBytes(32);
  let offer: Offer, sealed: Bytes;
  try {
    offer = readOffer(opened);
    sealed = await sealTo([offer.recipient], fresh);
  } catch {
    return null;
  }
  // A daemon that does not know of the run whose offer we answered is another daemon. Only a full list may have lost it.
  const foreign = state.pending.some((one) => !offer.earlier.includes(one.session.id));
  if (foreign && offer.earlier.length < MAX_EARLIER) return locked(state);
  const head = {
    kind: "accept",
    channel: fromHex(state.channel)!,
    session: fromHex(id)!,
    number: state.generation,
  } as const;
  const frame = await sealFrame(await frameKey(secret), "to_daemon", head, encodeAccept(sealed));
  const secrets = await sessionSecrets(root, fresh, await handshakeTranscript(offerFrame, frame));
  fresh.fill(0);
  const session = await newSession(keeper, id, secrets);
  const earlier = [...new Set([...state.pending.flatMap((one) => one.earlier), ...offer.earlier])]
    .slice(-MAX_EARLIER);
  const pending = { session, root: await keeper.keep(secrets.next_root, "root"), answer: frame, earlier };
  secrets.next_root.fill(0);
  const superseded = [...state.superseded];
  for (const one of state.pending) superseded.push(await abandoned(keeper, state, one));
  return {
    kind: "answer",
    state: { ...state, pending: [pending], superseded: superseded.slice(-MAX_SUPERSEDED) },
    frame,
  };
}

/** The root of a session that its daemon left behind: whoever offers under it took an acceptance that was not its own. */
async function abandoned<K>(
  keeper: KeyKeeper<K>,
  state: PhoneChannel<K>,
  one: PendingSession<K>,
): Promise<SupersededRoot> {
  const secret = await handshakeSecret(await keeper.load(one.root, "root"));
  return { generation: state.generation + 1, secret, sessions: [] };
}

async function takeMessage<K>(
  keeper: KeyKeeper<K>,
  state: PhoneChannel<K>,
  id: string,
  frame: Uint8Array,
): Promise<PhoneReceived<K>> {
  const waiting = state.pending.find((one) => one.session.id === id);
  const session = waiting?.session ?? state.session;
  if (session === null) return UNREADABLE;
  const received = await openMessage(keeper, session, "to_phone", frame);
  if (!received.ok) return { kind: "refused", why: received.why };
  const base = waiting === undefined ? state : await promote(keeper, state, waiting);
  return { kind: "message", state: { ...base, session: received.session }, plaintext: received.plaintext };
}

/** The first authentic sign of life under a pending session: its root replaces the old one. */
async function promote<K>(
  keeper: KeyKeeper<K>,
  state: PhoneChannel<K>,
  one: PendingSession<K>,
): Promise<PhoneChannel<K>> {
  const secret = await handshakeSecret(await keeper.load(state.root, "root"));
  return {
    ...state,
    generation: state.generation + 1,
    root: one.root,
    session: one.session,
    pending: [],
    superseded: [
      ...state.superseded,
      { generation: state.generation, secret, sessions: [...one.earlier, one.session.id] },
    ].slice(-MAX_SUPERSEDED),
  };
}
