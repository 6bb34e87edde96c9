import type { ClientCaller, ClientInstances } from "../../servers/instance/client-instances.ts";
import type { Instance } from "../../servers/instance/instance.ts";
import type { ConnectedClient } from "../../kernel/call-context.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import type { InstanceNews } from "./notifier.ts";

/** Which instance of a server is a client's own: the one that its view shows, unless each client has one. */
export interface OwnInstances extends InstanceNews {
  /** Made when it is not there yet, and kept until the caller leaves it, or is gone. */
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
