import type { StatusView } from "../../catalog/model/view.ts";
import type { ServerConfig } from "../../config/config.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import type { InstanceState } from "./state.ts";
import { statusTable } from "../../kernel/status-table.ts";
import { toReason, toStatus } from "./state-status.ts";

/** An instance as views show it. */
export function toStatusView(id: InstanceId, server: ServerConfig, state: InstanceState): StatusView {
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
