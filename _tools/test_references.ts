/**
 * Tests that documents name, as `zone/file_test.ts::"name of the test"` in backticks. A name that holds a table's row may
 * end with `…`: then its beginning is looked for.
 */
import { readIfThere } from "./files.ts";

/** How many tests a document names one by one, and which of its references lead nowhere. */
export interface TestReferences {
  readonly named: number;
  readonly findings: readonly string[];
}

/** Looks up every `…_test.ts` that a document names in backticks. Paths are from the top of the checkout. */
export function testReferences(root: string, path: string, text: string): TestReferences {
  const findings: string[] = [];
  let named = 0;
  for (const [, reference] of text.matchAll(/`((?:[\w.-]+\/)*[\w.-]+_test\.tsx?(?:::[^`]*)?)`/g)) {
    const [file = "", ...rest] = (reference ?? "").split("::");
    const source = readIfThere(`${root}/${file}`);
    if (source === null) {
      findings.push(`${path}: the test file ${file} is not there`);
      continue;
    }
    for (const name of names(rest.join("::"))) {
      named++;
      if (!source.includes(name)) findings.push(`${path}: ${file} has no test "${name}"`);
    }
  }
  return { named, findings };
}

/** `"one"`, `one` or `{"one", "two"}`. */
function names(text: string): string[] {
  const trimmed = text.trim();
  if (trimmed === "") return [];
  const quoted = [...trimmed.matchAll(/"([^"]+)"/g)].map((match) => match[1] ?? "");
  return (quoted.length > 0 ? quoted : [trimmed]).map((name) => name.replace(/(…|\.\.\.)$/, ""));
}
