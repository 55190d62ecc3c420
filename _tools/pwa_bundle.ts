/**
 * The build of the phone app: one folder of static files, the same bytes from the same input. `manifest.json` names each
 * file's SHA-256; `pwa/assets.ts` puts the folder into the module graph, so that the server needs no read permission.
 */
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { renameChunks } from "./chunk_names.ts";
import { denoOutput } from "./launch.ts";

/** Source folder and built folder, from the top of the checkout. */
export const PWA_SOURCE = "pwa/app";
export const PWA_DIST = "pwa/dist";
/** The module that holds the built files. */
export const PWA_ASSETS = "pwa/assets.ts";

/** Most bytes of script, packed with gzip, that the first screen may need. */
export const FIRST_SCREEN_BYTES = 60 * 1024;

const STATIC = [
  "index.html",
  "style.css",
  "manifest.webmanifest",
  "icon.svg",
  "icon-180.png",
  "icon-512.png",
];
const BUNDLE = ["bundle", "--minify", "--platform", "browser", "--frozen"];

/** What `manifest.json` holds: SHA-256 in hex by file name, itself left out. */
export interface BuildManifest {
  version: string;
  files: Record<string, string>;
}

/** Builds the app of `root` into `out`, an empty folder. Throws where Deno cannot. */
export async function buildPwa(root: string, out: string): Promise<BuildManifest> {
  await bundle(root, ["--code-splitting", "--outdir", out, `${PWA_SOURCE}/main.tsx`]);
  const scripts = new Map(namesIn(out).map((name) => [name, Deno.readTextFileSync(`${out}/${name}`)]));
  for (const name of scripts.keys()) await Deno.remove(`${out}/${name}`);
  for (const [name, text] of renameChunks(scripts)) await Deno.writeTextFile(`${out}/${name}`, text);
  for (const name of STATIC) await Deno.copyFile(`${root}/${PWA_SOURCE}/${name}`, `${out}/${name}`);
  const files: Record<string, string> = {};
  for (const name of namesIn(out)) files[name] = sha256(await Deno.readFile(`${out}/${name}`));
  const version = sha256(new TextEncoder().encode(JSON.stringify(files))).slice(0, 16);

  // The worker names the files that it keeps: whatever changes, its own bytes change, and browsers see a new build.
  await bundle(root, ["--format", "iife", "--output", `${out}/sw.js`, `${PWA_SOURCE}/sw.ts`]);
  const worker = await Deno.readTextFile(`${out}/sw.js`);
  await Deno.writeTextFile(
    `${out}/sw.js`,
    `const CUSTOS_BUILD=${JSON.stringify({ version, files })};\n${worker}`,
  );
  files["sw.js"] = sha256(await Deno.readFile(`${out}/sw.js`));
  await Deno.writeTextFile(`${out}/manifest.json`, `${JSON.stringify({ version, files }, null, 2)}\n`);
  return { version, files };
}

/** The text of {@link PWA_ASSETS} for a built folder. */
export async function assetsModule(dist: string): Promise<string> {
  const imports: string[] = [];
  const entries: string[] = [];
  for (const [at, name] of namesIn(dist).entries()) {
    if (name.endsWith(".png")) {
      const base64 = (await Deno.readFile(`${dist}/${name}`)).toBase64();
      entries.push(`  ${JSON.stringify(name)}: { base64: ${JSON.stringify(base64)} },`);
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

/** Every file by its name. */
export const ASSETS: Readonly<Record<string, Asset>> = {
${entries.join("\n")}
};
`;
}

/** The scripts of a built folder without which the first screen is not there: `main.js` and what it imports at once. */
export function firstScreenScripts(dist: string): string[] {
  const found = new Set(["main.js"]);
  for (const name of found) {
    const text = Deno.readTextFileSync(`${dist}/${name}`);
    // Static imports only: `import("./x.js")` is loaded after the screen is there.
    for (const [, next] of text.matchAll(/(?:\bfrom|\bimport)\s*"\.\/([\w-]+\.js)"/g)) found.add(next!);
  }
  return [...found].sort();
}

/** Bytes of the first screen's scripts as a server sends them. */
export function firstScreenBytes(dist: string): number {
  return firstScreenScripts(dist)
    .map((name) => gzipSync(Deno.readFileSync(`${dist}/${name}`)).length)
    .reduce((sum, bytes) => sum + bytes, 0);
}

/** Names of the files in a folder, in one order on every machine. */
export function namesIn(folder: string): string[] {
  return [...Deno.readDirSync(folder)].filter((entry) => entry.isFile).map((entry) => entry.name).sort();
}

async function bundle(root: string, args: readonly string[]): Promise<void> {
  const { code, stderr } = await denoOutput([...BUNDLE, ...args], { cwd: root });
  if (code !== 0) throw new Error(`The phone app could not be bundled.\n${stderr.trimEnd()}`);
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
