/**
 * What a phone and a daemon must agree on, byte for byte: documents and their hashes, three words, policies and grants,
 * approvals, custody of secrets, the policy log and the audit log, pairing, and the channel. Pure: no I/O, no clock, no
 * runtime; WebCrypto only. Importing one part by its own name (`@custos/core/policy`) loads no more than that part.
 *
 * Everything that reads untrusted input throws a {@link CustosError} of a closed list of kinds, and never repeats a
 * secret or an expected value.
 *
 * ```ts
 * import { checkTarget, CustosError, fingerprintOf, parseTarget, readPolicy } from "@custos/core";
 *
 * const policy = readPolicy({
 *   v: 1,
 *   secret_id: "aaaaaaaaaaaaaaaaaaaaaaaaaa",
 *   name: "github",
 *   version: 1,
 *   prev: null,
 *   origins: ["https://api.github.test"],
 *   rules: [{ methods: ["GET"], path_prefix: "/repos" }],
 *   placement: { kind: "bearer" },
 *   request_hash: null,
 *   limits: { max_seconds: 3600, max_body_bytes: 0, private_network: false },
 *   epoch: "aaaaaaaaaaaaaaaaaaaaaaaaaa",
 *   created_ms: 0,
 * });
 * checkTarget(policy, parseTarget("GET", "https://api.github.test/repos/a"));
 * try {
 *   checkTarget(policy, parseTarget("GET", "https://api.github.test.evil.test/repos/a"));
 *   throw new Error("a foreign host was allowed");
 * } catch (error) {
 *   if (!(error instanceof CustosError) || error.kind !== "host_not_allowed") throw error;
 * }
 *
 * const words = await fingerprintOf(new Uint8Array(32), new Uint8Array(32));
 * if (words.split(" ").length !== 3) throw new Error("a fingerprint has three words");
 * ```
 *
 * @module
 */

// Errors, and text that is safe to show
export { asCustosError, CustosError, ERROR_KINDS, type ErrorData, type ErrorKind } from "./errors.ts";
export { displayLine, displaySafe } from "./display.ts";

// Bytes, ids, canonical documents and labelled hashes
export { type Bytes, fromBase64url, fromUtf8, randomBytes, toBase64url, utf8 } from "./bytes.ts";
export { isId, newId } from "./ids.ts";
export { canonicalBytes, type Json, parseCanonical } from "./canonical.ts";
export { type Label, labelledHash, LABELS, sha256 } from "./labels.ts";

// Requests: what somebody asked, its three words, and how often a person may be asked
export {
  type Agent,
  coalesceKey,
  type DeviceWanted,
  type DropSuggestion,
  handleOf,
  type HttpWanted,
  nameOfHandle,
  readRequest,
  REQUEST_LIFE_MS,
  REQUEST_LIMITS,
  REQUEST_TYPES,
  type RequestBase,
  type RequestDoc,
  requestHash,
  type RequestOf,
  type RequestType,
  type SecretRef,
  type Wanted,
} from "./request.ts";
export { contentHash, type RequestContent } from "./content.ts";
export { FINGERPRINT_PATTERN, fingerprintOf, isNear, WORD_LIST, WORDS_KEY_BYTES } from "./fingerprint.ts";
export {
  coolDownKey,
  coolDownMs,
  FATIGUE,
  type FatigueCounts,
  type FatigueVerdict,
  mayAsk,
} from "./fatigue.ts";

// Policies: what a secret may do, and the one check of a destination against it
export {
  checkOrigin,
  checkPolicy,
  MAX_BODY_BYTES,
  MAX_GRANT_SECONDS,
  METHODS,
  NAME_PATTERN,
  type Placement,
  type Policy,
  policyHash,
  type PolicyLimits,
  type PolicyRule,
  readPolicy,
} from "./policy.ts";
export { checkNextVersion, type PolicyChange, type Widening, widenings } from "./policy_change.ts";
export { checkTarget, MAX_URL_LENGTH, parseTarget, type Target } from "./target.ts";
export { checkHeaders, isPlaceableHeader } from "./header_rules.ts";
export { type HostScope, hostScope, isPrivateHost } from "./host_scope.ts";

