/** The parts of an address that a daemon sent. One that is none must not break the screen on which it is refused. */

/** What is shown of an address. */
export interface UrlParts {
  /** `https:`; empty where the text is no address. */
  protocol: string;
  origin: string;
  host: string;
  hostname: string;
  /** Path and query. */
  path: string;
  pathname: string;
}

/** Takes an address apart. Text that is no address is all path. */
export function urlParts(text: string): UrlParts {
  if (!URL.canParse(text)) {
    return { protocol: "", origin: "", host: "", hostname: "", path: text, pathname: text };
  }
  const { protocol, origin, host, hostname, pathname, search } = new URL(text);
  return { protocol, origin, host, hostname, path: pathname + search, pathname };
}
