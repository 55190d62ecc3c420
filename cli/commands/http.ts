import { concat } from "@custos/core/bytes";
import { displayLine, displaySafe } from "@custos/core/display";
import { CustosError } from "@custos/core/errors";
import { bodyInJson, type HttpResult, type StreamEnd, type StreamHead } from "@custos/rpc/http_schemas";
import { DEFAULT_MAX_BYTES, MAX_INLINE_BYTES } from "@custos/rpc/limits";
import type { StreamedHttp } from "@custos/rpc/stream";
import { WAIT_OPTION, waitMs } from "../args.ts";
import { sayWaiting } from "../asking.ts";
import { BodyOutput } from "../body_output.ts";
import type { Command, Context, Given } from "../command.ts";
import { type HttpInput, httpInput } from "../http_input.ts";
import { count } from "../text.ts";

/** `custos http`. */
export const command: Command = {
  name: "http",
  usage: "[options] URL",
  about:
    "Makes an HTTP request with a secret and prints the answer's body as it comes. Without a live grant the human " +
    "is asked first; the three words on the terminal are the ones on the phone. Redirects are not followed.",
  options: {
    request: { type: "string", short: "X", value: "M", help: "method (GET, or POST with a body)" },
    header: { type: "string", short: "H", value: "'K: V'", list: true, help: "a request header" },
    data: { type: "string", short: "d", value: "DATA", help: "request body; @- reads stdin, up to 64 MiB" },
    include: { type: "boolean", short: "i", help: "print status and headers before the body" },
    fail: { type: "boolean", short: "f", help: "exit with 1 where the status is 400 or more" },
    handle: { type: "string", value: "H", help: "which secret, where several fit" },
    reason: { type: "string", value: "TEXT", help: "why, in your words; the card shows it" },
    "max-bytes": { type: "string", value: "N", help: "stop after so many bytes of body" },
    ...WAIT_OPTION,
  },
  positionals: [1, 1],
  examples: [
    ["custos http https://api.github.com/user", "a GET with the secret that fits"],
    [
      `custos http -X POST -d '{"title":"Bug"}' -H 'Content-Type: application/json' \\\n` +
      '      --reason "file the bug you described" https://api.github.com/repos/acme/site/issues',
      "a POST; the card shows the body",
    ],
    ["custos http --wait 0 https://api.github.com/user", "ask, and return at once with the words"],
  ],
  async run(given, context) {
    const wait = waitMs(given);
    const { params, upload } = await httpInput(given, context);
    params.wait_ms = wait;
    if (!context.json) return await streamed({ params, upload }, given, context);
    if ((params.max_bytes ?? 0) > MAX_INLINE_BYTES) {
      throw new CustosError(
        "bad_request",
        "--json holds at most 16 MiB of body. Leave --json out to stream more.",
      );
    }
    params.max_bytes ??= DEFAULT_MAX_BYTES;
    const result = await inline({ params, upload }, context);
    await context.io.out(`${JSON.stringify(result)}\n`);
    return given.has("fail") && result.status_code >= 400 ? 1 : 0;
  },
};

/** One call, which sends at most once. The words are shown as soon as the daemon waits for the phone. */
async function call({ params, upload }: HttpInput, context: Context): Promise<StreamedHttp> {
  const { client, shown } = context;
  const answer = await client.streamHttp(params, {
    ...(upload === undefined ? {} : { body: upload }),
    onPending: async ({ request_id, fingerprint }) => {
      await shown.request(request_id, fingerprint);
      sayWaiting(context, params.wait_ms!);
    },
  });
  await shown.request(answer.head.request_id, answer.head.fingerprint);
  return answer;
}

/** The whole answer as one object, as `http.request` has it inline. */
async function inline(input: HttpInput, context: Context): Promise<HttpResult> {
  const { head, body, end } = await call(input, context);
  const bytes = concat(...await Array.fromAsync(body));
  return { ...head, ...bodyInJson(bytes), ...end() };
}

async function streamed(input: HttpInput, given: Given, context: Context): Promise<number> {
  const { io } = context;
  const answer = await call(input, context);
  if (given.has("include")) await io.out(headText(answer.head));
  const output = new BodyOutput(io);
  for await (const chunk of answer.body) {
    await output.write(chunk);
    if (output.binary) break; // ends the upstream request too
  }
  await output.end();
  const lines = output.binary
    ? [
      "The body is binary and not shown on a terminal. Redirect stdout to keep it.",
      ...notes(answer.head, null),
    ]
    : notes(answer.head, answer.end());
  if (lines.length > 0) {
    io.err(`${output.open ? "\n" : ""}${lines.map((line) => `custos: ${line}\n`).join("")}`);
  }
  return given.has("fail") && answer.head.status_code >= 400 ? 1 : 0;
}

/** Status line and headers. The protocol's version is between the daemon and the server, so it is not claimed here. */
function headText(head: StreamHead): string {
  const headers = head.headers.map(([name, value]) => `${displaySafe(name)}: ${displaySafe(value)}\n`);
  return `HTTP ${head.status_code}\n${headers.join("")}\n`;
}

/** What a person should know beside the body. */
function notes(head: StreamHead, end: StreamEnd | null): string[] {
  const lines: string[] = [];
  if (head.status_code >= 400) lines.push(`The server answered ${head.status_code}.`);
  if (head.status_code >= 300 && head.status_code < 400) {
    const location = head.headers.find(([name]) => name.toLowerCase() === "location")?.[1];
    const where = location === undefined ? "" : ` to ${displayLine(location, 200)}`;
    lines.push(`The server answered ${head.status_code}${where}. Redirects are not followed.`);
  }
  if (end !== null && end.redactions > 0) {
    const places = count(end.redactions, "place");
    lines.push(`The answer held the secret in ${places}; it was replaced before it came here.`);
  }
  if (end?.truncated === true) lines.push("The body was cut at the limit; there was more.");
  return lines;
}
