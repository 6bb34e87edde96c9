import { hostname } from "node:os";
import type { AnswerHeld, Elsewhere } from "../../cluster/peers/held-things.ts";
import type { HeldKind } from "../../cluster/peers/messages.ts";
import type { FollowHere, NodeFollower } from "../../cluster/peers/node-watch.ts";
import type { Cluster, ClusterDeps } from "./cluster-wiring.ts";
import { createConnections } from "./connections.ts";
import { createGatewayLogins, type GatewayLogins, type GatewayLoginsDeps } from "./server-logins.ts";
import type { LoopGuard } from "./loop-guard.ts";
import type { InstanceCatalog } from "../../catalog/model/snapshot.ts";
import type { Config } from "../../config/config.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { EventBus } from "../../kernel/events/event-bus.ts";
import type { MessageTap } from "../../kernel/events/message-tap.ts";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { TraceSource } from "../../kernel/runtime/tracing.ts";
import { openOnce, type LoadLate } from "../../kernel/runtime/late-module.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import { createWaitingRequests } from "../../servers/upstream/waiting-requests.ts";
import { createFleet, type Fleet } from "../../servers/instance/fleet/fleet.ts";
import {
  isBalanced,
  type CatalogKeeper,
  type DefinitionReview,
  type OpenConnection,
} from "../../servers/instance/instance-deps.ts";
import type { Instance } from "../../servers/instance/instance.ts";
import type { InstanceRules, ReplicaDeps } from "../../servers/instance/replicas/replica-opening.ts";
import { createStartQueue } from "../../servers/instance/starts/start-queue.ts";
import type { Owners } from "../../servers/instance/fleet/desired-instances.ts";
import { listenForChanges } from "../../servers/instance/lists/listening.ts";
import { exitOf, isCleanEnd, toClosedCause } from "../../servers/instance/starts/closed-cause.ts";
import { startLimits, withStartDeadline } from "../../servers/instance/starts/opening.ts";
import { createCrashCount } from "../../servers/instance/starts/recovery.ts";
import { traceOpening } from "../../servers/instance/starts/traced-opening.ts";
import { createStartTurns } from "../../servers/instance/starts/start-turns.ts";
import type { LearnedNames } from "../../servers/sandbox/learned-names.ts";
import type { GatewayIdentity } from "../../servers/upstream/messages/encode.ts";
import type { SecretSources } from "../../records/redaction/redaction.ts";
import type { SecretStore } from "../../store/store.ts";
import type { LargeBuffers } from "../../wire/json/large-buffers.ts";

export interface ServersDeps {
  readonly config: () => Config;
  readonly log: Log;
  readonly clock: Clock;
  readonly events: EventBus;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly dataDir: string;
  readonly identity: GatewayIdentity;
  readonly memory: LargeBuffers;
  readonly tap: MessageTap;
  readonly loopGuard: LoopGuard;
  readonly loadLate: LoadLate;
  readonly onLogin: GatewayLoginsDeps["onLogin"];
  readonly openSecrets: () => Promise<SecretStore>;
  /** Is given the tokens of logins in use. */
  readonly secrets: SecretSources;
  /** Removes every secret from what a server wrote. */
  readonly redact: (text: string) => string;
  readonly keeper: CatalogKeeper;
  readonly definitions: DefinitionReview;
  readonly people: Owners;
  readonly principalOf: (id: PrincipalId) => Principal | undefined;
  readonly version: string;
  readonly store: ClusterDeps["store"];
  /** The page where a person logs in for an instance; undefined where people have no pages. */
  readonly loginPage: ((instance: InstanceId) => string) | undefined;
  /** Undefined while traces are off. */
  readonly traces: TraceSource | undefined;
  readonly catalog: {
    get(instance: InstanceId): InstanceCatalog | undefined;
    put(part: InstanceCatalog): void;
    remove(instance: InstanceId): void;
  };
}

