import type { ServerStanding } from "../catalog/view.ts";
import type { ServerConfig } from "../config/config.ts";
import type { InstanceId } from "../shared/ids.ts";
import type { InstanceState } from "./state.ts";
import { statusTable, toReason, toStatus } from "./status.ts";

/** How an instance stands, as views show it. */
export function toStanding(id: InstanceId, server: ServerConfig, state: InstanceState): ServerStanding {
  const status = toStatus(state);
  return {
    slug: server.slug,
    title: server.displayName,
    namespace: server.namespace,
    category: server.category,
    icon: server.icon,
    priority: server.priority,
    transport: server.transport.kind,
    instance: id,
    status,
    dormant: state.kind === "dormant",
    reason: toReason(state),
    shown: statusTable[status].shown,
  };
}
