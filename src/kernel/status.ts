/**
 * What the outside sees of an instance (docs/design.md, "Statuses"). Derived from its state by one table in
 * `instance/`.
 */
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

export type InstanceStatus = (typeof instanceStatuses)[number];
