/** The media type of each kind of file of the phone app, by the end of its name. */

import { CustosError } from "@custos/core/errors";

const TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  json: "application/json",
  png: "image/png",
  svg: "image/svg+xml",
  webmanifest: "application/manifest+json",
};

/** The `Content-Type` of a file. Throws `internal` for a kind that the app does not have. */
export function contentType(name: string): string {
  const kind = name.slice(name.lastIndexOf(".") + 1);
  if (!Object.hasOwn(TYPES, kind)) {
    throw new CustosError("internal", `The phone app has a file of an unknown kind: ${name}.`);
  }
  return TYPES[kind]!;
}
