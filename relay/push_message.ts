/**
 * One push as an HTTP request: RFC 8030 (delivery), 8291 (encryption), 8292 (who sends). It says nothing: the text is the
 * same for every mailbox and every message, and so is its length (DESIGN §8, B129).
 */

import { encryptNotification, vapidHeaders } from "@block65/webcrypto-web-push";
import type { PushSubscription } from "@custos/core/relay_wire";
import type { VapidKey } from "./push_key.ts";

/** All that a push says. */
export const PUSH_TEXT: string = "wake";

/** Requests expire after 15 minutes: a push that comes later would call somebody to nothing. */
const TTL_SECONDS = 15 * 60;

/** Makes the request. Throws where the subscription's keys are not on the curve. */
export async function pushRequest(
  subscription: PushSubscription,
  key: VapidKey,
  contact: string,
): Promise<RequestInit & { headers: Record<string, string> }> {
  const target = { ...subscription, expirationTime: null };
  const vapid = { subject: contact, publicKey: key.public_key, privateKey: key.private_key };
  const { headers } = await vapidHeaders(target, vapid);
  return {
    method: "POST",
    redirect: "manual", // an answer must not choose another host
    headers: {
      ...headers,
      "content-encoding": "aes128gcm",
      "content-type": "application/octet-stream",
      ttl: String(TTL_SECONDS),
      urgency: "high", // somebody waits for the answer, and the phone may be asleep
      topic: "custos", // a newer push takes the place of one that was not delivered
    },
    // Without the library's padding, which fills 4096 bytes: a text that never changes has nothing to hide in its length.
    body: await encryptNotification(target, new TextEncoder().encode(PUSH_TEXT), { pad: false }),
  };
}
