/**
 * `deno task start`: relay and daemon for real use on this machine. The relay listens on TCP for the browser and on a unix
 * socket for the daemon, so that the `public` profile can keep loopback denied (DESIGN §3). Says when both are ready; ends
 * both, by their own process ids, when it is told to stop.
 */
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { denoOutput, launch, ROOT } from "./launch.ts";
import { DEFAULT_PWA_ORIGIN, places, privateFolder } from "./paths.ts";
import { type PartName, PARTS, type Values } from "./permissions.ts";
import { readyLine } from "./ready.ts";
import { complain, say } from "./say.ts";

/** How long a part may take to end before it is killed. */
const STOP_TIMEOUT_MS = 10_000;

interface Options {
  readonly json: boolean;
  readonly pwa_origin: string;
  readonly name?: string;
  readonly root: string;
}

interface Running {
  readonly name: PartName;
  readonly child: Deno.ChildProcess;
}

/** What `--json` prints, on one line. `pwa` is null while no page is served. */
export interface Started {
  readonly ready: true;
  readonly pid: number;
  readonly socket: string;
  readonly relay: string;
  readonly pwa: string | null;
}

/** Runs until SIGTERM or SIGINT (exit code 0), or until a part ends by itself or cannot start (1). */
export async function start(args: readonly string[], root: string = ROOT): Promise<number> {
  const { values, options } = parse(args, root);
  for (
    const folder of [dirname(values.daemon_dir), values.daemon_dir, values.relay_dir, dirname(values.socket)]
  ) {
    privateFolder(folder);
  }
  await fetchModules(root);
  const stop = stopSignals();
  const running: Running[] = [];
  const starting = startParts(values, options, running, stop);
  try {
    const started = await Promise.race([starting, stop.asked]);
    if (started === "stop") return 0;
    say(options.json ? JSON.stringify(started) : forPeople(started, values));
    const ended = await Promise.race([stop.asked, ...running.map(endOf)]);
    if (ended === "stop") return 0;
    complain(ended);
    return 1;
  } catch (error) {
    complain(error instanceof Error ? error.message : String(error));
    return 1;
  } finally {
    starting.catch(() => {});
    for (const part of running.toReversed()) await end(part);
    stop.remove();
  }
}

function parse(args: readonly string[], root: string): { values: Values; options: Options } {
  let parsed;
  try {
    parsed = parseArgs({
      args: [...args],
      options: {
        json: { type: "boolean", default: false },
        profile: { type: "string", default: "public" },
        state: { type: "string" },
        "relay-port": { type: "string" },
        "pwa-origin": { type: "string", default: DEFAULT_PWA_ORIGIN },
        name: { type: "string" },
      },
    }).values;
  } catch (error) {
    throw new RangeError(error instanceof Error ? error.message : String(error));
  }
  const { profile, state, json, name } = parsed;
  if (profile !== "public" && profile !== "lan") throw new RangeError("--profile is public or lan.");
  const port = parsed["relay-port"];
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) <= 65535)) {
    throw new RangeError("--relay-port is a number from 0 to 65535.");
  }
  const values = places(Deno.env.get, {
    profile,
    ...(state === undefined ? {} : { state }),
    ...(port === undefined ? {} : { relay_port: Number(port) }),
  });
  return {
    values,
    options: { json, pwa_origin: parsed["pwa-origin"], root, ...(name === undefined ? {} : { name }) },
  };
}

/**
 * Downloads what the parts import, with the caller's own environment (proxy and registry settings among it): the parts
 * themselves start with a clean one.
 */
async function fetchModules(root: string): Promise<void> {
  const modules = Object.values(PARTS).map((part) => `${root}/${part.module}`).filter(exists);
  const { code, stderr } = await denoOutput(["install", "--frozen", "--entrypoint", ...modules], {
    cwd: root,
  });
  if (code !== 0) throw new RangeError(`What custos imports could not be fetched.\n${stderr.trimEnd()}`);
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

interface Stop {
  readonly asked: Promise<"stop">;
  isAsked(): boolean;
  remove(): void;
}

function stopSignals(): Stop {
  let asked = false;
  const { promise, resolve } = Promise.withResolvers<"stop">();
  const handler = () => {
    asked = true;
    resolve("stop");
  };
  // SIGUSR1 opens the runtime's inspector, so it ends everything too (DESIGN §3).
  const signals: Deno.Signal[] = ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR1"];
  for (const signal of signals) Deno.addSignalListener(signal, handler);
  return {
    asked: promise,
    isAsked: () => asked,
    remove: () => signals.forEach((signal) => Deno.removeSignalListener(signal, handler)),
  };
}

async function startParts(
  values: Values,
  options: Options,
  running: Running[],
  stop: Stop,
): Promise<Started> {
  const begin = async (name: PartName, args: string[]) => {
    if (stop.isAsked()) throw new Error("Stopped while starting.");
    const child = launch(name, values, { args: [...args, "--json"], stdout: "piped", root: options.root });
    running.push({ name, child });
    return await readyLine(child, name);
  };
  const unix = `unix:${values.relay_socket}`;
  const origin = ["--pwa-origin", options.pwa_origin];
  const relay_ready = await begin("relay", [
    ...["--data", values.relay_dir, "--listen", values.relay_address, "--listen", unix],
    ...origin,
  ]);
  const relay = `http://${tcpAddress(relay_ready.listen)}`;
  await begin("daemon", [
    ...["--state", values.daemon_dir, "--socket", values.socket, "--profile", values.profile],
    ...["--relay", unix, "--relay-url", relay],
    ...origin,
    ...(options.name === undefined ? [] : ["--name", options.name]),
  ]);
  return { ready: true, pid: Deno.pid, socket: values.socket, relay, pwa: null };
}

/** The `host:port` among the addresses of the relay's ready line: port 0 was asked for, another one was given. */
function tcpAddress(listen: unknown): string {
  for (const item of Array.isArray(listen) ? listen : []) {
    const found = /^(?:http:\/\/)?([^/]+:\d+)\/?$/.exec(String(item));
    if (found?.[1] !== undefined && !String(item).startsWith("unix:")) return found[1];
  }
  throw new Error("The relay does not say on which address it listens.");
}

async function endOf(part: Running): Promise<string> {
  const { code } = await part.child.status;
  return `The ${part.name} ended by itself with code ${code}.`;
}

async function end({ name, child }: Running): Promise<void> {
  signal(child, "SIGTERM");
  const timer = setTimeout(() => {
    complain(`The ${name} did not end after ${STOP_TIMEOUT_MS} ms and is killed.`);
    signal(child, "SIGKILL");
  }, STOP_TIMEOUT_MS);
  await child.status;
  clearTimeout(timer);
}

function signal(child: Deno.ChildProcess, name: Deno.Signal): void {
  try {
    child.kill(name);
  } catch {
    // It has ended already.
  }
}

function forPeople(started: Started, values: Values): string {
  return `custos is running.
  relay    ${started.relay}
  socket   ${started.socket}
  state    ${dirname(values.daemon_dir)}
  profile  ${values.profile}

In another terminal:
  deno task custos pair          pair a phone
  deno task phone pair <link>    or try the software phone
  deno task custos status        see how it is

Stop it with Ctrl-C.`;
}
