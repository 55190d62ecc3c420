/** `request_access`: asks the human for a grant, or, with only a request's id, reads what became of it (DESIGN §10). */

import { CustosError } from "@custos/core/errors";
import { MAX_GRANT_SECONDS } from "@custos/core/policy";
import * as z from "zod";
import { answerResult } from "./answers.ts";
import { handleArgument, methodArgument, pathArgument, reasonArgument } from "./fields.ts";
import { requestIdArgument, waitArgument } from "./fields.ts";
import { answerOutput, pollRequest } from "./polling.ts";
import type { ToolResult } from "./results.ts";
import { type CallContext, defineTool, type Tool } from "./tool.ts";
import { waitForAnswer } from "./waiting.ts";

interface Input {
  handle?: string | undefined;
  reason?: string | undefined;
  methods?: string[] | undefined;
  path_prefix?: string | undefined;
  seconds?: number | undefined;
  uses?: number | undefined;
  request_id?: string | undefined;
  wait_seconds: number;
}

const input: z.ZodType<Input> = z.strictObject({
  handle: handleArgument.optional(),
  reason: reasonArgument.optional(),
  methods: z.array(methodArgument).min(1).max(7).optional().describe(
    "HTTP methods that you need, such as GET.",
  ),
  path_prefix: pathArgument.optional().describe("The path that you need, and everything below it."),
  seconds: z.number().int().min(1).max(MAX_GRANT_SECONDS).optional().describe(
    "For how long. Ask for little.",
  ),
  uses: z.number().int().min(1).max(1_000_000).optional().describe("For how many requests. Ask for few."),
  request_id: requestIdArgument.optional(),
  wait_seconds: waitArgument,
});

/** The tool. */
export const requestAccess: Tool = defineTool({
  name: "request_access",
  description:
    "Ask the user to allow several requests with one secret, for a limited time. For a single request " +
    "call http_request directly; it asks by itself. Give handle and reason to ask; the user answers on their phone. " +
    "Give only request_id to poll a request of any tool: that asks nobody and creates nothing. Sending handle and " +
    "reason again after an answer asks the user a second time. Tell the user the three words of fingerprint as soon " +
    "as you have them.",
  annotations: {
    title: "Ask for access",
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: false,
    openWorldHint: false,
  },
  input,
  output: answerOutput,
  run: (input, context) => input.request_id === undefined ? ask(input, context) : poll(input, context),
});

async function ask(input: Input, context: CallContext): Promise<ToolResult> {
  const { handle, reason, methods, path_prefix, seconds, uses, wait_seconds } = input;
  if (handle === undefined || reason === undefined) {
    throw new CustosError(
      "bad_request",
      "Give handle and reason to ask, or only request_id to poll. Nothing was done.",
    );
  }
  const first = await context.daemon.call("access.request", {
    handle,
    reason,
    ...(methods === undefined ? {} : { methods }),
    ...(path_prefix === undefined ? {} : { path_prefix }),
    ...(seconds === undefined ? {} : { seconds }),
    ...(uses === undefined ? {} : { uses }),
    wait_ms: 0,
    agent: context.agent,
  }, { signal: context.signal });
  return answerResult(await waitForAnswer(context, first.request_id, first, wait_seconds), "request_access");
}

function poll(input: Input, context: CallContext): Promise<ToolResult> {
  const { request_id, wait_seconds, ...rest } = input;
  return pollRequest(context, request_id!, wait_seconds, rest);
}
