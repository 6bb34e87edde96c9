import type { EventBus } from "../../kernel/events/event-bus.ts";
import type { AuditLog } from "./audit-log.ts";

/** Makes entries of events. Returns what ends that. */
export function auditEvents(events: Pick<EventBus, "on">, audit: Pick<AuditLog, "note">): () => void {
  const ends = [
    events.on(["config.refused"], ({ file, reason }) =>
      audit.note({
        actor: "owner",
        via: "file",
        action: "config.refuse",
        object: file,
        outcome: "failed",
        detail: { reason },
      }),
    ),
    events.on(["gateway.listening"], ({ address }) =>
      audit.note({ actor: "gateway", via: "gateway", action: "gateway.start", object: address }),
    ),
    events.on(["gateway.stopping"], ({ reason }) =>
      audit.note({ actor: "gateway", via: "gateway", action: "gateway.stop", detail: { reason } }),
    ),
    events.on(["mcp.server.started", "mcp.server.respawned"], (event) => {
      const { server, instance, by, type } = event;
      const detail = { server, pid: type === "mcp.server.started" ? event.pid : undefined };
      audit.note({ actor: by ?? "gateway", via: "gateway", action: "server.start", object: instance, detail });
    }),
  ];
  return () => ends.forEach((end) => end());
}
