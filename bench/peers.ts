/**
 * What custos is compared with, each adding the same header: nginx `proxy_pass` as the limit of what a proxy can do, and
 * `mitmdump` in reverse mode with a script as what a person would otherwise use. The upstream API is an nginx as well, the
 * same for all.
 */

import { freePort, listening, Program } from "./processes.ts";

/** The secret that all of them add, about as long as most API keys. */
export const SECRET = "tok_live_4f9c2a7e0b1d8c6f5a3e9d7b2c4f6a8e";

/** Sizes of the files that the upstream serves under `/<size>`, in bytes. */
export const FILES = { "1k": 1_024, "100k": 102_400, "10m": 10_485_760 } as const;

/** A program with the address at which it answers. */
export interface Peer {
  name: string;
  url: string;
  pid: number;
}

function nginxConfig(folder: string, name: string, server: string): string {
  return `daemon off; worker_processes 1; master_process off; pid ${folder}/${name}.pid; error_log ${folder}/${name}.log crit;
events { worker_connections 4096; }
http {
  access_log off; sendfile on; tcp_nodelay on; keepalive_requests 100000000; keepalive_timeout 300s;
  default_type application/json; client_max_body_size 100m;
  client_body_temp_path ${folder}/b; proxy_temp_path ${folder}/p; fastcgi_temp_path ${folder}/f;
  uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
  ${server}
}`;
}

async function startNginx(
  folder: string,
  name: string,
  server: (port: number) => string,
): Promise<[Program, number] | null> {
  const port = freePort();
  const path = `${folder}/${name}.conf`;
  await Deno.writeTextFile(path, nginxConfig(folder, name, server(port)));
  const program = Program.start("nginx", ["-c", path, "-p", folder]);
  if (program === null) return null;
  await listening(port, `nginx (${name})`);
  return [program, port];
}

/** A 1 KB JSON document, and files of noise that no scrubber finds anything in. */
async function writeFiles(folder: string): Promise<void> {
  await Deno.mkdir(`${folder}/files`);
  for (const [name, size] of Object.entries(FILES)) {
    const line =
      JSON.stringify({ id: 1, name: "a repository", url: "https://api.example/repos/1", open: true }) + ",";
    const text = "[" + line.repeat(Math.ceil(size / line.length));
    await Deno.writeTextFile(`${folder}/files/${name}`, text.slice(0, size - 2) + "0]");
  }
}

/** Everything that runs beside custos. */
export class Peers implements AsyncDisposable {
  readonly #programs: Program[] = [];
  readonly all: Peer[] = [];
  readonly missing: string[] = [];

  private constructor(readonly folder: string, readonly upstream: string) {}

  /** Starts upstream and peers. Throws where there is no nginx for the upstream. */
  static async start(folder: string): Promise<Peers> {
    await writeFiles(folder);
    const upstream = await startNginx(
      folder,
      "upstream",
      (port) =>
        `server { listen 127.0.0.1:${port} backlog=4096; root ${folder}/files;
        location = /post { return 200 '{"ok":true}'; } }`,
    );
    if (upstream === null) throw new MissingProgram("nginx", "nginx-light");
    const [program, port] = upstream;
    const peers = new Peers(folder, `http://127.0.0.1:${port}`);
    peers.#programs.push(program);
    await peers.#startNginx(port);
    await peers.#startMitmproxy(port);
    return peers;
  }

  async #startNginx(upstream: number): Promise<void> {
    const started = await startNginx(this.folder, "proxy", (port) => `
      upstream api { server 127.0.0.1:${upstream}; keepalive 64; keepalive_requests 100000000; }
      server { listen 127.0.0.1:${port} backlog=4096; proxy_http_version 1.1; proxy_set_header Authorization "Bearer ${SECRET}";
        location / { proxy_pass http://api; proxy_set_header Connection ""; }
        location = /post { proxy_pass http://127.0.0.1:${upstream}; proxy_set_header Connection close; } }`);
    if (started === null) return;
    const [program, port] = started;
    this.#programs.push(program);
    this.all.push({ name: "nginx", url: `http://127.0.0.1:${port}`, pid: program.child.pid });
  }

  async #startMitmproxy(upstream: number): Promise<void> {
    const script = `${this.folder}/add_header.py`;
    await Deno.writeTextFile(
      script,
      `def request(flow):\n    flow.request.headers["authorization"] = "Bearer ${SECRET}"\n`,
    );
    const port = freePort();
    const mode = [
      "--mode",
      `reverse:http://127.0.0.1:${upstream}`,
      "--listen-host",
      "127.0.0.1",
      "--listen-port",
      `${port}`,
    ];
    const program = Program.start("mitmdump", [
      "-q",
      "--set",
      `confdir=${this.folder}/mitm`,
      ...mode,
      "-s",
      script,
    ]);
    if (program === null) {
      this.missing.push("mitmdump (Debian package mitmproxy)");
      return;
    }
    this.#programs.push(program);
    await listening(port, "mitmdump");
    this.all.push({ name: "mitmproxy", url: `http://127.0.0.1:${port}`, pid: program.child.pid });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const program of this.#programs) await program[Symbol.asyncDispose]();
  }
}

/** A program that a scenario cannot do without. */
export class MissingProgram extends Error {
  constructor(readonly program: string, readonly debian: string) {
    super(`${program} is not installed (Debian package ${debian}).`);
  }
}
