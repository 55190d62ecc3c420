/** One file from an origin, bounded in size and time; no redirect is followed. */

/** More than any file of the app has. */
const BYTES_MAX = 4 * 1024 * 1024;
const LIMIT_MS = 20_000;

/** What came, or why nothing did. */
export type Served =
  | { status: number; headers: Headers; body: Uint8Array<ArrayBuffer> }
  | { error: string };

/** Fetches `url`. Does not throw. */
export async function take(
  url: string,
  fetch: (url: string, init: RequestInit) => Promise<Response>,
): Promise<Served> {
  try {
    const response = await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(LIMIT_MS) });
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      return { error: `redirects (${response.status}), which is not followed` };
    }
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for await (const part of response.body ?? []) {
      bytes += part.length;
      if (bytes > BYTES_MAX) return { error: `is larger than ${BYTES_MAX} bytes` };
      parts.push(part);
    }
    const body = new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer());
    return { status: response.status, headers: response.headers, body };
  } catch (error) {
    return { error: `cannot be fetched (${error instanceof Error ? error.name : "unknown error"})` };
  }
}

/** Why this is not a file, or `null`. */
export function serveError(served: Served): string | null {
  if ("error" in served) return served.error;
  return served.status === 200 ? null : `is missing (status ${served.status})`;
}
