/** `docs/permissions.md` and the golden flag lists, made from `permissions.ts`. */
import { denoOutput } from "./launch.ts";
import { type Flag, flagsOf, type PartName, PARTS, type Profile, type Values } from "./permissions.ts";
import { PUSH_SERVICES } from "../relay/push_services.ts";
import { DELETED_ENV, DENIED_LAN, DENIED_PUBLIC, REFUSED_ENV } from "./permission_lists.ts";

/** Values that stand for the places of a real machine. */
export function exampleValues(profile: Profile): Values {
  return {
    daemon_dir: "/STATE/daemon",
    relay_dir: "/STATE/relay",
    phone_dir: "/STATE/phone",
    socket: "/RUN/custos.sock",
    relay_socket: "/RUN/relay.sock",
    relay_address: "127.0.0.1:8787",
    push_services: PUSH_SERVICES,
    pwa_port: 8788,
    verify_host: "custos.example:443",
    phone_net: ["127.0.0.1", "localhost"],
    profile,
  };
}

/** The golden files: name below `_tools/golden` and content, one flag a line. */
export function goldenFlags(): Map<string, string> {
  const files = new Map<string, string>();
  for (const part of Object.keys(PARTS) as PartName[]) {
    for (const profile of part === "daemon" ? (["public", "lan"] as const) : (["public"] as const)) {
      const name = part === "daemon" ? `${part}.${profile}.flags.txt` : `${part}.flags.txt`;
      files.set(name, flagsOf(part, exampleValues(profile)).join("\n") + "\n");
    }
  }
  return files;
}

/** The text of `docs/permissions.md`, as `deno fmt` writes it. */
export async function permissionsDoc(): Promise<string> {
  const folder = await Deno.makeTempDir();
  try {
    const file = `${folder}/permissions.md`;
    await Deno.writeTextFile(
      file,
      [INTRO, ...(Object.keys(PARTS) as PartName[]).map(section), lists()].join("\n"),
    );
    const { code, stderr } = await denoOutput(["fmt", "--no-config", "--line-width=110", "--quiet", file], {
      cwd: folder,
    });
    if (code !== 0) throw new Error(`deno fmt failed: ${stderr}`);
    return await Deno.readTextFile(file);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Flags longer than this are cut in the table and written out below it. */
const LONGEST_IN_TABLE = 60;

const INTRO = `# Permissions of every process

This file is made from \`_tools/permissions.ts\` by \`deno task permissions\`; \`deno task ok\` fails where the two differ. In the
tables \`/STATE\` is the state folder and \`/RUN\` the folder of the sockets. Both belong to custos and have mode 0700.

No process has \`--allow-all\`, \`--allow-run\`, \`--allow-ffi\`, \`--allow-sys\` or \`--allow-import\`. Each starts with an empty
environment, to which only the variables named below are added where they are set, and what Deno needs to find its cache
(\`HOME\`, \`DENO_DIR\`, \`XDG_CACHE_HOME\`).

An egress cell is a worker inside the daemon. It has no flags of its own: the daemon starts it with \`net\` for the
\`host:port\` list of its one secret and everything else off. It cannot widen what the daemon has, and the daemon's deny list
holds for it too.
`;

function section(part: PartName): string {
  const { module, what, passes, flags } = PARTS[part];
  const all = flags(exampleValues("public"));
  const passed = passes.length === 0 ? "none" : passes.map((name) => `\`${name}\``).join(", ");
  const long = all.filter(({ flag }) => flag.length > LONGEST_IN_TABLE).map(written);
  return `## ${part}

\`${module}\`: ${what}. Variables that the launcher passes on: ${passed}.

| flag | why | it still cannot |
| --- | --- | --- |
${all.map(row).join("\n")}
${long.map((line) => `\n${line}\n`).join("")}`;
}

function row({ flag, why, cannot }: Flag): string {
  const shown = flag.length > LONGEST_IN_TABLE ? flag.replace(/=.*/, "=…") : flag.replaceAll(",", ", ");
  return `| \`${shown}\` | ${why} | ${cannot} |`;
}

/** A long flag with its list. */
function written({ flag }: Flag): string {
  const [name = "", list = ""] = flag.split("=");
  return `\`${name}=…\` is: ${list.split(",").map((item) => `\`${item}\``).join(", ")}.`;
}

function lists(): string {
  const only = DENIED_PUBLIC.filter((item) => !DENIED_LAN.includes(item));
  const list = (items: readonly string[]) => items.map((item) => `\`${item}\``).join(", ");
  return `## Profiles and lists

\`public\` (the default) and \`lan\` differ in one flag of the daemon. Denied under both: ${
    list(DENIED_LAN)
  }. Denied under
\`public\` only: ${list(only)}.

The daemon deletes these variables from its own environment at its start: ${
    list(DELETED_ENV)
  }. It refuses to start
under any of these: ${list(REFUSED_ENV)}.`;
}
