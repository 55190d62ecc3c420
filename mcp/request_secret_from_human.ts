/**
 * `request_secret_from_human`: a drop. The human pastes a secret on the phone, says where it may go, and the agent gets a
 * handle. A drop that is answered after the wait is collected by its id, which asks nobody again (DESIGN §10, ADR 0005).
 */

import { CustosError } from "@custos/core/errors";
import { NAME_PATTERN, type Placement } from "@custos/core/policy";
import type { DropSuggestions } from "@custos/rpc/request_schemas";
import * as z from "zod";
import { answerResult } from "./answers.ts";
import { methodArgument, pathArgument, reasonArgument, requestIdArgument, waitArgument } from "./fields.ts";
import { answerOutput, pollRequest } from "./polling.ts";
import type { ToolResult } from "./results.ts";
import { type CallContext, defineTool, type Tool } from "./tool.ts";
import { waitForAnswer } from "./waiting.ts";

interface Input {
  name?: string | undefined;
  reason?: string | undefined;
  suggested_origins?: string[] | undefined;
  suggested_placement?: "bearer" | "header" | "basic" | "query" | undefined;
  suggested_placement_name?: string | undefined;
  suggested_methods?: string[] | undefined;
  suggested_path_prefix?: string | undefined;
  request_id?: string | undefined;
  wait_seconds: number;
}

const input: z.ZodType<Input> = z.strictObject({
  name: z.string().regex(
    NAME_PATTERN,
    "must be 1 to 63 of a-z, 0-9, _ and -, and begin with a letter, such as github",
  ).optional().describe("A short name for the secret, such as github. The user may choose another one."),
  reason: reasonArgument.optional(),
  suggested_origins: z.array(z.string().min(1).max(300)).max(20).optional().describe(
    "Where it would be sent, such as https://api.github.com. Only a suggestion: the user types the real one.",
  ),
  suggested_placement: z.enum(["bearer", "header", "basic", "query"]).optional().describe(
    "How the API takes it: bearer token, a header, basic authentication, or a query parameter.",
  ),
  suggested_placement_name: z.string().min(1).max(64).optional().describe(
    "Name of the header or query parameter, or the user name for basic.",
  ),
  suggested_methods: z.array(methodArgument).min(1).max(7).optional().describe("Methods that you will need."),
  suggested_path_prefix: pathArgument.optional().describe(
    "Path that you will need, and everything below it.",
  ),
  request_id: requestIdArgument.optional(),
  wait_seconds: waitArgument,
});

/** The tool. */
export const requestSecretFromHuman: Tool = defineTool({
  name: "request_secret_from_human",
  description:
    "Ask the user for a secret (an API key, a token) that custos does not have yet. The user pastes it on " +
    "their phone and decides where it may be sent; you get a handle, never the value. Never ask for a secret in the " +
    "chat. Give name and reason to ask. This takes people a few minutes, so the wait often ends first: then call " +
    "again with ONLY request_id, which asks nobody and creates nothing, until status is delivered. Sending name and " +
    "reason again asks the user a second time. Tell the user the three words of fingerprint as soon as you have them.",
  annotations: {
    title: "Ask the user for a secret",
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
  const { name, reason, wait_seconds } = input;
  if (name === undefined || reason === undefined) {
    throw new CustosError(
      "bad_request",
      "Give name and reason to ask, or only request_id to poll. Nothing was done.",
    );
  }
  const suggest = suggestions(input);
  const first = await context.daemon.call("drop.request", {
    name,
    reason,
    ...(Object.keys(suggest).length === 0 ? {} : { suggest }),
    wait_ms: 0,
    agent: context.agent,
  }, { signal: context.signal });
  const state = await waitForAnswer(context, first.request_id, first, wait_seconds);
  return answerResult(state, "request_secret_from_human");
}

function poll(input: Input, context: CallContext): Promise<ToolResult> {
  const { request_id, wait_seconds, ...rest } = input;
  return pollRequest(context, request_id!, wait_seconds, rest);
}

function suggestions(input: Input): DropSuggestions {
  const placement = suggestedPlacement(input.suggested_placement, input.suggested_placement_name);
  const { suggested_origins: origins, suggested_methods: methods, suggested_path_prefix: path } = input;
  const rule = { methods: methods ?? ["GET"], path_prefix: path ?? "/" };
  return {
    ...(origins === undefined ? {} : { origins }),
    ...(placement === null ? {} : { placement }),
    ...(methods === undefined && path === undefined ? {} : { rules: [rule] }),
  };
}

function suggestedPlacement(kind: Input["suggested_placement"], name: string | undefined): Placement | null {
  if (kind === undefined && name === undefined) return null;
  if (kind === "bearer" && name === undefined) return { kind };
  if (kind === undefined || kind === "bearer" || name === undefined) {
    throw new CustosError(
      "bad_request",
      "suggested_placement_name goes with header, basic or query, and each of them needs it. Nothing was done.",
    );
  }
  if (kind === "basic") return { kind, username: name };
  return kind === "query" ? { kind, name } : { kind, name, template: "{secret}" };
}
