import { isDeepStrictEqual } from "node:util";
import type { StatusView, ViewSource } from "../../../catalog/model/view.ts";
import type { Config, ServerConfig } from "../../../config/config.ts";
import type { InstanceId, PrincipalId } from "../../../kernel/ids.ts";
import type { Principal } from "../../../kernel/principal.ts";
import { allSteps, slices } from "../../../kernel/runtime/slices.ts";
import { createClientInstances, type ClientInstances } from "./client-instances.ts";
import { createMembership, sharedId, type Membership, type Whose } from "./membership.ts";
import { createPrincipalInstances, type PrincipalInstances } from "./principal-instances.ts";
import type { Instance } from "../instance.ts";
import type { InstanceDeps } from "../instance-deps.ts";
import { differs, hasLostToken, wantedFor, type Owners } from "./desired-instances.ts";

/**
 * All instances. It compares those that the configuration and its people ask for with those that exist. Everything is
 * keyed by instance id, never by slug alone.
 */
export interface Fleet extends ViewSource, AsyncDisposable {
  /**
   * Makes the instances agree with the configuration and the current people. Unchanged instances are not touched.
   * Removed ones may still be stopping when the promise resolves.
   */
  reconcile(config: FleetConfig): Promise<ReconcileReport>;
  /**
   * The same for servers that teams installed: makes instances of these installations agree with the wanted state, and
   * looks at no others. The servers of the members of these teams (by slug) are computed again.
   */
  follow(changes: InstalledChanges): Promise<void>;
  /** The same for people who may have lost something: looks at those who have instances of their own. */
  followPeople(): Promise<void>;
  /** The instance with this id, a client's included. */
  get(id: InstanceId): Instance | undefined;
  /** The instances of single clients, which are not part of views. */
  readonly clients: ClientInstances;
  /**
   * The principal's instance of a server: the shared one, or the principal's own, which is made at the first request.
   */
  find(principal: Principal, slug: string): Instance | undefined;
  /** All instances that the principal uses, shared ones included. */
  of(principal: Principal): readonly Instance[];
  /**
   * Settles when the kept catalogs of the principal's own instances have been loaded; undefined when there is nothing
   * to wait for. To be called at a principal's first request.
   */
  adopting(principal: Principal): Promise<void> | undefined;
  /** Instances of a server that a team installed, single clients' excluded. */
  ofInstallation(id: string): readonly Instance[];
  /** All instances, clients' included. */
  all(): readonly Instance[];
  /**
   * Waits until those of the principal's servers whose tools are not known yet are no longer starting, or until the
   * signal aborts. One that has been starting for more than `patienceMs` is not waited for.
   */
  settled(principal: Principal, patienceMs: number, signal: AbortSignal): Promise<void>;
  /** Runs due work: idle stops, probes, list refreshes. Called every `idleCheckMs`. */
  tick(): void;
}

/** The part of a configuration that concerns instances. */
export type FleetConfig = Pick<Config, "servers">;

/** What the fleet needs from other parts of the program. */
export interface FleetDeps extends Omit<InstanceDeps, "onChange"> {
  readonly people: Owners;
}

/** Installations that changed, and of which owner's instances; undefined for everybody's. */
export interface InstalledChanges {
  readonly installations: readonly { readonly id: string; readonly owner: PrincipalId | undefined }[];
  readonly teams: readonly string[];
}

