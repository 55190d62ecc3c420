/** The relay's VAPID key (RFC 8292): subscriptions are bound to it, so it must outlive restarts. */

import { decodePushKey, isToken } from "@custos/core/relay_wire";
import { StartError } from "./start_error.ts";

/** Both halves as base64url: the point of P-256, uncompressed, and the 32 bytes of the scalar. */
export interface VapidKey {
  public_key: string;
  private_key: string;
}

/**
 * Reads `push_key.json` in `folder`, which is the owner's alone, or makes it (0600). Throws `StartError` `storage` where
 * what is there is not a key: a new one would silence every phone that subscribed, so it is not made by itself.
 */
export async function openVapidKey(folder: string): Promise<VapidKey> {
  const path = `${folder}/push_key.json`;
  let text: string;
  try {
    text = Deno.readTextFileSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw unusable(path);
    const key = await newVapidKey();
    write(path, key);
    return key;
  }
  Deno.chmodSync(path, 0o600);
  const key = decode(text);
  if (key === null) throw unusable(path);
  return key;
}

/** A new key. */
export async function newVapidKey(): Promise<VapidKey> {
  const { publicKey, privateKey } = await crypto.subtle.generateKey(
    { name: "ECDSA", namedCurve: "P-256" },
    true,
    ["sign", "verify"],
  );
  const point = new Uint8Array(await crypto.subtle.exportKey("raw", publicKey));
  const { d } = await crypto.subtle.exportKey("jwk", privateKey);
  return { public_key: point.toBase64({ alphabet: "base64url", omitPadding: true }), private_key: d! };
}

function write(path: string, key: VapidKey): void {
  try {
    // Whole or not at all: half a key would stop every later start.
    Deno.writeTextFileSync(`${path}.new`, JSON.stringify(key), { mode: 0o600 });
    Deno.renameSync(`${path}.new`, path);
  } catch {
    throw unusable(path);
  }
}

function decode(text: string): VapidKey | null {
  try {
    const { public_key, private_key } = JSON.parse(text) as Record<string, unknown>;
    if (decodePushKey({ key: public_key }) === null) return null;
    return typeof private_key === "string" && isToken(private_key)
      ? { public_key: public_key as string, private_key }
      : null;
  } catch {
    return null;
  }
}

function unusable(path: string): StartError {
  return new StartError(
    "storage",
    `The push key ${path} cannot be used. Bring it back from a backup; or move it away, and phones must turn ` +
      "notifications on again.",
  );
}
