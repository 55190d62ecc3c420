/** Source lines that a zone may not hold, found by text: what no import shows. Comments are left out. */
import { isPure, isSource, isTest, readIfThere } from "./files.ts";

interface Rule {
  readonly pattern: RegExp;
  readonly applies: (path: string) => boolean;
  readonly why: string;
}

/** Where flags can stand that start something: source, configuration, scripts. Prose and tests may name them. */
function holdsFlags(path: string): boolean {
  if (/^(tests|bench|_tools)\//.test(path) || isTest(path)) return false;
  return isSource(path) || /(^|\/)deno\.json$|\.sh$|^\.ci\/run$/.test(path);
}

const RULES: readonly Rule[] = [
  {
    pattern: /\bDeno\.Command\b/,
    applies: (path) => isSource(path) && path !== "_tools/launch.ts" && !isTest(path),
    why: "only _tools/launch.ts starts processes",
  },
  {
    // A test may hold the name in a string: code that it gives to a cell, to see it refused.
    pattern: /^[^"'`]*\bDeno\.Command\b/,
    applies: isTest,
    why: "only _tools/launch.ts starts processes",
  },
  {
    pattern: /(?<!["'])\bDeno\.[a-zA-Z]/,
    applies: (path) => isSource(path) && isPure(path),
    why: "this zone is pure: no I/O, no runtime",
  },
  {
    pattern: /\bdeno\s+(run|test|serve|task|install)\b[^"']*\s-A\b|--allow-all\b/,
    applies: holdsFlags,
    why: "everything is allowed by this flag",
  },
  {
    // The tasks of the checkout start Deno through _tools, and say so.
    pattern: /--allow-run(?!=deno [^"]*_tools\/)|--allow-ffi\b/,
    applies: holdsFlags,
    why: "no program and no library may be started outside _tools",
  },
  {
    pattern: /--allow-net(?![=\w-])/,
    applies: holdsFlags,
    why: "a bare net permission; only the daemon has one, from _tools/permissions.ts",
  },
  {
    pattern: /\bDeno\.test\.(only|ignore)\b|\bonly:\s*true\b/,
    applies: (path) => isSource(path),
    why: "a test that does not run, or stops others from running",
  },
];

/** The lines of one file that break a rule, as `path:line: why`. */
export function forbiddenLines(root: string, path: string): string[] {
  const rules = RULES.filter((rule) => rule.applies(path));
  if (rules.length === 0) return [];
  const text = readIfThere(`${root}/${path}`) ?? "";
  const lines = isSource(path) ? withoutComments(text) : text.split("\n");
  return lines.flatMap((line, at) =>
    rules.filter((rule) => rule.pattern.test(line)).map((rule) =>
      `${path}:${at + 1}: ${rule.why}: ${line.trim()}`
    )
  );
}

/**
 * The lines of a source file with whole-line comments blanked and ` // …` at the end of a line cut. It does not parse:
 * text within a string stays, which errs on the side of a finding.
 */
function withoutComments(text: string): string[] {
  let inside = false;
  return text.split("\n").map((line) => {
    const trimmed = line.trim();
    if (inside) {
      inside = !trimmed.includes("*/");
      return "";
    }
    if (trimmed.startsWith("/*")) {
      inside = !trimmed.includes("*/");
      return "";
    }
    return trimmed.startsWith("//") ? "" : line.replace(/\s\/\/ .*$/, "");
  });
}
