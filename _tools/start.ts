/**
 * `deno task start`: relay, phone app and daemon for real use on this machine. The relay listens on TCP for the browser and
 * on a unix socket for the daemon, so that the `public` profile can keep loopback denied (DESIGN §3). Says when all are
 * ready; ends them, by their own process ids, when it is told to stop.
 */
import { dirname } from "node:path";
import { denoOutput, launch, ROOT } from "./launch.ts";
import { privateFolder } from "./paths.ts";
import { type PartName, PARTS, type Values } from "./permissions.ts";
import { readyLine } from "./ready.ts";
import { complain, say } from "./say.ts";
import { parseStart, type StartOptions } from "./start_options.ts";

/** How long a part may take to end before it is killed. */
const STOP_TIMEOUT_MS = 10_000;

interface Running {
  readonly name: PartName;
  readonly child: Deno.ChildProcess;
}

/** What `--json` prints, on one line. `pwa` is the origin of the phone app; null with `--no-pwa`. */
export interface Started {
  readonly ready: true;
  readonly pid: number;
  readonly socket: string;
  readonly relay: string;
  readonly pwa: string | null;
}

/** Runs until SIGTERM or SIGINT (exit code 0), or until a part ends by itself or cannot start (1). */
export async function start(args: readonly string[], root: string = ROOT): Promise<number> {
  const { values, options } = parseStart(args);
  for (
    const folder of [dirname(values.daemon_dir), values.daemon_dir, values.relay_dir, dirname(values.socket)]
  ) {
    privateFolder(folder);
  }
  await fetchModules(root);
  const stop = stopSignals();
  const running: Running[] = [];
  const starting = startParts(root, values, options, running, stop);
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
  root: string,
  values: Values,
  options: StartOptions,
  running: Running[],
  stop: Stop,
): Promise<Started> {
  const begin = async (name: PartName, args: string[]) => {
    if (stop.isAsked()) throw new Error("Stopped while starting.");
    const child = launch(name, values, { args: [...args, "--json"], stdout: "piped", root });
    running.push({ name, child });
    return await readyLine(child, name);
  };
  const unix = `unix:${values.relay_socket}`;
  const origin = ["--pwa-origin", options.pwa_origin];
  const relay_ready = await begin("relay", [
    ...["--data", values.relay_dir, "--listen", values.relay_address, "--listen", unix],
    ...origin,
    ...(options.push_contact === null ? [] : ["--push-contact", options.push_contact]),
  ]);
  const relay = options.relay_url ?? `http://${tcpAddress(relay_ready.listen)}`;
  // Both name the relay with the same text: the page may speak to no other than the one that the pairing code names.
  if (options.serve_pwa) await begin("pwa", ["--listen", `localhost:${values.pwa_port}`, "--relay", relay]);
  await begin("daemon", [
    ...["--state", values.daemon_dir, "--socket", values.socket, "--profile", values.profile],
    ...["--relay", unix, "--relay-url", relay],
    ...origin,
    ...(options.name === null ? [] : ["--name", options.name]),
  ]);
  return {
    ready: true,
    pid: Deno.pid,
    socket: values.socket,
    relay,
    pwa: options.serve_pwa ? options.pwa_origin : null,
  };
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
  phone    ${started.pwa ?? "(no page is served)"}
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
