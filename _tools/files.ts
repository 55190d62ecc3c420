/** The files of a checkout, as paths from its top. Generated, downloaded and private folders are left out. */

const SKIPPED_FOLDERS = new Set([".git", "node_modules", "tmp", "coverage"]);

/** Every file under `root`, sorted. Links are not followed. */
export function walk(root: string): string[] {
  const found: string[] = [];
  const visit = (folder: string) => {
    for (const entry of Deno.readDirSync(folder === "" ? root : `${root}/${folder}`)) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isFile) found.push(path);
      if (entry.isDirectory && !SKIPPED_FOLDERS.has(entry.name)) visit(path);
    }
  };
  visit("");
  return found.sort();
}

/** Whether a path is TypeScript source. */
export function isSource(path: string): boolean {
  return /\.tsx?$/.test(path);
}

/** Whether a path is a test or the data of one. */
export function isTest(path: string): boolean {
  return /_test\.tsx?$/.test(path) || /(^|\/)testdata\//.test(path);
}

/** What runs as a program of the zone pwa: the app's server, and the tool that looks at what a server gives. */
const PWA_PROGRAMS = new Set(["pwa/serve.ts", "pwa/verify/main.ts"]);

/** Whether a file does no I/O and knows no runtime: core, and the phone but for its programs. */
export function isPure(path: string): boolean {
  return /^(core|pwa)\//.test(path) && !PWA_PROGRAMS.has(path) && !isTest(path);
}

/** The folder at the top that a file is in: its trust zone. */
export function zoneOf(path: string): string {
  return path.includes("/") ? path.slice(0, path.indexOf("/")) : "";
}

/** Reads a file as text, or returns null where there is none. */
export function readIfThere(path: string): string | null {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
