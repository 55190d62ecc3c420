/** Golden files: what was agreed, to be compared with what is. `deno task golden` writes them anew, to be read as a diff. */
import { readIfThere } from "./files.ts";

/** Compares each expected file (path from `root` and content) with what is there. */
export function compareGolden(root: string, expected: ReadonlyMap<string, string>): string[] {
  const findings: string[] = [];
  for (const [path, content] of expected) {
    const found = readIfThere(`${root}/${path}`);
    if (found === null) findings.push(`${path} is missing. Make it with: deno task golden`);
    else if (found !== content) {
      findings.push(
        `${path} differs:\n${
          difference(found, content)
        }  If this was meant: deno task golden, and read the diff.`,
      );
    }
  }
  return findings;
}

/** Writes the expected files. */
export function writeGolden(root: string, expected: ReadonlyMap<string, string>): void {
  for (const [path, content] of expected) {
    Deno.mkdirSync(`${root}/${path.slice(0, path.lastIndexOf("/"))}`, { recursive: true });
    Deno.writeTextFileSync(`${root}/${path}`, content);
  }
}

/** The lines that only one side has, at most twenty. */
function difference(found: string, expected: string): string {
  const a = found.split("\n");
  const b = expected.split("\n");
  const lines = [
    ...a.filter((line) => !b.includes(line)).map((line) => `  - ${line}`),
    ...b.filter((line) => !a.includes(line)).map((line) => `  + ${line}`),
  ];
  const shown = lines.slice(0, 20);
  if (lines.length > shown.length) shown.push(`  (and ${lines.length - shown.length} more)`);
  return shown.length === 0 ? "  (the order of lines)\n" : shown.join("\n") + "\n";
}
