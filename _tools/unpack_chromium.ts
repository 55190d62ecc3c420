/**
 * Unpacks the Chromium of the npm package `@sparticuz/chromium` into a folder: the browser, fonts, and copies of the
 * libraries that a bare machine lacks. A program of its own, because the unpacking wants a system permission that no test
 * has. Prints the path of a script that starts it: the runtime does not let a test set where libraries are looked for.
 *
 * Usage: unpack_chromium.ts FOLDER
 */
import { fileURLToPath } from "node:url";
import { say } from "./say.ts";

const [folder] = Deno.args;
if (folder === undefined || folder.includes("'")) {
  throw new RangeError("Say where to: unpack_chromium.ts FOLDER");
}
// The package unpacks into the system's folder for temporary files, where it also takes what others have put there.
Deno.env.set("TMPDIR", folder);
const { inflate } = await import("@sparticuz/chromium");
const bin = fileURLToPath(new URL("../bin/", import.meta.resolve("@sparticuz/chromium")));
for (const name of ["fonts.tar.br", "al2023.tar.br"]) await inflate(bin + name);
// The package's own list of font folders names only those of the service that it was made for.
await Deno.writeTextFile(
  `${folder}/fonts/fonts.conf`,
  `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir>${folder}/fonts</dir>` +
    `<dir>/usr/share/fonts</dir><cachedir>${folder}/fonts-cache</cachedir></fontconfig>`,
);
const browser = await inflate(`${bin}chromium.br`);
const start = `${folder}/chrome`;
await Deno.writeTextFile(
  start,
  `#!/bin/sh\nexport LD_LIBRARY_PATH='${folder}/al2023/lib' FONTCONFIG_PATH='${folder}/fonts'\nexec '${browser}' "$@"\n`,
  { mode: 0o755 },
);
say(start);
