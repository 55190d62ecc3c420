/** How every check ends: a list of what is wrong, one line each, and an exit code. */
import { complain, say } from "./say.ts";

/** Prints the findings of a check and returns its exit code: 0 where there are none. */
export function report(name: string, findings: readonly string[]): number {
  for (const finding of findings) complain(`${name}: ${finding}`);
  if (findings.length === 0) say(`${name}: nothing to mend`);
  else complain(`${name}: ${findings.length} to mend`);
  return findings.length === 0 ? 0 : 1;
}