/** The wing `servers`, connected: instances, their connections, and logins. */
export interface Servers extends AsyncDisposable {
  readonly fleet: Fleet;
  readonly logins: GatewayLogins;
  /** This gateway among other nodes; undefined where it is alone. */
  readonly cluster: LateCluster | undefined;
  /** What confined servers reach, as far as it was wanted. */
  readonly learnedNames: () => Promise<LearnedNames>;
  /** How many servers are waiting to be started. */
  readonly waitingStarts: number;
  letStart(): void;
}

/** Builds the wing `servers`. Starts nothing yet. */
export function createServers(deps: ServersDeps): Servers {
  const { config, log, clock, events } = deps;
  const logins = createGatewayLogins({ ...deps, openStore: deps.openSecrets });
  deps.secrets.add(logins.secrets);
  const connections = createConnections({
    ...deps,
    settings: () => config().settings,
    configFile: () => config().identity?.realFile ?? config().file,
    authorizeFor: logins.authorizeFor,
  });
  let mayStart = false;
  const permits = (kind: "parallelStarts" | "parallelInstalls") => () =>
    mayStart ? config().settings.instances[kind] : 0;
  const starts = createStartTurns({
    starts: createStartQueue(permits("parallelStarts")),
    installs: createStartQueue(permits("parallelInstalls")),
  });
  const settings = () => config().settings.instances;
  const openHere = openBalanced({ open: connections.open, clock, starts, settings, rules }, deps.loadLate);
  const cluster =
    config().settings.cluster === undefined
      ? undefined
      : createLateCluster(deps, openHere, {
          fleet: () => fleet,
          waitingStarts: () => starts.waiting,
        });
  const open = cluster?.open ?? openHere;
  const fleet: Fleet = createFleet({
    open: deps.traces === undefined ? open : traceOpening(open, deps.traces),
    loginOf: logins.loginOf,
    loginPage: deps.loginPage && ((id) => deps.loginPage?.(fleet.clients.baseOf(id) ?? id) ?? ""),
    keeper: deps.keeper,
    definitions: deps.definitions,
    people: deps.people,
    catalog: deps.catalog,
    events,
    log,
    clock,
    starts,
    settings,
    limits: () => config().settings.limits,
  });
  logins.watch(() => fleet.tick());
  return {
    fleet,
    logins,
    cluster,
    learnedNames: connections.learnedNames,
    get waitingStarts() {
      return starts.waiting;
    },
    letStart() {
      mayStart = true;
      starts.wake();
    },
    async [Symbol.asyncDispose]() {
      await cluster?.close();
      await Promise.all([connections[Symbol.asyncDispose](), logins[Symbol.asyncDispose]()]);
    },
  };
}

/** The part of a cluster that others need, while it may still be loading. */
export interface LateCluster extends Pick<Cluster, "open" | "order" | "noteLoss" | "drain" | "close"> {
  /** The name of this node. */
  readonly id: string;
  /** Joins the other nodes. Rejects when this node cannot listen, or cannot use the database. */
  start(): Promise<void>;
  /** Resolves when all other nodes have heard it, or do not answer. */
  readonly tellNodes: Cluster["tellNodes"];
  /** What happens at other nodes, from the time when this one has joined. */
  watch(follower: NodeFollower): () => void;
  /** Gives a listener who reads at other nodes what happens here. */
  onWatched(follow: FollowHere): void;
  /** Gives what other nodes pass on of clients to a listener. */
  onClient(listener: ClusterDeps["onClient"]): void;
  /** Limits hold for what people use at all nodes together. Called before it joins. */
  shareLimits(admission: ReturnType<ClusterDeps["admission"]>): void;
  readonly elsewhere: Elsewhere;
  /** Undefined until it has joined. */
  readonly joined: Cluster | undefined;
  /** Why it should be sent no requests; undefined while it takes part. */
  readonly unready: string | undefined;
  /** The node that runs an instance; null while none does, and for one whose processes may be at several nodes. */
  nodeOf(instance: Pick<Instance, "connection">): string | null;
}

