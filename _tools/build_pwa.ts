/** `deno task pwa:build`: builds the phone app in its place. */
import { ROOT } from "./launch.ts";
import { assetsModule, buildPwa, PWA_ASSETS, PWA_DIST } from "./pwa_bundle.ts";
import { say } from "./say.ts";

const dist = `${ROOT}/${PWA_DIST}`;
await Deno.remove(dist, { recursive: true }).catch(() => {});
await Deno.mkdir(dist, { recursive: true });
await buildPwa(ROOT, dist);
await Deno.writeTextFile(`${ROOT}/${PWA_ASSETS}`, await assetsModule(dist));
const { version } = JSON.parse(await Deno.readTextFile(`${dist}/manifest.json`)) as { version: string };
say(`${PWA_DIST}: version ${version}`);
