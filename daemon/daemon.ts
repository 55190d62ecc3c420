/** The daemon put together: which part knows which. Starting and stopping; everything else is in the parts. */

import type { Profile } from "./args.ts";
import { Asks } from "./asks.ts";
import { AuditLog } from "./audit_log.ts";
import type { PolicyChange } from "@custos/core/policy_change";
import { Cells } from "./cells.ts";
import { ChannelStore } from "./channel_store.ts";
import { Database } from "./database.ts";
import { Decisions } from "./decisions.ts";
import { FatigueStore } from "./fatigue_store.ts";
import { Gate } from "./gate.ts";
import { Grants } from "./grants.ts";
import { type Identity, loadIdentity } from "./identity.ts";
import { Pairing } from "./pairing.ts";
import { Phones } from "./phones.ts";
import { PolicyStore } from "./policy_store.ts";
import { changeDraft } from "./policy_drafts.ts";
import { openRelay, type RelayAddress } from "./relay_line.ts";
import { ReplyKeys } from "./reply_keys.ts";
import { RequestEnds } from "./request_ends.ts";
import { RequestStore } from "./request_store.ts";
import { Spool } from "./spool.ts";
import { Waits } from "./waits.ts";
import type { PhoneOrigin } from "./webauthn_check.ts";

/** How a daemon is set up. */
export interface DaemonOptions {
  state: string;
  profile: Profile;
  name: string;
  relay: RelayAddress;
  phoneOrigin: PhoneOrigin;
}

/** How often times are looked at, in milliseconds. Every use checks the clock itself; this only tidies up. */
const TICK_MS = 1_000;

/** A running daemon. */
export class Daemon {
  readonly started_ms: number = Date.now();
  pairing: Pairing | null = null;
  #timer: ReturnType<typeof setInterval> | undefined;
  #closeRelay: () => void;

  private constructor(
    readonly options: DaemonOptions,
    readonly db: Database,
    readonly identity: Identity,
    readonly audit: AuditLog,
    readonly policies: PolicyStore,
    readonly requests: RequestStore,
    readonly grants: Grants,
    readonly cells: Cells,
    readonly gate: Gate,
    readonly spool: Spool,
    readonly waits: Waits,
    readonly ends: RequestEnds,
    readonly asks: Asks,
    readonly channels: ChannelStore,
    readonly phones: Phones,
    readonly beginPairing: () => Promise<Pairing>,
    closeRelay: () => void,
  ) {
    this.#closeRelay = closeRelay;
  }

  /** Opens the state, ends what the last run left, and connects to the phones. Throws `storage` or `locked`. */
  static async start(options: DaemonOptions): Promise<Daemon> {
    const db = Database.open(options.state);
    try {
      return await Daemon.#assemble(options, db);
    } catch (error) {
      db.close();
      throw error;
    }
  }

  static async #assemble(options: DaemonOptions, db: Database): Promise<Daemon> {
    const identity = await loadIdentity(db, options.name);
    const audit = AuditLog.open(db, identity);
    const policies = await PolicyStore.open(db, identity.daemon);
    const requests = new RequestStore(db);
    const fatigue = new FatigueStore(db);
    const grants = new Grants(db);
    const cells = new Cells((secretId) => grants.hasLive(secretId), options.profile === "lan");
    const gate = new Gate(db, audit, grants, cells);
    const replyKeys = new ReplyKeys();
    const ends = new RequestEnds(db, requests, audit, replyKeys);
    const channels = new ChannelStore(db);
    const { client, close } = openRelay(options.relay);
    const daemon = identity.daemon;
    const decisions = new Decisions({
      db,
      audit,
      policies,
      requests,
      ends,
      fatigue,
      grants,
      replyKeys,
      daemon,
    });
    const lock = (by: string) => void lockAll(grants, cells, audit, by);
    const change = async (secretId: string, wanted: PolicyChange) =>
      void await asks.ask(await changeDraft(policies, secretId, wanted));
    const links = { identity, audit, policies, requests, grants, fatigue, decisions, channels, lock, change };
    const phones = new Phones(client, links);
    const sendCard = (request: Parameters<Phones["sendCard"]>[0]) => phones.sendCard(request);
    const asks: Asks = new Asks({ db, identity, audit, policies, requests, fatigue, replyKeys, sendCard });
    const beginPairing = () =>
      Pairing.begin({
        db,
        identity,
        audit,
        policies,
        channels,
        phoneOrigin: options.phoneOrigin,
        client,
        relayUrl: options.relay.url,
        onEnrolled: ({ device }, line) => phones.adopt(device, line),
      });

    audit.write({ event: "daemon_started" });
    gate.recover();
    ends.withdrawAll("daemon_restarted");
    requests.onChange((request) => phones.sendDecided(request));
    grants.onEnd((live, why) => {
      audit.write({ event: "grant_ended", grant_id: live.grant.grant_id, request_id: live.request_id, why });
      // A grant that ran out lets what is in flight finish; one that was taken away does not.
      if (why === "expired" || why === "spent") cells.settle(live.grant.secret_id);
      else if (!grants.hasLive(live.grant.secret_id)) {
        cells.terminate(live.grant.secret_id, "its grant was taken back");
      }
    });
    const running = new Daemon(
      options,
      db,
      identity,
      audit,
      policies,
      requests,
      grants,
      cells,
      gate,
      Spool.open(options.state),
      new Waits(requests),
      ends,
      asks,
      channels,
      phones,
      beginPairing,
      close,
    );
    await phones.start();
    running.#timer = setInterval(() => running.#tick(), TICK_MS);
    return running;
  }

  /** Ends all grants and cells at once. */
  lock(by: string): { revoked: number; cells: number } {
    return lockAll(this.grants, this.cells, this.audit, by);
  }

  /** Withdraws every pending request, and tells those who wait. */
  withdrawAll(): void {
    quietly(() => this.ends.withdrawAll("daemon_stopped"));
  }

  /** Ends everything; waiting requests are withdrawn, and phones are told if the relay takes it. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.pairing?.fail("the daemon was stopped");
    this.withdrawAll();
    quietly(() => this.grants.end(() => true, "daemon_stopped"));
    this.cells.terminateAll("the daemon was stopped");
    quietly(() => this.audit.write({ event: "daemon_stopped" }));
    await new Promise((resolve) => setTimeout(resolve, 50)); // lets the last `decided` out
    this.phones.stop();
    this.#closeRelay();
    this.db.close();
  }

  #tick(): void {
    quietly(() => this.ends.expireOverdue());
    quietly(() => this.grants.sweep());
    this.cells.sweep();
  }
}

function lockAll(
  grants: Grants,
  cells: Cells,
  audit: AuditLog,
  by: string,
): { revoked: number; cells: number } {
  const running = cells.size;
  const revoked = grants.end(() => true, "locked");
  cells.terminateAll("custos was locked");
  audit.write({ event: "locked", why: by.slice(0, 128) });
  return { revoked, cells: running };
}

/** At a full disk these fail, and the next tick tries again; every use checks for itself. */
function quietly(work: () => unknown): void {
  try {
    work();
  } catch {
    // see above
  }
}
