/** `list_handles`: what secrets there are and what they may do. Never a value (DESIGN §10). */

import type { HandleView } from "@custos/rpc/inventory_schemas";
import * as z from "zod";
import { isoTime, scopeSentence } from "./answers.ts";
import { errorFields, requestFields, statusField } from "./fields.ts";
import { toolResult } from "./results.ts";
import { defineTool, type Tool } from "./tool.ts";

type Input = Record<string, never>;

const input = z.strictObject({}) as unknown as z.ZodType<Input>;

const handle = z.strictObject({
  handle: z.string().describe("Use this in the other tools."),
  origins: z.array(z.string()).describe("The only places that it may be sent to."),
  rules: z.array(z.strictObject({ methods: z.array(z.string()), path_prefix: z.string() })).describe(
    "Each: these methods, at this path or below.",
  ),
  placement: z.string().describe("How custos adds it to a request. You never add it yourself."),
  max_seconds: z.number().describe("Longest grant that the policy allows, in seconds."),
  max_body_bytes: z.number().describe("Largest request body."),
  private_network: z.boolean().describe("Whether it may go to private addresses."),
  grant_live: z.boolean().describe("Whether a grant is live now. Without one, http_request asks the user."),
  live_grants: z.array(z.strictObject({
    grant_id: z.string(),
    methods: z.array(z.string()),
    path: z.string().optional(),
    path_prefix: z.string().optional(),
    uses_left: z.number(),
    expires_ms: z.number(),
  })),
});

const output = z.strictObject({
  status: statusField("ok"),
  handles: z.array(handle).optional(),
  request_id: requestFields.request_id,
  fingerprint: requestFields.fingerprint,
  ...errorFields,
});

/** The tool. */
export const listHandles: Tool = defineTool({
  name: "list_handles",
  description:
    "List the secrets that custos can use for you, by handle, with the origins, methods and paths that " +
    "each is allowed, and whether a grant is live now. Values are never shown. Asks nobody.",
  annotations: {
    title: "List secrets",
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  },
  input,
  output,
  async run(_input, context) {
    const { handles } = await context.daemon.call("handles.list", {}, { signal: context.signal });
    const lines = handles.map(line);
    const words = lines.length === 0
      ? "There are no secrets yet. Call request_secret_from_human when you need one."
      : `${lines.length} ${lines.length === 1 ? "secret" : "secrets"}:\n${lines.join("\n")}`;
    return toolResult(words, { status: "ok", handles: handles.map(view) });
  },
});

function view(item: HandleView): z.infer<typeof handle> {
  const grants = item.live_grants.filter((grant) => !grant.ended);
  return {
    handle: item.handle,
    origins: item.origins,
    rules: item.rules,
    placement: placementWords(item),
    max_seconds: item.limits.max_seconds,
    max_body_bytes: item.limits.max_body_bytes,
    private_network: item.limits.private_network,
    grant_live: grants.length > 0,
    live_grants: grants.map((grant) => ({
      grant_id: grant.grant_id,
      methods: grant.methods,
      ...(grant.path === undefined ? {} : { path: grant.path }),
      ...(grant.path_prefix === undefined ? {} : { path_prefix: grant.path_prefix }),
      uses_left: grant.uses_left,
      expires_ms: grant.expires_ms,
    })),
  };
}

function placementWords({ placement }: HandleView): string {
  return placement.name === undefined ? placement.kind : `${placement.kind} ${placement.name}`;
}

function line(item: HandleView): string {
  const rules = item.rules.map((rule) => `${rule.methods.join("/")} ${rule.path_prefix}`).join(", ");
  const live = item.live_grants.filter((grant) => !grant.ended);
  const latest = live.reduce((end, grant) => Math.max(end, grant.expires_ms), 0);
  const grant = live.length === 0
    ? "no live grant: the user will be asked"
    : live.length === 1
    ? scopeSentence(live[0]!)
    : `${live.length} live grants, the last until ${isoTime(latest)}`;
  return `- ${item.handle}: ${item.origins.join(", ")}; ${rules}; ${grant}`;
}
