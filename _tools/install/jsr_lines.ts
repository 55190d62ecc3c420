/** The `deno install` lines for the packages on JSR, from the same flags. */
import { exportsOf } from "../members.ts";
import { flagsOf, PARTS } from "../permissions.ts";
import { readIfThere } from "../files.ts";
import type { InstallOptions } from "./options.ts";
import { COMMANDS, valuesOf } from "./shims.ts";
import { shellWord } from "./quote.ts";

/** One line for each command. `custos-verify-pwa` is for one origin, that of the phone app. */
export function jsrLines(options: InstallOptions, root: string): string {
  const lines = Object.entries(COMMANDS).map(([name, part]) => {
    const values = { ...valuesOf(part, options), verify_host: hostOf(options.pwa_origin) };
    const flags = flagsOf(part, values).filter((flag) => flag !== "--cached-only");
    return ["deno install --global --name", name, ...flags.map(shellWord), jsrName(root, PARTS[part].module)]
      .join(" ");
  });
  return [
    "# The same permissions for the packages on JSR. Not checked on the machine that builds custos, which cannot reach JSR.",
    "# They differ from deno task install: the scripts of deno install keep your whole environment, use the Deno that is",
    "# first on PATH, have no default options (see --help of each), and may download when they run.",
    ...lines,
  ].join("\n");
}

function hostOf(origin: string): string {
  const { hostname, port, protocol } = new URL(origin);
  return `${hostname}:${port !== "" ? port : protocol === "https:" ? 443 : 80}`;
}

/** `jsr:@custos/cli@0.1.0/main` for `cli/main.ts`. Throws where the member does not export the module. */
function jsrName(root: string, module: string): string {
  const member = module.slice(0, module.indexOf("/"));
  const file = `.${module.slice(member.length)}`;
  const found = Object.entries(exportsOf(root, member)).find(([, path]) => path === file);
  if (found === undefined) throw new Error(`@custos/${member} does not export ${file}.`);
  const { version } = JSON.parse(readIfThere(`${root}/${member}/deno.json`) ?? "{}") as { version: string };
  return `jsr:@custos/${member}@${version}${found[0].slice(1)}`;
}
