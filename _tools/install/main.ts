/** The installer as a program: `deno task install`. Exit code 2 for wrong usage. */
import { complain, say } from "../say.ts";
import { install, type InstallIo } from "./install.ts";

const io: InstallIo = {
  say,
  complain,
  confirm(question) {
    if (!Deno.stdin.isTerminal() || !Deno.stdout.isTerminal()) return null;
    return confirm(question);
  },
  env: (name) => Deno.env.get(name),
};

try {
  Deno.exit(await install(Deno.args, io));
} catch (error) {
  if (!(error instanceof RangeError)) throw error;
  complain(error.message);
  Deno.exit(2);
}
