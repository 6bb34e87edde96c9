import { createHash } from "node:crypto";
import type { ServerStanding, ViewSource } from "../catalog/view.ts";
import type { Config, ServerConfig } from "../config/config.ts";
import { personalServer } from "../config/personal.ts";
import type { InstanceId, PrincipalId } from "../shared/ids.ts";
import type { Principal } from "../shared/principal.ts";
import { createInstance, type Instance } from "./instance.ts";
import type { InstanceDeps } from "./parts.ts";

/** All instances: which there should be for a configuration and its people, and which there are. Keyed by instance, never by slug alone. */
export interface Fleet extends ViewSource, AsyncDisposable {
  /** Brings what runs in line with the configuration. What did not change is not touched. */
  reconcile(config: Config): Promise<ReconcileReport>;
  get(id: InstanceId): Instance | undefined;
  /** The principal's own instance of a server, made at its first request when the server's scope is `user`. */
  find(principal: Principal, slug: string): Instance | undefined;
  of(principal: Principal): readonly Instance[];
  all(): readonly Instance[];
  toolCount(id: InstanceId): number;
  /** Waits until the principal's servers that were never seen before have settled, or the signal aborts. */
  settled(principal: Principal, signal: AbortSignal): Promise<void>;
  /** Idle stops, probes and refreshes that are due. Called every `idleCheckMs`. */
  tick(): void;
}

export interface ReconcileReport {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

export function createFleet(deps: Omit<InstanceDeps, "onChange">): Fleet {
  const instances = new Map<InstanceId, Instance>();
  const perPrincipal = new Map<PrincipalId, readonly Instance[]>();
  let config: Config | undefined;
  let statusVersion = 0;
  const onChange = (): void => {
    statusVersion += 1;
  };

  async function reconcile(next: Config): Promise<ReconcileReport> {
    const before = new Map((config?.servers ?? []).map((server) => [server.slug as string, server]));
    const after = new Map(next.servers.map((server) => [server.slug as string, server]));
    const people = config?.people;
    config = next;
    perPrincipal.clear();
    const changed = new Set([...before.keys()].filter((slug) => after.has(slug) && !sameServer(before.get(slug), after.get(slug))));
    const leaving = [...instances.values()].filter((instance) => {
      const slug = instance.server.slug as string;
      return !after.has(slug) || changed.has(slug) || !ownerStays(instance, next) || (instance.owner !== null && people !== next.people && personalChanged(instance, next));
    });
    for (const instance of leaving) instances.delete(instance.id);
    onChange();
    await Promise.all([
      ...leaving.map(async (instance) => await instance.remove()),
      ...next.servers.filter((server) => server.scope === "shared" && !instances.has(sharedId(server))).map(async (server) => await add(sharedId(server), server, null, [])),
    ]);
    return {
      added: [...after.keys()].filter((slug) => !before.has(slug)).length,
      changed: changed.size,
      removed: [...before.keys()].filter((slug) => !after.has(slug)).length,
    };
  }

  /** Puts the instance there at once; its life begins when the disk has answered. A call that comes before starts it all the same. */
  async function add(id: InstanceId, server: ServerConfig, owner: PrincipalId | null, missing: readonly string[]): Promise<void> {
    const instance = createInstance({ id, server, owner, missing }, { ...deps, onChange });
    instances.set(id, instance);
    perPrincipal.clear();
    onChange();
    instance.adopt(await deps.keeper.load(id));
  }

  function of(principal: Principal): readonly Instance[] {
    const known = perPrincipal.get(principal.id);
    if (known !== undefined) return known;
    const own = (config?.servers ?? []).flatMap((server) => {
      if (server.scope === "shared") return instances.get(sharedId(server)) ?? [];
      return ownInstance(principal, server);
    });
    perPrincipal.set(principal.id, own);
    return own;
  }

  function ownInstance(principal: Principal, template: ServerConfig): Instance {
    const id = personalId(template, principal);
    const known = instances.get(id);
    if (known !== undefined) return known;
    const { server, missing } = personalServer(template, config?.people ?? noPeople, principal.id);
    void add(id, server, principal.id, missing);
    return instances.get(id) as Instance;
  }

  return {
    get statusVersion() {
      return statusVersion;
    },
    standings: (principal): readonly ServerStanding[] => of(principal).map((instance) => instance.standing()),
    reconcile,
    get: (id) => instances.get(id),
    find: (principal, slug) => of(principal).find((instance) => instance.server.slug === slug),
    of,
    all: () => [...instances.values()],
    toolCount: (id) => deps.catalog.get(id)?.tools.length ?? 0,
    async settled(principal, signal) {
      await Promise.all(of(principal).map(async (instance) => (deps.catalog.get(instance.id) === undefined ? await instance.settled(signal) : undefined)));
    },
    tick() {
      for (const instance of instances.values()) instance.tick();
    },
    async [Symbol.asyncDispose]() {
      const all = [...instances.values()];
      instances.clear();
      perPrincipal.clear();
      await Promise.all(all.map(async (instance) => await instance.remove()));
    },
  };

  function personalChanged(instance: Instance, next: Config): boolean {
    const template = next.servers.find((server) => server.slug === instance.server.slug);
    if (template === undefined || instance.owner === null) return true;
    return personalServer(template, next.people, instance.owner).server.hash !== instance.server.hash;
  }
}

const noPeople: Config["people"] = Object.freeze({ principals: new Map(), teams: new Map() });

function ownerStays(instance: Instance, config: Config): boolean {
  return instance.owner === null || instance.owner === "local" || config.people.principals.has(instance.owner);
}

function sharedId(server: ServerConfig): InstanceId {
  return server.slug as string as InstanceId;
}

/** `{server}-{team}-{user}-{id}` (issue "Instances"): the id keeps apart what the readable parts might blend. */
function personalId(server: ServerConfig, principal: Principal): InstanceId {
  const id = createHash("sha256").update(JSON.stringify([server.slug, principal.team, principal.id])).digest("hex").slice(0, 12);
  return `${server.slug}-${principal.team ?? "none"}-${principal.id}-${id}` as InstanceId;
}

function sameServer(before: ServerConfig | undefined, after: ServerConfig | undefined): boolean {
  return JSON.stringify(before) === JSON.stringify(after);
}
