/** The form of a decision record (`adr/NNNN-title.md`): a title with its number, three facts, five headings, a test. */
import { testReferences } from "./test_references.ts";

const HEADINGS = ["Context", "Decision", "Alternatives considered", "Evidence", "Consequences"];
const FACTS = ["Status", "Date", "Area"];

/** What a decision record lacks. */
export function adrFindings(root: string, path: string, text: string): string[] {
  const findings: string[] = [];
  const number = /^adr\/(\d{4})-[a-z0-9-]+\.md$/.exec(path)?.[1];
  if (number === undefined) findings.push(`${path}: name it adr/NNNN-title-in-lower-case.md`);
  if (!new RegExp(`^# ${number} (—|-|–) \\S`).test(text)) {
    findings.push(`${path}: the first line must be "# ${number} — title"`);
  }
  for (const fact of FACTS) {
    if (!new RegExp(`^- ${fact}: \\S`, "m").test(text)) {
      findings.push(`${path}: the line "- ${fact}: …" is missing`);
    }
  }
  const found = [...text.matchAll(/^## (.+)$/gm)].map((match) => match[1]?.trim() ?? "");
  for (const heading of HEADINGS) {
    if (!found.includes(heading)) findings.push(`${path}: the heading "## ${heading}" is missing`);
  }
  const present = HEADINGS.filter((heading) => found.includes(heading));
  const order = found.filter((heading) => HEADINGS.includes(heading));
  if (order.join() !== present.join()) {
    findings.push(`${path}: the headings stand in another order: ${order.join(", ")}`);
  }
  if (testReferences(root, path, text).named === 0) {
    findings.push(
      `${path}: no test is named. Write \`zone/file_test.ts::"name of the test"\` under Evidence`,
    );
  }
  return findings;
}