// Secrets: the value as a type, its form on the wire, and its custody as an age file
export { Secret } from "./secret.ts";
export { type CheckedSecret, checkSecretValue, type PlacedSecret, placeSecret } from "./secret_value.ts";
export {
  headerHash,
  isHybridRecipient,
  keyOpensHeader,
  MAX_RECIPIENTS,
  type OpenedSecret,
  openHeader,
  openWithFileKey,
  openWithIdentity,
  readSecret,
  sealSecret,
  sealTo,
  splitHeader,
  VALUE_BYTES,
} from "./custody.ts";

// Keys of people: passkeys with PRF, and the recovery sheet
export {
  type PasskeyAssertion,
  type PasskeyAuthenticator,
  type PasskeyCreate,
  type PasskeyCreated,
  type PasskeyGet,
  type PasskeyTouch,
  type PrfPair,
} from "./passkey.ts";
export {
  type AgeKeys,
  deriveDeviceKeys,
  deriveRecoveryKeys,
  prfInputs,
  type RecoveryKeys,
  requireRecipient,
  verifyRecoverySignature,
} from "./device_keys.ts";
export { decodeRecoverySheet, encodeRecoverySheet, newRecoverySeed } from "./recovery_sheet.ts";

// Approvals: what a touch signs, what it permits, and how it is verified
export {
  covers,
  type Grant,
  type GrantScope,
  isOnce,
  ONCE_SECONDS,
  PATH_OFFER,
  readGrant,
  type Use,
} from "./grant.ts";
export {
  approvalHash,
  type Bundle,
  type LogHead,
  readBundle,
  readFileKey,
  replyToHash,
  sealFileKey,
} from "./approval.ts";
export {
  type Assertion,
  type AssertionDevice,
  type AssertionResult,
  type AssertionStep,
  verifyAssertion,
} from "./assertion.ts";

// The policy log: who may approve, and which version of a secret is the latest
export {
  type DeviceRecord,
  type Entry,
  type EntryBody,
  entryHash,
  type EntryRecord,
  type EntrySignature,
  genesisPrev,
  readEntryRecord,
  type SecretRecord,
} from "./policy_entry.ts";
export {
  applyEntries,
  applyEntry,
  deviceByCredential,
  emptyLog,
  type LogState,
  MAX_DEVICES,
  recipientsOf,
} from "./policy_log.ts";

// The audit log: what happened, and how a cut or a change is found
export {
  AUDIT_EVENTS,
  type AuditEvent,
  type AuditLeaf,
  encodeLeaf,
  type LogVerdict,
  readLeaf,
  verifyLog,
} from "./audit.ts";
export { type Checkpoint, logOrigin, openCheckpoint, signCheckpoint, verifierKey } from "./checkpoint.ts";
export { appendLeaf, EMPTY_TREE, leafHash, type MerkleFrontier, treeRoot } from "./merkle.ts";

// Pairing: how a phone and a daemon come to share keys
export {
  commitment,
  encodePairMessage,
  type MailboxKeys,
  opensCommitment,
  PAIRING_ATTEMPTS,
  PAIRING_ENROL_MS,
  PAIRING_OPEN_MS,
  type PairingKeys,
  pairingKeys,
  type PairingOffer,
  pairingUrl,
  type PairMessage,
  pairRecipientHash,
  type PairReveal,
  readPairingUrl,
  readPairMessage,
  readReveal,
  registerChallenge,
  rendezvousMailboxes,
  repairChallenge,
} from "./pairing.ts";

// The channel: sessions, messages, and the way through the relay
export { type KeyKeeper, type Received, type Session } from "./channel.ts";
export { beginRun, type DaemonChannel, type DaemonRun, receive, send, takeAccept } from "./channel_daemon.ts";
export {
  type PendingSession,
  type PhoneChannel,
  phoneReceive,
  type PhoneReceived,
  phoneSend,
  type SupersededRoot,
} from "./channel_phone.ts";
export {
  type DaemonMessage,
  type Decision,
  encodeMessage,
  type LiveGrant,
  type PhoneMessage,
  readDaemonMessage,
  readPhoneMessage,
  REQUEST_STATUSES,
  type RequestStatus,
} from "./messages.ts";
export {
  Backoff,
  RelayClient,
  type RelayClientOptions,
  type RelayFetch,
  type RelayMessage,
  type RelayOutcome,
} from "./relay_client.ts";
