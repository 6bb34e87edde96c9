import type { ProviderSettings } from "../../config/rows/provider-rows.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { Sealing } from "../../people/authorization-server/oauth/sealed-rows.ts";
import {
  createProviderConnection,
  type ProviderConnection,
  loadProviderLibrary,
  createProviderFetch,
} from "../../people/sign-in/provider-connection.ts";
import { createProviderLogins, type ProviderLogins } from "../../people/sign-in/provider-logins.ts";
import { createAddressRules } from "../../servers/logins/protocol/addresses.ts";
import { createOutgoing } from "../../servers/logins/outgoing.ts";
import type { GatewayParts } from "../gateway-parts.ts";
import { createLoginRoute } from "../../servers/logins/http-route.ts";
import type { TeamPeople } from "./team-people.ts";

export interface ProviderWiring {
  readonly gateway: GatewayParts;
  readonly people: TeamPeople;
  readonly sealing: Sealing;
  readonly clock: Clock;
}

/** Logging in at the identity providers of the settings, which may change while the gateway runs. */
export async function openProviderLogins({ gateway, people, sealing, clock }: ProviderWiring): Promise<ProviderLogins> {
  const library = await gateway.late.load("the login at identity providers", loadProviderLibrary);
  const connections = new Map<string, ProviderConnection>();

  function connect(name: string, settings: ProviderSettings): ProviderConnection {
    // The cache of a provider is dropped when its entry changes.
    const key = JSON.stringify([name, settings]);
    const known = connections.get(key);
    if (known !== undefined) return known;
    const route = createLoginRoute(
      `provider-${name}`,
      { kind: "http", url: settings.issuer, headers: {} },
      { environment: gateway.environment, loadLate: gateway.late.load },
    );
    // The provider is part of the configuration, so that it may be in a private network, as companies have it.
    const outgoing = createOutgoing(createAddressRules("private"), { serverUrl: settings.issuer, route });
    const made = createProviderConnection({ library, settings, fetch: createProviderFetch(outgoing), clock });
    for (const old of connections.keys()) if (old.startsWith(`[${JSON.stringify(name)},`)) connections.delete(old);
    connections.set(key, made);
    return made;
  }

  const { store, change, sessions, deny } = people.access;
  return createProviderLogins({
    ...{ sealing, store, change, sessions, clock },
    settings: () => gateway.config().settings.auth.providers,
    connect,
    directory: people.directory,
    people: people.changes,
    onDenied: deny,
  });
}
