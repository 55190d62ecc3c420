/**
 * A daemon for tests: the real server half of `@custos/rpc` on a real unix socket, with answers that a test chooses. Only
 * what the daemon decides is made up; the wire is the real one.
 */

import type { HttpParams } from "@custos/rpc/http_schemas";
import { dispatch, type Handlers, readStreamParams } from "@custos/rpc/server";
import { STREAM_TYPE, streamErrorResponse } from "@custos/rpc/stream";
import { decodeUpload } from "@custos/rpc/upload";

/** What the daemon answers. */
export interface FakeAnswers extends Partial<Handlers<null>> {
  /** The streaming form of `http.request`; `upload` is the body of a call that has a large one. */
  stream?: (params: HttpParams, upload?: ReadableStream<Uint8Array>) => Response | Promise<Response>;
  /** Replaces the whole answer, to play a broken daemon. */
  raw?: (method: string, params: unknown) => Response;
}

/** A running fake. */
export interface FakeDaemon extends AsyncDisposable {
  socket: string;
  /** Every call, in order; the streaming form is called `http`. */
  calls: { method: string; params: Record<string, unknown> }[];
}

/** Starts a fake on a socket in a folder of its own. */
export async function fakeDaemon(answers: FakeAnswers): Promise<FakeDaemon> {
  const folder = await Deno.makeTempDir({ prefix: "custos-cli-" });
  const socket = `${folder}/custos.sock`;
  const calls: FakeDaemon["calls"] = [];
  const server = Deno.serve({ path: socket, transport: "unix", onListen() {} }, async (request) => {
    const framed = request.headers.get("content-type") === STREAM_TYPE;
    const { params: text, body } = framed
      ? await decodeUpload(request.body!)
      : { params: await request.text(), body: undefined };
    if (new URL(request.url).pathname === "/http") {
      calls.push({ method: "http", params: JSON.parse(text) });
      if (answers.raw !== undefined) return answers.raw("http", JSON.parse(text));
      try {
        if (answers.stream === undefined) throw new Error("no answer was chosen for the streaming form");
        return await answers.stream(readStreamParams(text), body);
      } catch (error) {
        return streamErrorResponse(error);
      }
    }
    const call = JSON.parse(text);
    calls.push({ method: call.method, params: call.params });
    if (answers.raw !== undefined) return answers.raw(call.method, call.params);
    return Response.json(await dispatch(answers, call, null));
  });
  return {
    socket,
    calls,
    async [Symbol.asyncDispose]() {
      await server.shutdown();
      await Deno.remove(folder, { recursive: true });
    },
  };
}
