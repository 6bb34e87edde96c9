/** The statuses of an instance as clients see them (docs/design.md, "Statuses"); derived from states in `instance/`. */
export const instanceStatuses = [
  "awaiting_user_config",
  "provisioning",
  "command_received",
  "connecting",
  "discovering_tools",
  "syncing_tools",
  "online",
  "restarting",
  "offline",
  "error",
  "requires_reauth",
  "permanently_failed",
  "disabled",
] as const;

/** One of them. */
export type InstanceStatus = (typeof instanceStatuses)[number];

/** What a status means to clients (docs/design.md, "Statuses"). All places use this table, so that they agree. */
export interface StatusRow {
  /** Whether lists and searches show the tools of such an instance. */
  readonly shown: boolean;
  /** What execute_mcp_tool does: calls the tool, waits for the start, tries to start the server, or refuses. */
  readonly execute: "calls" | "waits" | "tries" | "refuses";
  /** The reason that discover_mcp_tools gives when nothing more exact is known. */
  readonly reason: string;
  /** What discover_mcp_tools says can be done; `{server}` is replaced by the slug. */
  readonly action: string;
}

const searchAgain = "Search again in a few seconds.";
const starting = { shown: true, reason: "It is starting; its tools are not known yet.", action: searchAgain } as const;

/** The row of each status. */
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
    action: "Ask the user to look at its log, and to run `toolyard restart {server}` when it is repaired.",
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
    reason: "It failed too often and is no longer restarted.",
    action: "Ask the user to repair it and to run `toolyard restart {server}`.",
  },
  disabled: {
    shown: false,
    execute: "refuses",
    reason: "It is switched off.",
    action:
      "Ask the user to enable {server} in the configuration, to set the variable that is missing, or to run " +
      "`toolyard restart {server}` if it was stopped.",
  },
});

/** Used for dormant instances, whose status is `online` although they have no process: a call starts them. */
export const dormantRow: StatusRow = Object.freeze({
  shown: true,
  execute: "waits",
  reason: "It was stopped while idle; a call starts it.",
  action: "Call it with execute_mcp_tool as usual.",
});

/** How a status is worded to people: the terminal, REST. */
const words: Readonly<Record<InstanceStatus, string>> = Object.freeze({
  awaiting_user_config: "needs values",
  provisioning: "new",
  command_received: "starting",
  connecting: "starting",
  discovering_tools: "reading tools",
  syncing_tools: "reading tools",
  online: "online",
  restarting: "restarting",
  offline: "does not answer",
  error: "cannot start",
  requires_reauth: "needs login",
  permanently_failed: "given up",
  disabled: "off",
});

/** How a server's status is worded to people: the terminal, REST. */
export function statusWord({ status, dormant, step }: Worded): string {
  if (dormant) return "asleep";
  if (step === "correct") return "wrong entry";
  return step === "start" ? "stopped" : words[status];
}

interface Worded {
  readonly status: InstanceStatus;
  readonly dormant: boolean;
  /** What somebody could do about it, where that is known: one that is off may be so for several reasons. */
  readonly step?: string | undefined;
}

/** Whether the server is on its way up, so that there will be more to say a little later. */
export function isComing(status: InstanceStatus): boolean {
  return ["provisioning", "command_received", "connecting", "discovering_tools", "restarting"].includes(status);
}

/** The word of a status with its reason, which often begins with that very word. */
export function withReason(word: string, reason: string): string {
  return reason.toLowerCase().startsWith(word.toLowerCase()) ? reason : `${word}: ${reason}`;
}
