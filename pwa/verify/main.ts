/**
 * `custos-verify-pwa ORIGIN`: compares what an origin serves with the phone app of this package (DESIGN §6.4). It can reach
 * that origin and nothing else; its answer is as good as the way by which the package came.
 *
 * ```sh
 * deno run --no-prompt --allow-net=custos.example:443 jsr:@custos/pwa/verify https://custos.example
 * ```
 */

import { expectedBuild } from "./expected_build.ts";
import { verifyPwa } from "./verify_pwa.ts";

const HELP = `custos-verify-pwa: compares what an origin serves with the phone app of this version.

Usage: custos-verify-pwa ORIGIN [--json]

  ORIGIN  such as https://custos.example, without a path

Exit codes: 0 the same, 1 something differs, 2 wrong usage.

It says what this machine is served now. An origin can serve others something else, so run it from more than one place.
`;

async function main(args: readonly string[]): Promise<number> {
  const json = args.includes("--json");
  const [origin, ...more] = args.filter((arg) => arg !== "--json");
  if (origin === "--help") {
    write(Deno.stdout, HELP);
    return 0;
  }
  const url = origin === undefined ? null : URL.parse(origin);
  if (url === null || url.origin !== origin || !/^https?:$/.test(url.protocol) || more.length > 0) {
    write(Deno.stderr, HELP);
    return 2;
  }
  const { findings, version, files, relays } = await verifyPwa(origin, await expectedBuild(), fetch);
  const same = findings.length === 0;
  if (json) write(Deno.stdout, JSON.stringify({ same, origin, version, files, relays, findings }) + "\n");
  else if (same) {
    const names = relays.length === 0 ? "none" : relays.join(", ");
    write(
      Deno.stdout,
      `${origin} serves version ${version}: ${files} files, all the same.\nRelays: ${names}\n`,
    );
  } else {
    write(Deno.stdout, `${origin} does not serve version ${version}:\n`);
    for (const finding of findings) write(Deno.stdout, `  ${finding}\n`);
  }
  return same ? 0 : 1;
}

function write(to: { writeSync(bytes: Uint8Array): number }, text: string): void {
  let bytes = new TextEncoder().encode(text);
  while (bytes.length > 0) bytes = bytes.subarray(to.writeSync(bytes));
}

if (import.meta.main) Deno.exit(await main(Deno.args));
