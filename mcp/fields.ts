/** Arguments and result fields that several tools share. Every output schema is flat, and errors fit it too (B95, B97). */

import { ERROR_KINDS } from "@custos/core/errors";
import { NAME_PATTERN } from "@custos/core/policy";
import { isId } from "@custos/core/ids";
import * as z from "zod";

/** How long a call waits for the human when it does not say, in seconds. Common clients give up at 60 (B91). */
export const DEFAULT_WAIT_SECONDS = 45;
/** The longest wait of one call, in seconds. */
export const MAX_WAIT_SECONDS = 120;

/** Text that a person can read: something visible in it, not only blanks. */
export function visible(text: string): boolean {
  return text.isWellFormed() && /[^\p{Z}\p{C}]/u.test(text);
}

/** `custos:<name>`. */
export const handleArgument: z.ZodString = z.string().regex(
  new RegExp(`^custos:${NAME_PATTERN.source.slice(1)}`),
  "must be a handle such as custos:github; list_handles names them",
).describe("The secret to use, by its handle, such as custos:github.");

/** Why. The human reads it. */
export const reasonArgument: z.ZodString = z.string().max(1_000).refine(
  visible,
  "must say why, in words that the user will understand",
).describe("Why you need this, in one sentence for the user. It is shown on their phone.");

/** The wait. */
export const waitArgument: z.ZodDefault<z.ZodNumber> = z.number().int().min(0).max(MAX_WAIT_SECONDS)
  .default(DEFAULT_WAIT_SECONDS).describe(
    "How many seconds to wait for the user's answer: 0 returns at once. The request stays open when the wait ends.",
  );

/** The id to poll with. */
export const requestIdArgument: z.ZodString = z.string().refine(
  isId,
  "must be the request_id of an earlier result",
).describe(
  "Only to poll: the request_id of an earlier result. Give nothing else with it, except wait_seconds.",
);

/** A path prefix as policies and grants write it. */
export const pathArgument: z.ZodString = z.string().regex(
  /^\/[\x21-\x7e]{0,1023}$/,
  "must be a path that begins with /",
);

/** The HTTP method, as it goes on the wire. */
export const methodArgument: z.ZodString = z.string().regex(
  /^[A-Z]{1,16}$/,
  "must be in capitals, such as GET",
);

/** What became of a request that got no yes, and everything else that went wrong. */
const NO = ["denied", "expired", "withdrawn", "cooling_down", "error"] as const;

/** `status` of a tool: its own words and those of errors, so that errors fit the output schema. */
export function statusField(...words: readonly string[]): z.ZodType<string> {
  return z.enum([...words, ...NO]);
}

/** Fields that errors of every tool use. Flat on purpose. */
export const errorFields: {
  error: z.ZodOptional<z.ZodType<string>>;
  message: z.ZodOptional<z.ZodString>;
  next_step: z.ZodOptional<z.ZodString>;
  until_ms: z.ZodOptional<z.ZodNumber>;
} = {
  error: z.enum(ERROR_KINDS).optional().describe("Only in errors: a stable code."),
  message: z.string().optional().describe("Only in errors: what happened."),
  next_step: z.string().optional().describe("What to do next."),
  until_ms: z.number().optional().describe("When asking is possible again, in ms since 1970."),
};

/** Fields of every result that is about a request. */
export const requestFields: {
  request_id: z.ZodOptional<z.ZodString>;
  fingerprint: z.ZodOptional<z.ZodString>;
  expires_ms: z.ZodOptional<z.ZodNumber>;
  delivery: z.ZodOptional<z.ZodType<string>>;
  poll_tool: z.ZodOptional<z.ZodString>;
  poll_request_id: z.ZodOptional<z.ZodString>;
} = {
  request_id: z.string().optional().describe("Id of the request. Poll with it."),
  fingerprint: z.string().optional().describe(
    "Three words. Tell them to the user: the card on the phone must show the same ones.",
  ),
  expires_ms: z.number().optional().describe("When the request expires unanswered, in ms since 1970."),
  delivery: z.enum(["sent", "not_delivered"]).optional().describe(
    "Whether the card is on its way to the phone.",
  ),
  poll_tool: z.string().optional().describe("Only while pending: the tool to poll with."),
  poll_request_id: z.string().optional().describe("Only while pending: the request_id to poll with, alone."),
};
