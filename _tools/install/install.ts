/**
 * `deno task install`: shows what it would write, asks, writes it, and starts every part once from the copy, so that what
 * does not work is found now. `--uninstall` takes it away again and leaves the state folder (B192).
 */
import { dirname, join } from "node:path";
import { exitCodeOf } from "@custos/rpc/error_codes";
import { launch, ROOT } from "../launch.ts";
import type { ReadEnv } from "../paths.ts";
import { PARTS } from "../permissions.ts";
import {
  foreignScripts,
  type Installed,
  libFolder,
  readInstalled,
  record,
  removeInstalled,
  unchanged,
  writeScripts,
} from "./apply.ts";
import { type Image, readImage, writeImage } from "./image.ts";
import { jsrLines } from "./jsr_lines.ts";
import { HELP, type InstallOptions, readInstallOptions } from "./options.ts";
import { shellWord } from "./quote.ts";
import { serviceFiles } from "./service_files.ts";
import { binFolder, type Build, COMMANDS, shims, valuesOf } from "./shims.ts";
import { chooseDeno, type ChosenDeno, provideDeno } from "./stable_deno.ts";
import { units, unitsHint } from "./units.ts";

/** What the installer does to the outside. Tests put their own in its place. */
export interface InstallIo {
  say(text: string): void;
  complain(text: string): void;
  /** Asks a person; null where there is nobody to ask. */
  confirm(question: string): boolean | null;
  env: ReadEnv;
}

/** Runs it. Returns the exit code. Throws `RangeError` for wrong usage. */
export async function install(args: readonly string[], io: InstallIo, root: string = ROOT): Promise<number> {
  const options = readInstallOptions(args, io.env);
  if (options === null) {
    io.say(HELP.trimEnd());
    return 0;
  }
  if (options.action === "print-jsr") {
    io.say(jsrLines(options, root));
    return 0;
  }
  if (options.action === "uninstall") return await uninstall(options, io, root);
  const deno = chooseDeno(libFolder(options.prefix), Deno.execPath(), Deno.version.deno, options.copy_deno);
  if (options.action === "print-units") {
    io.say(units(options));
    return 0;
  }
  const image = await readImage(root);
  const build = buildOf(options, image, deno);
  const scripts = shims(options, build);
  io.say(plan(options, build, deno, scripts));
  if (options.action === "print") return 0;
  const foreign = foreignScripts(options.prefix, scripts.keys());
  if (foreign.length > 0) {
    io.complain(
      `Nothing was written. These are not from custos and stay as they are:\n${
        foreign.map((path) => `  ${path}`).join("\n")
      }\nMove them away, or install elsewhere with --prefix DIR.`,
    );
    return 1;
  }
  return await write({ options, image, build, deno, scripts, root }, io);
}

interface Job {
  readonly options: InstallOptions;
  readonly image: Image;
  readonly build: Build;
  readonly deno: ChosenDeno;
  readonly scripts: ReadonlyMap<string, string>;
  readonly root: string;
}

async function write({ options, image, build, deno, scripts, root }: Job, io: InstallIo): Promise<number> {
  const { prefix } = options;
  const before = readInstalled(prefix);
  const whole = isThere(wholeMark(build));
  if (before?.build === build.id && whole && unchanged(prefix, scripts)) {
    io.say(`custos ${build.id} is installed there already. Nothing was changed.`);
    return 0;
  }
  if (
    !options.yes &&
    !agreed(io, before === null ? "Install this?" : `Replace what is installed (${before.build})?`)
  ) return 1;
  await provideDeno(deno);
  if (!whole) {
    await Deno.remove(dirname(build.code), { recursive: true }).catch(() => {});
    await writeImage(image, build.code, build.cache);
    await tryParts(options, build);
    await Deno.writeTextFile(wholeMark(build), "");
  }
  await writeScripts(prefix, scripts, before);
  const installed: Installed = {
    format: 1,
    build: build.id,
    previous: before?.build === build.id ? before.previous : before?.build ?? null,
    scripts: [...scripts.keys()],
    state: dirname(options.values.daemon_dir),
    socket: options.values.socket,
  };
  await record(prefix, installed);
  io.say(done(options, build, before));
  if (before !== null && await daemonAnswers(options, before.socket, root)) {
    io.complain("The daemon that is running is still the one before. Stop it and start it again.");
  }
  return 0;
}

function buildOf({ prefix }: InstallOptions, image: Image, deno: ChosenDeno): Build {
  const folder = join(libFolder(prefix), image.id);
  return { id: image.id, code: join(folder, "code"), cache: join(folder, "cache"), deno: deno.path };
}

/** Written last: a copy that was cut off lacks it and is made again. */
function wholeMark(build: Build): string {
  return join(dirname(build.code), "whole");
}

