import type { SamplingClients } from "../../../catalog/discovery/phrases/client-writer.ts";
import { abortReason } from "../../../kernel/runtime/abort.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { isJsonObject } from "../../../kernel/text/json-bytes.ts";
import type { Principal } from "../../../kernel/principal.ts";
import type { Session } from "./session.ts";
import type { SessionStore } from "./session-store.ts";

export interface OwnSamplingClients extends SamplingClients {
  /** To be told whenever a session may have become one that can be asked. */
  noteReachable(): void;
}

export interface SamplingClientsDeps {
  readonly sessions: Pick<SessionStore, "all">;
  /** Whether this principal's model may write what the gateway keeps. */
  readonly mayWrite: (principal: Principal) => boolean;
}

/** Programs that said no and are remembered. In a gateway of one person there are a handful. */
const mostRefusals = 1_000;
/** Endpoints that show all servers: a client of a single one is told nothing of the others. */
const wholePath = /^\/(?:mcp|sse)(?:\/[a-z]+)?$/;

/**
 * Clients whose model may be asked outside of any call. Only legacy sessions can be: 2026-07-28 has no requests of
 * servers, and its `input_required` would hold up the call that it answers (patterns/mrtr).
 */
export function createSamplingClients({ sessions, mayWrite }: SamplingClientsDeps): OwnSamplingClients {
  const callbacks = new Set<() => void>();
  /** By program rather than session: a client that connects again is not asked again. */
  const refused = new Set<string>();

  const canAsk = (session: Session): boolean =>
    session.isInitialized &&
    session.pushes.open &&
    isJsonObject(session.capabilities["sampling"]) &&
    wholePath.test(session.endpointPath) &&
    !refused.has(session.presence.program) &&
    mayWrite(session.principal);

  function findSession(): Session | undefined {
    let newest: Session | undefined;
    for (const session of sessions.all())
      if (canAsk(session) && session.lastUseMs >= (newest?.lastUseMs ?? 0)) newest = session;
    return newest;
  }

  function noteRefusal({ presence }: Session): void {
    if (refused.size >= mostRefusals) refused.clear();
    refused.add(presence.program);
  }

  return {
    isReady: () => findSession() !== undefined,
    onReady(callback) {
      callbacks.add(callback);
      return () => void callbacks.delete(callback);
    },
    async ask(params, signal) {
      const session = findSession();
      if (session === undefined) throw new GatewayError("CLIENT_CANNOT_ANSWER", "no client lends its model");
      const { ended } = session.connected;
      const either = AbortSignal.any([signal, ended]);
      try {
        const question = { method: "sampling/createMessage", params } as const;
        const answer = await session.questions.ask(question, () => false, either);
        if (answer.kind === "error") noteRefusal(session);
        return answer;
      } catch (error) {
        if (ended.aborted) throw abortReason(ended);
        noteRefusal(session);
        throw error;
      }
    },
    noteReachable() {
      for (const callback of callbacks) callback();
    },
  };
}
