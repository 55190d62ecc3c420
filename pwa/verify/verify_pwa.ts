/** Compares an origin with a build: every file, its type, the headers around it, and the relays that it names. */

import { fromUtf8 } from "@custos/core/bytes";
import { contentType } from "../content_types.ts";
import { securityHeaders } from "../security_headers.ts";
import type { ExpectedBuild } from "./expected_build.ts";
import { type Served, serveError, take } from "./take.ts";
import { sha256Hex } from "./sha256_hex.ts";

/** What came of it. No findings: the same. */
export interface Verified {
  version: string;
  /** How many files were compared. */
  files: number;
  /** What the origin's `config.json` says; worth a look, as it is not part of the build. */
  relays: string[];
  /** One line each, for people. */
  findings: string[];
}

/** A name that no build has: a host that answers it with a page could hide anything behind other names. */
const NO_FILE = "no-such-file-5f3b.js";

/** Looks at `origin` with `fetch`. Never throws for what the origin does. */
export async function verifyPwa(
  origin: string,
  expected: ExpectedBuild,
  fetch: (url: string, init: RequestInit) => Promise<Response>,
): Promise<Verified> {
  const findings: string[] = [];
  const get = async (name: string) => await take(`${origin}/${name}`, fetch);

  const config = await get("config.json");
  const relays = relaysOf(config);
  if (relays === null) {
    findings.push(`config.json: ${serveError(config) ?? "is not a list of relay origins"}`);
  }
  const headers = securityHeaders(relays ?? []);
  /** Where the same is wrong with the headers of many files, it is said once. */
  const wrongHeaders = new Map<string, string[]>();

  for (const name of ["", ...[...expected.files.keys()].filter((name) => name !== "index.html")]) {
    const file = name === "" ? "index.html" : name;
    const shown = name === "" ? "the page" : name;
    const served = await get(name);
    const error = serveError(served);
    if (error !== null) {
      findings.push(`${shown}: ${error}`);
      continue;
    }
    const { body, headers: sent } = served as Exclude<Served, { error: string }>;
    if (await sha256Hex(body) !== expected.files.get(file)) {
      findings.push(`${shown}: is not the file of this version`);
      if (name === "manifest.json") findings.push(...otherNames(body, expected));
    }
    const type = essence(sent.get("content-type") ?? "");
    if (type !== essence(contentType(file))) {
      findings.push(`${shown}: comes as ${type || "no type"}, not as ${essence(contentType(file))}`);
    }
    for (const wrong of headerFindings(headers, sent)) {
      wrongHeaders.set(wrong, [...wrongHeaders.get(wrong) ?? [], shown]);
    }
  }
  for (const [wrong, [first, ...more]] of wrongHeaders) {
    findings.push(`${first}${more.length === 0 ? "" : ` and ${more.length} more`}: ${wrong}`);
  }
  const nothing = await get(NO_FILE);
  if (serveError(nothing) === null) {
    findings.push(`${NO_FILE}: there is no such file, and something is served for it`);
  }
  return { version: expected.version, files: expected.files.size, relays: relays ?? [], findings };
}

function relaysOf(served: Served): string[] | null {
  if ("error" in served || served.status !== 200) return null;
  try {
    const { relays } = JSON.parse(fromUtf8(served.body)) as { relays?: unknown };
    if (!Array.isArray(relays)) return null;
    const origins = relays.every((one) => typeof one === "string" && URL.parse(one)?.origin === one);
    return origins ? relays as string[] : null;
  } catch {
    return null;
  }
}

/** Files that the origin's manifest names and this version has not. */
function otherNames(body: Uint8Array, expected: ExpectedBuild): string[] {
  try {
    const { files } = JSON.parse(fromUtf8(body)) as { files: Record<string, unknown> };
    return Object.keys(files).filter((name) => !expected.files.has(name))
      .map((name) => `${JSON.stringify(name)}: is served, and is not of this version`);
  } catch {
    return [];
  }
}

function headerFindings(wanted: Record<string, string>, sent: Headers): string[] {
  return Object.entries(wanted).flatMap(([name, value]) => {
    const found = sent.get(name);
    if (found === null) return [`has no ${name}`];
    return parts(name, found) === parts(name, value) ? [] : [`its ${name} differs: ${found}`];
  });
}

/** A header's parts in one order and spacing: hosts may write them otherwise. Two policies in one header stay two. */
function parts(name: string, value: string): string {
  const mark = name === "content-security-policy" ? ";" : ",";
  const all = value.toLowerCase().split(mark).map((part) => part.trim().replace(/\s+/g, " ")).filter((part) =>
    part !== ""
  );
  return all.sort().join(mark);
}

/** A type without its parameters. Scripts have an older name, which browsers take as well. */
function essence(type: string): string {
  const name = type.split(";")[0]!.trim().toLowerCase();
  return name === "application/javascript" ? "text/javascript" : name;
}
