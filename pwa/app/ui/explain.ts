/** An error in words. */

import { CustosError } from "@custos/core/errors";

/** What happened and what to do. A cancelled passkey is not an error: the person can touch again (B121). */
export function explain(error: unknown): string {
  if (error instanceof CustosError) return error.message;
  if (error instanceof DOMException && (error.name === "NotAllowedError" || error.name === "AbortError")) {
    return "The passkey was not used, so nothing was approved. Try again when you are ready.";
  }
  return "Something went wrong on this phone. Nothing was approved.";
}
