/** Every secret in one sentence, with the grants that live now. A change or a deletion begins here, and is signed on a card. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { displayLine } from "@custos/core/display";
import type { LiveGrant } from "@custos/core/messages";
import type { Policy } from "@custos/core/policy";
import { policySentence } from "../../policy_text.ts";
import type { DaemonView, Model } from "../model.ts";
import { go } from "../route.ts";
import { Confirm } from "../ui/confirm.tsx";
import { Frame } from "../ui/frame.tsx";
import { t } from "../ui/language.ts";
import { Ring } from "../ui/ring.tsx";
import { duration } from "../ui/shown.tsx";
import { useChangeCard } from "../ui/use_change.ts";

/** The screen. */
export default function SecretsScreen({ model }: { model: Model }): JSX.Element {
  useEffect(() => void model.engine().then((engine) => engine.wake()).catch(() => {}), []);
  const daemons = model.daemons.value;
  const empty = daemons.every(({ record }) => record.log.state.secrets.size === 0);
  return (
    <Frame name="secrets" title="Secrets">
      <h1>{t("Secrets")}</h1>
      {empty && (
        <section class="sheet empty">
          <h2>No secret yet</h2>
          <p>
            When an agent needs a key, it asks for one and you paste it here. On the computer,{" "}
            <code class="mono">custos drop github</code> asks in the same way.
          </p>
        </section>
      )}
      {daemons.map((daemon) => (
        <Computer key={daemon.record.daemon} model={model} daemon={daemon} several={daemons.length > 1} />
      ))}
    </Frame>
  );
}

function Computer(
  { model, daemon, several }: { model: Model; daemon: DaemonView; several: boolean },
): JSX.Element {
  const { record } = daemon;
  const { secrets, daemon_name } = record.log.state;
  const missing = secrets.size - record.policies.length;
  return (
    <>
      {several && <h2>{daemon_name}</h2>}
      {record.policies.map((policy) => (
        <SecretPart key={policy.secret_id} model={model} daemon={daemon} policy={policy} />
      ))}
      {missing > 0 && (
        <p class="soft" role="status">
          {missing === 1 ? "One secret has" : `${missing} secrets have`}{" "}
          rules that the computer has not sent yet, or that are not the signed ones.
        </p>
      )}
    </>
  );
}

function SecretPart(
  { model, daemon, policy }: { model: Model; daemon: DaemonView; policy: Policy },
): JSX.Element {
  const { record } = daemon;
  const change = useChangeCard(model, daemon, policy.secret_id);
  const now = model.now.value + record.clock_offset_ms;
  const grants = record.grants.filter(({ grant, expires_ms }) =>
    grant.secret_id === policy.secret_id && expires_ms > now
  );
  return (
    <article class="sheet" data-testid="secret" aria-label={policy.name}>
      <h2 class="mono">custos:{policy.name}</h2>
      <p>{policySentence(policy)}</p>
      {grants.map((live) => (
        <GrantRow key={live.grant.grant_id} model={model} daemon={record.daemon} live={live} now={now} />
      ))}
      {change.waiting && <p role="status">Waiting for the computer's card…</p>}
      {change.problem !== null && <p class="warning stop" role="alert">{change.problem}</p>}
      {!change.waiting && (
        <div class="pair">
          <button
            type="button"
            onClick={() => go({ at: "edit", daemon: record.daemon, secret: policy.secret_id })}
          >
            {t("Change")}
          </button>
          <Confirm
            label="Delete"
            said={`Delete custos:${policy.name}? The computer sends a card for that; it is deleted when you sign it.`}
            yes="Ask for the card"
            onYes={() =>
              change.begin(
                (engine) => engine.beginChange(record.daemon, policy, null),
                ({ kind }) => kind === "delete",
              )}
          />
        </div>
      )}
    </article>
  );
}

function GrantRow({ model, daemon, live, now }: {
  model: Model;
  daemon: string;
  live: LiveGrant;
  now: number;
}): JSX.Element {
  const { grant, uses_left, expires_ms } = live;
  const [ended, setEnded] = useState(false);
  const seconds = Math.max(0, Math.ceil((expires_ms - now) / 1_000));
  const who = grant.agent === null ? "an agent without a name" : displayLine(grant.agent, 30);
  const { scope } = grant;
  const where = scope.content_sha256 !== undefined
    ? "one exact request"
    : `${scope.methods.join(", ")} ${displayLine(scope.path ?? `${scope.path_prefix}…`, 40)}`;
  const uses = grant.max_uses >= 1_000_000 ? "" : `, ${uses_left} of ${grant.max_uses} uses left`;
  const revoke = async () => {
    setEnded(true);
    const engine = await model.engine();
    await engine.send(daemon, { t: "revoke", grant_id: grant.grant_id }).catch(() => setEnded(false));
  };
  return (
    <div class="grant beside" data-testid="grant">
      <Ring part={seconds / grant.seconds} />
      <p>
        <strong>{duration(seconds)} left</strong> for {who}
        <br />
        <span class="soft">
          {where}
          {uses}
        </span>
      </p>
      <button type="button" class="stop" disabled={ended} onClick={revoke}>
        {ended ? "Ending…" : t("Revoke")}
      </button>
    </div>
  );
}
