/** GitHub's own client, with a `fetch` that never sees the token. */

import assert from "node:assert/strict";
import { request as octokit } from "@octokit/request";
import { custosFetch, CustosFetchError } from "@custos/rpc";
import { SHARED, shareHouse } from "../e2e/harness.ts";
import { type ExampleApi, exampleApi } from "./api.ts";

const TOKEN = "ghp_example_0123456789abcdef";
const ISSUES = [{ number: 7, title: "The login page is slow" }];

const house = shareHouse({ empty: true });
let api: ExampleApi;

Deno.test.beforeAll(async () => {
  api = exampleApi(TOKEN, {
    "GET /repos/acme/site/issues": () => Response.json(ISSUES),
    "POST /repos/acme/site/issues": (body) =>
      Response.json({ number: 8, ...JSON.parse(body) }, { status: 201 }),
  });
  await house().pair();
  await house().dropSecret("github", TOKEN, {
    origins: [api.origin],
    rules: [{ methods: ["GET", "POST"], path_prefix: "/repos/acme/" }],
  });
});
Deno.test.afterAll(async () => await api[Symbol.asyncDispose]());

Deno.test(
  "custosFetch() lets Octokit list issues after an approval, and the token stays with custos",
  SHARED,
  async () => {
    const h = house();
    const words: string[] = [];
    const fetch = custosFetch("custos:github", {
      socket: h.values.socket,
      agent: { name: "octokit-example" },
      reason: "See which issues are open.",
      onWords: ({ fingerprint }) => void words.push(fingerprint),
    });
    const asked = octokit("GET /repos/{owner}/{repo}/issues", {
      baseUrl: api.origin,
      owner: "acme",
      repo: "site",
      request: { fetch },
    });
    const card = await h.cardFor("/repos/acme/site/issues");
    await h.approve(card.message.doc.id);
    const { status, data, url } = await asked;
    assert.deepEqual([status, data, url], [200, ISSUES, `${api.origin}/repos/acme/site/issues`]);
    assert.equal(words.length, 1, "the person could be told the words while it waited");
    assert.equal(api.seen.at(-1)!.key, `Bearer ${TOKEN}`);
  },
);

Deno.test(
  "custosFetch() shows the person the body that Octokit sends, and sends exactly that",
  SHARED,
  async () => {
    const h = house();
    const fetch = custosFetch("custos:github", {
      socket: h.values.socket,
      reason: (request) => `${request.method} it.`,
    });
    const asked = octokit("POST /repos/{owner}/{repo}/issues", {
      baseUrl: api.origin,
      owner: "acme",
      repo: "site",
      title: "Fix the login page",
      request: { fetch },
    });
    const { message: { doc } } = await h.cardFor("/repos/acme/site/issues");
    assert.ok(doc.type === "http");
    assert.equal(doc.reason, "POST it.");
    await h.approve(doc.id);
    assert.deepEqual((await asked).data, { number: 8, title: "Fix the login page" });
    assert.equal(api.seen.at(-1)!.body, '{"title":"Fix the login page"}');
  },
);

Deno.test(
  "custosFetch() rejects where the person says no, with the words, and nothing is sent",
  SHARED,
  async () => {
    const h = house();
    const before = api.seen.length;
    const fetch = custosFetch("custos:github", { socket: h.values.socket, reason: "Look at other issues." });
    const asked = octokit("GET /repos/{owner}/{repo}/issues", {
      baseUrl: api.origin,
      owner: "acme",
      repo: "other",
      request: { fetch },
    }).catch((error) => error);
    await h.deny((await h.cardFor("/repos/acme/other/issues")).message.doc.id);
    const error = await asked;
    assert.ok(error.cause instanceof CustosFetchError);
    assert.equal(error.cause.cause.kind, "denied");
    assert.match(error.message, /fingerprint: [a-z-]+ [a-z-]+ [a-z-]+/);
    assert.equal(api.seen.length, before);
  },
);
