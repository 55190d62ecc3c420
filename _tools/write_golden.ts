/** Writes every golden list anew, to be read as a diff before it is committed. */
import { permissionFiles } from "./check_permissions.ts";
import { publicFiles } from "./check_public.ts";
import { writeGolden } from "./golden.ts";
import { ROOT } from "./launch.ts";
import { say } from "./say.ts";

const files = new Map([...await permissionFiles(), ...await publicFiles(ROOT)]);
writeGolden(ROOT, files);
say(`${files.size} golden files written; read them with: git diff _tools/golden docs/permissions.md`);
