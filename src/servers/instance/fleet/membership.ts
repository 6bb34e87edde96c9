import type { ServerConfig } from "../../../config/config.ts";
import type { InstanceId, PrincipalId } from "../../../kernel/ids.ts";
import { createInstance } from "../create-instance.ts";
import { createDepartures } from "./stopping-instances.ts";
import type { Instance } from "../instance.ts";
import type { InstanceDeps } from "../instance-deps.ts";
import { configuredRoots, openWithRoots } from "../lists/roots-source.ts";
import type { RemovalReason } from "../state.ts";
import type { Users } from "../users.ts";
import type { Wanted } from "./desired-instances.ts";

/** The instances that exist, except those of single clients. */
export interface Membership {
  readonly instances: ReadonlyMap<InstanceId, Instance>;
  /**
   * Adds an instance at once. It begins when its kept catalog has been loaded; a call that comes before that starts
   * it anyway.
   */
  add(wanted: Wanted): Promise<void>;
  /** Instances of a server that a team installed; of one of the configuration with `file:` and its key. */
  ofInstallation(id: string): readonly Instance[];
  /** Personal instances of this owner. */
  ofOwner(owner: PrincipalId): readonly Instance[];
  /** Everybody who has instances of their own. */
  owners(): Iterable<PrincipalId>;
  /** Removes an instance; it may still be stopping afterwards. */
  dismiss(instance: Instance, why: RemovalReason): void;
  /** Settles when all removed instances have stopped. */
  gone(): Promise<unknown>;
}

/** Whose an instance is: a person's, a whole team's, or everybody's. */
export interface Whose {
  readonly owner: PrincipalId | null;
  /** The slug of the team that shares it; undefined where it is one person's, or everybody's. */
  readonly team: string | undefined;
}

/**
 * Both are told whose instance it is, `onAdded` of every new one, `onChange` after every
 * change of one's state and of what it offers.
 */
export function createMembership(
  deps: Omit<InstanceDeps, "onChange">,
  onAdded: (whose: Whose) => void,
  onChange: (whose: Whose) => void,
): Membership {
  const instances = new Map<InstanceId, Instance>();
  const byInstallation = createIndex<string>();
  const byOwner = createIndex<PrincipalId>();
  const departures = createDepartures();
  /** When a changed configuration replaces an instance, the new one gets the same users: here they are in between. */
  const users = new Map<InstanceId, Users>();
  const depsFor = createDepsFor(deps, onChange);
  return {
    instances,
    ofInstallation: byInstallation.of,
    ofOwner: byOwner.of,
    owners: byOwner.keys,
    async add({ id, owner, server, missing, advice, team }) {
      const whose: Whose = { owner, team: owner === null ? server.installed?.team : undefined };
      const open = server.roots === undefined ? deps.open : openWithRoots(deps.open, configuredRoots(server.roots));
      const shared = depsFor(whose);
      const instance = createInstance(
        { id, owner, server, missing, advice, team, after: departures.of(id), users: users.get(id) },
        open === deps.open ? shared : { ...shared, open },
      );
      users.delete(id);
      instances.set(id, instance);
      byInstallation.add(installationOf(server), instance);
      byOwner.add(owner ?? undefined, instance);
      onAdded(whose);
      // One that cannot be used adopts nothing. A person may have a hundred of them, which would be as many files.
      if (instance.state.kind === "disabled" || instance.state.kind === "unconfigured") return;
      const [kept] = await Promise.all([deps.keeper.load(id), deps.definitions.open(server)]);
      instance.adopt(kept);
    },
    dismiss(instance, why) {
      instances.delete(instance.id);
      byInstallation.remove(installationOf(instance.server), instance);
      byOwner.remove(instance.owner ?? undefined, instance);
      if (why === "reconfigured") users.set(instance.id, instance.users);
      departures.dismiss(instance, why);
    },
    gone: departures.all,
  };
}

/** Instances by something that several have in common. Not having it is not in the index. */
function createIndex<Key extends string>() {
  const index = new Map<Key, Set<Instance>>();
  return {
    of: (key: Key): readonly Instance[] => [...(index.get(key) ?? [])],
    keys: () => index.keys(),
    add(key: Key | undefined, instance: Instance): void {
      if (key !== undefined) index.set(key, (index.get(key) ?? new Set()).add(instance));
    },
    remove(key: Key | undefined, instance: Instance): void {
      if (key === undefined) return;
      const found = index.get(key);
      found?.delete(instance);
      if (found?.size === 0) index.delete(key);
    },
  };
}

/** All instances of one person have the same: they are made together, and a person may have a hundred. */
function createDepsFor(
  deps: Omit<InstanceDeps, "onChange">,
  onChange: (whose: Whose) => void,
): (whose: Whose) => InstanceDeps {
  let last: { readonly whose: Whose; readonly deps: InstanceDeps } | undefined;
  return (whose) => {
    if (last?.whose.owner !== whose.owner || last.whose.team !== whose.team) {
      const changed = (): void => onChange(whose);
      last = { whose, deps: { ...deps, catalog: watched(deps.catalog, changed), onChange: changed } };
    }
    return last.deps;
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

function installationOf({ installed, key }: ServerConfig): string {
  return installed?.id ?? `file:${key}`;
}

/** A shared instance is named like its server. */
export function sharedId(server: ServerConfig): InstanceId {
  return server.slug as string as InstanceId;
}
