/** What a URL may be and become, in the plainest words: no `URL`, one regular expression, and the worst server's eyes. */

import { METHODS, type Policy } from "@custos/core/policy";

/** Why a refusal is wrong: the URL is of a form about which no two readers differ, and the policy allows it. */
export function missed(verb: string, text: string, under: Policy): string | null {
  const match = /^(https:\/\/api\.example\.test)((?:\/(?:[A-Za-z0-9_~-]|%20|%41)+)+)(\?[a-z0-9=&%+~]*)?$/
    .exec(text);
  if (match === null || !/^[A-Za-z]+$/.test(verb)) return null;
  const [, origin, path, query = ""] = match;
  const allowed = under.origins.includes(origin!) &&
    under.rules.some((rule) =>
      (rule.methods as string[]).includes(verb.toUpperCase()) && below(path!, rule.path_prefix)
    );
  return allowed && !namesForbidden(query, under) ? "it was refused, and is plainly allowed" : null;
}

/** Why what would be sent is not safe, or `null`. */
export function unsafe(
  text: string,
  { method, url: out }: { method: string; url: string },
  under: Policy,
): string | null {
  const match = /^(https?:\/\/[a-z0-9.:[\]-]+)(\/[\x21-\x7e]*?)(\?[\x21-\x7e]*)?$/.exec(out);
  if (match === null || out.includes("#") || out.includes("\\")) {
    return `what is sent has another form: ${out}`;
  }
  const [, origin, path, query = ""] = match;
  if (!under.origins.includes(origin!)) return `it goes to ${origin}`;
  if (!(METHODS as readonly string[]).includes(method)) return `the method is ${method}`;
  const rules = under.rules.filter((rule) => (rule.methods as string[]).includes(method));
  for (const read of readings(path!)) {
    if (!rules.some((rule) => rule.path_prefix === "/" || below(read, rule.path_prefix))) {
      return `a server may read its path as ${read}`;
    }
  }
  if (namesForbidden(query, under)) return `its query names what it must not: ${query}`;
  if (/^[^/?#]*[/\\]*[^/?#\\]*@/.test(text)) return "it has login data before an @";
  const asked = /^[^?#]*(\?[^#]*)?/.exec(text)![1] ?? "";
  const same = query === asked || (asked === "?" && query === "");
  if (/^[A-Za-z0-9%&=;+_~?/.-]*$/.test(asked) && !same) return `its query was changed to ${query}`;
  return null;
}

function below(path: string, prefix: string): boolean {
  const parts = prefix.endsWith("/") ? prefix.slice(0, -1) : prefix;
  if (path === parts) return parts === prefix;
  return path.slice(0, parts.length + 1) === `${parts}/`;
}

/** A path as servers read it that decode it up to five times, take backslashes for slashes, and cut parameters off. */
function readings(path: string): string[] {
  const out: string[] = [];
  let text = path;
  for (let round = 0; round < 6; round++) {
    for (const slashes of [text, text.replaceAll("\\", "/")]) {
      out.push(
        resolve(slashes),
        resolve(slashes.split("/").map((segment) => segment.split(";")[0]!).join("/")),
      );
    }
    text = text.replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number(`0x${hex}`)));
  }
  return out;
}

function resolve(path: string): string {
  const out: string[] = [];
  for (const segment of path.split("/").slice(1)) {
    if (segment === "..") out.pop();
    else if (segment !== ".") out.push(segment);
  }
  return `/${out.join("/")}`;
}

function namesForbidden(query: string, { placement }: Policy): boolean {
  const own = placement.kind === "query" ? placement.name : null;
  return query.slice(1).split(/[&;]/).some((member) => {
    const name = member.split("=")[0]!.replace(
      /%([0-7][0-9A-Fa-f])/g,
      (_, hex: string) => String.fromCharCode(Number(`0x${hex}`)),
    );
    return name.toLowerCase() === "_method" || name.toLowerCase() === own;
  });
}
