/** The methods of DESIGN §9, each a line to the part that does it. A method that is not here does not exist. */

import { toBase64url } from "@custos/core/bytes";
import { CustosError } from "@custos/core/errors";
import { handleOf, nameOfHandle } from "@custos/core/request";
import type { HandlesListResult } from "@custos/rpc/inventory_schemas";
import { DEFAULT_MAX_BYTES, MAX_LOG_ENTRIES } from "@custos/rpc/limits";
import type { Handlers } from "@custos/rpc/server";
import type { Daemon } from "./daemon.ts";
import { inline, sendHttp } from "./http_calls.ts";
import type { Pairing } from "./pairing.ts";
import * as calls from "./request_calls.ts";
import { VERSION } from "./version.ts";

/** What a call brings beside its params. */
export interface CallContext {
  /** Aborts when the caller leaves. */
  signal: AbortSignal;
}

/** The handlers of a daemon. `secret.propose` and `receipt.get` come with later versions. */
export function handlersOf(daemon: Daemon): Partial<Handlers<CallContext>> {
  return {
    "access.request": (params, { signal }) => calls.accessRequest(daemon, params, signal),
    "access.status": (params, { signal }) => calls.accessStatus(daemon, params, signal),
    "access.withdraw": (params) => now(() => calls.accessWithdraw(daemon, params)),
    "drop.request": (params, { signal }) => calls.dropRequest(daemon, params, signal),
    "http.request": async (params, { signal }) =>
      await inline(await sendHttp(daemon, params, params.max_bytes ?? DEFAULT_MAX_BYTES, signal)),
    "policy.confirm": (params) => now(() => calls.policyConfirm(daemon, params)),
    "requests.list": (params) => now(() => calls.requestsList(daemon, params)),
    "handles.list": () => now(() => handlesList(daemon)),
    "grants.list": () => now(() => ({ grants: daemon.grants.views() })),
    "grants.revoke": (params) => now(() => ({ revoked: revoke(daemon, params) })),
    "devices.list": () => now(() => ({ devices: devicesOf(daemon) })),
    "recipients.list": () => now(() => recipientsList(daemon)),
    "pair.begin": async () => {
      daemon.pairing?.fail("a new pairing was begun");
      daemon.pairing = await daemon.beginPairing();
      const { id, url, expires_ms } = daemon.pairing;
      daemon.audit.write({ event: "pairing_begun" });
      return { pairing_id: id, url, qr_text: url, expires_ms };
    },
    "pair.status": async ({ pairing_id, wait_ms }, { signal }) => {
      const pairing = pairingOf(daemon, pairing_id);
      await pairing.changed(wait_ms ?? 0, signal);
      return {
        state: pairing.state,
        ...(pairing.device_name === null ? {} : { device_name: pairing.device_name }),
        ...(pairing.reason === null ? {} : { reason: pairing.reason }),
      };
    },
    "pair.confirm": async ({ pairing_id, word }) => {
      const pairing = pairingOf(daemon, pairing_id);
      await pairing.confirm(word);
      return { state: pairing.state };
    },
    "log.read": async ({ after = 0, limit = MAX_LOG_ENTRIES }) => {
      const { note, size } = await daemon.audit.checkpoint();
      const entries = daemon.audit.read(after, limit).filter(({ index }) => index < size)
        .map(({ index, leaf }) => ({ index, leaf: toBase64url(leaf) }));
      return { entries, size, checkpoint: note, key: await daemon.audit.key() };
    },
    "log.checkpoint": async () => {
      const { note } = await daemon.audit.checkpoint();
      return { checkpoint: note, key: await daemon.audit.key() };
    },
    "daemon.status": () => now(() => statusOf(daemon)),
    "daemon.lock": () => now(() => daemon.lock("command")),
  };
}

/** A synchronous answer; what it throws becomes a rejection. */
async function now<T>(work: () => T): Promise<T> {
  return await Promise.resolve().then(work);
}

function handlesList({ policies, grants }: Daemon): HandlesListResult {
  const live = grants.views();
  const handles = policies.secrets().map(({ name, policy }) => {
    const { placement, origins, rules, limits, version } = policy;
    const handle = handleOf(name);
    const where = "name" in placement ? { name: placement.name } : {};
    return {
      handle,
      name,
      origins,
      rules,
      placement: { kind: placement.kind, ...where },
      limits,
      version,
      live_grants: live.filter((grant) => grant.handle === handle),
    };
  });
  return { handles };
}

function revoke(daemon: Daemon, params: { grant_id?: string; handle?: string; all?: true }): number {
  const { grants } = daemon;
  if (params.all === true) return grants.end(() => true, "revoked");
  if (params.handle !== undefined) {
    const name = nameOfHandle(params.handle);
    return grants.end((live) => live.name === name, "revoked");
  }
  return grants.end((live) => live.grant.grant_id === params.grant_id, "revoked");
}

function devicesOf({ policies, channels }: Daemon) {
  const seen = new Map(channels.all().map((channel) => [channel.device_id, channel.last_seen_ms]));
  return [...policies.state.devices.values()].map((device) => ({
    device: device.device_id,
    name: device.name,
    platform: device.platform,
    added_ms: device.added_ms,
    last_seen_ms: seen.get(device.device_id) ?? null,
    locked: false,
  }));
}

function recipientsList({ policies }: Daemon) {
  const { epoch, devices, recovery } = policies.state;
  if (recovery === null) {
    throw new CustosError("no_device", "No phone is paired with this daemon. Run: custos pair");
  }
  const sealed = [...devices.values()].map(({ name, recipient }) => ({ device: name, recipient }));
  return { epoch, recipients: [...sealed, { device: null, recipient: recovery.recipient }] };
}

function pairingOf(daemon: Daemon, id: string): Pairing {
  if (daemon.pairing?.id === id) return daemon.pairing;
  throw new CustosError("pairing_refused", "There is no such pairing any more. Run custos pair again.");
}

function statusOf(daemon: Daemon) {
  const { options, identity, phones, grants, requests, policies, audit } = daemon;
  const devices = devicesOf(daemon);
  return {
    version: VERSION,
    daemon: identity.daemon,
    name: identity.name,
    state_dir: options.state,
    profile: options.profile,
    started_ms: daemon.started_ms,
    devices: policies.state.devices.size,
    pending: requests.list("pending").length,
    live_grants: grants.all().length,
    relay: { url: options.relay.url, ...phones.state },
    locked: false,
    channels: devices.map(({ device, locked, last_seen_ms }) => ({ device, locked, last_seen_ms })),
    audit: { size: audit.size },
  };
}
