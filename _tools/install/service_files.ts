/** Service files that start what is installed: they are the person's own, and have to go before it does (B192). */
import { join } from "node:path";
import { readIfThere } from "../files.ts";
import type { ReadEnv } from "../paths.ts";

/** The files of systemd and launchd that name a script in `bin`. */
export function serviceFiles(readEnv: ReadEnv, bin: string): string[] {
  const home = readEnv("HOME");
  const own = home === undefined ? [] : [
    join(readEnv("XDG_CONFIG_HOME") ?? join(home, ".config"), "systemd/user"),
    join(home, "Library/LaunchAgents"),
  ];
  return [...own, "/etc/systemd/system", "/Library/LaunchDaemons"].flatMap((folder) =>
    namesIn(folder)
      .filter((name) => /custos.*\.(service|plist)$/.test(name))
      .map((name) => join(folder, name))
      .filter((path) => (readIfThere(path) ?? "").includes(`${bin}/custos-`))
  );
}

function namesIn(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].filter(({ isFile }) => isFile).map(({ name }) => name).sort();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}