/** Loaded only where the configuration has a cluster. Instances wait until it has joined. */
function createLateCluster(
  { config, log, clock, events, version, store, loadLate, principalOf }: ServersDeps,
  openHere: ClusterDeps["openHere"],
  { fleet, waitingStarts }: { readonly fleet: () => Fleet; readonly waitingStarts: () => number },
): LateCluster {
  const loadCode = async () => await import("./cluster-wiring.ts");
  const id = config().settings.cluster?.node ?? hostname();
  let joined: Cluster | undefined;
  let hear: ClusterDeps["onClient"] = () => undefined;
  let limited: ReturnType<ClusterDeps["admission"]>;
  const answers = new Map<HeldKind, AnswerHeld>();
  let give: (heir: string) => Promise<void> = async () => undefined;
  let followHere: FollowHere = () => () => undefined;
  const start = openOnce(async () => {
    const { startCluster } = await loadLate("the cluster", loadCode);
    joined = await startCluster({
      ...{ id, config, log, clock, events, version, store, openHere, waiting: createWaitingRequests },
      onClient: (...said) => hear(...said),
      admission: () => limited,
      answerOf: (kind) => answers.get(kind),
      onLeave: async (heir) => await give(heir),
      follow: (...told) => followHere(...told),
      load: { processes: () => processesOf(fleet().all()), waitingStarts },
      ownerOf: (id) => fleet().get(id)?.owner ?? null,
      find(id, owner) {
        const principal = owner === null ? undefined : principalOf(owner as PrincipalId);
        // A person's instances are made when they are first looked at.
        if (principal !== undefined) fleet().of(principal);
        return fleet().get(id);
      },
    });
    return joined;
  });
  return {
    id,
    start: async () => void (await start()),
    get joined() {
      return joined;
    },
    get unready() {
      if (joined?.membership.isDraining === true) return "this node is drained: other nodes serve instead";
      return joined?.membership.isLeased === false ? "this node has no lease, and runs no servers" : undefined;
    },
    nodeOf({ connection }) {
      if (connection === undefined || connection.replicas !== undefined || joined === undefined) return null;
      return connection.far?.node ?? joined.membership.me.id;
    },
    open: async (...wanted) => await (await start()).open(...wanted),
    tellNodes: async (...said) => await joined?.tellNodes(...said),
    elsewhere: {
      get node() {
        return joined?.membership.me.id;
      },
      ask: async (...asked) => await (await start()).elsewhere.ask(...asked),
      find: async (...asked) => await (await start()).elsewhere.find(...asked),
      others: async (asked) => (await joined?.elsewhere.others(asked)) ?? [],
      answer: (kind, answer) => void answers.set(kind, answer),
      onLeave: (listener) => void (give = listener),
    },
    onClient: (listener) => void (hear = listener),
    shareLimits: (admission) => void (limited = admission),
    watch: (follower) => joined?.watch.follow(follower) ?? (() => undefined),
    onWatched: (follow) => void (followHere = follow),
    order: async (...ordered) => await joined?.order(...ordered),
    noteLoss: () => joined?.noteLoss(),
    drain: async (signal) => await joined?.drain(signal),
    close: async () => await joined?.close(),
  };
}

function processesOf(instances: readonly Instance[]): readonly number[] {
  const pids = instances.flatMap(({ pid, connection }) => connection?.replicas?.all().map((one) => one.pid) ?? [pid]);
  return pids.filter((pid) => pid !== undefined);
}

const rules: InstanceRules = Object.freeze({
  ...{ listenForChanges, startLimits, withStartDeadline, toClosedCause, isCleanEnd, exitOf, createCrashCount },
});

/** Loaded with the first server that has several processes or addresses, or a breaker. */
function openBalanced(deps: ReplicaDeps, loadLate: LoadLate): OpenConnection {
  const load = async () => await import("../../servers/instance/replicas/replica-group.ts");
  const openReplicas = openOnce(async () => (await loadLate("replicas of servers", load)).createOpenReplicas(deps));
  return async (server, ...rest) =>
    isBalanced(server) ? await (await openReplicas())(server, ...rest) : await deps.open(server, ...rest);
}
