/** What the scripted daemon makes of the phone's answers. */

import assert from "node:assert/strict";
import { approvalHash, readFileKey } from "@custos/core/approval";
import { type Bytes, fromBase64url } from "@custos/core/bytes";
import { openWithIdentity } from "@custos/core/custody";
import { CustosError } from "@custos/core/errors";
import type { Decision } from "@custos/core/messages";
import type { EntryRecord } from "@custos/core/policy_entry";
import { applyEntries } from "@custos/core/policy_log";
import type { ScriptedDaemon } from "./scripted_daemon.ts";

/** An approval or a drop. */
export type Granted = Extract<Decision, { decision: "grant" }>;

/** The next decision that the phone sends, as the daemon sees it. */
export async function granted(daemon: ScriptedDaemon): Promise<Granted> {
  const decision = await daemon.expect("decision");
  assert.ok(decision.decision === "grant");
  return decision;
}

/** The file key in a decision, opened as the daemon does. Throws where it is bound to another approval or header. */
export async function fileKeyOf(
  daemon: ScriptedDaemon,
  decision: Granted,
  header_sha256: string,
): Promise<Bytes> {
  const opened = await openWithIdentity(await daemon.reply, fromBase64url(decision.sealed_key!)!);
  return readFileKey(opened, await approvalHash(decision.bundle), header_sha256);
}

/** Whether an error is of this kind, or a `DOMException` of this name. */
export function refusedWith(kind: string): (error: unknown) => boolean {
  return (error) => (error instanceof CustosError ? error.kind : (error as Error).name) === kind;
}

/** Adds entries to the daemon's log, as it does when it accepts a decision. */
export async function accept(daemon: ScriptedDaemon, records: EntryRecord[]): Promise<void> {
  daemon.log = await applyEntries(daemon.log, records);
  daemon.records.push(...records);
}
