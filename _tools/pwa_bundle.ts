/**
 * The build of the phone app: one folder of static files, the same bytes from the same input. `manifest.json` names each
 * file's SHA-256; `pwa/assets.ts` puts the folder into the module graph, so that the server needs no read permission.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { denoOutput } from "./launch.ts";

/** Source folder and built folder, from the top of the checkout. */
export const PWA_SOURCE = "pwa/app";
export const PWA_DIST = "pwa/dist";
/** The module that holds the built files. */
export const PWA_ASSETS = "pwa/assets.ts";

const STATIC = ["index.html", "style.css", "manifest.webmanifest", "icon.svg", "icon-180.png", "icon-512.png"];
const BUNDLE = ["bundle", "--minify", "--platform", "browser", "--frozen"];

/** Builds the app of `root` into `out`, an empty folder. Throws where Deno cannot. */
export async function buildPwa(root: string, out: string): Promise<void> {
  await bundle(root, ["--code-splitting", "--outdir", out, `${PWA_SOURCE}/main.tsx`]);
  await bundle(root, ["--output", join(out, "sw.js"), `${PWA_SOURCE}/sw.ts`]);
  for (const name of STATIC) await Deno.copyFile(join(root, PWA_SOURCE, name), join(out, name));
  const files: Record<string, string> = {};
  for (const name of await namesIn(out)) files[name] = sha256(await Deno.readFile(join(out, name)));
  const version = sha256(new TextEncoder().encode(JSON.stringify(files))).slice(0, 16);
  await Deno.writeTextFile(join(out, "manifest.json"), `${JSON.stringify({ version, files }, null, 2)}\n`);
}

/** The text of {@link PWA_ASSETS} for a built folder. */
export async function assetsModule(dist: string): Promise<string> {
  const imports: string[] = [];
  const entries: string[] = [];
  for (const [at, name] of (await namesIn(dist)).entries()) {
    if (name.endsWith(".png")) {
      entries.push(`  ${JSON.stringify(name)}: { base64: ${JSON.stringify((await Deno.readFile(join(dist, name))).toBase64())} },`);
      continue;
    }
    imports.push(`import a${at} from "./dist/${name}" with { type: "text" };`);
    entries.push(`  ${JSON.stringify(name)}: { text: a${at} },`);
  }
  return `/** The built phone app, file by file. Made by \`deno task pwa:build\`; do not edit. */

// deno-fmt-ignore-file
${imports.join("\n")}

/** A file as text, or as base64 where it is not text. */
export type Asset = { text: string } | { base64: string };

/** Every file by its path. */
export const ASSETS: Readonly<Record<string, Asset>> = {
${entries.join("\n")}
};
`;
}

async function bundle(root: string, args: readonly string[]): Promise<void> {
  const { code, stderr } = await denoOutput([...BUNDLE, ...args], { cwd: root });
  if (code !== 0) throw new Error(`The phone app could not be bundled.\n${stderr.trimEnd()}`);
}

async function namesIn(folder: string): Promise<string[]> {
  const names: string[] = [];
  for await (const entry of Deno.readDir(folder)) if (entry.isFile) names.push(entry.name);
  return names.sort();
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
