/** Pairing in three steps: the code, the words, the passkey with its recovery sheet. Each failure has a way on. */

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { CustosError } from "@custos/core/errors";
import type { Model } from "../model.ts";
import { Frame } from "../ui/frame.tsx";
import { Words } from "../ui/shown.tsx";
import { Obstacles } from "./obstacles.tsx";
import { RecoverySheet } from "./recovery_sheet.tsx";
import { Scanner } from "./scanner.tsx";

type Step =
  | { at: "code" }
  | { at: "meeting" }
  | { at: "words"; words: string }
  | { at: "sheet"; sheet: string; prove: (kept: boolean) => void }
  | { at: "done"; name: string }
  | { at: "failed"; why: string };

/** What the screen needs. `link` is a pairing link that was opened; `null` to scan one. */
export interface PairProps {
  model: Model;
  link: string | null;
  onLeave: () => void;
}

/** The screen. */
export default function PairScreen({ model, link, onLeave }: PairProps): JSX.Element {
  const [step, setStep] = useState<Step>({ at: "code" });
  const ended = useRef(new AbortController());
  const begun = useRef(false);

  const begin = async (url: string) => {
    if (begun.current) return;
    begun.current = true;
    setStep({ at: "meeting" });
    try {
      const engine = await model.engine();
      refuseOtherRelay((await model.config).relays, url);
      const paired = await engine.pair(url, {
        device_name: deviceName(),
        platform: navigator.platform.slice(0, 64),
        signal: ended.current.signal,
        onWords: (words) => setStep({ at: "words", words }),
        proveRecoverySheet: (sheet) => new Promise((prove) => setStep({ at: "sheet", sheet, prove })),
      });
      await navigator.storage?.persist?.();
      setStep({ at: "done", name: paired.daemon_name });
    } catch (error) {
      begun.current = false;
      setStep({ at: "failed", why: reasonOf(error) });
    }
  };
  useEffect(() => {
    if (link !== null) begin(link);
    return () => ended.current.abort();
  }, []);

  return (
    <Frame
      name="pair"
      title="Pair with a computer"
      back={{ label: step.at === "done" ? "Inbox" : "Not now", go: onLeave }}
      aside={<span>{progress(step)}</span>}
    >
      <PairStep step={step} onLink={begin} onLeave={onLeave} onAgain={() => setStep({ at: "code" })} />
    </Frame>
  );
}

interface StepProps {
  step: Step;
  onLink: (url: string) => void;
  onLeave: () => void;
  onAgain: () => void;
}

function PairStep({ step, onLink, onLeave, onAgain }: StepProps): JSX.Element {
  switch (step.at) {
    case "code":
      return (
        <>
          <h1>Scan the code</h1>
          <p>
            On the computer, run{" "}
            <code class="mono">custos pair</code>. It shows a code that works once, for two minutes.
          </p>
          <Obstacles />
          <Scanner onLink={onLink} />
        </>
      );
    case "meeting":
      return <p role="status">Looking for the computer…</p>;
    case "words":
      return (
        <>
          <p class="title">Type the first word</p>
          <Words words={step.words} />
          <p>
            Type the <strong>first</strong>{" "}
            of these words into the terminal. That proves that this phone and that computer speak to each
            other, with nobody between.
          </p>
          <p class="soft" role="status">
            Waiting for the word. Then this phone makes a passkey: it asks for your finger or face twice, the
            second time to prove that the passkey gives the same key again.
          </p>
        </>
      );
    case "sheet":
      return <RecoverySheet sheet={step.sheet} onProven={() => step.prove(true)} />;
    case "done":
      return (
        <>
          <h1>Paired with {step.name}</h1>
          <p class="done" role="status">
            This phone now decides what agents on that computer may do with secrets.
          </p>
          <button type="button" class="primary" onClick={onLeave}>To the inbox</button>
        </>
      );
    case "failed":
      return (
        <>
          <h1>Not paired</h1>
          <p class="warning stop" role="alert">{step.why}</p>
          <p>
            Nothing was stored. Run <code class="mono">custos pair</code> again for a new code.
          </p>
          <button type="button" class="primary" onClick={onAgain}>Scan a new code</button>
        </>
      );
  }
}

function progress(step: Step): string {
  if (step.at === "code" || step.at === "meeting") return "1 of 3";
  if (step.at === "words") return "2 of 3";
  return step.at === "sheet" ? "3 of 3" : "";
}

/** The page may only speak to the relays it was served with; another one in a code is refused before anything is sent. */
function refuseOtherRelay(relays: readonly string[], url: string): void {
  const relay = relayOf(url);
  if (relay !== null && relays.includes(relay)) return;
  throw new CustosError(
    "pairing_refused",
    "This code names a relay that this page was not served for. Serve the page with that relay, or start the computer " +
      "with the relay of this page.",
  );
}

function relayOf(url: string): string | null {
  try {
    const packed = url.slice(url.indexOf("#p=") + 3).replace(/-/g, "+").replace(/_/g, "/");
    const parts: unknown = JSON.parse(atob(packed));
    return Array.isArray(parts) && typeof parts[1] === "string" ? parts[1] : null;
  } catch {
    return null;
  }
}

/** Why it ended, for people, with what to do. */
function reasonOf(error: unknown): string {
  if (error instanceof CustosError) return error.message;
  const name = error instanceof DOMException ? error.name : "";
  if (name === "NotAllowedError") {
    return "The passkey was not made. Begin again when you are ready to touch it.";
  }
  if (name === "InvalidStateError") return "This device already has a passkey for that computer.";
  if (name === "NotSupportedError") {
    return "This browser cannot make the passkey that custos needs. Update it, or use another.";
  }
  return "Something went wrong on this phone.";
}

function deviceName(): string {
  const agent = navigator.userAgent;
  const browser = /Edg|OPR|Firefox|Chrome|Safari/.exec(agent)?.[0];
  const system = /iPhone|iPad|Android|Macintosh|Windows|CrOS|Linux/.exec(agent)?.[0] ?? "browser";
  const names: Record<string, string> = {
    Macintosh: "Mac",
    CrOS: "Chromebook",
    Windows: "Windows PC",
    Linux: "Linux",
  };
  const browsers: Record<string, string> = { Edg: "Edge", OPR: "Opera" };
  const name = names[system] ?? system;
  return browser === undefined ? name : `${browsers[browser] ?? browser} on ${name}`;
}
