/**
 * Paths against prefixes. A server may decode a path once more than we do, so a path that changes its segments when
 * decoded has no place under a path rule (B18).
 */

/**
 * Whether `path` is `prefix` or below it. A prefix without a slash at its end stops at a segment border: `/v1/user`
 * covers `/v1/user` and `/v1/user/1`, not `/v1/users` (B20). One with a slash covers what is below: `/v1/` covers
 * `/v1/x`, not `/v1`. Letter case counts.
 */
export function withinPrefix(path: string, prefix: string): boolean {
  if (prefix.endsWith("/")) return path.startsWith(prefix);
  return path === prefix || path.startsWith(`${prefix}/`);
}

/** How often a path is decoded while looking for hidden segments. One that still changes then is ambiguous itself. */
const ROUNDS = 4;

/**
 * Whether some server could see other segments in `path` than we do: encoded slashes, backslashes and dot segments in
 * any letter case and over several rounds of decoding, `..;` (which servlet containers strip), encoded controls, overlong
 * UTF-8 and `%u` escapes.
 */
export function pathIsAmbiguous(path: string): boolean {
  const slashes = countSlashes(path);
  let text = path;
  for (let round = 0; round < ROUNDS; round++) {
    // deno-lint-ignore no-control-regex -- an encoded control ends the path for some servers
    if (/[\\\x00-\x1f\x7f\xc0\xc1]|%u/i.test(text) || countSlashes(text) !== slashes) return true;
    if (text.split("/").some((segment) => /^\.{1,2}(?:;.*)?$/.test(segment))) return true;
    const next = text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
    if (next === text) return false;
    text = next;
  }
  return true;
}

function countSlashes(text: string): number {
  return text.split("/").length;
}
