/**
 * Documents say what is so: links and paths lead somewhere, named tests and tasks exist, each decision record has the
 * agreed form and names the test that would fail if the decision were reversed.
 */
import { dirname, join, normalize } from "node:path";
import { adrFindings } from "./adr_form.ts";
import { readIfThere, walk, zoneOf } from "./files.ts";
import { report } from "./findings.ts";
import { ROOT } from "./launch.ts";
import { testReferences } from "./test_references.ts";

/** The Deno that documents and scripts must pin. */
export const PIN = "2.9.6";

/** Documents that every checkout has at its top. */
export const REQUIRED = [
  "README.md",
  "ARCHITECTURE.md",
  "SECURITY.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "LICENSE",
];

/** Everything that the documents of the checkout at `root` say and that is not so. */
export function checkDocs(root: string): string[] {
  const files = walk(root);
  const there = new Set(files);
  for (const file of files) {
    for (let folder = dirname(file); folder !== "."; folder = dirname(folder)) there.add(folder);
  }
  const tasks = taskNames(root);
  const findings = REQUIRED.filter((path) => !there.has(path)).map((path) => `${path} is missing`);
  for (const path of files.filter((file) => file.endsWith(".md") && !file.includes("testdata/"))) {
    const text = readIfThere(`${root}/${path}`) ?? "";
    findings.push(
      ...deadLinks(path, text, there),
      ...unknownTasks(path, text, tasks),
      ...wrongPins(path, text),
    );
    findings.push(...testReferences(root, path, text).findings);
    if (path === "ARCHITECTURE.md") findings.push(...deadPaths(path, text, there));
    if (/^adr\/\d{4}-/.test(path)) findings.push(...adrFindings(root, path, text));
    else if (zoneOf(path) === "adr" && path !== "adr/README.md") {
      findings.push(`${path}: name it adr/NNNN-title.md`);
    }
  }
  const ci = readIfThere(`${root}/.ci/run`);
  if (ci !== null) findings.push(...wrongPins(".ci/run", ci), ...unknownTasks(".ci/run", ci, tasks));
  return findings;
}

function taskNames(root: string): Set<string> {
  const text = readIfThere(`${root}/deno.json`);
  return new Set(Object.keys(text === null ? {} : JSON.parse(text).tasks ?? {}));
}

/** `[text](target)` outside code, where target is a path that is not there. */
function deadLinks(path: string, text: string, there: ReadonlySet<string>): string[] {
  const findings: string[] = [];
  for (const [, target] of withoutCode(text).matchAll(/\]\(\s*<?([^)\s>]+)>?[^)]*\)/g)) {
    if (target === undefined || /^([a-z]+:|#)/i.test(target)) continue;
    const file = normalize(join(dirname(path), decodeURIComponent(target.replace(/[#?].*$/, "")))).replace(
      /\/$/,
      "",
    );
    if (!there.has(file) && file !== ".") findings.push(`${path}: the link to ${target} leads nowhere`);
  }
  return findings;
}

function withoutCode(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, "").replace(/`[^`\n]*`/g, "");
}

/**
 * Backticked paths that begin with a folder of the checkout and are not there. A `*` stands for any name. A file name
 * alone may be in any folder.
 */
function deadPaths(path: string, text: string, there: ReadonlySet<string>): string[] {
  const zones = new Set([...there].filter((file) => file.includes("/")).map(zoneOf));
  const findings: string[] = [];
  for (const [, token] of text.matchAll(/`([^`\s]+)`/g)) {
    const file = (token ?? "").replace(/::.*$/, "").replace(/\/$/, "");
    const is_path = /^[\w.-]+(\/[\w.*-]+)*$/.test(file) &&
      (file.includes("/") ? zones.has(zoneOf(file)) : /\.(ts|tsx|md|json|js)$/.test(file));
    if (!is_path) continue;
    const pattern = new RegExp(
      `^${file.includes("/") ? "" : "(.*/)?"}${file.replaceAll(".", "\\.").replaceAll("*", "[^/]*")}$`,
    );
    if (![...there].some((known) => pattern.test(known))) findings.push(`${path}: ${token} is not there`);
  }
  return findings;
}

/** `deno task NAME` and `npx -y deno@2.9.6 task NAME` whose task does not exist. */
function unknownTasks(path: string, text: string, tasks: ReadonlySet<string>): string[] {
  const findings: string[] = [];
  for (const [, name] of text.matchAll(/\bdeno(?:@\S+)? task ([a-z][\w:-]*)/g)) {
    if (name !== undefined && !tasks.has(name)) findings.push(`${path}: there is no task ${name}`);
  }
  return findings;
}

function wrongPins(path: string, text: string): string[] {
  return [...text.matchAll(/\bdeno@(\d[\w.]*\w)/g)]
    .filter(([, version]) => version !== PIN)
    .map(([found]) => `${path}: ${found} is not the pinned deno@${PIN}`);
}

if (import.meta.main) Deno.exit(report("docs", checkDocs(ROOT)));
