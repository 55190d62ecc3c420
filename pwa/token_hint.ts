/**
 * Well-known beginnings of API keys, and where such keys belong. A key that is dropped for another origin gets a warning:
 * a person who was talked into the wrong form sees it before the touch (DESIGN §6.3). The list is a help, not a guard.
 */

/** Beginning of the key, provider, and the domains its API is at. */
const KNOWN: readonly (readonly [prefix: string, provider: string, domains: readonly string[]])[] = [
  ["ghp_", "GitHub", ["github.com"]],
  ["gho_", "GitHub", ["github.com"]],
  ["ghs_", "GitHub", ["github.com"]],
  ["github_pat_", "GitHub", ["github.com"]],
  ["glpat-", "GitLab", ["gitlab.com"]],
  ["sk_live_", "Stripe", ["stripe.com"]],
  ["rk_live_", "Stripe", ["stripe.com"]],
  ["xoxb-", "Slack", ["slack.com"]],
  ["xoxp-", "Slack", ["slack.com"]],
  ["sk-ant-", "Anthropic", ["anthropic.com"]],
  ["npm_", "npm", ["npmjs.org", "npmjs.com"]],
  ["SG.", "SendGrid", ["sendgrid.com"]],
  ["shpat_", "Shopify", ["myshopify.com"]],
  ["hf_", "Hugging Face", ["huggingface.co"]],
  ["dop_v1_", "DigitalOcean", ["digitalocean.com"]],
  ["lin_api_", "Linear", ["linear.app"]],
];

/**
 * A sentence of warning where a value looks like a key of a known provider and an origin is not that provider's, else
 * `null`. It never repeats a part of the value. Self-hosted installations get the warning too: it says what it saw.
 *
 * ```ts
 * import { tokenHint } from "@custos/pwa";
 * const hint = tokenHint("ghp_example0123456789", ["https://api.example.test"]);
 * if (hint === null || hint.includes("ghp_")) throw new Error();
 * ```
 */
export function tokenHint(value: string, origins: readonly string[]): string | null {
  const known = KNOWN.find(([prefix]) => value.startsWith(prefix));
  if (known === undefined) return null;
  const [, provider, domains] = known;
  const elsewhere = origins.find((origin) => {
    const host = URL.canParse(origin) ? new URL(origin).hostname : "";
    return !domains.some((domain) => host === domain || host.endsWith(`.${domain}`));
  });
  if (elsewhere === undefined) return null;
  return `This looks like a key for ${provider}, but it would be sent to ${elsewhere}.`;
}
