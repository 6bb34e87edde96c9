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