/** How many servers of the configuration were added, changed and removed. */
export interface ReconcileReport {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

const everybody: Whose = { owner: null, team: undefined };

/** Fewer are brought in line in one turn. */
const manyServers = 200;

/** A fleet without instances; `reconcile` makes them. */
export function createFleet(deps: FleetDeps): Fleet {
  const { people } = deps;
  const clients = createClientInstances(deps);
  let config: FleetConfig | undefined;
  const versions = createViewVersions();

  const members = createMembership(deps, onAdded, versions.noteChange);
  const principals = createPrincipalInstances(members, () => config?.servers ?? [], people);
  const { instances } = members;

  function onAdded(whose: Whose): void {
    principals.forget(whose);
    versions.noteChange(whose);
  }

  const following = createFollowing({
    ...{ members, principals, clients, people, onAdded },
    keeper: deps.keeper,
    servers: () => config?.servers ?? [],
  });

  /** In steps, between which requests get a turn: a file may have thousands of servers. */
  function* reconciling(next: FleetConfig, work: Promise<void>[]): Generator<undefined, void> {
    for (const instance of [...instances.values()]) {
      work.push(following.bringInLine(instance));
      yield;
    }
    principals.noteCredentials();
    for (const server of next.servers) {
      const id = sharedId(server);
      if (server.scope === "shared" && !instances.has(id))
        work.push(members.add({ id, owner: null, server, missing: [] }));
      yield;
    }
  }

  async function reconcile(next: FleetConfig): Promise<ReconcileReport> {
    const before = config;
    config = next;
    principals.forget(everybody);
    const work: Promise<void>[] = [];
    if (instances.size + next.servers.length < manyServers) allSteps(reconciling(next, work));
    else {
      await slices.run(reconciling(next, work));
      // Lists that were made meanwhile lack some.
      principals.forget(everybody);
    }
    clients.follow((id) => instances.get(id));
    versions.noteChange(everybody);
    await Promise.all(work);
    return report(before, next);
  }

  return {
    versionOf: versions.of,
    catalogOf: deps.catalog.get,
    statusViews: (principal): readonly StatusView[] =>
      principals.of(principal).map((instance) => instance.statusView()),
    reconcile,
    follow: following.follow,
    followPeople: following.followPeople,
    clients,
    get: (id) => instances.get(id) ?? clients.get(id),
    find: (principal, slug) => principals.of(principal).find((instance) => instance.server.slug === slug),
    of: principals.of,
    ofInstallation: members.ofInstallation,
    adopting: principals.adopting,
    all: () => [...instances.values(), ...clients.all()],
    async settled(principal, patienceMs, signal) {
      const beforeMs = deps.clock.monotonic() - patienceMs;
      const isUnseen = (one: Instance): boolean => deps.catalog.get(one.id) === undefined && !isSlow(one, beforeMs);
      const unseen = principals.of(principal).filter(isUnseen);
      await Promise.all(unseen.map(async (instance) => await instance.settled(signal)));
    },
    tick() {
      for (const instance of instances.values()) instance.tick();
      clients.tick();
    },
    async [Symbol.asyncDispose]() {
      for (const instance of instances.values()) members.dismiss(instance, "stopping");
      principals.forget(everybody);
      await Promise.all([members.gone(), clients[Symbol.asyncDispose]()]);
    },
  };
}

interface FollowingParts {
  readonly members: Membership;
  readonly principals: PrincipalInstances;
  readonly clients: Pick<ClientInstances, "follow">;
  readonly people: Owners;
  readonly keeper: Pick<FleetDeps["keeper"], "remove">;
  readonly servers: () => readonly ServerConfig[];
  readonly onAdded: (whose: Whose) => void;
}

/**
 * Brings the existing instances in line with the wanted ones: one instance, those of installations, those of people.
 */
function createFollowing({ members, principals, clients, people, keeper, servers, onAdded }: FollowingParts) {
  /** Brings one instance in line. Resolves when its kept state is in line, too. */
  async function bringInLine(instance: Instance): Promise<void> {
    const wanted = wantedFor(instance, servers(), people);
    const hasLost = hasLostToken(instance, principals.credentialsBefore(instance.owner), people);
    if (wanted === undefined || differs(instance, wanted) || hasLost) {
      instance.users.processEnded("its configuration changed");
      members.dismiss(instance, wanted === undefined ? "unconfigured" : "reconfigured");
      // The kept catalog of a server that is no longer configured is of no use to anybody.
      if (wanted === undefined) await keeper.remove(instance.id);
    } else if (!isDeepStrictEqual(instance.server, wanted.server)) await instance.reconfigure(wanted.server);
  }

  async function follow({ installations, teams }: InstalledChanges): Promise<void> {
    const changed = installations.flatMap(({ id, owner }) =>
      members.ofInstallation(id).filter((instance) => owner === undefined || instance.owner === owner),
    );
    const work = [...new Set(changed)].map((instance) => bringInLine(instance));
    for (const team of teams) onAdded({ owner: null, team });
    for (const { owner } of changed) if (owner !== null) onAdded({ owner, team: undefined });
    if (changed.length > 0) clients.follow((id) => members.instances.get(id));
    await Promise.all(work);
  }

  async function followPeople(): Promise<void> {
    const work: Promise<void>[] = [];
    for (const owner of [...members.owners()]) {
      if (people.byId(owner) !== undefined && !hasLostToken({ owner }, principals.credentialsBefore(owner), people))
        continue;
      for (const instance of members.ofOwner(owner)) work.push(bringInLine(instance));
      principals.noteCredentialsOf(owner);
      onAdded({ owner, team: undefined });
    }
    if (work.length > 0) clients.follow((id) => members.instances.get(id));
    await Promise.all(work);
  }

  return { bringInLine, follow, followPeople };
}

/** Waiting once for a server that hangs is enough; otherwise it would slow down every search. */
function isSlow({ state }: Instance, beforeMs: number): boolean {
  return state.kind === "starting" && state.sinceMs < beforeMs;
}

function report(before: FleetConfig | undefined, after: FleetConfig): ReconcileReport {
  const old = new Map((before?.servers ?? []).map((server) => [server.slug as string, server]));
  const kept = new Set(after.servers.map((server) => server.slug as string));
  return {
    added: after.servers.filter((server) => !old.has(server.slug)).length,
    changed: after.servers.filter((server) => old.has(server.slug) && !isDeepStrictEqual(old.get(server.slug), server))
      .length,
    removed: [...old.keys()].filter((slug) => !kept.has(slug)).length,
  };
}

/** Counts what happens to the instances that each person's view is made of. */
export interface ViewVersions {
  /** Something happened to an instance of this owner, of this team, or to one that everybody has (neither). */
  readonly noteChange: (whose: Whose) => void;
  /** Never the same as before something happened to what this principal has; unmoved by what happens to others. */
  readonly of: (principal: Principal) => number;
}

/** People whose own counts are kept: beyond that, every view is made again once. */
const countLimit = 10_000;

export function createViewVersions(): ViewVersions {
  const own = new Map<PrincipalId, number>();
  const teams = new Map<string, number>();
  let everybody = 0;
  return {
    noteChange({ owner, team }) {
      if (owner !== null) own.set(owner, (own.get(owner) ?? 0) + 1);
      else if (team === undefined) everybody += 1;
      else teams.set(team, (teams.get(team) ?? 0) + 1);
      if (own.size <= countLimit && teams.size <= countLimit) return;
      // A sum only ever grows: no version comes twice.
      everybody += Math.max(0, ...own.values()) + Math.max(0, ...teams.values());
      own.clear();
      teams.clear();
    },
    of: ({ id, team }) => everybody + (own.get(id) ?? 0) + (team === null ? 0 : (teams.get(team) ?? 0)),
  };
}
