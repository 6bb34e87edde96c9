import type { InstanceStatus } from "./status.ts";

/**
 * What the outside is told, and what follows from it (docs/design.md, "Statuses"). One table, so that no two places
 * disagree.
 */
export interface StatusRow {
  /** Lists and searches show its tools. */
  readonly shown: boolean;
  /** What execute_mcp_tool does: calls it, waits for its start, tries to start it, or refuses with the reason. */
  readonly execute: "calls" | "waits" | "tries" | "refuses";
  /** What discover_mcp_tools says of it where nothing more exact is known. */
  readonly reason: string;
  /** What discover_mcp_tools says can be done; `{server}` stands for its slug. */
  readonly action: string;
}

const searchAgain = "Search again in a few seconds.";
const starting = { shown: true, reason: "It is starting; its tools are not known yet.", action: searchAgain } as const;

export const statusTable: Readonly<Record<InstanceStatus, StatusRow>> = Object.freeze({
  awaiting_user_config: {
    shown: false,
    execute: "refuses",
    reason: "Values that it requires are missing.",
    action: "Ask the user to fill them in; the configuration of {server} lists them.",
  },
  provisioning: { ...starting, execute: "waits" },
  command_received: { ...starting, execute: "waits" },
  connecting: { ...starting, execute: "waits" },
  discovering_tools: { ...starting, execute: "calls" },
  syncing_tools: { shown: true, execute: "calls", reason: "Its tools are being read.", action: searchAgain },
  online: { shown: true, execute: "calls", reason: "It is online.", action: "Call it with execute_mcp_tool." },
  restarting: { shown: true, execute: "waits", reason: "It ended and is being started again.", action: searchAgain },
  offline: {
    shown: false,
    execute: "tries",
    reason: "It does not answer.",
    action: "Try again in a minute; the gateway keeps trying to reach it.",
  },
  error: {
    shown: false,
    execute: "tries",
    reason: "It failed to start.",
    action: "Ask the user to look at its log, and to run `toolyard restart {server}` when it is mended.",
  },
  requires_reauth: {
    shown: false,
    execute: "refuses",
    reason: "It needs a login.",
    action: "Ask the user to run `toolyard login {server}`.",
  },
  permanently_failed: {
    shown: false,
    execute: "tries",
    reason: "It crashed too often and was given up.",
    action: "Ask the user to mend it and to run `toolyard restart {server}`.",
  },
  disabled: {
    shown: false,
    execute: "refuses",
    reason: "It is switched off.",
    action:
      "Ask the user to enable {server} in the configuration, to set the variable that it lacks, or to run `toolyard restart {server}` if it was stopped.",
  },
});

/** A dormant instance is `online` without a process: a call starts it. */
export const dormantRow: StatusRow = Object.freeze({
  shown: true,
  execute: "waits",
  reason: "It sleeps and starts when it is called.",
  action: "Call it with execute_mcp_tool as usual.",
});
