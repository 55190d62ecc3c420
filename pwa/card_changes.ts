/** What differs between a request and the last approved one of the same shape: method, origin and path are the same. */

import type { HttpWanted } from "@custos/core/request";

/** One difference, named so that a person knows where to look. */
export interface CardChange {
  place: "query" | "header" | "body";
  /** A query or header name, a key of a JSON body; empty where the place as a whole changed. */
  name: string;
}

/** Every difference, in the order query, headers, body. Empty when the two are the same byte for byte. */
export function cardChanges(before: HttpWanted, now: HttpWanted): CardChange[] {
  return [...queryChanges(before.url, now.url), ...headerChanges(before, now), ...bodyChanges(before, now)];
}

function queryChanges(before: string, now: string): CardChange[] {
  const [old, next] = [new URL(before), new URL(now)];
  if (old.search === next.search) return [];
  const names = differing([...old.searchParams], [...next.searchParams]);
  return (names.length === 0 ? [""] : names).map((name) => ({ place: "query", name }));
}

function headerChanges(before: HttpWanted, now: HttpWanted): CardChange[] {
  return differing(before.headers, now.headers).map((name) => ({ place: "header", name }));
}

function bodyChanges(before: HttpWanted, now: HttpWanted): CardChange[] {
  if (before.body_sha256 === now.body_sha256) return [];
  const [old, next] = [jsonObject(before), jsonObject(now)];
  const names = old === null || next === null ? [] : differing(Object.entries(old), Object.entries(next));
  return (names.length === 0 ? [""] : names).map((name) => ({ place: "body", name }));
}

/** Names whose values are not the same in both lists; a name may come several times. */
function differing(before: readonly [string, unknown][], now: readonly [string, unknown][]): string[] {
  const values = (list: readonly [string, unknown][], name: string) =>
    JSON.stringify(list.filter(([one]) => one === name).map(([, value]) => value));
  const names = new Set([...before, ...now].map(([name]) => name));
  return [...names].filter((name) => values(before, name) !== values(now, name));
}

/** The body as a JSON object, where the whole of it is in the card. */
function jsonObject({ body_preview, body_bytes }: HttpWanted): Record<string, unknown> | null {
  if (body_preview === null || new TextEncoder().encode(body_preview).length !== body_bytes) return null;
  try {
    const value: unknown = JSON.parse(body_preview);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? value as Record<string, unknown>
      : null;
  } catch {
    return null;
  }
}
