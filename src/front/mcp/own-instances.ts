import type { View } from "../../catalog/model/view.ts";
import type { ClientCaller, ClientInstances } from "../../servers/instance/fleet/client-instances.ts";
import type { Instance } from "../../servers/instance/instance.ts";
import type { ConnectedClient } from "../../kernel/call/call-context.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { Endpoint } from "./endpoint/endpoint.ts";
import type { InstanceNews } from "./streams/notifier.ts";
import type { Session } from "./sessions/session.ts";

/** Which instance of a server is a client's own: the one that its view shows, unless each client has one. */
export interface OwnInstances extends InstanceNews {
  /** Made when it is not there yet, and kept until the caller leaves it, or disconnects. */
  enter(instance: InstanceId, caller: ClientCaller): { readonly id: InstanceId; readonly leave: () => void };
  /** Its id, whether it is there or not. */
  idFor(instance: InstanceId, client: ConnectedClient | undefined): InstanceId;
}

export function createOwnInstances(
  instanceOf: (id: InstanceId) => Instance | undefined,
  clients: ClientInstances,
): OwnInstances {
  return {
    enter(id, caller) {
      const base = instanceOf(id);
      if (base?.server.scope !== "client") return { id, leave: () => undefined };
      const { instance, leave } = clients.enter(base, caller);
      return { id: instance.id, leave };
    },
    idFor(id, client) {
      const base = instanceOf(id);
      return base === undefined ? id : clients.idFor(base, client);
    },
    seenAs: clients.seenAs,
    heardAs(id, client) {
      const seen = clients.seenAs(id, client);
      // Who has an instance of its own has nothing to do with what others call on the one without a client.
      const isOthers = seen === id && client !== undefined && instanceOf(id)?.server.scope === "client";
      return isOthers ? undefined : seen;
    },
  };
}

/** The instances that an endpoint shows to the client of a session, each with the one of them that is its own. */
export function instancesAt(
  deps: { readonly viewOf: (principal: Principal) => View; readonly ownInstances: OwnInstances },
  { exposure }: Endpoint,
  { principal, connected }: Session,
): readonly { readonly shown: InstanceId; readonly own: InstanceId }[] {
  const view = deps.viewOf(principal);
  const only = exposure.transparent(view);
  return (only === undefined ? view.servers : [only]).map(({ instance }) => ({
    shown: instance,
    own: deps.ownInstances.idFor(instance, connected),
  }));
}
