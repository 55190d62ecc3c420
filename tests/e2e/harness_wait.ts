/** Waiting for what should happen at once, and looking at how a call fails. */

/** Longest wait of the tests. One that meets it has failed. */
export const PATIENCE_MS = 20_000;

/** The first value that is not `null`. Throws `words` where none comes in time. */
export async function until<T>(look: () => Promise<T | null>, words: string): Promise<T> {
  const end = performance.now() + PATIENCE_MS;
  while (performance.now() < end) {
    const found = await look();
    if (found !== null) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(words);
}

/** What should come at once, and does not wait for a person. Throws where it is not there in time. */
export async function soon<T>(work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("It waited for somebody.")), PATIENCE_MS);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** The kind, id and words of the error that a call ends with. Throws where it does not. */
export async function failure(
  call: Promise<unknown>,
): Promise<{ kind: string; message: string; id?: string; fingerprint?: string; until_ms: number | null }> {
  try {
    await call;
  } catch (error) {
    const { kind, message, request, until_ms } = error as {
      kind: string;
      message: string;
      request: { id: string; fingerprint: string } | null;
      until_ms: number | null;
    };
    if (kind === undefined) throw error;
    return { kind, message, until_ms, ...(request ?? {}) };
  }
  throw new Error("The call should have failed.");
}
