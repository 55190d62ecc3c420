/** Looks for a secret in every form in which it could have got out, written apart from the product's own scrubber. */

/** Forms of a value: raw, base64 and base64url at each alignment, hex, percent and JSON. */
export function formsOf(value: string): string[] {
  const bytes = new TextEncoder().encode(value);
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0"));
  const forms = [
    value,
    encodeURIComponent(value),
    hex.map((pair) => `%${pair}`).join(""),
    hex.join(""),
    JSON.stringify(value).slice(1, -1),
    JSON.stringify(JSON.stringify(value)).slice(3, -3),
    [...value].map((character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`).join(""),
  ];
  for (const before of [0, 1, 2]) {
    const padded = new Uint8Array(before + bytes.length);
    padded.set(bytes, before);
    // Characters that also hold bits of a neighbour are cut off on both sides.
    const text = btoa(String.fromCharCode(...padded)).replace(/=+$/, "");
    const last = padded.length % 3 === 0 ? text.length : text.length - 1;
    const stable = text.slice(before === 0 ? 0 : before + 1, last);
    forms.push(stable, stable.replaceAll("+", "-").replaceAll("/", "_"));
  }
  return [...new Set(forms)];
}

/** The forms of a value that a text holds, letter case aside for hex and percent. */
export function leaks(text: string, value: string): string[] {
  const lower = text.toLowerCase();
  return formsOf(value).filter((form) =>
    text.includes(form) || (/^(%?[0-9a-f]{2})+$/.test(form) && lower.includes(form))
  );
}
