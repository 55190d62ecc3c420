/**
 * The encoders in use, each as the spelling that it gives one character. A secret with many different characters has too
 * many mixed spellings to list them all (`spellings.ts`); what these write is always listed (B58).
 */

import { unicodeEscape } from "./spellings.ts";

/** How one encoder spells a character. */
export type Writer = (character: string) => string;

/** A percent writer: what it leaves as it is beside letters and digits, and how it writes a blank. */
function percent(kept: string, blank: "%20" | "+"): Writer {
  return (character) => {
    if (/[A-Za-z0-9]/.test(character) || kept.includes(character)) return character;
    if (character === " ") return blank;
    return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
  };
}

/** Percent and form encoding, over text whose characters are bytes. */
export const PERCENT_WRITERS: readonly Writer[] = [
  percent("-_.~", "%20"), // RFC 3986 §2.3: PHP rawurlencode, Go PathEscape of most, Rust
  percent("-_.~", "+"), // Go QueryEscape, Python quote_plus
  percent("-_.~/", "%20"), // Python quote
  percent("-_.", "+"), // PHP urlencode
  percent("*-._", "+"), // WHATWG form encoding: URLSearchParams; Java URLEncoder
  percent("-_.!~*'()", "%20"), // encodeURIComponent
  percent("-_.!~*'();/?:@&=+$,#", "%20"), // encodeURI
  percent("-_.~$&+=:@", "%20"), // Go PathEscape
  percent("-_.~!$&'()*+,;=:@/", "%20"), // RFC 3986 path
  percent("-_.~!$&'()*+,;=:@/?", "%20"), // RFC 3986 query
  percent("-_.~!$%&'()*+,;=:@/[]\\|", "%20"), // WHATWG path
  percent("-_.~!$%&()*+,;=:@/?[]\\^`{|}", "%20"), // WHATWG query
];

const SHORT: Readonly<Record<string, string>> = {
  '"': '\\"',
  "\\": "\\\\",
  "\b": "\\b",
  "\t": "\\t",
  "\n": "\\n",
  "\f": "\\f",
  "\r": "\\r",
};

/** A JSON writer: what it writes as `\uXXXX` beyond what it must, and as `\/`. */
function json(escaped: RegExp, slash: "/" | "\\/" | "\\u002f" = "/"): Writer {
  return (character) => {
    if (escaped.test(character)) return unicodeEscape(character);
    if (character === "/") return slash;
    return SHORT[character] ?? (character < " " ? unicodeEscape(character) : character);
  };
}

/** Strings in JSON (RFC 8259 §7). */
export const JSON_WRITERS: readonly Writer[] = [
  json(/(?!)/), // JSON.stringify, and most
  json(/(?!)/, "\\/"), // PHP without ASCII
  json(/[\u0080-\uffff]/), // Python
  json(/[\u0080-\uffff]/, "\\/"), // PHP
  json(/[<>&\u2028\u2029]/), // Go, Rails
  json(/[<>&=']/), // Gson
  json(/[<>&'"]/, "\\/"), // PHP for HTML
  json(/[<>&'"+`]|[\u0080-\uffff]/), // .NET
  json(/[<>&'"]|[\u0080-\uffff]/, "\\u002f"), // for scripts in pages
];

function html(names: Readonly<Record<string, string>>): Writer {
  return (character) => names[character] ?? character;
}

const TEXT = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** Text and attributes in HTML and XML. */
export const HTML_WRITERS: readonly Writer[] = [
  html(TEXT),
  html({ ...TEXT, '"': "&quot;" }),
  html({ ...TEXT, '"': "&quot;", "'": "&#39;" }), // most template engines
  html({ ...TEXT, '"': "&quot;", "'": "&#039;" }), // PHP
  html({ ...TEXT, '"': "&quot;", "'": "&#x27;" }), // Python, React
  html({ ...TEXT, '"': "&quot;", "'": "&apos;" }), // XML
  html({ ...TEXT, '"': "&#34;", "'": "&#39;" }), // Go, Jinja
  html({ ...TEXT, '"': "&#34;", "'": "&#39;", "+": "&#43;" }), // Go templates
  html({ ...TEXT, '"': "&quot;", "'": "&#39;", "/": "&#x2F;", "`": "&#x60;", "=": "&#x3D;" }), // Mustache
  html({ ...TEXT, '"': "&quot;", "'": "&#x27;", "`": "&#x60;" }), // Underscore
];
