import assert from "node:assert/strict";
import { newId } from "@custos/core/ids";
import { Client } from "./client.ts";
import { custosFetch, type CustosFetchOptions } from "./custos_fetch.ts";
import { CustosFetchError } from "./fetch_error.ts";
import type { StreamHead } from "./http_schemas.ts";
import { RpcError } from "./rpc_error.ts";
import { STREAM_TYPE, streamErrorResponse, streamResponse } from "./stream.ts";
import { decodeUpload } from "./upload.ts";

const request_id = newId();
const fingerprint = "rocket velvet oasis";
const end = () => ({ truncated: false, redactions: 0, received_bytes: 0 });

interface Call {
  params: Record<string, unknown>;
  upload: string | null;
}

/** Runs `use` with a fetch whose daemon answers as the test says; returns the calls that came. */
async function withFetch(
  answer: (call: Call) => Response | Promise<Response>,
  use: (fetch: typeof globalThis.fetch) => Promise<void>,
  options: Partial<CustosFetchOptions> = {},
): Promise<Call[]> {
  const folder = await Deno.makeTempDir({ prefix: "custos-f-" });
  const socket = `${folder}/s`;
  const calls: Call[] = [];
  const onError = () => new Response(null, { status: 500 }); // quietly
  const server = Deno.serve({ path: socket, transport: "unix", onListen() {}, onError }, async (request) => {
    const framed = request.headers.get("content-type") === STREAM_TYPE;
    const { params, body } = framed
      ? await decodeUpload(request.body!)
      : { params: await request.text(), body: null };
    const call = {
      params: JSON.parse(params),
      upload: body === null ? null : await new Response(body).text(),
    };
    calls.push(call);
    return await answer(call);
  });
  try {
    using client = new Client({ socket });
    await use(custosFetch("custos:x", { client, reason: "y", ...options }));
  } finally {
    await server.shutdown();
    await Deno.remove(folder, { recursive: true });
  }
  return calls;
}

const answering = (change: Partial<StreamHead> = {}, body = "hello") => () =>
  streamResponse(
    { request_id, fingerprint, status_code: 200, headers: [["content-type", "text/plain"]], ...change },
    ReadableStream.from(body === "" ? [] : [new TextEncoder().encode(body)]),
    end,
  );

Deno.test("custosFetch() gives a response as fetch does, from a URL, a string or a Request", async () => {
  const calls = await withFetch(answering(), async (fetch) => {
    for (
      const input of [
        "https://x.test/a?b=%20#c",
        new URL("https://x.test/a?b=%20"),
        new Request("https://x.test/a?b=%20"),
      ]
    ) {
      const response = await fetch(input);
      assert.deepEqual(
        [
          response.status,
          response.ok,
          response.url,
          response.headers.get("content-type"),
          await response.text(),
        ],
        [200, true, "https://x.test/a?b=%20", "text/plain", "hello"],
      );
    }
  });
  assert.deepEqual(calls.map(({ params }) => params.url), Array(3).fill("https://x.test/a?b=%20"));
});

Deno.test("custosFetch() passes method, body, headers, reason, agent and wait, and leaves out what custos sets itself", async () => {
  const calls = await withFetch(answering(), async (fetch) => {
    await (await fetch("https://x.test/", {
      method: "post",
      body: JSON.stringify({ a: 1 }),
      headers: {
        Authorization: "Bearer placeholder",
        "Content-Type": "application/json",
        "Content-Length": "7",
        "Accept-Encoding": "gzip",
        "X-Other": "1",
      },
    })).text();
    await (await fetch("https://x.test/", { method: "PUT", body: new Uint8Array([0xff, 0]) })).text();
  }, { reason: ({ method }) => `${method} it`, agent: { name: "a" }, wait_ms: 5 });
  const [{ params }, second] = calls as [Call, Call];
  assert.deepEqual(params.headers, [["content-type", "application/json"], ["x-other", "1"]]);
  assert.deepEqual(params.body, { encoding: "utf8", data: '{"a":1}' });
  assert.deepEqual(
    [params.handle, params.method, params.reason, params.agent, params.wait_ms],
    ["custos:x", "POST", "POST it", { name: "a" }, 5],
  );
  assert.deepEqual(second.params.body, { encoding: "base64", data: "/wA=" });
});

Deno.test("custosFetch() leaves headers to the daemon to refuse, unless it was told that custos replaces them", async () => {
  const rows: [readonly string[] | undefined, string[]][] = [
    [undefined, ["cookie", "x-api-key"]],
    [["X-API-Key"], ["authorization", "cookie"]],
    [[], ["authorization", "cookie", "x-api-key"]],
  ];
  for (const [replaces, names] of rows) {
    const calls = await withFetch(answering(), async (fetch) => {
      const headers = { authorization: "a", cookie: "b", "x-api-key": "c" };
      await (await fetch("https://x.test/", { headers })).text();
    }, { replaces });
    assert.deepEqual((calls[0]!.params.headers as string[][]).map(([name]) => name), names);
  }
});

