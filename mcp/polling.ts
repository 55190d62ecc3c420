/** Polling by id, the same for every tool that asks: it reads, creates nothing, and asks nobody (ADR 0005). */

import { CustosError } from "@custos/core/errors";
import * as z from "zod";
import { answerResult } from "./answers.ts";
import { errorFields, requestFields, statusField } from "./fields.ts";
import type { ToolResult } from "./results.ts";
import type { CallContext } from "./tool.ts";
import { waitForAnswer } from "./waiting.ts";

/** Result fields of the tools that ask a human and poll. */
export const answerOutput: z.ZodType = z.strictObject({
  status: statusField("pending", "granted", "delivered").describe(
    "granted and delivered are a yes; pending is no answer yet; all others are errors.",
  ),
  ...requestFields,
  handle: z.string().optional().describe(
    "The secret's handle. After delivered it has the name the user chose.",
  ),
  grant_id: z.string().optional(),
  grant_ended: z.boolean().optional().describe("Whether the grant can no longer be used."),
  origins: z.array(z.string()).optional().describe("Where the grant allows requests to."),
  methods: z.array(z.string()).optional(),
  path: z.string().optional().describe("Exactly this path; a grant has this or path_prefix."),
  path_prefix: z.string().optional(),
  uses_left: z.number().optional(),
  grant_expires_ms: z.number().optional().describe("When the grant ends, in ms since 1970."),
  ...errorFields,
});

/**
 * The result of a poll. `rest` is every other argument: with any of them the call would mean two things, so it is
 * refused. A request of any type can be polled; while it is pending, the result names the tool that fits its type.
 */
export async function pollRequest(
  context: CallContext,
  id: string,
  seconds: number,
  rest: Readonly<Record<string, unknown>>,
): Promise<ToolResult> {
  const others = Object.keys(rest).filter((key) => rest[key] !== undefined);
  if (others.length > 0) {
    throw new CustosError(
      "bad_request",
      `request_id polls and stands alone, but ${others.join(", ")} came with it. Nothing was done.`,
    );
  }
  const state = await waitForAnswer(context, id, null, seconds);
  const drop = "type" in state && state.type === "drop";
  return answerResult(state, drop ? "request_secret_from_human" : "request_access");
}
