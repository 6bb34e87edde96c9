import { firstWaitMs } from "../../kernel/limits.ts";
import { isDeepStrictEqual } from "node:util";
import type { StatusView, ViewSource } from "../../catalog/model/view.ts";
import type { Config, ServerConfig } from "../../config/config.ts";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import type { Principal } from "../../kernel/principal.ts";
import { createClientInstances, type ClientInstances } from "./client-instances.ts";
import { createInstance } from "./create-instance.ts";
import type { Instance } from "./instance.ts";
import type { InstanceDeps } from "./instance-deps.ts";
import type { Users } from "./users.ts";
import { configuredRoots, openWithRoots } from "./roots-source.ts";
import type { RemovalReason } from "./state.ts";
import { differs, hasLostToken, wantedFor, type Owners, type Wanted } from "./wanted.ts";

/** All instances: which there should be for a configuration and its people, and which there are. Keyed by instance, never by slug alone. */
export interface Fleet extends ViewSource, AsyncDisposable {
  /** Brings what runs in line with the configuration, and with the people as they are now. What did not change is not touched; what ends need not have ended yet. */
  reconcile(config: FleetConfig): Promise<ReconcileReport>;
  get(id: InstanceId): Instance | undefined;
  /** Those of single clients, beside the ones that views are made of. */
  readonly clients: ClientInstances;
  /** The principal's own instance of a server, made at its first request unless the server is shared. */
  find(principal: Principal, slug: string): Instance | undefined;
  of(principal: Principal): readonly Instance[];
  /** At a principal's first request: settles when what is kept on disk of his own instances is known. Undefined when there is nothing to wait for. */
  adopting(principal: Principal): Promise<void> | undefined;
  all(): readonly Instance[];
  /** Waits until the principal's servers that were never seen before have settled, or the signal aborts. */
  settled(principal: Principal, signal: AbortSignal): Promise<void>;
  /** Idle stops, probes and refreshes that are due. Called every `idleCheckMs`. */
  tick(): void;
}

/** What a configuration says of instances. */
export type FleetConfig = Pick<Config, "servers">;

export interface FleetDeps extends Omit<InstanceDeps, "onChange"> {
  readonly people: Owners;
}

