/** What can stand in the way of pairing, found before anything is tried, each with a next step. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

/** One obstacle. `fatal` ones make pairing impossible here. */
export interface Obstacle {
  fatal: boolean;
  text: string;
}

/** Looks for obstacles in this browser. */
export async function findObstacles(): Promise<Obstacle[]> {
  const out: Obstacle[] = [];
  if (!isSecureContext || typeof PublicKeyCredential === "undefined") {
    const text =
      "This page was not opened securely, or this browser has no passkeys. Open it over https in a current browser.";
    return [{ fatal: true, text }];
  }
  const available = await PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable().catch(() =>
    false
  );
  if (!available) {
    const text = "This device has no screen lock or passkey provider. Set up a screen lock, then come back.";
    out.push({ fatal: true, text });
  }
  const capabilities = await (PublicKeyCredential as unknown as {
    getClientCapabilities?: () => Promise<Record<string, boolean>>;
  }).getClientCapabilities?.().catch(() => undefined);
  if (capabilities?.["extension:prf"] === false) {
    const text =
      "This browser's passkeys cannot give keys (PRF). Use Chrome 116, Safari 18.4 or Firefox 139, or later.";
    out.push({ fatal: true, text });
  }
  const ios = /iPhone|iPad/.test(navigator.userAgent) &&
    !("standalone" in navigator && navigator.standalone === true);
  if (ios) {
    const text =
      "On an iPhone, add this page to the home screen first and pair there. Safari forgets a page after a week.";
    out.push({ fatal: false, text });
  }
  const estimate = await navigator.storage?.estimate?.().catch(() => undefined);
  if (estimate?.quota !== undefined && estimate.quota < 200_000_000) {
    const text =
      "This looks like a private window, which forgets everything when it closes. Use a normal one.";
    out.push({ fatal: false, text });
  }
  return out;
}

/** The list of obstacles; nothing where there are none. */
export function Obstacles(): JSX.Element {
  const [found, setFound] = useState<Obstacle[]>([]);
  useEffect(() => void findObstacles().then(setFound), []);
  return (
    <>
      {found.map(({ fatal, text }) => (
        <p key={text} class={fatal ? "warning stop" : "warning"} role="note">{text}</p>
      ))}
    </>
  );
}
