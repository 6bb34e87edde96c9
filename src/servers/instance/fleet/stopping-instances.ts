import type { InstanceId } from "../../../kernel/ids.ts";
import type { Instance } from "../instance.ts";
import type { RemovalReason } from "../state.ts";
import type { ConnectedClient } from "../../../kernel/call/call-context.ts";
import { mostUsers, type Users } from "../users.ts";

/** Instances that were removed and may still be stopping. An instance that takes the place of one waits for it. */
export interface Departures {
  /** Removes an instance, and remembers it until it has stopped. */
  dismiss(instance: Instance, why: RemovalReason): void;
  /** Settles when the removed instance with this id has stopped; undefined when there is none to wait for. */
  of(id: InstanceId): Promise<void> | undefined;
  /** Settles when all removed instances have stopped. */
  all(): Promise<unknown>;
}

/** No removed instances at first. */
export function createDepartures(): Departures {
  const leaving = new Map<InstanceId, Promise<void>>();
  return {
    dismiss(instance, why) {
      const gone = instance.remove(why).finally(() => {
        if (leaving.get(instance.id) === gone) leaving.delete(instance.id);
      });
      leaving.set(instance.id, gone);
    },
    of: (id) => leaving.get(id),
    all: async () => await Promise.all(leaving.values()),
  };
}

/**
 * The users of clients' instances that ended before their clients did. The client's next instance of the server must
 * tell them what was lost.
 */
export interface EndedUsers {
  /** Takes over the users of the earlier instance with this id, if its state mattered to anybody. */
  take(id: InstanceId): Users | undefined;
  /** Keeps the users of an instance that is being removed. */
  keep(instance: Instance, client: ConnectedClient | undefined, why: RemovalReason): void;
  /** Forgets the users of a client that has disconnected, because no one is left to be told. */
  forget(client: ConnectedClient): void;
}

/** Remembers users of at most `mostUsers` instances; beyond it the oldest are forgotten. */
export function createEndedUsers(): EndedUsers {
  const ended = new Map<InstanceId, { readonly users: Users; readonly client: ConnectedClient | undefined }>();
  return {
    take(id) {
      const users = ended.get(id)?.users;
      ended.delete(id);
      return users;
    },
    keep({ id, server, users }, client, why) {
      if (!server.stateful || why === "stopping" || client?.ended.aborted === true) return;
      users.processEnded(why === "client-gone" ? "it was stopped while it was not used" : "its configuration changed");
      ended.set(id, { users, client });
      const [oldest] = ended.keys();
      if (ended.size > mostUsers && oldest !== undefined) ended.delete(oldest);
    },
    forget(client) {
      for (const [id, entry] of ended) if (entry.client === client) ended.delete(id);
    },
  };
}
