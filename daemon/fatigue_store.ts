/** Counts and cool-downs, durable: a restart, a new session or another name does not reset them (B148). */

import { CustosError } from "@custos/core/errors";
import { coolDownMs, FATIGUE, mayAsk } from "@custos/core/fatigue";
import type { Database } from "./database.ts";

/** What the person has had to answer lately. */
export class FatigueStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Throws `cooling_down` or `too_many_pending` where one more card may not be shown. */
  check(agent: string | null, coolKey: string, now: number): void {
    const cool = this.#db.get("SELECT until_ms FROM cool_downs WHERE cool_key = ?", coolKey);
    const until = Number(cool?.["until_ms"] ?? 0);
    if (until > now) throw coolingDown("The person said no to this a short time ago.", until);
    const muted = this.#db.get(
      "SELECT max(until_ms) AS until FROM mutes WHERE until_ms > ? AND (scope = 'all' OR agent = ?)",
      now,
      agent ?? "",
    );
    if (muted?.["until"] !== null && muted !== undefined) {
      throw coolingDown("The person has muted requests for now.", Number(muted["until"]));
    }
    const verdict = mayAsk(this.#counts(agent, now));
    if (!verdict.ok) {
      const message = `Nobody was asked: ${verdict.why}. Wait for an answer, or ask the person.`;
      const about = verdict.until_ms === null ? {} : { until_ms: verdict.until_ms };
      throw new CustosError("too_many_pending", message, about);
    }
  }

  /** A denial begins or doubles the cool-down; in the caller's transaction. */
  denied(coolKey: string, now: number): void {
    const row = this.#db.get("SELECT denials FROM cool_downs WHERE cool_key = ?", coolKey);
    const denials = Number(row?.["denials"] ?? 0) + 1;
    this.#db.run(
      "INSERT INTO cool_downs (cool_key, denials, until_ms) VALUES (?, ?, ?) ON CONFLICT (cool_key) DO UPDATE SET " +
        "denials = excluded.denials, until_ms = excluded.until_ms",
      coolKey,
      denials,
      now + coolDownMs(denials),
    );
  }

  /** An approval of the same thing forgets its denials; in the caller's transaction. */
  granted(coolKey: string): void {
    this.#db.run("DELETE FROM cool_downs WHERE cool_key = ?", coolKey);
  }

  /** Mutes an agent (`null` is the nameless one) or everything, until a time. */
  mute(agent: string | null, all: boolean, untilMs: number): void {
    this.#db.run(
      "INSERT INTO mutes (scope, agent, until_ms) VALUES (?, ?, ?) ON CONFLICT (scope, agent) DO UPDATE SET " +
        "until_ms = excluded.until_ms",
      all ? "all" : "agent",
      all ? "" : agent ?? "",
      untilMs,
    );
  }

  #counts(agent: string | null, now: number) {
    const since = now - FATIGUE.hour_ms;
    const row = this.#db.get(
      "SELECT count(*) FILTER (WHERE status = 'pending') AS pending, " +
        "count(*) FILTER (WHERE status = 'pending' AND agent IS ?) AS pending_agent, " +
        "count(*) FILTER (WHERE created_ms > ?) AS cards, " +
        "count(*) FILTER (WHERE created_ms > ? AND agent IS ?) AS cards_agent, " +
        "min(created_ms) FILTER (WHERE created_ms > ?) AS oldest " +
        "FROM requests WHERE created_ms > ? OR status = 'pending'",
      agent,
      since,
      since,
      agent,
      since,
      since,
    )!;
    return {
      pending_total: Number(row["pending"]),
      pending_of_agent: Number(row["pending_agent"]),
      cards_last_hour_total: Number(row["cards"]),
      cards_last_hour_of_agent: Number(row["cards_agent"]),
      hour_frees_ms: Number(row["oldest"] ?? now) + FATIGUE.hour_ms,
    };
  }
}

function coolingDown(why: string, untilMs: number): CustosError {
  const until = new Date(untilMs).toISOString();
  return new CustosError("cooling_down", `${why} Nobody was asked again; it can be asked after ${until}.`, {
    until_ms: untilMs,
  });
}