/** Starts every part for its help, under its own flags and from the copy. It also fills Deno's caches. */
async function tryParts(options: InstallOptions, build: Build): Promise<void> {
  for (const part of Object.values(COMMANDS)) {
    const child = launch(part, valuesOf(part, options), {
      args: ["--help"],
      root: build.code,
      env: { DENO_DIR: build.cache },
      stdout: "null",
      stderr: "piped",
    });
    const { code, stderr } = await child.output();
    if (code === 0) continue;
    throw new RangeError(
      `The copy does not work, so no command was changed: ${PARTS[part].module} ended with ${code}.\n` +
        new TextDecoder().decode(stderr).trimEnd(),
    );
  }
}

async function uninstall(options: InstallOptions, io: InstallIo, root: string): Promise<number> {
  const { prefix } = options;
  const installed = readInstalled(prefix);
  if (installed === null) {
    io.say(`custos is not installed in ${prefix}. Nothing was changed.`);
    return 0;
  }
  if (await daemonAnswers(options, installed.socket, root)) {
    io.complain(
      `Nothing was removed: a daemon answers on ${installed.socket}. Stop it first, and its service if there is one:\n` +
        unitsHint(options),
    );
    return 1;
  }
  const services = serviceFiles(io.env, binFolder(prefix));
  if (services.length > 0) {
    // B192: a service whose program is gone is started again and again
    io.complain(
      `Nothing was removed: these start custos by themselves. Stop them and remove the files first:\n${
        services.map((path) => `  ${path}`).join("\n")
      }\n${unitsHint(options)}`,
    );
    return 1;
  }
  const paths = installed.scripts.map((name) => join(binFolder(prefix), name));
  io.say(
    `These will be removed:\n${[...paths, `${libFolder(prefix)}/`].map((path) => `  ${path}`).join("\n")}`,
  );
  if (!options.yes && !agreed(io, "Remove this?")) return 1;
  const left = await removeInstalled(prefix, installed);
  for (const path of left) io.complain(`${path} is not from custos any more and stays.`);
  io.say(
    `Removed. Your secrets, policies and log are still in ${installed.state}; phones stay paired with it, and\n` +
      `the next install finds it. To delete it all for good: rm -r ${shellWord(installed.state)}`,
  );
  return 0;
}

/** Whether a daemon answers there: `custos status` says so, and needs no more than the socket. */
async function daemonAnswers(options: InstallOptions, socket: string, root: string): Promise<boolean> {
  const { code } = await launch("cli", { ...options.values, socket }, {
    args: ["status", "--json", "--socket", socket],
    root,
    stdout: "null",
    stderr: "null",
  }).status;
  return code !== exitCodeOf("daemon_unreachable");
}

function agreed(io: InstallIo, question: string): boolean {
  const answer = io.confirm(question);
  if (answer === null) {
    io.complain(
      "Nothing was changed: there is no terminal to ask at. Look at it with --print, then use --yes.",
    );
  }
  return answer === true;
}

function plan(
  options: InstallOptions,
  build: Build,
  deno: ChosenDeno,
  scripts: ReadonlyMap<string, string>,
): string {
  const files = [...scripts].map(([name, text]) =>
    `${join(binFolder(options.prefix), name)}\n${indented(text)}`
  );
  return [
    `custos ${build.id}`,
    `  scripts  ${binFolder(options.prefix)}`,
    `  code     ${build.code} (a copy of what they import, and their packages)`,
    `  Deno     ${deno.path} (${deno.why})`,
    `  state    ${dirname(options.values.daemon_dir)} (not touched now)`,
    "",
    ...files,
  ].join("\n");
}

function indented(text: string): string {
  return text.trimEnd().split("\n").map((line) => `  ${line}\n`).join("");
}

function done(
  { prefix, values, relay, pwa_origin }: InstallOptions,
  build: Build,
  before: Installed | null,
): string {
  const bin = binFolder(prefix);
  const local = relay === null ? [`  ${bin}/custos-relay &`] : [];
  const page = pwa_origin.startsWith("http://localhost:") ? [`  ${bin}/custos-pwa &`] : [];
  return [
    before === null
      ? `Installed custos ${build.id}.`
      : before.build === build.id
      ? `Wrote the scripts of custos ${build.id} again.`
      : `Replaced ${before.build} by custos ${build.id}.`,
    `Is ${bin} on your PATH? Start by hand, or see --print-units for services:`,
    ...local,
    ...page,
    `  ${bin}/custos-daemon &`,
    `  ${bin}/custos pair`,
    `If something does not work: ${bin}/custos doctor`,
    `State: ${dirname(values.daemon_dir)}`,
  ].join("\n");
}

function isThere(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
