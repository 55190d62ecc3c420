/** Who asks. Both names are self-declared, and the line says so. */

import type { JSX } from "preact";
import { displayLine } from "@custos/core/display";
import type { Agent } from "@custos/core/request";

/** `“claude” calls itself …` */
export function AgentLine({ agent }: { agent: Agent }): JSX.Element {
  const client = agent.client === null
    ? null
    : displayLine(`${agent.client.name} ${agent.client.version}`, 40);
  if (agent.name === null && client === null) return <p class="soft">An agent that gives no name asks:</p>;
  const name = agent.name === null ? client! : displayLine(agent.name, 40);
  return (
    <p class="soft">
      calls itself <strong>{name}</strong>
      {agent.name !== null && client !== null ? `, through ${client}` : ""}, and says:
    </p>
  );
}
