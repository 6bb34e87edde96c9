import type { Clock } from "../../../kernel/runtime/clock.ts";
import type { SessionlessClients } from "../../../kernel/sessionless-clients.ts";
import type { Connection } from "../../../operations/services.ts";
import type { SessionStore } from "./session-store.ts";

export interface Connected {
  readonly sessions: Pick<SessionStore, "all">;
  readonly sessionlessClients: Pick<SessionlessClients, "connected">;
  readonly clock: Pick<Clock, "monotonic">;
}

/** MCP clients with a session, and those that use the gateway without one. */
export function listConnections({ sessions, sessionlessClients, clock }: Connected): readonly Connection[] {
  const nowMs = clock.monotonic();
  return [
    ...[...sessions.all()].map((session) => ({
      client: session.clientName ?? null,
      principal: session.principal.id,
      endpoint: session.endpointPath,
      revision: session.revision,
      idleMs: Math.round(nowMs - session.lastUseMs),
    })),
    ...[...sessionlessClients.connected()].map((name) => ({
      ...{ client: name ?? null, principal: null, endpoint: null, revision: null, idleMs: null },
    })),
  ];
}
