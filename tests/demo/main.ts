/**
 * `deno task demo [--json]`: the main job with real parts on this machine. Exit code 1 if anything that it shows is not so.
 */

import { parseArgs } from "node:util";
import { complain, say } from "../../_tools/say.ts";
import { startHostileApi } from "./hostile_api.ts";
import { Narrator, NotSo } from "./narrator.ts";
import { startStage } from "./stage.ts";
import { tell } from "./story.ts";

const HELP =
  `Shows custos at work: relay, daemon, CLI, MCP server and a software phone, all real, on this machine.

  --json   one JSON object a line
  --help   this text
`;

async function main(): Promise<number> {
  const options = { json: { type: "boolean" }, help: { type: "boolean" } } as const;
  const { values } = parseArgs({ args: Deno.args, options, strict: true });
  if (values.help) {
    say(HELP);
    return 0;
  }
  const narrator = new Narrator(values.json ?? false);
  narrator.step("0. Relay and daemon are started, each with only the permissions it needs");
  const api = startHostileApi();
  const stage = await startStage();
  try {
    narrator.fact({ says: "both are ready", ok: true, shows: { relay: stage.relay, api: api.origin } });
    await tell({ stage, api, narrator });
    narrator.end(true, "Everything was as it should be.");
    return 0;
  } catch (error) {
    if (!(error instanceof NotSo)) {
      complain(error instanceof Error ? error.stack ?? error.message : String(error));
    }
    narrator.end(false, "The demo stopped: something was not as it should be.");
    return 1;
  } finally {
    await stage.stop();
    await api.stop();
  }
}

Deno.exit(await main());
