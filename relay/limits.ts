/** How much a relay takes from strangers. Every number has a reason to be finite: a relay is open to the internet (B153). */

/** Limits of a relay. Names say the unit; all are positive integers. */
export interface RelayLimits {
  /** Mailboxes in all. */
  mailboxes_max: number;
  /** Bytes of messages in all. */
  store_bytes_max: number;
  /** Messages in one mailbox. */
  mailbox_messages_max: number;
  /** Bytes of messages in one mailbox. */
  mailbox_bytes_max: number;
  /** Reads that wait on one mailbox at once; the oldest is ended for a newer one. */
  mailbox_readers_max: number;
  /** A mailbox that nobody used for so long is removed. Its owners can make it again. */
  mailbox_idle_ms: number;
  /** Requests of one address in a row, after which they come at `address_per_second`. */
  address_burst: number;
  address_per_second: number;
  /** New mailboxes of one address in an hour. */
  address_mailboxes_per_hour: number;
  /** Addresses that are counted at once. */
  addresses_max: number;
  /** Time to send a request's body. */
  body_ms: number;
  /** Pause between signs of life in an event stream. */
  heartbeat_ms: number;
  /** Pause between removals of what has expired. */
  sweep_ms: number;
  /** Time for open requests to end when the relay stops. */
  stop_ms: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Limits for a relay that serves some thousand people. */
export const DEFAULT_LIMITS: Readonly<RelayLimits> = {
  mailboxes_max: 100_000,
  store_bytes_max: 1024 ** 3,
  mailbox_messages_max: 1024,
  mailbox_bytes_max: 8 * 1024 ** 2,
  mailbox_readers_max: 8,
  mailbox_idle_ms: 90 * DAY_MS,
  address_burst: 300,
  address_per_second: 10,
  address_mailboxes_per_hour: 60,
  addresses_max: 10_000,
  body_ms: 10_000,
  heartbeat_ms: 15_000,
  sweep_ms: 60_000,
  stop_ms: 2_000,
};
