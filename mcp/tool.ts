/**
 * What a tool is, and how its schemas reach the client. Arguments are checked here and not by the SDK, so that a wrong
 * one is a tool error with a code and words that name it, in the shape of the tool's own output schema.
 */

import type { AgentParam } from "@custos/rpc/common";
import type { MethodName, Params, Result } from "@custos/rpc/methods";
import { CustosError } from "@custos/core/errors";
import { displayLine } from "@custos/core/display";
import * as z from "zod";
import type { Progress } from "./progress.ts";
import { errorResult, type ToolResult } from "./results.ts";

/** The daemon, as far as the tools need it. `Client` of `@custos/rpc/client` is one. */
export interface Daemon {
  /** Calls a method. Throws `CustosError`. */
  call<M extends MethodName>(
    method: M,
    params: Params<M>,
    options?: { signal?: AbortSignal },
  ): Promise<Result<M>>;
}

/** What surrounds one call of a tool. */
export interface CallContext {
  readonly daemon: Daemon;
  /** Who asks, in its own words. */
  readonly agent: AgentParam;
  /** Aborts when the client cancels or goes. It ends the wait, never the request (DESIGN §5.2). */
  readonly signal: AbortSignal;
  /** Makes the progress reporter of this call, for a wait of so many seconds. */
  progress(seconds: number): Progress;
}

/** A JSON schema as plain data. */
export type JsonSchema = { type: "object"; [key: string]: unknown };

/** Hints of the MCP specification; `true` or `false` each, since their defaults differ. */
export interface Annotations {
  title: string;
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
}

/** One tool, ready to be listed and called. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly annotations: Annotations;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema;
  /** Runs the tool on untrusted arguments. Never throws: what goes wrong is a tool error. */
  call(input: unknown, context: CallContext): Promise<ToolResult>;
}

/** Makes a tool of its parts. `run` may throw. */
export function defineTool<I>(parts: {
  name: string;
  description: string;
  annotations: Annotations;
  input: z.ZodType<I>;
  output: z.ZodType;
  run(input: I, context: CallContext): Promise<ToolResult>;
}): Tool {
  const { name, description, annotations } = parts;
  return {
    name,
    description,
    annotations,
    inputSchema: jsonSchema(parts.input, "input"),
    outputSchema: jsonSchema(parts.output, "output"),
    async call(input, context) {
      try {
        return await parts.run(parse(parts.input, input, name), context);
      } catch (error) {
        return errorResult(error);
      }
    },
  };
}

/** `$schema` is left out: some clients drop every tool of a server for it (B95). */
function jsonSchema(schema: z.ZodType, io: "input" | "output"): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, target: "draft-7" });
  return { ...rest, type: "object" };
}

function parse<I>(schema: z.ZodType<I>, input: unknown, name: string): I {
  const parsed = schema.safeParse(input ?? {});
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.slice(0, 3).map(sentence).join(" ");
  throw new CustosError("bad_request", `The arguments of ${name} were refused. ${issues} Nothing was done.`);
}

/** Names the argument and the rule, never the value, which may be a secret that was put in the wrong place. */
function sentence(issue: z.core.$ZodIssue): string {
  if (issue.code === "unrecognized_keys") {
    return `Unknown argument: ${issue.keys.slice(0, 5).map((key) => displayLine(key, 60)).join(", ")}.`;
  }
  const place = issue.path.map(String).join(".");
  return `${place === "" ? "The whole" : displayLine(place, 60)}: ${issue.message.replace(/\.$/, "")}.`;
}
