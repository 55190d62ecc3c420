/** `deno task pwa:build`: builds the phone app in its place. What was there stays where the build fails. */
import { ROOT } from "./launch.ts";
import { assetsModule, buildPwa, firstScreenBytes, namesIn, PWA_ASSETS, PWA_DIST } from "./pwa_bundle.ts";
import { say } from "./say.ts";

const folder = await Deno.makeTempDir();
try {
  const { version } = await buildPwa(ROOT, folder);
  const dist = `${ROOT}/${PWA_DIST}`;
  await Deno.mkdir(dist, { recursive: true });
  const built = namesIn(folder);
  for (const name of namesIn(dist)) if (!built.includes(name)) await Deno.remove(`${dist}/${name}`);
  for (const name of built) await Deno.copyFile(`${folder}/${name}`, `${dist}/${name}`);
  await Deno.writeTextFile(`${ROOT}/${PWA_ASSETS}`, await assetsModule(dist));
  say(`${PWA_DIST}: version ${version}, first screen ${firstScreenBytes(dist)} bytes of packed script`);
} finally {
  await Deno.remove(folder, { recursive: true });
}
