/** Reads the code of the terminal with the camera, or takes the link as text. */

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

type Camera = "off" | "asking" | "on" | "refused";

/** Between two looks at the picture, in milliseconds. */
const LOOK_MS = 150;

/** What the part needs. */
export interface ScannerProps {
  onLink: (url: string) => void;
}

/** The part. */
export function Scanner({ onLink }: ScannerProps): JSX.Element {
  const video = useRef<HTMLVideoElement>(null);
  const stop = useRef<() => void>(() => {});
  const [camera, setCamera] = useState<Camera>("off");
  const [pasted, setPasted] = useState("");
  useEffect(() => () => stop.current(), []);

  const look = async () => {
    setCamera("asking");
    try {
      stop.current = await watch(video.current!, (text) => {
        if (!text.includes("#p=")) return;
        stop.current();
        onLink(text);
      });
      setCamera("on");
    } catch {
      setCamera("refused");
    }
  };
  return (
    <section class="sheet">
      <video
        ref={video}
        class="viewfinder"
        hidden={camera !== "on"}
        muted
        playsInline
        aria-label="camera picture"
      />
      {camera === "refused" && (
        <p class="warning" role="alert">
          The camera cannot be used. Allow it in the browser's settings, or open the link of the terminal on
          this device.
        </p>
      )}
      {camera !== "on" && (
        <button type="button" class="primary" disabled={camera === "asking"} onClick={look}>
          {camera === "asking" ? "Waiting for the camera…" : "Use the camera"}
        </button>
      )}
      <details>
        <summary>No camera? Paste the link</summary>
        <label for="pair-link">The link below the code</label>
        <input
          id="pair-link"
          type="url"
          autocomplete="off"
          value={pasted}
          onInput={(event) => setPasted(event.currentTarget.value)}
        />
        <button type="button" disabled={!pasted.includes("#p=")} onClick={() => onLink(pasted.trim())}>
          Pair with this link
        </button>
      </details>
    </section>
  );
}

/** Watches the camera's picture until stopped; calls `found` with what a code says. */
async function watch(video: HTMLVideoElement, found: (text: string) => void): Promise<() => void> {
  const stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } });
  const { default: decodeQR } = await import("qr/decode.js");
  video.srcObject = stream;
  await video.play();
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d", { willReadFrequently: true })!;
  const timer = setInterval(() => {
    const { videoWidth: width, videoHeight: height } = video;
    if (width === 0) return;
    canvas.width = width;
    canvas.height = height;
    context.drawImage(video, 0, 0);
    try {
      found(decodeQR(context.getImageData(0, 0, width, height)));
    } catch {
      // no code in this picture
    }
  }, LOOK_MS);
  return () => {
    clearInterval(timer);
    for (const track of stream.getTracks()) track.stop();
  };
}
