/**
 * The one load generator for all: `wrk` with one thread and a script for method, body and headers. What it measured comes
 * back as one JSON line, so nothing is read from text for people.
 */

import { outputOf } from "./processes.ts";

/** What is asked, of whom. */
export interface Load {
  url: string;
  method: "GET" | "POST";
  headers?: Record<string, string>;
  body?: string;
  /** Connections, each with one request at a time. */
  at_once: number;
  seconds: number;
  /** A new connection for each request. */
  fresh?: boolean;
}

/** What came of it. Latencies in milliseconds; `failed` counts statuses other than 2xx and broken connections. */
export interface Measured {
  per_second: number;
  p50_ms: number;
  p99_ms: number;
  bytes_per_second: number;
  requests: number;
  failed: number;
}

const DONE = `
done = function(summary, latency)
  local e = summary.errors
  io.write(string.format('\\n@{"per_second":%.3f,"p50_ms":%.4f,"p99_ms":%.4f,"bytes_per_second":%.0f,"requests":%d,"failed":%d}\\n',
    summary.requests / summary.duration * 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    summary.bytes / summary.duration * 1e6, summary.requests, e.status + e.connect + e.read + e.write + e.timeout))
end
`;

/** Puts load on an address. `null` where `wrk` is not installed. */
export async function putLoad(folder: string, load: Load): Promise<Measured | null> {
  const { url, method, body, at_once, seconds, fresh = false } = load;
  const headers = { ...load.headers, ...(fresh ? { Connection: "close" } : {}) };
  const script = [
    `wrk.method = ${lua(method)}`,
    ...(body === undefined ? [] : [`wrk.body = ${lua(body)}`]),
    ...Object.entries(headers).map(([name, value]) => `wrk.headers[${lua(name)}] = ${lua(value)}`),
    DONE,
  ].join("\n");
  const path = `${folder}/load.lua`;
  await Deno.writeTextFile(path, script);
  const args = ["-t1", `-c${at_once}`, `-d${seconds}s`, "--timeout", "30s", "-s", path, url];
  const output = await outputOf("wrk", args);
  if (output === null) return null;
  return JSON.parse(output.slice(output.lastIndexOf("\n@") + 2)) as Measured;
}

/** A text as Lua writes it: JSON escapes what Lua does, but for what is not printable, which nobody here sends. */
function lua(text: string): string {
  return JSON.stringify(text);
}
