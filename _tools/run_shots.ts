/** `deno task pwa:shots`: takes pictures of the phone app in a real browser. */
import { findChromium } from "./find_chromium.ts";
import { follow, ROOT, runDeno } from "./launch.ts";
import { installed } from "./run_tests.ts";
import { complain } from "./say.ts";
import { demoFlags } from "./tool_flags.ts";

/** Runs it to its end; 1 where there is no browser. */
export async function runShots(): Promise<number> {
  const folder = await Deno.makeTempDir();
  try {
    const chromium = await findChromium(
      installed(["chromium"], Deno.env.get("PATH") ?? ""),
      folder,
      complain,
    );
    if (chromium === null) return 1;
    const args = ["run", ...demoFlags([chromium]), `${ROOT}/tests/browser/shots.ts`];
    return await follow(runDeno(args, { env: { CHROME_PATH: chromium } }));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
