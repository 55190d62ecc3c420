/** The Chromium of the tests: `CHROME_PATH`, else the one on the PATH, else the one that npm brings. */
import { denoOutput, ROOT } from "./launch.ts";

/**
 * Its name or path. `installed` are the programs found on this machine; `folder` takes what has to be unpacked. Returns
 * null, and tells `complain` why, where there is none and none can be had.
 */
export async function findChromium(
  installed: readonly string[],
  folder: string,
  complain: (line: string) => void,
): Promise<string | null> {
  const named = Deno.env.get("CHROME_PATH");
  if (named !== undefined && named !== "") return named;
  if (installed.includes("chromium")) return "chromium";
  const flags = ["--no-prompt", "--allow-read", "--allow-write", "--allow-env", "--allow-sys"];
  const { code, stdout, stderr } = await denoOutput([
    "run",
    ...flags,
    `${ROOT}/_tools/unpack_chromium.ts`,
    folder,
  ]);
  if (code === 0) return stdout.trim();
  complain(`There is no Chromium, and the one of npm could not be unpacked.\n${stderr.trimEnd()}`);
  return null;
}