Deno.test("custosFetch() uploads a body that is too large for one call", async () => {
  const large = "0123456789".repeat(200_000);
  const calls = await withFetch(answering(), async (fetch) => {
    await (await fetch("https://x.test/", { method: "POST", body: large })).text();
  });
  assert.equal(calls[0]!.params.body, undefined);
  assert.ok(calls[0]!.upload === large);
});

Deno.test("custosFetch() sends nothing where the body breaks or is larger than anything custos sends", async () => {
  const broken = new ReadableStream({ pull: () => Promise.reject(new Error("tok_live_4f9c2a7e")) });
  const block = new Uint8Array(1_048_576);
  let left = 80;
  const endless = new ReadableStream({
    pull: (controller) => left-- > 0 ? controller.enqueue(block) : controller.close(),
  });
  const calls = await withFetch(answering(), async (fetch) => {
    const rows: [ReadableStream, string][] = [[broken, "bad_request"], [endless, "body_too_large"]];
    for (const [body, kind] of rows) {
      await assert.rejects(
        fetch("https://x.test/", { method: "POST", body, duplex: "half" } as RequestInit),
        (error) =>
          error instanceof CustosFetchError && error.cause.kind === kind &&
          !error.message.includes("tok_live"),
      );
    }
  });
  assert.deepEqual(calls, []);
});

Deno.test("custosFetch() hands a redirect back, or rejects it where the caller wanted none", async () => {
  const answer = answering({ status_code: 302, headers: [["location", "https://evil.test/"]] }, "");
  const calls = await withFetch(answer, async (fetch) => {
    const response = await fetch("https://x.test/");
    assert.deepEqual([response.status, response.headers.get("location")], [302, "https://evil.test/"]);
    await response.body?.cancel();
    await assert.rejects(fetch("https://x.test/", { redirect: "error" }), CustosFetchError);
  });
  assert.equal(calls.length, 2);
});

Deno.test("custosFetch() makes no body for a status that has none, and rejects one that fetch does not know", async () => {
  for (const status_code of [204, 205, 304]) {
    await withFetch(answering({ status_code, headers: [] }, ""), async (fetch) => {
      const response = await fetch("https://x.test/");
      assert.deepEqual([response.status, response.body], [status_code, null]);
    });
  }
  for (const status_code of [101, 199, 600, 999]) {
    await withFetch(answering({ status_code, headers: [] }, ""), async (fetch) => {
      await assert.rejects(fetch("https://x.test/"), /fetch has no response for/);
    });
  }
});

Deno.test("custosFetch() rejects with a TypeError whose cause has the kind and the words", async () => {
  const kinds = [
    "needs_approval",
    "denied",
    "expired",
    "withdrawn",
    "outcome_unknown",
    "host_not_allowed",
  ] as const;
  for (const kind of kinds) {
    const error = new RpcError(kind, "What happened.").withRequest(request_id, fingerprint);
    const calls = await withFetch(() => streamErrorResponse(error), async (fetch) => {
      await assert.rejects(fetch("https://x.test/"), (thrown) => {
        assert.ok(thrown instanceof TypeError && thrown instanceof CustosFetchError);
        assert.deepEqual([thrown.cause.kind, thrown.cause.request], [kind, { id: request_id, fingerprint }]);
        assert.ok(thrown.message.endsWith(`(request ${request_id}, fingerprint: ${fingerprint})`));
        return true;
      });
    });
    assert.equal(calls.length, 1, `${kind} is not tried again`);
  }
});

Deno.test("custosFetch() rejects with the signal's reason, and says that a cut answer is not whole", async () => {
  const gone = new Error("the user left");
  await withFetch(answering(), async (fetch) => {
    await assert.rejects(
      fetch("https://x.test/", { signal: AbortSignal.abort(gone) }),
      (error) => error === gone,
    );
  });
  const cut = () =>
    streamResponse(
      { request_id, fingerprint, status_code: 200, headers: [] },
      new ReadableStream({ pull: () => Promise.reject(new RpcError("outcome_unknown", "Cut.")) }),
      end,
    );
  await withFetch(cut, async (fetch) => {
    const response = await fetch("https://x.test/");
    await assert.rejects(
      response.text(),
      (error) => error instanceof RpcError && error.kind === "outcome_unknown",
    );
  });
});

Deno.test("custosFetch() refuses to be made without a daemon", () => {
  assert.throws(() => custosFetch("custos:x", { reason: "y" }), TypeError);
});
