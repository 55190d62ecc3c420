/**
 * What the screens see: signals over what is stored. The model reads records and knows no cryptography; the engine, which
 * does, is loaded after the first screen is there.
 */

import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { ConnectionState } from "../connection.ts";
import type { PhoneRecord, StoredCard } from "../phone_store.ts";
import type { Engine } from "./engine.ts";
import type { AppConfig } from "./platform/config.ts";
import type { IdbStore } from "./platform/idb_store.ts";
import { FIRST_SETTINGS, isQuiet, readSettings, type Settings, SETTINGS_NAME } from "./settings.ts";
import { showTheme } from "./platform/theme.ts";

/** One paired computer as the screens see it. */
export interface DaemonView {
  record: PhoneRecord<CryptoKey>;
  line: ConnectionState;
  /** Why nothing can come, for people; `null` when all is well. */
  trouble: string | null;
}

/** A card that waits, with the computer that asks. */
export interface PendingCard {
  daemon: DaemonView;
  card: StoredCard;
}

/** The model of the app. */
export class Model {
  readonly store: IdbStore;
  /** What the place that serves the app says; only pairing waits for it. */
  readonly config: Promise<AppConfig>;
  /** All paired computers. */
  readonly daemons: Signal<readonly DaemonView[]> = signal([]);
  /** Whether what is stored has been read: before that nothing is said about it. */
  readonly ready: Signal<boolean> = signal(false);
  /** This phone's clock, in steps of a second: countdowns and ends follow it. */
  readonly now: Signal<number> = signal(Date.now());
  /** Cards that wait for this person, oldest first. */
  readonly pending: ReadonlySignal<PendingCard[]>;
  /** What was set on this phone. */
  readonly settings: Signal<Settings> = signal(FIRST_SETTINGS);
  /** How many cards the icon may show: none in quiet hours. */
  readonly badge: ReadonlySignal<number>;
  #engine: Promise<Engine> | null = null;
  /** Other tabs: whichever of them reads the mailbox, all show what came. */
  readonly #tabs = new BroadcastChannel("custos");

  constructor(store: IdbStore, config: Promise<AppConfig>) {
    this.store = store;
    this.config = config;
    this.pending = computed(() =>
      this.daemons.value.flatMap((daemon) =>
        daemon.record.cards.filter((card) => isWaiting(daemon.record, card, this.now.value)).map((card) => ({
          daemon,
          card,
        }))
      ).sort((a, b) => a.card.received_ms - b.card.received_ms)
    );
    this.badge = computed(() =>
      isQuiet(this.settings.value.quiet, new Date(this.now.value)) ? 0 : this.pending.value.length
    );
  }

  /** Shows what is stored, then loads the engine and connects. */
  async start(): Promise<void> {
    setInterval(() => this.now.value = Date.now(), 1_000);
    this.#tabs.onmessage = ({ data }) => void this.#changedElsewhere(String(data)).catch(() => {});
    this.settings.value = readSettings(await this.store.setting(SETTINGS_NAME).catch(() => undefined));
    const daemons = await this.store.daemons();
    const loading = daemons.length === 0 ? null : this.engine(); // while the records are read and shown
    for (const daemon of daemons) await this.refresh(daemon);
    this.ready.value = true;
    if (loading === null) return;
    const engine = await loading;
    for (const daemon of daemons) await engine.connect(daemon);
  }

  /** The engine; loaded at the first call. */
  engine(): Promise<Engine> {
    this.#engine ??= import("./engine.ts").then(({ Engine }) =>
      new Engine(
        this.store,
        (daemon, line, trouble) => {
          this.refresh(daemon, line, trouble?.message ?? null).then(
            () => this.#tabs.postMessage(daemon),
            () => {},
          );
        },
      )
    );
    return this.#engine;
  }

  /** Changes settings, and stores them. */
  async change(part: Partial<Settings>): Promise<void> {
    this.settings.value = { ...this.settings.value, ...part };
    if (part.theme !== undefined) showTheme(part.theme);
    await this.store.saveSetting(SETTINGS_NAME, this.settings.value);
  }

  /** Forgets a computer on this phone; its connection ends. */
  async forget(daemon: string): Promise<void> {
    await (await this.engine()).disconnect(daemon);
    await this.store.forget(daemon);
    await this.refresh(daemon);
    this.#tabs.postMessage(daemon);
  }

  /** The first entry of the audit log that this phone lacks. */
  activityFrom(daemon: string): number {
    return this.daemons.value.find(({ record }) => record.daemon === daemon)?.record.activity.tree.size ?? 0;
  }

  /** Reads one record again and shows it. */
  async refresh(daemon: string, line?: ConnectionState, trouble: string | null = null): Promise<void> {
    const record = await this.store.read(daemon);
    const before = this.daemons.value.find((one) => one.record.daemon === daemon);
    const rest = this.daemons.value.filter((one) => one !== before);
    if (record === null) {
      this.daemons.value = rest;
      return;
    }
    const view: DaemonView = { record, line: line ?? before?.line ?? "connecting", trouble };
    this.daemons.value = [...rest, view].sort((a, b) => a.record.daemon < b.record.daemon ? -1 : 1);
  }

  /** A change that another tab has stored. A computer that it has paired is read here too from now on. */
  async #changedElsewhere(daemon: string): Promise<void> {
    const known = this.daemons.value.some(({ record }) => record.daemon === daemon);
    await this.refresh(daemon);
    if (!known && this.daemons.value.some(({ record }) => record.daemon === daemon)) {
      await (await this.engine()).connect(daemon);
    }
  }
}

/** Whether a card waits for this person, here and now. */
function isWaiting<K>(record: PhoneRecord<K>, card: StoredCard, now: number): boolean {
  const answered = record.outbox.some(({ message }) =>
    message.t === "decision" && message.request_hash === card.request_hash
  );
  const open = card.status === "pending" && card.held === null && !answered;
  return open && card.message.doc.expires_ms > now + record.clock_offset_ms;
}
