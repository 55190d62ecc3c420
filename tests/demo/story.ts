/**
 * The main job, as it happens between an agent, a person with a phone, and an API that gives the secret back. Every fact
 * is checked; one that is not so ends the demo with an error.
 */

import type { PlacementView } from "@custos/rpc/inventory_schemas";
import { SoftwarePhone } from "../phone/software_phone.ts";
import type { HostileApi } from "./hostile_api.ts";
import { McpAgent, type ToolAnswer } from "./mcp_agent.ts";
import type { Narrator } from "./narrator.ts";
import type { Stage } from "./stage.ts";

/** The secret of the demo. It goes from the phone to the API, and must be seen nowhere else. */
export const SECRET = "tok_live_4f9c2a7e";

/** What the story is told with. */
export interface Cast {
  stage: Stage;
  api: HostileApi;
  narrator: Narrator;
}

/** Tells the whole story. Throws `NotSo` at the first fact that is not as it should be. */
export async function tell({ stage, api, narrator }: Cast): Promise<void> {
  const phone = await pairPhone(stage, narrator);
  const agent = await McpAgent.start(stage.values, "demo-agent");
  const printed: string[] = [];
  try {
    await dropSecret(agent, phone, api, narrator);
    await sendRequest(agent, phone, api, narrator);
    printed.push(await denyRequest(stage, phone, api, narrator));
    printed.push(await refuseHost(stage, phone, narrator));
    printed.push(await verifyLog(stage, narrator));
    await checkLeaks([...printed, ...agent.seen], stage, narrator);
  } finally {
    await agent.close();
    await phone.close();
  }
}

async function pairPhone(stage: Stage, narrator: Narrator): Promise<SoftwarePhone> {
  narrator.step("1. A phone is paired; the person types the first word that it shows");
  let pairing: Promise<SoftwarePhone> | null = null;
  const shown = Promise.withResolvers<string>();
  const ran = await stage.custos(["pair"], {
    onLine: async (line) => {
      if (!line.includes("#p=")) return null;
      pairing = SoftwarePhone.pair(line.trim(), { onWords: shown.resolve, device_name: "demo phone" });
      pairing.catch(shown.reject);
      return (await shown.promise).split(" ")[0]!;
    },
  });
  narrator.fact({
    says: "custos pair ended well",
    ok: ran.code === 0 && pairing !== null,
    shows: { exit_code: ran.code },
  });
  const phone = await pairing!;
  narrator.fact({
    says: "the phone is enrolled with a passkey, and printed its recovery sheet",
    ok: phone.recoverySheet !== null,
    shows: { words: await shown.promise },
  });
  return phone;
}

async function dropSecret(
  agent: McpAgent,
  phone: SoftwarePhone,
  api: HostileApi,
  narrator: Narrator,
): Promise<void> {
  narrator.step(
    "2. An agent asks over MCP for a secret that is not there; the person answers after it has stopped waiting",
  );
  const tool = "request_secret_from_human";
  const asked = await agent.call(tool, { name: "demo", reason: "call the demo API", wait_seconds: 1 });
  narrator.fact({
    says: "the wait ended, and the request is still pending",
    ok: asked.data["status"] === "pending",
    shows: about(asked),
  });
  const card = await phone.nextCard({ type: "drop" });
  narrator.fact({
    says: "the phone shows the same three words",
    ok: card.words === asked.data["fingerprint"],
    shows: { on_the_phone: card.words },
  });
  const fields = {
    name: "demo",
    origins: [api.origin],
    placement: { kind: "bearer" } as const satisfies PlacementView,
    rules: [{ methods: ["GET", "POST"], path_prefix: "/v1/" }],
    max_seconds: 900,
    private_network: true,
  };
  const dropped = await phone.drop(card.doc.id, fields, new TextEncoder().encode(SECRET));
  narrator.fact({
    says: "the person pasted the value and said where it may go",
    ok: dropped.status === "delivered",
  });
  const collected = await agent.call(tool, { request_id: asked.data["request_id"] });
  narrator.fact({
    says: "the agent collects the handle by polling with the request id alone",
    ok: collected.data["status"] === "delivered" && collected.data["handle"] === "custos:demo",
    shows: about(collected),
  });
  const cards = await phone.cards();
  narrator.fact({ says: "there was no second card", ok: cards.length === 1, shows: { cards: cards.length } });
}

