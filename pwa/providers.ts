/**
 * Well-known APIs: where they are, and where they expect a key. The table is ours: an agent chooses a name, and at most
 * picks a row of it. It is a help to fill in a form, and a person reads the sentence before anything is signed.
 */

import type { Placement } from "@custos/core/policy";

/** One API. */
export interface Provider {
  /** As its people write it. */
  label: string;
  origin: string;
  placement: Placement;
}

const BEARER: Placement = { kind: "bearer" };

function header(name: string, template = "{secret}"): Placement {
  return { kind: "header", name, template };
}

/** By the name that a secret of it would have. */
export const PROVIDERS: Readonly<Record<string, Provider>> = {
  airtable: { label: "Airtable", origin: "https://api.airtable.com", placement: BEARER },
  anthropic: { label: "Anthropic", origin: "https://api.anthropic.com", placement: header("x-api-key") },
  cloudflare: { label: "Cloudflare", origin: "https://api.cloudflare.com", placement: BEARER },
  cohere: { label: "Cohere", origin: "https://api.cohere.com", placement: BEARER },
  datadog: { label: "Datadog", origin: "https://api.datadoghq.com", placement: header("dd-api-key") },
  deepseek: { label: "DeepSeek", origin: "https://api.deepseek.com", placement: BEARER },
  digitalocean: { label: "DigitalOcean", origin: "https://api.digitalocean.com", placement: BEARER },
  discord: {
    label: "Discord",
    origin: "https://discord.com",
    placement: header("authorization", "Bot {secret}"),
  },
  elevenlabs: { label: "ElevenLabs", origin: "https://api.elevenlabs.io", placement: header("xi-api-key") },
  figma: { label: "Figma", origin: "https://api.figma.com", placement: header("x-figma-token") },
  fly: { label: "Fly.io", origin: "https://api.machines.dev", placement: BEARER },
  github: { label: "GitHub", origin: "https://api.github.com", placement: BEARER },
  gitlab: { label: "GitLab", origin: "https://gitlab.com", placement: header("private-token") },
  groq: { label: "Groq", origin: "https://api.groq.com", placement: BEARER },
  heroku: { label: "Heroku", origin: "https://api.heroku.com", placement: BEARER },
  huggingface: { label: "Hugging Face", origin: "https://huggingface.co", placement: BEARER },
  linear: { label: "Linear", origin: "https://api.linear.app", placement: header("authorization") },
  mailgun: {
    label: "Mailgun",
    origin: "https://api.mailgun.net",
    placement: { kind: "basic", username: "api" },
  },
  mistral: { label: "Mistral", origin: "https://api.mistral.ai", placement: BEARER },
  netlify: { label: "Netlify", origin: "https://api.netlify.com", placement: BEARER },
  notion: { label: "Notion", origin: "https://api.notion.com", placement: BEARER },
  openai: { label: "OpenAI", origin: "https://api.openai.com", placement: BEARER },
  openweather: {
    label: "OpenWeather",
    origin: "https://api.openweathermap.org",
    placement: { kind: "query", name: "appid" },
  },
  pagerduty: {
    label: "PagerDuty",
    origin: "https://api.pagerduty.com",
    placement: header("authorization", "Token token={secret}"),
  },
  postmark: {
    label: "Postmark",
    origin: "https://api.postmarkapp.com",
    placement: header("x-postmark-server-token"),
  },
  replicate: { label: "Replicate", origin: "https://api.replicate.com", placement: BEARER },
  resend: { label: "Resend", origin: "https://api.resend.com", placement: BEARER },
  sendgrid: { label: "SendGrid", origin: "https://api.sendgrid.com", placement: BEARER },
  sentry: { label: "Sentry", origin: "https://sentry.io", placement: BEARER },
  slack: { label: "Slack", origin: "https://slack.com", placement: BEARER },
  stripe: { label: "Stripe", origin: "https://api.stripe.com", placement: BEARER },
  todoist: { label: "Todoist", origin: "https://api.todoist.com", placement: BEARER },
  vercel: { label: "Vercel", origin: "https://api.vercel.com", placement: BEARER },
};

/** The provider of a name, also of `github-work` or `stripe_live`; `null` where none is known. */
export function providerOf(name: string): Provider | null {
  const first = name.split(/[-_]/)[0]!;
  for (const key of [name, first]) if (Object.hasOwn(PROVIDERS, key)) return PROVIDERS[key]!;
  return null;
}
