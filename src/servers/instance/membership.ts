import type { ServerConfig } from "../../config/config.ts";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import { createInstance } from "./create-instance.ts";
import { createDepartures } from "./departures.ts";
import type { Instance } from "./instance.ts";
import type { InstanceDeps } from "./instance-deps.ts";
import { configuredRoots, openWithRoots } from "./roots-source.ts";
import type { RemovalReason } from "./state.ts";
import type { Users } from "./users.ts";
import type { Wanted } from "./wanted.ts";

/** The instances that exist, except those of single clients. */
export interface Membership {
  readonly instances: ReadonlyMap<InstanceId, Instance>;
  /**
   * Adds an instance at once. It begins when its kept catalog has been loaded; a call that comes before that starts
   * it anyway.
   */
  add(wanted: Wanted): Promise<void>;
  /** Removes an instance; it may still be stopping afterwards. */
  dismiss(instance: Instance, why: RemovalReason): void;
  /** Settles when all removed instances have stopped. */
  gone(): Promise<unknown>;
}

/**
 * Both are told whose instance it is, null for one that all share: `onAdded` of every new one, `onChange` after every
 * change of one's state and of what it offers.
 */
export function createMembership(
  deps: Omit<InstanceDeps, "onChange">,
  onAdded: (owner: PrincipalId | null) => void,
  onChange: (owner: PrincipalId | null) => void,
): Membership {
  const instances = new Map<InstanceId, Instance>();
  const departures = createDepartures();
  /**
   * The users of every configured instance. When a changed configuration replaces an instance, the new one gets the
   * same users.
   */
  const users = new Map<InstanceId, Users>();
  return {
    instances,
    async add({ id, owner, server, missing, team }) {
      const open = server.roots === undefined ? deps.open : openWithRoots(deps.open, configuredRoots(server.roots));
      const instance = createInstance(
        { id, owner, server, missing, team, after: departures.of(id), users: users.get(id) },
        { ...deps, open, catalog: watched(deps.catalog, () => onChange(owner)), onChange: () => onChange(owner) },
      );
      instances.set(id, instance);
      users.set(id, instance.users);
      onAdded(owner);
      instance.adopt(await deps.keeper.load(id));
    },
    dismiss(instance, why) {
      instances.delete(instance.id);
      if (why !== "reconfigured") users.delete(instance.id);
      departures.dismiss(instance, why);
    },
    gone: departures.all,
  };
}

function watched(catalog: InstanceDeps["catalog"], onChange: () => void): InstanceDeps["catalog"] {
  return {
    get: catalog.get,
    put(part) {
      catalog.put(part);
      onChange();
    },
    remove(instance) {
      catalog.remove(instance);
      onChange();
    },
  };
}

/** A shared instance is named like its server. */
export function sharedId(server: ServerConfig): InstanceId {
  return server.slug as string as InstanceId;
}
