/** A refused request, as an error that becomes the reply. */

import { RELAY_STATUS, type RelayErrorBody, type RelayErrorKind } from "@custos/core/relay_wire";

/** Thrown anywhere in a handler. The message is for people and repeats nothing of the request. */
export class Refusal extends Error {
  override readonly name: string = "Refusal";
  readonly kind: RelayErrorKind;
  readonly headers: Readonly<Record<string, string>>;

  constructor(kind: RelayErrorKind, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.kind = kind;
    this.headers = headers;
  }

  /** The reply: the kind's status, and kind and message as JSON. */
  toResponse(): Response {
    const body: RelayErrorBody = { kind: this.kind, message: this.message };
    return Response.json(body, { status: RELAY_STATUS[this.kind], headers: this.headers });
  }
}

/** A refusal that says when to come again. */
export function tooMany(message: string, retry_after_ms: number): Refusal {
  const seconds = Math.max(1, Math.ceil(retry_after_ms / 1000));
  return new Refusal("too_many", message, { "retry-after": String(seconds) });
}
