/**
 * A real Chromium that reaches loopback and nothing else. It is `CHROME_PATH`, else the one that is installed; without
 * either `deno task test` unpacks the one of the npm package `@sparticuz/chromium` and names it in `CHROME_PATH`.
 */

import type { Browser } from "playwright-core";
import { launchProgram } from "@custos/tools/launch";
import { until } from "../e2e/harness_wait.ts";

const FLAGS = [
  "--headless",
  "--no-sandbox", // the tests may run as root, and open pages of this checkout only
  "--remote-debugging-port=0",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-dev-shm-usage",
  "--disable-sync",
  "--hide-scrollbars", // as on a phone
  "--no-proxy-server",
  "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost, EXCLUDE 127.0.0.1",
];

/** A running browser. */
export interface Chromium extends AsyncDisposable {
  browser: Browser;
}

/** Starts one with a profile of its own. `flags` are added. Throws where there is none. */
export async function startChromium(flags: readonly string[] = []): Promise<Chromium> {
  const name = Deno.env.get("CHROME_PATH") ?? "chromium";
  const folder = await Deno.makeTempDir({ prefix: "custos-chromium-" });
  const args = [...FLAGS, ...flags, `--user-data-dir=${folder}`, "about:blank"];
  const child = launchProgram(name, { args, stdout: "null", stderr: "piped" });
  if (child === null) throw new Error(`${name} cannot be started. Run the tests with: deno task test`);
  const words = new Response(child.stderr).text();
  let over = false;
  child.status.then(() => over = true);
  const end = async () => {
    if (!over) child.kill("SIGTERM");
    await child.status;
    await words;
    await removeFolder(folder);
  };
  try {
    const port = await until(async () => {
      if (over) throw new Error(`${name} ended at once.\n${(await words).slice(-2000)}`);
      return await portIn(folder);
    }, `${name} did not say where it listens.`);
    // Playwright asks for the kind of machine when it is loaded, by a file that no permission but all of them opens.
    Deno.env.set("__IS_WSL_TEST__", "1");
    const { chromium } = await import("playwright-core");
    const browser = await chromium.connectOverCDP(`http://127.0.0.1:${port}`);
    return {
      browser,
      async [Symbol.asyncDispose]() {
        await browser.close();
        await end();
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

async function portIn(folder: string): Promise<string | null> {
  try {
    const [port] = (await Deno.readTextFile(`${folder}/DevToolsActivePort`)).split("\n");
    return port === "" ? null : port!;
  } catch {
    return null;
  }
}

/** The browser's helpers may write for a moment after it has ended. */
async function removeFolder(folder: string): Promise<void> {
  for (let left = 20; left > 0; left--) {
    try {
      return await Deno.remove(folder, { recursive: true });
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
