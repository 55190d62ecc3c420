/** The one place where an error becomes text, JSON and an exit code. */

import { displaySafe } from "@custos/core/display";
import { exitCodeOf } from "@custos/rpc/error_codes";
import { RpcError } from "@custos/rpc/rpc_error";
import { type Io, OutputClosed } from "./io.ts";
import type { Shown } from "./shown.ts";
import { clock } from "./text.ts";

/**
 * Says what went wrong and returns the exit code of its kind. A request that the error names gets its line on the
 * terminal, and ends the message: `(request <id>, fingerprint: <w1 w2 w3>)`. With `--json` the error is also data.
 */
export async function report(error: unknown, io: Io, json: boolean, shown: Shown): Promise<number> {
  if (error instanceof OutputClosed) return 0;
  const known = RpcError.from(error);
  if (known.request !== null) await shown.request(known.request.id, known.request.fingerprint);
  if (json) {
    const data = known.data;
    await io.out(`${JSON.stringify({ error: { message: known.message, ...data } })}\n`);
  }
  io.err(`custos: ${describe(known, io.now())}\n`);
  return exitCodeOf(known.kind);
}

/** One line: kind, message, when a cool-down ends, and the request. */
export function describe(error: RpcError, now: number): string {
  const until = error.until_ms === null ? "" : ` It ends at ${clock(error.until_ms, now)}.`;
  const about = error.request === null
    ? ""
    : ` (request ${error.request.id}, fingerprint: ${error.request.fingerprint})`;
  return displaySafe(`${error.kind}: ${error.message}${until}${about}`);
}
