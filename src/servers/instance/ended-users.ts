import type { ConnectedClient } from "../../kernel/call-context.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import type { Instance } from "./instance.ts";
import type { RemovalReason } from "./state.ts";
import { mostUsers, type Users } from "./users.ts";

/**
 * Who used instances of single clients that ended before their clients did: the next one of the same client has to
 * tell what is lost.
 */
export interface EndedUsers {
  /** Of the instance that had this id before, if it held anything; they are the new one's from now on. */
  take(id: InstanceId): Users | undefined;
  keep(instance: Instance, client: ConnectedClient | undefined, why: RemovalReason): void;
  /** The client has gone: nobody is left to be told. */
  forget(client: ConnectedClient): void;
}

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
