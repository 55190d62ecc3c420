/**
 * The configuration under which examples in doc comments run. Deno imports every export of a file into each of its
 * examples, so the rule against unused imports cannot hold there; everything else is as in the checkout.
 */
import { readIfThere } from "./files.ts";
import { exportsOf, MEMBERS } from "./members.ts";

/** The text of a `deno.json` that may stand in any folder: members are named by absolute paths. */
export function docConfig(root: string): string {
  const { imports, compilerOptions, unstable } = JSON.parse(readIfThere(`${root}/deno.json`) ?? "{}");
  const members: Record<string, string> = {};
  for (const member of MEMBERS) {
    for (const [name, file] of Object.entries(exportsOf(root, member))) {
      members[`@custos/${member}${name.slice(1)}`] = `${root}/${member}/${file.replace("./", "")}`;
    }
  }
  return JSON.stringify({
    imports: { ...imports, ...members },
    compilerOptions: { ...compilerOptions, noUnusedLocals: false, noUnusedParameters: false },
    unstable,
    lock: false,
  });
}
