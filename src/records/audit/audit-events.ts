import type { EventBus } from "../../kernel/events/event-bus.ts";
import type { AuditLog, AuditFacts } from "./audit-log.ts";

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
    events.on(["approval.requested", "approval.decided", "approval.expired", "approval.revoked"], (event) => {
      const { type, by: actor, through: via, tool: object, id, principal, client, verdict, approver } = event;
      audit.note({ actor, via, action: type, object, detail: { id, principal, client, verdict, approver } });
    }),
    events.on(["definition.changed", "definition.held", "definition.decided"], (event) => {
      const { type, by: actor, through: via, server: object, instance, tools, reasons, verdict } = event;
      audit.note({ actor, via, action: type, object, detail: { instance, tools, reasons, verdict } });
    }),
    events.on(["mcp.server.started", "mcp.server.respawned"], (event) => {
      const { server, instance, by, type } = event;
      const detail = { server, pid: type === "mcp.server.started" ? event.pid : undefined };
      audit.note({ actor: by ?? "gateway", via: "gateway", action: "server.start", object: instance, detail });
    }),
  ];
  return () => ends.forEach((end) => end());
}

/** Commands of the owner change the kept logins; a running gateway notices the change, and uses them. */
const facts = {
  login: { actor: "owner", via: "vault", action: "login.add" },
  logout: { actor: "owner", via: "vault", action: "login.remove" },
  use: { actor: "gateway", via: "vault", action: "login.use" },
} as const;

/** Somebody logged in or out at a server, or a login is about to be sent there. */
export function loginFacts(instance: string, what: keyof typeof facts): AuditFacts {
  return { ...facts[what], object: instance };
}
