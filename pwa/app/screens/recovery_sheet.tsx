/**
 * The recovery sheet, shown once. It opens every secret without any phone, so the person proves that it was kept before
 * the enrolment ends (DESIGN §6.2).
 */

import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import encodeQR from "qr";

/** What the part needs. */
export interface RecoverySheetProps {
  sheet: string;
  onProven: () => void;
}

/** The part. */
export function RecoverySheet({ sheet, onProven }: RecoverySheetProps): JSX.Element {
  const groups = sheet.split("-");
  const asked = useMemo(() => crypto.getRandomValues(new Uint8Array(1))[0]! % groups.length, [sheet]);
  const [typed, setTyped] = useState("");
  const [hidden, setHidden] = useState(false);
  const right = typed.trim().toUpperCase() === groups[asked];
  return (
    <>
      <h1>Your recovery sheet</h1>
      <p>
        If this phone is lost, this sheet opens everything. Print it or write it down, and keep it where no
        computer is.
      </p>
      {!hidden && (
        <section class="sheet" data-testid="sheet">
          <Qr text={sheet} />
          <ol class="sheet-groups mono">{groups.map((group, at) => <li key={at}>{group}</li>)}</ol>
        </section>
      )}
      <div class="actions no-print">
        <button type="button" onClick={() => print()}>Print</button>
        <button type="button" onClick={() => setHidden(!hidden)}>
          {hidden ? "Show it again" : "I have it"}
        </button>
      </div>
      {hidden && (
        <section class="no-print">
          <label for="sheet-proof">Type group {asked + 1} of the sheet</label>
          <input
            id="sheet-proof"
            autocomplete="off"
            autocapitalize="characters"
            spellcheck={false}
            maxLength={4}
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
          {typed.length >= 4 && !right && (
            <p class="soft" role="status">That is not group {asked + 1}. Look at the sheet again.</p>
          )}
          <button type="button" class="primary" disabled={!right} onClick={onProven}>
            It is kept. Go on
          </button>
        </section>
      )}
    </>
  );
}

/** The sheet as a code, drawn as one path: no image, no inline style. */
function Qr({ text }: { text: string }): JSX.Element {
  const rows = encodeQR(text, "raw", { border: 4 });
  const path = rows.flatMap((row, y) => row.map((dark, x) => dark ? `M${x} ${y}h1v1h-1z` : "")).join("");
  return (
    <svg
      class="qr"
      viewBox={`0 0 ${rows.length} ${rows.length}`}
      role="img"
      aria-label="recovery sheet as a code"
    >
      <rect width="100%" height="100%" fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
