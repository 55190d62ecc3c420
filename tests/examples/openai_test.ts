/** OpenAI's own client, with a `fetch` that never sees the key; one whole answer and one that streams. */

import assert from "node:assert/strict";
import OpenAI, { APIConnectionError } from "openai";
import { custosFetch, CustosFetchError } from "@custos/rpc";
import { SHARED, shareHouse } from "../e2e/harness.ts";
import { type ExampleApi, exampleApi } from "./api.ts";

const KEY = "sk-example-0123456789abcdef";
const PATH = "/v1/chat/completions";

const house = shareHouse({ empty: true });
let api: ExampleApi;

const chunk = (content: string) =>
  `data: ${
    JSON.stringify({
      id: "c",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [{ index: 0, delta: { content } }],
    })
  }\n\n`;

Deno.test.beforeAll(async () => {
  api = exampleApi(KEY, {
    [`POST ${PATH}`]: (body) =>
      JSON.parse(body).stream === true
        ? new Response(`${chunk("Good ")}${chunk(`${KEY} `)}${chunk("day")}data: [DONE]\n\n`, {
          headers: { "content-type": "text/event-stream" },
        })
        : Response.json({
          id: "c",
          object: "chat.completion",
          created: 1,
          model: "m",
          choices: [{
            index: 0,
            finish_reason: "stop",
            message: { role: "assistant", content: `You are ${KEY}` },
          }],
        }),
  });
  await house().pair();
  await house().dropSecret("openai", KEY, {
    origins: [api.origin],
    rules: [{ methods: ["POST"], path_prefix: "/v1/" }],
  });
});
Deno.test.afterAll(async () => await api[Symbol.asyncDispose]());

/** `maxRetries: 0`: a person who said no is not asked again, and what may have been carried out is not repeated. */
function client(reason: string): OpenAI {
  return new OpenAI({
    apiKey: "custos holds it",
    baseURL: `${api.origin}/v1`,
    maxRetries: 0,
    fetch: custosFetch("custos:openai", {
      socket: house().values.socket,
      agent: { name: "openai-example" },
      reason,
    }),
  });
}

const ask = { model: "m", messages: [{ role: "user" as const, content: "Who am I?" }] };

Deno.test(
  "custosFetch() lets the OpenAI client ask, and takes the key out of the answer",
  SHARED,
  async () => {
    const asked = client("Ask the model a question.").chat.completions.create(ask);
    await house().approve((await house().cardFor(PATH)).message.doc.id);
    assert.equal((await asked).choices[0]!.message.content, "You are [custos:openai]");
    assert.equal(api.seen.at(-1)!.key, `Bearer ${KEY}`);
  },
);

Deno.test("custosFetch() streams an answer to the OpenAI client piece by piece", SHARED, async () => {
  const asked = client("Ask the model a question.").chat.completions.create({ ...ask, stream: true });
  await house().approve((await house().cardFor(PATH)).message.doc.id);
  const parts = [];
  for await (const part of await asked) parts.push(part.choices[0]?.delta.content);
  assert.deepEqual(parts, ["Good ", "[custos:openai] ", "day"]);
});

Deno.test(
  "custosFetch() tells the OpenAI client of a denial once, and it asks nobody again",
  SHARED,
  async () => {
    const h = house();
    const before = api.seen.length;
    const asked = client("Ask once more.").chat.completions.create({ ...ask, model: "other" }).catch((
      error,
    ) => error);
    await h.deny((await h.cardFor(PATH)).message.doc.id);
    const error = await asked;
    assert.ok(error instanceof APIConnectionError);
    assert.ok(error.cause instanceof CustosFetchError);
    assert.equal(error.cause.cause.kind, "denied");
    assert.match(error.cause.cause.request!.fingerprint, /^[a-z-]+ [a-z-]+ [a-z-]+$/);
    assert.equal(api.seen.length, before);
  },
);
