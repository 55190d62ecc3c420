/**
 * What the place that serves the app says: which relays it may speak to. The same list is in the page's Content Security
 * Policy, so a code that names another relay could not be used even if this check were gone.
 */

/** Relay origins that this build may use. */
export interface AppConfig {
  relays: string[];
}

/** Reads `config.json` beside the page. Without it, or with anything odd in it, no relay is allowed. */
export async function readConfig(): Promise<AppConfig> {
  try {
    const response = await fetch("config.json", { cache: "no-store" });
    const value = await response.json() as { relays?: unknown };
    const relays = Array.isArray(value.relays) ? value.relays.filter((one) => typeof one === "string") : [];
    return { relays };
  } catch {
    return { relays: [] };
  }
}