async function sendRequest(
  agent: McpAgent,
  phone: SoftwarePhone,
  api: HostileApi,
  narrator: Narrator,
): Promise<void> {
  narrator.step("3. The agent asks for an HTTP request; the person approves exactly that one");
  const request = {
    handle: "custos:demo",
    method: "POST",
    url: `${api.origin}/v1/issues`,
    body: '{"title":"a broken link"}',
    reason: "open an issue for the broken link",
  };
  const asked = await agent.call("http_request", { ...request, wait_seconds: 0 });
  narrator.fact({
    says: "without a grant the agent gets needs_approval, with the words",
    ok: asked.data["status"] === "needs_approval" && api.requests.length === 0,
    shows: about(asked),
  });
  const card = await phone.nextCard({ type: "http" });
  narrator.fact({
    says: "the card shows the exact request and the same words",
    ok: card.words === asked.data["fingerprint"] && card.type === "http" && card.target.url === request.url,
    shows: { on_the_phone: card.words },
  });
  const approved = await phone.approve(card.doc.id);
  narrator.fact({ says: "one touch approves it and opens the key", ok: approved.status === "granted" });
  const answer = await agent.call("http_request", request);
  const sent = api.requests[0];
  narrator.fact({
    says: "the API got the secret, once",
    ok: api.requests.length === 1 && sent?.authorization === `Bearer ${SECRET}` && sent.path === "/v1/issues",
  });
  const body = JSON.stringify(answer.data);
  narrator.fact({
    says: "the API gave it back, and the agent reads [custos:demo] in its place",
    ok: !answer.isError && body.includes("[custos:demo]") && !body.includes(SECRET),
    shows: about(answer),
  });
}

async function denyRequest(
  stage: Stage,
  phone: SoftwarePhone,
  api: HostileApi,
  narrator: Narrator,
): Promise<string> {
  narrator.step("4. The shell asks with custos http; the person says no");
  const before = api.requests.length;
  const running = stage.custos([
    "http",
    "-X",
    "GET",
    "--handle",
    "custos:demo",
    "--reason",
    "look",
    `${api.origin}/v1/all`,
  ]);
  const card = await phone.nextCard({ type: "http" });
  await phone.deny(card.doc.id);
  const ran = await running;
  narrator.fact({
    says: "custos http ends with exit code 4, names the request and its words, and nothing was sent",
    ok: ran.code === 4 && ran.stderr.includes(`fingerprint: ${card.words})`) &&
      api.requests.length === before,
    shows: { exit_code: ran.code, on_the_phone: card.words },
  });
  return ran.stdout + ran.stderr;
}

async function refuseHost(stage: Stage, phone: SoftwarePhone, narrator: Narrator): Promise<string> {
  narrator.step("5. Another host is refused, and nobody is asked");
  const cards = (await phone.cards()).length;
  const ran = await stage.custos([
    "http",
    "--handle",
    "custos:demo",
    "--reason",
    "look",
    "http://127.0.0.2:9/v1/steal",
  ]);
  await phone.sync(2_000);
  narrator.fact({
    says: "host_not_allowed, exit code 7, no card",
    ok: ran.code === 7 && (await phone.cards()).length === cards,
    shows: { exit_code: ran.code },
  });
  return ran.stdout + ran.stderr;
}

async function verifyLog(stage: Stage, narrator: Narrator): Promise<string> {
  narrator.step("6. The audit log is verified");
  const ran = await stage.custos(["log", "verify"]);
  narrator.fact({ says: (ran.stdout || ran.stderr).trim().split("\n").at(-1) ?? "", ok: ran.code === 0 });
  return ran.stdout + ran.stderr;
}

/** Nothing that was printed, sent over MCP or written to disk holds the secret, in any of the plain encodings. */
async function checkLeaks(texts: readonly string[], stage: Stage, narrator: Narrator): Promise<void> {
  const forms = [SECRET, btoa(SECRET), encodeURIComponent(SECRET), JSON.stringify(SECRET).slice(1, -1)];
  const inText = texts.some((text) => forms.some((form) => text.includes(form)));
  const inFiles: string[] = [];
  for await (const path of filesBelow(stage.folder)) {
    const text = new TextDecoder("latin1").decode(await Deno.readFile(path));
    if (forms.some((form) => text.includes(form))) inFiles.push(path);
  }
  narrator.fact({
    says: "the secret is in no output and in no file of daemon, relay or socket folder",
    ok: !inText && inFiles.length === 0,
    shows: { files_with_it: inFiles.length },
  });
}

async function* filesBelow(folder: string): AsyncGenerator<string> {
  for await (const entry of Deno.readDir(folder)) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory) yield* filesBelow(path);
    else if (entry.isFile) yield path;
  }
}

function about(answer: ToolAnswer): Record<string, string | number | null> {
  const shown: Record<string, string | number | null> = {};
  for (const name of ["status", "handle", "fingerprint", "status_code", "redactions"]) {
    const value = answer.data[name];
    if (typeof value === "string" || typeof value === "number") shown[name] = value;
  }
  return shown;
}
