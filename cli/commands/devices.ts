import { displaySafe } from "@custos/core/display";
import type { Command } from "../command.ts";
import { ago, bold } from "../text.ts";

/** `custos devices`. */
export const command: Command = {
  name: "devices",
  usage: "",
  about: "Lists the phones and browsers that can approve requests.",
  options: {},
  positionals: [0, 0],
  examples: [["custos devices", "who can approve"]],
  async run(_given, { io, client, json }) {
    const result = await client.call("devices.list", {});
    if (json) await io.out(`${JSON.stringify(result)}\n`);
    else if (result.devices.length === 0) io.err("No phone is paired yet. Pair one with: custos pair\n");
    for (const device of json ? [] : result.devices) {
      const seen = device.last_seen_ms === null
        ? "not seen yet"
        : `seen ${ago(device.last_seen_ms, io.now())}`;
      const locked = device.locked ? ", channel locked" : "";
      await io.out(
        `${bold(displaySafe(device.name), io.colour)}  ${displaySafe(device.platform)}, paired ` +
          `${ago(device.added_ms, io.now())}, ${seen}${locked}\n  ${displaySafe(device.device)}\n`,
      );
    }
    return 0;
  },
};
