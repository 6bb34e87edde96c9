import type { IncomingMessage } from "node:http";
import { requestPath } from "../../front/http/public-url.ts";
import type { EventBus } from "../../kernel/events/event-bus.ts";
import type { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { Authenticator } from "../../people/identity/authenticator.ts";
import type { InstanceTokens } from "../../people/identity/instance-tokens.ts";
import type { AuditFacts } from "../../records/audit/audit-log.ts";
import type { Fleet } from "../../servers/instance/fleet/fleet.ts";
import type { GatewayAudit } from "../records/audit-wing.ts";
import { createDenials, watchRefusals } from "../../front/http/guards/denials.ts";
import type { GatewayPeople } from "./people-wiring.ts";

/** What requests are known by, with an event and an entry of the audit for each that is refused, made or taken back. */
export interface WatchedAccess {
  readonly authenticator: Authenticator;
  readonly instanceTokens: InstanceTokens;
}

export interface WatchedAccessDeps {
  readonly people: GatewayPeople;
  readonly fleet: Pick<Fleet, "get">;
  readonly events: Pick<EventBus, "emit">;
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly audit: GatewayAudit;
}

export function watchAccess({ people, fleet, events, clock, audit }: WatchedAccessDeps): WatchedAccess {
  const { authenticator, instanceTokens: tokens } = people;
  const tellOfDenial = createDenials(events, clock);

  function onRefused(request: IncomingMessage, error: GatewayError): void {
    tellOfDenial(request);
    audit.deny(toDenial(request, error));
  }

  function aboutTokens(id: InstanceId, principal: PrincipalId) {
    const about = fleet.get(id)?.about();
    // The instance may have been removed, and its tokens with it.
    return about && { ...about, principal, team: people.directory.byId(principal)?.team ?? undefined };
  }

  async function order(action: string, facts: Pick<AuditFacts, "actor" | "object" | "detail">): Promise<void> {
    await audit.order({ via: "rest", action, ...facts });
  }

  return {
    authenticator: {
      get open() {
        return authenticator.open;
      },
      authenticate: (request) => watchRefusals(request, () => authenticator.authenticate(request), onRefused),
    },
    instanceTokens: {
      ...tokens,
      authenticate: (request, instance) =>
        watchRefusals(request, () => tokens.authenticate(request, instance), onRefused),
      async issue(instance, principal) {
        const token = await tokens.issue(instance, principal);
        const about = aboutTokens(instance, principal);
        if (about !== undefined) events.emit({ type: "auth.token.issued", ...about });
        // A token whose entry cannot be written is never shown, so that it cannot be used.
        await order("token.issue", { actor: principal, object: instance });
        return token;
      },
      async revoke(instance, principal) {
        const revoked = await tokens.revoke(instance, principal);
        if (revoked === 0) return revoked;
        const about = aboutTokens(instance, principal);
        if (about !== undefined) events.emit({ type: "auth.token.revoked", ...about, tokens: revoked });
        await order("token.revoke", { actor: principal, object: instance, detail: { tokens: revoked } });
        return revoked;
      },
    },
  };
}

/** A request that was refused for who sent it. Its query is left out, because a token may stand there. */
export function toDenial(request: IncomingMessage, failure: GatewayError, principal?: Principal): AuditFacts {
  return {
    actor: principal?.id ?? "unknown",
    team: principal?.team ?? null,
    via: "http",
    action: "access",
    object: requestPath(request.url ?? "/").slice(0, longestPath),
    outcome: "denied",
    ip: request.socket.remoteAddress ?? null,
    detail: { code: failure.code, method: request.method },
  };
}

const longestPath = 200;