export interface ReconcileReport {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

export function createFleet(deps: FleetDeps): Fleet {
  const { people } = deps;
  const instances = new Map<InstanceId, Instance>();
  const perPrincipal = new Map<string, readonly Instance[]>();
  /** What has been removed and may still be stopping: its successor waits for it. */
  const leaving = new Map<InstanceId, Promise<void>>();
  /** Of every instance that is configured: a changed one is a new instance with the same users. */
  const users = new Map<InstanceId, Users>();
  const clients = createClientInstances(deps);
  const adoptions = new Map<string, Promise<void>>();
  /** Hashes of the tokens that the owners of personal instances had when those were looked at last. */
  const credentials = new Map<PrincipalId, readonly string[]>();
  let config: FleetConfig | undefined;
  let statusVersion = 0;
  const onChange = (): void => {
    statusVersion += 1;
  };

  async function reconcile(next: FleetConfig): Promise<ReconcileReport> {
    const before = config;
    config = next;
    perPrincipal.clear();
    const work: Promise<void>[] = [];
    for (const instance of instances.values()) {
      const wanted = wantedFor(instance, next.servers, people);
      const lost = hasLostToken(instance, credentials.get(instance.owner as PrincipalId) ?? [], people);
      if (wanted === undefined || differs(instance, wanted) || lost) {
        // A file of what is no longer configured would be kept for nobody.
        if (wanted === undefined) work.push(deps.keeper.remove(instance.id));
        instance.users.processEnded("its configuration changed");
        dismiss(instance, wanted === undefined ? "unconfigured" : "reconfigured");
      } else if (!isDeepStrictEqual(instance.server, wanted.server)) {
        work.push(instance.reconfigure(wanted.server));
      }
    }
    for (const owner of credentials.keys()) noteCredentials(owner);
    for (const server of next.servers) {
      const id = sharedId(server);
      if (server.scope === "shared" && !instances.has(id)) work.push(add({ id, owner: null, server, missing: [] }));
    }
    clients.follow((id) => instances.get(id));
    onChange();
    await Promise.all(work);
    return report(before, next);
  }

  function dismiss(instance: Instance, why: RemovalReason): void {
    instances.delete(instance.id);
    if (why !== "reconfigured") users.delete(instance.id);
    const gone = instance.remove(why).finally(() => {
      if (leaving.get(instance.id) === gone) leaving.delete(instance.id);
    });
    leaving.set(instance.id, gone);
  }

  /** Puts the instance there at once; its life begins when the disk has answered. A call that comes before starts it all the same. */
  async function add({ id, owner, server, missing }: Wanted): Promise<void> {
    const open = server.roots === undefined ? deps.open : openWithRoots(deps.open, configuredRoots(server.roots));
    const instance = createInstance(
      { id, owner, server, missing, after: leaving.get(id), users: users.get(id) },
      { ...deps, open, onChange },
    );
    instances.set(id, instance);
    users.set(id, instance.users);
    perPrincipal.clear();
    onChange();
    instance.adopt(await deps.keeper.load(id));
  }

  function of(principal: Principal): readonly Instance[] {
    const known = perPrincipal.get(principal.id);
    if (known !== undefined) return known;
    const own = (config?.servers ?? []).flatMap((server) =>
      server.scope === "shared" ? (instances.get(sharedId(server)) ?? []) : ownInstance(principal, server),
    );
    perPrincipal.set(principal.id, own);
    return own;
  }

  function ownInstance(principal: Principal, template: ServerConfig): readonly Instance[] {
    const servers = config?.servers ?? [];
    const wanted = wantedFor({ owner: principal.id, server: template, id: undefined }, servers, people);
    // Somebody who was removed while a request of theirs was on its way.
    if (wanted === undefined) return [];
    if (!credentials.has(principal.id)) noteCredentials(principal.id);
    if (!instances.has(wanted.id)) noteAdoption(principal, add(wanted));
    return [instances.get(wanted.id) as Instance];
  }

  /** Whoever is no longer there is forgotten. */
  function noteCredentials(owner: PrincipalId): void {
    if (people.byId(owner) === undefined) credentials.delete(owner);
    else credentials.set(owner, people.credentialsOf(owner));
  }

  function noteAdoption({ id }: Principal, adding: Promise<void>): void {
    const all = Promise.all([adoptions.get(id), adding]).then(() => {
      if (adoptions.get(id) === all) adoptions.delete(id);
    });
    adoptions.set(id, all);
  }

  /** Whoever has waited once for a server that hangs has waited enough: it must not make every search slow. */
  function isLongSinceStarting({ state }: Instance): boolean {
    return state.kind === "starting" && deps.clock.monotonic() - state.sinceMs > firstWaitMs;
  }

  return {
    get statusVersion() {
      return statusVersion;
    },
    statusViews: (principal): readonly StatusView[] => of(principal).map((instance) => instance.statusView()),
    reconcile,
    clients,
    get: (id) => instances.get(id) ?? clients.get(id),
    find: (principal, slug) => of(principal).find((instance) => instance.server.slug === slug),
    of,
    adopting(principal) {
      of(principal);
      return adoptions.size === 0 ? undefined : adoptions.get(principal.id);
    },
    all: () => [...instances.values(), ...clients.all()],
    async settled(principal, signal) {
      const unseen = of(principal).filter(
        (instance) => deps.catalog.get(instance.id) === undefined && !isLongSinceStarting(instance),
      );
      await Promise.all(unseen.map(async (instance) => await instance.settled(signal)));
    },
    tick() {
      for (const instance of instances.values()) instance.tick();
      clients.tick();
    },
    async [Symbol.asyncDispose]() {
      for (const instance of instances.values()) dismiss(instance, "stopping");
      perPrincipal.clear();
      await Promise.all([...leaving.values(), clients[Symbol.asyncDispose]()]);
    },
  };
}

/** A shared instance is named like its server. */
function sharedId(server: ServerConfig): InstanceId {
  return server.slug as string as InstanceId;
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
