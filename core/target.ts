/**
 * Where a request goes, parsed once (DESIGN §12). The policy check, the card, the audit entry and the wire all use the
 * parts found here, so there is no second parser to disagree with (B01–B03). What this file cannot see is a method
 * override inside a body (B48): the card shows the body instead.
 */

import { CustosError } from "./errors.ts";
import { type HostScope, hostScope } from "./host_scope.ts";
import { METHODS, type Policy } from "./policy.ts";
import { pathIsAmbiguous, withinPrefix } from "./target_path.ts";

/** Longest URL, in characters. */
export const MAX_URL_LENGTH = 8192;

/** A parsed destination. Every part is as `URL` serialises it; `url` is exactly what is sent, query secrets aside. */
export interface Target {
  method: string;
  /** `origin + path + query`, without fragment. */
  url: string;
  /** `https://host[:port]`, the default port left out (B22). */
  origin: string;
  /** Host with its port, where that is not the default one. */
  host: string;
  /** Host alone, as punycode (B15), IP literals canonical (B11). */
  hostname: string;
  path: string;
  /** `""`, or `?` and what follows, byte for byte. */
  query: string;
}

/**
 * Parses method and URL. Names of methods may come in any letter case and are sent in capitals (B49). A fragment is
 * dropped: it never goes on the wire.
 *
 * Throws `bad_request` on what is not one plain http(s) URL (backslashes, blanks, controls: B03, B17; schemes: B21; over
 * 8 KiB), `host_not_allowed` on login data and on hosts that have a second spelling (B01, B02, B05, B09), and
 * `method_not_allowed` on anything outside `METHODS`. The text names the host that the URL really has.
 *
 * ```ts
 * import { parseTarget } from "@custos/core/target";
 * const target = parseTarget("get", "https://API.example.test:443/v1/./x?q=a%2Fb#top");
 * if (target.url !== "https://api.example.test/v1/x?q=a%2Fb" || target.method !== "GET") throw new Error();
 * ```
 */
export function parseTarget(method: string, url: string): Target {
  const name = parseMethod(method);
  if (url.length > MAX_URL_LENGTH) refuse(`The URL is longer than ${MAX_URL_LENGTH} characters.`);
  const parsed = URL.canParse(url) ? new URL(url) : null;
  const really = parsed === null || parsed.host === "" ? "" : ` (its host would be ${parsed.host})`;
  // deno-lint-ignore no-control-regex -- controls are exactly what is looked for (B17)
  if (/[\x00-\x20\x7f\\]/.test(url)) {
    refuse(
      `The URL holds a backslash, a blank or a control character${really}. Percent-encode it or take it out.`,
    );
  }
  if (parsed === null) return refuse("This is not a complete URL. It must start with https:// and a host.");
  if (parsed.protocol !== "https:" && parsed.protocol !== "http:") {
    refuse("Only https URLs, and http ones where the policy names them, can be requested.");
  }
  // `https:host` and `https:///host` mean `https://host` to one parser only (B03)
  if (!/^https?:\/\/[^/]/i.test(url)) {
    refuse(`The URL must have exactly two slashes before its host${really}.`);
  }
  if (parsed.username !== "" || parsed.password !== "" || /^[^/?#]*\/\/[^/?#]*@/.test(url)) {
    refuseHost(
      `The URL has login data before an @. The host it really names is ${parsed.host}. Take that part out.`,
    );
  }
  if (parsed.hostname.endsWith(".")) {
    refuseHost(`The host ${parsed.host} ends in a dot. Write it without.`);
  }
  if (!/^[a-z0-9.:[\]_-]+$/.test(parsed.host)) refuseHost("The host holds characters that no host name has.");
  const { origin, host, hostname, pathname: path, search: query } = parsed;
  return { method: name, url: origin + path + query, origin, host, hostname, path, query };
}

function parseMethod(method: string): string {
  const name = /^[A-Za-z]{1,16}$/.test(method) ? method.toUpperCase() : "";
  if ((METHODS as readonly string[]).includes(name)) return name;
  throw new CustosError("method_not_allowed", `The method must be one of ${METHODS.join(", ")}.`);
}

/**
 * Refuses a target that the policy does not allow: exact origin with port (B06, B22), private addresses without
 * `private_network` (B11), path and method by the rules, method overrides in the query (B48), and the query member that
 * is the secret's own place (B54). HEAD is allowed only where a rule names it.
 *
 * Throws `host_not_allowed`, `private_address`, `path_not_allowed`, `method_not_allowed` or `bad_request`. The text says
 * what the policy allows, which is not secret (DESIGN §6.1).
 */
export function checkTarget(policy: Policy, target: Target): void {
  const handle = `custos:${policy.name}`;
  if (!policy.origins.includes(target.origin)) {
    refuseHost(`${handle} may not be sent to ${target.origin}, only to ${policy.origins.join(", ")}.`);
  }
  checkScope(policy, hostScope(target.hostname), target.host);
  const names = queryNames(target.query);
  if (names.includes("_method")) {
    const why = "The query names another method in _method. Use the method itself.";
    throw new CustosError("method_not_allowed", why);
  }
  if (policy.placement.kind === "query" && names.includes(policy.placement.name.toLowerCase())) {
    refuse(`The query member ${policy.placement.name} is where custos puts ${handle}. Leave it out.`);
  }
  const ambiguous = pathIsAmbiguous(target.path);
  // the prefix "/" restricts nothing, so `a%2Fb` is harmless there (B18)
  const rules = policy.rules.filter(({ path_prefix: prefix }) =>
    prefix === "/" || (!ambiguous && withinPrefix(target.path, prefix))
  );
  if (rules.length === 0) {
    const prefixes = [...new Set(policy.rules.map((rule) => rule.path_prefix))].join(", ");
    const why = ambiguous
      ? `${target.path} holds encoded slashes or dot segments, which servers read in different ways`
      : `${handle} may not be used at ${target.path}`;
    throw new CustosError("path_not_allowed", `${why}. The policy allows: ${prefixes}.`);
  }
  const methods = [...new Set(rules.flatMap((rule) => rule.methods))];
  if (!methods.includes(target.method)) {
    const why = `${handle} may not be used with ${target.method} at ${target.path}, only with ${
      methods.join(", ")
    }.`;
    throw new CustosError("method_not_allowed", why);
  }
}

function checkScope(policy: Policy, scope: HostScope, host: string): void {
  if (scope === "public") return;
  if (scope === "private" && policy.limits.private_network) return;
  const why = scope === "private"
    ? `${host} is on a private network, and the policy of custos:${policy.name} has no private_network.`
    : `${host} is a link-local, multicast or reserved address. custos never connects to those.`;
  throw new CustosError("private_address", why);
}

/** Names in a query, decoded and in small letters: servers differ in both, so the check is the wider one. */
function queryNames(query: string): string[] {
  return query.slice(1).split(/[&;]/).map((pair) => {
    const raw = pair.split("=", 1)[0]!.replaceAll("+", " ");
    try {
      return decodeURIComponent(raw).toLowerCase();
    } catch {
      return raw.toLowerCase();
    }
  });
}

function refuse(why: string): never {
  throw new CustosError("bad_request", why);
}

function refuseHost(why: string): never {
  throw new CustosError("host_not_allowed", why);
}
