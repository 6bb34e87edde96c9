import type { Clock } from "../../kernel/runtime/clock.ts";
import type { EventBus } from "../../kernel/events/event-bus.ts";
import type { PrincipalId } from "../../kernel/ids.ts";
import type { Authenticator } from "../../people/identity/authenticator.ts";
import type { InstanceTokens } from "../../people/identity/instance-tokens.ts";
import type { Fleet } from "../../servers/instance/fleet/fleet.ts";
import { createDenials } from "./denials.ts";
import type { GatewayPeople } from "./people-wiring.ts";

export interface CredentialsDeps {
  readonly people: GatewayPeople;
  readonly fleet: Pick<Fleet, "get">;
  readonly events: Pick<EventBus, "emit">;
  readonly clock: Pick<Clock, "now" | "monotonic">;
}

/** What requests are known by, with an event for each that is refused, made or taken back. */
export interface Credentials {
  readonly authenticator: Authenticator;
  readonly instanceTokens: InstanceTokens;
}

export function createCredentials({ people, fleet, events, clock }: CredentialsDeps): Credentials {
  const { authenticator, instanceTokens: tokens } = people;
  const denials = createDenials(events, clock);

  function tell(id: Parameters<InstanceTokens["issue"]>[0], principal: PrincipalId, revoked?: number): void {
    const about = fleet.get(id)?.about();
    // The instance is removed by now, and its tokens with it.
    if (about === undefined) return;
    const fields = { ...about, principal, team: people.directory.byId(principal)?.team ?? undefined };
    if (revoked === undefined) events.emit({ type: "auth.token.issued", ...fields });
    else events.emit({ type: "auth.token.revoked", ...fields, tokens: revoked });
  }

  return {
    authenticator: {
      get open() {
        return authenticator.open;
      },
      authenticate: (request) => denials.watch(request, () => authenticator.authenticate(request)),
    },
    instanceTokens: {
      ...tokens,
      authenticate: (request, instance) => denials.watch(request, () => tokens.authenticate(request, instance)),
      async issue(instance, principal) {
        const token = await tokens.issue(instance, principal);
        tell(instance, principal);
        return token;
      },
      async revoke(instance, principal) {
        const revoked = await tokens.revoke(instance, principal);
        if (revoked > 0) tell(instance, principal, revoked);
        return revoked;
      },
    },
  };
}
