import type { InstanceStatus } from "../status.ts";

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
