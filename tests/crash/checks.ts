/** What must be true whenever a daemon has died and another one runs on its state. */

import { type Bytes, equalBytes } from "@custos/core/bytes";
import { PATIENCE_MS } from "../e2e/harness_wait.ts";
import type { Life } from "./life.ts";

/**
 * Checks everything. `before` is the audit log as it was seen last, and `asked_before` the requests that were filed before the
 * daemon died. Returns the log as it is now. Throws with what is not true.
 */
export async function check(
  life: Life,
  before: readonly Bytes[],
  asked_before: ReadonlySet<string>,
): Promise<Bytes[]> {
  const { stage, facts } = life;
  const { client, phone, api } = stage;
  await client.call("daemon.status", {}); // it runs, and nobody had to repair anything

  for (const { path } of api.seen) {
    const may = facts.may_send.get(path) ?? 0;
    const sent = api.count(path);
    insist(sent <= may, `${path} was sent ${sent} times, and may be sent ${may} times`);
  }
  for (const [request_id, end] of facts.ended) {
    const { status } = await client.call("access.status", { request_id });
    insist(status === end, `the person was told ${end}, and the daemon says ${status}`);
  }
  for (const request_id of asked_before) {
    const { status } = await client.call("access.status", { request_id });
    insist(status !== "pending", "a request of the daemon that died is still pending");
  }
  const { handles } = await client.call("handles.list", {});
  for (const [name, version] of facts.secrets) {
    const found = handles.find((handle) => handle.name === name);
    insist(found !== undefined && found.version >= version, `the secret ${name} or its new policy is gone`);
  }

  const leaves = await stage.verifiedLog();
  insist(leaves.length >= before.length, "the log is shorter than it was");
  insist(before.every((leaf, at) => equalBytes(leaf, leaves[at]!)), "an entry of the log was rewritten");

  if (phone === null) return leaves;
  insist(await phone.sync(PATIENCE_MS), "the phone does not find the daemon again");
  const { channel, alarm } = await phone.record();
  insist(alarm === null, `the phone raised the alarm ${alarm}`);
  insist(channel.locked === null, "the phone locked its channel");
  return leaves;
}

function insist(holds: boolean, what: string): asserts holds {
  if (!holds) throw new Error(`After a crash ${what}.`);
}
