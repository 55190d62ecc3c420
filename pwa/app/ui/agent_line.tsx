/** Who asks. Both names are self-declared, and the line says so. */

import type { JSX } from "preact";
import { displayLine } from "@custos/core/display";
import type { Agent } from "@custos/core/request";

/** `calls itself “claude” (claude-code 2.1):` */
export function AgentLine({ agent }: { agent: Agent }): JSX.Element {
  const client = agent.client === null
    ? null
    : displayLine(`${agent.client.name} ${agent.client.version}`, 30);
  if (agent.name === null && client === null) return <p class="soft">An agent that gives no name says:</p>;
  const name = agent.name === null ? client! : displayLine(agent.name, 40);
  return (
    <p class="soft">
      An agent calls itself <bdi class="self">{name}</bdi>
      {agent.name !== null && client !== null && (
        <>
          {" "}
          (<bdi>{client}</bdi>)
        </>
      )}:
    </p>
  );
}
