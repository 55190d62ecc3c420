/** Folders as a thief takes them: whole, and as they are. */

/** All files below a folder, as Latin-1 text by path. */
export async function filesBelow(folder: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for await (const { name, isDirectory, isFile } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) { for (const [inner, text] of await filesBelow(path)) files.set(inner, text); }
    if (isFile) files.set(path, latin1(await Deno.readFile(path)));
  }
  return files;
}

/** Bytes as text, one character each. */
export function latin1(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes);
}

/** Copies a folder and all that is in it. */
export async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to, { recursive: true, mode: 0o700 });
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (isDirectory) await copyFolder(`${from}/${name}`, `${to}/${name}`);
    else await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
  }
}
