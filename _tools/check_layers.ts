/**
 * Folders are trust zones and imports point one way (DESIGN §3). This check fails on any other arrow, on what a zone may
 * not touch, and on wide permission flags.
 */
import { isPure, isSource, isTest, walk, zoneOf } from "./files.ts";
import { report } from "./findings.ts";
import { ROOT } from "./launch.ts";
import { type Import, moduleGraph } from "./module_graph.ts";
import { forbiddenLines } from "./forbidden_lines.ts";

/** Zones that ship, with the zones that each may import. Itself is always allowed. */
const ARROWS: Readonly<Record<string, readonly string[]>> = {
  core: [],
  rpc: ["core"],
  daemon: ["core", "rpc"],
  cli: ["core", "rpc"],
  mcp: ["core", "rpc"],
  pwa: ["core"],
  relay: ["core"],
};

/** Zones that may import anything and that nothing imports. */
const FREE = new Set(["tests", "bench", "_tools"]);

/** The only file of core that the relay may know: the framing. It carries sealed bytes and must not know what is in them. */
const RELAY_SEES = "core/relay_wire.ts";

/** Everything that is wrong with the imports and the source lines of the checkout at `root`. */
export async function checkLayers(root: string): Promise<string[]> {
  const all = walk(root);
  const sources = all.filter((path) => isSource(path) && (zoneOf(path) in ARROWS || FREE.has(zoneOf(path))));
  const graph = await moduleGraph(root, sources);
  const findings = [...graph.errors];
  for (const [path, imports] of graph.files) {
    for (const item of imports) {
      const wrong = wrongImport(path, item);
      if (wrong !== null) findings.push(`${path}:${item.line}: ${wrong}`);
    }
  }
  for (const path of all) findings.push(...forbiddenLines(root, path));
  return findings;
}

/** Why a file may not import this, or null. */
function wrongImport(path: string, { specifier, target }: Import): string | null {
  const zone = zoneOf(path);
  if (target === null) return `${specifier} does not resolve`;
  if (/^(https?|jsr|data|blob):/.test(target)) {
    return `${specifier} is code from elsewhere; use npm through the import map`;
  }
  if (specifier.startsWith("npm:")) return `${specifier} is written in place; name it in the root import map`;
  if (FREE.has(zone)) return null;
  if (target.startsWith("npm:")) return null;
  if (target.startsWith("node:")) return wrongBuiltin(path, zone, target);
  const to = zoneOf(target);
  if (to === zone) return null;
  if (!(ARROWS[zone] ?? []).includes(to)) return `${zone} may not import ${to || target} (${specifier})`;
  if (zone === "relay" && target !== RELAY_SEES && !isTest(path)) {
    return `relay may import only @custos/core/relay_wire, not ${specifier}`;
  }
  if (/^[./]/.test(specifier)) return `${specifier} crosses folders by path; import @custos/${to}/… by name`;
  return null;
}

function wrongBuiltin(path: string, zone: string, target: string): string | null {
  if (target === "node:child_process") return "node:child_process starts programs; only _tools/launch.ts may";
  if (target === "node:crypto" && !isTest(path)) return "node:crypto is not used here; use WebCrypto";
  if (isPure(path)) {
    return `${zone} is pure and may not import ${target}`;
  }
  return null;
}

if (import.meta.main) Deno.exit(report("layers", await checkLayers(ROOT)));
