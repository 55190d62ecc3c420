/** Bounds of what an agent can say to the daemon and get back inline (DESIGN §9), in bytes and milliseconds. */

/** How long a call waits for the human when it does not say. */
export const DEFAULT_WAIT_MS = 60_000;
/** The longest wait of one call. */
export const MAX_WAIT_MS = 120_000;

/** Largest inline answer when the call does not say: 1 MiB. */
export const DEFAULT_MAX_BYTES = 1_048_576;
/** Largest inline answer that a call can ask for: 16 MiB. Larger ones stream. */
export const MAX_INLINE_BYTES = 16_777_216;

/** Largest request body in a JSON call: 1 MiB, held in memory. */
export const MAX_REQUEST_BODY_BYTES = 1_048_576;
/** Largest request body at all: 64 MiB, which is also the most that a policy can allow. */
export const MAX_UPLOAD_BYTES = 67_108_864;
/** Largest JSON call: a body of 1 MiB as JSON-escaped text of control characters is 6 MiB, and its headers. */
export const MAX_CALL_BYTES = 8_388_608;
/** Largest JSON reply: an inline answer of 16 MiB as base64 or as JSON-escaped text, and its headers. */
export const MAX_REPLY_BYTES = 104_857_600;

/** Most entries in one `log.read`. */
export const MAX_LOG_ENTRIES = 1_000;
