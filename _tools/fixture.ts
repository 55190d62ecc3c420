/** A small checkout in a temporary folder, for the tests of the checks. */

/** Writes the files (path to text) and returns the folder. A minimal workspace is there from the start. */
export async function fixture(files: Readonly<Record<string, string>>): Promise<string> {
  const root = await Deno.makeTempDir();
  const members = ["core", "rpc", "relay", "pwa", "daemon", "cli", "mcp", "tests"];
  const all: Record<string, string> = {
    "deno.json": JSON.stringify({ workspace: members.map((name) => `./${name}`), lock: false }),
  };
  for (const name of members) {
    const exports = name === "core" ? { "./errors": "./errors.ts", "./relay_wire": "./relay_wire.ts" } : {};
    all[`${name}/deno.json`] = JSON.stringify({ name: `@custos/${name}`, version: "0.0.0", exports });
  }
  for (const [path, text] of Object.entries({ ...all, ...files })) {
    await Deno.mkdir(`${root}/${path.slice(0, Math.max(0, path.lastIndexOf("/")))}`, { recursive: true });
    await Deno.writeTextFile(`${root}/${path}`, text);
  }
  return root;
}

/** Runs a check on a fixture and removes it. */
export async function findingsIn(
  files: Readonly<Record<string, string>>,
  check: (root: string) => readonly string[] | Promise<readonly string[]>,
): Promise<readonly string[]> {
  const root = await fixture(files);
  try {
    return await check(root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}
