import type { StatusView } from "../../catalog/model/view.ts";
import type { ServerConfig } from "../../config/config.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import type { Life } from "./instance-state.ts";
import type { InstanceState } from "./state.ts";
import { statusTable } from "../../kernel/status-words.ts";
import { adviceOf, stepOf, toReason, toStatus } from "./state-status.ts";

/** The status of an instance, as views show it; the same object until something changes. */
export function createStatusViews(life: Pick<Life, "id" | "server" | "state">): () => StatusView {
  let known: { readonly server: ServerConfig; readonly state: InstanceState; readonly view: StatusView } | undefined;
  return () => {
    const { id, server, state } = life;
    if (known?.server !== server || known.state !== state)
      known = { server, state, view: toStatusView(id, server, state) };
    return known.view;
  };
}

function toStatusView(id: InstanceId, server: ServerConfig, state: InstanceState): StatusView {
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
    advice: adviceOf(state),
    step: stepOf(state),
    shown: statusTable[status].shown,
  };
}
