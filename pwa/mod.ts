/**
 * The phone's side of custos as pure protocol: pairing, cards, approvals, denials and drops. It does no I/O; the browser
 * app and the software phone of the tests hand in a store, keys, a passkey and `fetch`.
 */

export { type ActivityVerdict, KEPT_LEAVES, NO_ACTIVITY, takeActivity } from "./activity.ts";
export { approve, prepareApproval, type PreparedApproval, requireCard, signApproval } from "./approve.ts";
export { type AuditKind, type AuditLine, auditLine } from "./audit_text.ts";
export {
  CARD_REFUSALS,
  type CardRefusal,
  type CardVerdict,
  identify,
  type VerifiedCard,
  verifyCard,
} from "./card.ts";
export { Connection, type ConnectionState } from "./connection.ts";
export { deny } from "./deny.ts";
export { drop, DROP_BODY_BYTES, type DropFields, type Dropped, isRegistered } from "./drop.ts";
export { type Enrolment, type EnrolOptions } from "./enrol.ts";
export { applyMessage, takeFrame, type TakenFrame } from "./inbox.ts";
export {
  type CheckpointVerdict,
  compareHead,
  type EntriesVerdict,
  type HeadVerdict,
  takeCheckpoint,
  takeEntries,
  takePolicies,
} from "./log_sync.ts";
export {
  defaultOffer,
  type GrantCard,
  grantFor,
  narrowable,
  type Offer,
  offersFor,
  type ShownOffer,
  showOffer,
  UNCOUNTED_USES,
} from "./offers.ts";
export { isDecided, RESEND_MS } from "./outbox.ts";
export { pair, type Paired, type PairOptions } from "./pair.ts";
export type { PhoneParts } from "./phone_parts.ts";
export {
  type Activity,
  type Alarm,
  type CardMessage,
  type KnownLeaf,
  logHeadOf,
  notEnrolled,
  type OutboxItem,
  ownDevice,
  type PhoneRecord,
  type PhoneStore,
  requireRecord,
  requireTrust,
  type StoredCard,
} from "./phone_store.ts";
export {
  nextPolicy,
  type PolicyEdit,
  prepareChange,
  type PreparedChange,
  signChange,
} from "./policy_change.ts";
export {
  asksForPrivateNetwork,
  formFor,
  formOf,
  type FormOutcome,
  type FormPart,
  originsOf,
  type PolicyForm,
  readForm,
} from "./policy_form.ts";
export { changedParts, policySentence, type SpokenPolicy, wideningText } from "./policy_text.ts";
export { type Provider, providerOf, PROVIDERS } from "./providers.ts";
export { tokenHint } from "./token_hint.ts";
