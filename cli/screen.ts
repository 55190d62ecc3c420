/** A whole terminal for a view that stays: `custos watch`. */

/** How large it is now. */
export interface Size {
  columns: number;
  rows: number;
}

/** The alternate screen of a terminal. What was there before comes back when it closes. */
export interface Screen extends Disposable {
  size(): Size;
  /**
   * Shows one line for each row, from the top. A line fills its row or is empty, and holds nothing but safe text and
   * styles.
   */
  draw(lines: readonly string[]): Promise<void>;
  /** Waits for a key, a new size, a signal to end, or this many milliseconds; says which. */
  wait(ms: number): Promise<ScreenEvent>;
}

/** What ended a wait. */
export type ScreenEvent = { kind: "key"; key: string } | { kind: "resized" } | { kind: "time" } | {
  kind: "end";
};
