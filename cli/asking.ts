/**
 * Waiting for a person. A request is made without waiting, so that its words are on the terminal while the card is on the
 * phone; then its status is waited for. The end of a wait ends nothing else: the request stays pending (DESIGN §5.2).
 */

import type { AccessStatusResult, RequestResult } from "@custos/rpc/request_schemas";
import type { Context } from "./command.ts";
import { countdown } from "./text.ts";
import { deliveryNote, grantLine, statusExit, statusLine } from "./views.ts";
import { displaySafe } from "@custos/core/display";

/** Shows the words of a new request, waits for its answer, prints it, and returns the exit code. */
export async function answerTo(asked: RequestResult, wait_ms: number, context: Context): Promise<number> {
  await context.shown.request(asked.request_id, asked.fingerprint);
  const note = deliveryNote(asked.delivery);
  if (note !== "") context.io.err(`${note}\n`);
  return await waitFor(asked.request_id, wait_ms, context);
}

/** Waits for the answer to a request, prints it, and returns the exit code. */
export async function waitFor(request_id: string, wait_ms: number, context: Context): Promise<number> {
  const { client, io, shown } = context;
  let result = await client.call("access.status", { request_id, wait_ms: 0 });
  await shown.request(result.request_id, result.fingerprint);
  if (result.status === "pending" && wait_ms > 0) {
    sayWaiting(context, wait_ms);
    result = await client.call("access.status", { request_id, wait_ms });
  }
  if (context.json) await io.out(`${JSON.stringify(result)}\n`);
  else await printAnswer(result, context);
  return statusExit(result.status);
}

/** Tells a person at a terminal what is waited for and how long still, and that leaving is safe. */
export function sayWaiting({ io }: Context, wait_ms: number): void {
  const safe = "Ctrl-C ends the wait, not the request.";
  if (io.countdown !== undefined) {
    io.countdown((left_ms) => `Waiting for the phone, ${countdown(left_ms)} left. ${safe}`, wait_ms);
  } else if (io.terminals.stderr) {
    io.err(`Waiting up to ${Math.round(wait_ms / 1_000)} s for the phone. ${safe}\n`);
  }
}

/** A handle or a grant is data, for stdout; the rest is for people. */
async function printAnswer(result: AccessStatusResult, context: Context): Promise<void> {
  const { io } = context;
  if (result.handle !== undefined) {
    io.err("Delivered. The secret is sealed and can be used as:\n");
    return await io.out(`${displaySafe(result.handle)}\n`);
  }
  if (result.status === "granted" && result.grant !== undefined) {
    return await io.out(`${displaySafe(result.grant.handle)}  ${grantLine(result.grant, io.now())}\n`);
  }
  await io.out(`${statusLine(result.status, result.reason)}\n`);
  if (result.status === "pending") io.err(`Ask again with: custos wait ${result.request_id}\n`);
}
