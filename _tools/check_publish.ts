/** Every member must pass `deno publish --dry-run`: no slow types, no relative import across members, complete. */
import { report } from "./findings.ts";
import { denoOutput, ROOT } from "./launch.ts";
import { MEMBERS } from "./members.ts";

/** Types are checked once for all by `deno check`; slow types are still refused here. */
const ARGS = ["publish", "--dry-run", "--allow-dirty", "--no-check"];

/** The members that cannot be published, with the reason that Deno gives. */
export async function checkPublish(root: string): Promise<string[]> {
  const findings: string[] = [];
  for (const member of MEMBERS) {
    const { code, stdout, stderr } = await denoOutput(ARGS, {
      cwd: `${root}/${member}`,
      env: { NO_COLOR: "1" },
    });
    if (code === 0) continue;
    const lines = `${stdout}\n${stderr}`.split("\n").filter((line) => line.trim() !== "");
    findings.push(
      `${member} cannot be published:\n${lines.slice(-30).map((line) => `  ${line}`).join("\n")}`,
    );
  }
  return findings;
}

if (import.meta.main) Deno.exit(report("publish", await checkPublish(ROOT)));
