/** The app that this package holds, as hashes: computed from its files, not read from a list beside them. */

import { fromBase64, utf8 } from "@custos/core/bytes";
import { ASSETS } from "../assets.ts";
import { sha256Hex } from "./sha256_hex.ts";

/** What an origin must serve: SHA-256 in hex by file name. */
export interface ExpectedBuild {
  version: string;
  files: ReadonlyMap<string, string>;
}

/** Hashes every file of the package. */
export async function expectedBuild(): Promise<ExpectedBuild> {
  const files = new Map<string, string>();
  for (const [name, asset] of Object.entries(ASSETS)) {
    files.set(name, await sha256Hex("text" in asset ? utf8(asset.text) : fromBase64(asset.base64)!));
  }
  const manifest = ASSETS["manifest.json"]!;
  const { version } = JSON.parse("text" in manifest ? manifest.text : "{}") as { version: string };
  return { version, files };
}
