/** A phone's record as JSON text: maps and bytes are tagged, everything else is as it is. */

import { fromBase64url, toBase64url } from "@custos/core/bytes";
import { CustosError } from "@custos/core/errors";
import type { PhoneRecord } from "@custos/pwa";

/** The text of a record. */
export function recordText(record: PhoneRecord<string>): string {
  return JSON.stringify(record, (_key, value: unknown) => {
    if (value instanceof Map) return { $map: [...value] };
    if (value instanceof Uint8Array) return { $bytes: toBase64url(value) };
    return value;
  });
}

/** Reads a text of {@link recordText}. Throws `storage` on anything else: a half record must not look like a new phone. */
export function readRecord(text: string): PhoneRecord<string> {
  try {
    const value: unknown = JSON.parse(text, (_key, part: unknown) => {
      if (typeof part !== "object" || part === null) return part;
      if ("$map" in part) return new Map(part.$map as [unknown, unknown][]);
      if ("$bytes" in part) return fromBase64url(part.$bytes as string);
      return part;
    });
    const record = value as PhoneRecord<string> | null;
    if (record?.v === 1 && typeof record.daemon === "string" && record.log.state.devices instanceof Map) {
      return record;
    }
  } catch {
    // one refusal below
  }
  throw new CustosError(
    "storage",
    "The phone's state file cannot be read. Pair anew with another --state folder.",
  );
}
