/** The theme that a person chose. It is kept where it can be read at once, so that no other theme flashes up before it. */

import type { Settings } from "../settings.ts";

const NAME = "theme";

/** Shows a theme and keeps it. */
export function showTheme(theme: Settings["theme"]): void {
  const { dataset } = document.documentElement;
  if (theme === "system") delete dataset["theme"];
  else dataset["theme"] = theme;
  try {
    localStorage.setItem(NAME, theme);
  } catch {
    // a browser that stores nothing: the system's theme is shown at the next start
  }
}

/** What was chosen before. */
export function storedTheme(): Settings["theme"] {
  try {
    const stored = localStorage.getItem(NAME);
    return stored === "light" || stored === "dark" ? stored : "system";
  } catch {
    return "system";
  }
}
