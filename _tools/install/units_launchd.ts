/** launchd agents for macOS, as property lists. */
import { join } from "node:path";
import type { InstallOptions } from "./options.ts";
import { binFolder } from "./shims.ts";
import { services } from "./units.ts";

/**
 * One agent for each service. launchd has no sandbox to ask for here; the permission flags of the scripts are the limits.
 * Not checked on the machine that builds custos.
 */
export function launchdAgents(options: InstallOptions): string {
  const files = services(options).map((part) => {
    const label = `invalid.custos.${part}`;
    return `# ---- ~/Library/LaunchAgents/${label}.plist\n${
      plist(label, join(binFolder(options.prefix), `custos-${part}`), logFile(options, part))
    }`;
  });
  const first = `~/Library/LaunchAgents/invalid.custos.daemon.plist`;
  return [
    "# launchd, for macOS (not checked on the machine that builds custos). Save each file under the name above it, then",
    `# for each: launchctl bootstrap gui/$(id -u) ${first}`,
    "# To take one away: launchctl bootout gui/$(id -u)/invalid.custos.daemon, and remove the file.",
    "",
    ...files,
  ].join("\n");
}

/** Where macOS keeps logs of a user; launchd opens the file before anything of ours could make a folder. */
function logFile({ home }: InstallOptions, part: string): string | null {
  return home === null ? null : join(home, "Library/Logs", `custos-${part}.log`);
}

function plist(label: string, program: string, log: string | null): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>${label}</string>
  <key>ProgramArguments</key>
  <array><string>${xml(program)}</string></array>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ThrottleInterval</key><integer>5</integer>
  <key>ProcessType</key><string>Background</string>
  <key>Umask</key><integer>63</integer>
  <key>HardResourceLimits</key><dict><key>Core</key><integer>0</integer></dict>${
    log === null ? "" : `\n  <key>StandardErrorPath</key><string>${xml(log)}</string>`
  }
</dict>
</plist>
`;
}

function xml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
