import type { View } from "../catalog/model/view.ts";
import type { Clock } from "../kernel/runtime/clock.ts";
import type { Era } from "../kernel/call/call-context.ts";
import type { Principal } from "../kernel/principal.ts";
import { type InstanceStatus, statusWord } from "../kernel/status-words.ts";
import type { Instance } from "../servers/instance/instance.ts";
import type { Replicas } from "../servers/upstream/connection.ts";
import type { UsageSum } from "../store/record-store.ts";
import type { ListCosts, TokenSum } from "./usage/list-costs.ts";
import { memoryOf, nextStep, p95Of, sinceOf, type NextStep } from "./server-standing.ts";
import type { Usage } from "./usage/usage-log.ts";
import { unusableStore, type StoreStanding } from "./store-standing.ts";

/** How a gateway is, and each of its servers. Times are ISO 8601. */
export interface GatewayStatus {
  readonly version: string;
  readonly startedAt: string;
  readonly uptimeMs: number;
  /** The rest of this group is null, or empty, for those who do not run the gateway. */
  readonly pid: number | null;
  readonly configFile: string | null;
  readonly addresses: readonly string[];
  /** Why its file, as it is now, is not in force; null while it is. */
  readonly configProblem: string | null;
  /** Why it should be restarted. */
  readonly restart: string | null;
  /** Why `/readyz` says no. */
  readonly unready: string | null;
  readonly store: StoreStanding;
  readonly counts: StatusCounts;
  readonly servers: readonly ServerStatus[];
}

export interface StatusCounts {
  readonly servers: number;
  readonly tools: number;
  /** Of 24 hours. */
  readonly calls: number;
  readonly errors: number;
  /** Instances by status; those that a call starts are under `dormant`. */
  readonly byStatus: Readonly<Record<string, number>>;
}

/** One instance of a server. */
export interface ServerStatus {
  readonly server: string;
  readonly instance: string;
  /** Whose it is; null where it is shared. */
  readonly owner: string | null;
  readonly title: string;
  /** Of its entry; null where that has none. */
  readonly category: string | null;
  readonly status: InstanceStatus;
  readonly dormant: boolean;
  /** The status in words for people. */
  readonly word: string;
  /** One sentence that explains the status. */
  readonly reason: string;
  /** Since when it is so; null where that is not known. */
  readonly since: string | null;
  /** When it is tried again. */
  readonly retryAt: string | null;
  readonly next: NextStep | null;
  readonly transport: string;
  /** Of the protocol; null while there is no connection. */
  readonly era: Era | null;
  readonly revision: string | null;
  readonly tools: number;
  /** What its tools cost in a flat list. */
  readonly tokens: number;
  /** Whether all of them have been counted as o200k counts; otherwise `tokens` has estimates in it. */
  readonly tokensExact: boolean;
  /** Of 24 hours. */
  readonly calls: number;
  readonly errors: number;
  readonly p95Ms: number | null;
  /** Resident, of its process and all that this started; null without a process. */
  readonly memoryBytes: number | null;
  readonly pid: number | null;
  /** Of a server with several processes or addresses, or with a breaker; null while it has no connection. */
  readonly replicas: { readonly of: number; readonly up: number; readonly inFlight: number } | null;
  /** The node of the cluster that runs it; null in a gateway that is alone, and while none runs it. */
  readonly node: string | null;
  /** What it does that the protocol does not allow and that was mended, in sentences for its author. */
  readonly oddities: readonly string[];
}

/** Who asks. */
export interface StatusAsk {
  readonly principal: Principal;
  /** Whether all instances are shown, with what only concerns those who run the gateway. */
  readonly isAdmin: boolean;
}

export type StatusReader = (ask: StatusAsk) => Promise<GatewayStatus>;

export interface StatusDeps {
  readonly version: string;
  readonly clock: Pick<Clock, "now" | "monotonic">;
  readonly configFile: () => string | undefined;
  readonly configProblem: () => string | undefined;
  readonly addresses: () => readonly string[];
  readonly restart: () => string | undefined;
  /** Why it is not ready, beside problems with its store. */
  readonly unready: () => string | undefined;
  readonly store: () => StoreStanding;
  readonly allInstances: () => readonly Instance[];
  readonly instancesOf: (principal: Principal) => readonly Instance[];
  readonly nodeOf: (instance: Instance) => string | null;
  /** What a person is shown, and what each server's tools cost there. */
  readonly viewFor: (owner: Instance["owner"], asking: Principal) => View;
  readonly costs: Pick<ListCosts, "prepare" | "servers">;
  readonly usage: Pick<Usage, "read">;
  /** Takes secrets out of what servers say. */
  readonly redact: (text: string) => string;
}

const dayMs = 24 * 3_600_000;
/** Of usage: as many instances as a gateway can have. */
const mostInstances = 10_000;

/** Visits every tool and process, so that it is for screens and pages, not for calls. */
export function createStatusReader(deps: StatusDeps): StatusReader {
  const { clock } = deps;
  const startedMs = clock.monotonic();
  const startedAt = new Date(clock.now()).toISOString();
  return async ({ principal, isAdmin }) => {
    const instances = isAdmin ? deps.allInstances() : deps.instancesOf(principal);
    const used = await readUsage(deps, isAdmin ? undefined : principal.id);
    const costs = await readCosts(deps, instances, principal);
    const servers = instances.map((instance, at) => {
      const isOwn = isAdmin || instance.owner === principal.id;
      return toServerStatus(instance, { deps, cost: costs[at] as Cost, used: used.get(instance.id), isOwn });
    });
    const store = deps.store();
    return {
      version: deps.version,
      startedAt,
      uptimeMs: Math.round(clock.monotonic() - startedMs),
      pid: isAdmin ? process.pid : null,
      configFile: isAdmin ? (deps.configFile() ?? null) : null,
      configProblem: isAdmin ? (deps.configProblem() ?? null) : null,
      addresses: isAdmin ? deps.addresses() : [],
      restart: isAdmin ? (deps.restart() ?? null) : null,
      unready: isAdmin ? (unusableStore(store.problems) ?? deps.unready() ?? null) : null,
      store: isAdmin ? store : { ...store, problems: [] },
      counts: count(servers),
      servers,
    };
  };
}

/** By instance. Without a store, and while it cannot be read, of what this gateway still knows. */
async function readUsage({ usage, clock }: StatusDeps, principal: string | undefined): Promise<Map<string, UsageSum>> {
  const toMs = clock.now();
  const query = { fromMs: toMs - dayMs, toMs: toMs + 1, by: ["instance"] as const, principal, limit: mostInstances };
  const { sums } = await usage.read(query);
  return new Map(sums.flatMap((sum) => (typeof sum.group[0] === "string" ? [[sum.group[0], sum] as const] : [])));
}

interface Cost {
  readonly tools: number;
  readonly tokens: number;
  readonly isExact: boolean;
}

/** What each instance's tools cost its own person, in the instances' order; a view is priced once. */
async function readCosts(
  { viewFor, costs }: StatusDeps,
  instances: readonly Instance[],
  principal: Principal,
): Promise<readonly Cost[]> {
  const views = instances.map(({ owner }) => viewFor(owner, principal));
  const byView = new Map<View, ReadonlyMap<string, TokenSum>>();
  for (const view of new Set(views)) {
    await costs.prepare(view);
    byView.set(view, new Map(costs.servers(view).map((cost) => [cost.server, cost])));
  }
  return instances.map(({ server: { slug } }, at) => {
    const view = views[at] as View;
    const { tokens, isExact } = byView.get(view)?.get(slug) ?? { tokens: 0, isExact: true };
    return { tools: view.server(slug)?.tools.length ?? 0, tokens, isExact };
  });
}

interface ServerFacts {
  readonly deps: StatusDeps;
  readonly cost: Cost;
  readonly used: UsageSum | undefined;
  readonly isOwn: boolean;
}

function toServerStatus(instance: Instance, { deps, cost, used, isOwn }: ServerFacts): ServerStatus {
  const { state, pid, connection } = instance;
  const { status, dormant, reason, title, category, transport } = instance.statusView();
  const sinceMs = sinceOf(state);
  const next = nextStep(instance);
  const toTime = (monotonicMs: number): string =>
    new Date(deps.clock.now() - deps.clock.monotonic() + monotonicMs).toISOString();
  return {
    server: instance.server.slug,
    instance: instance.id,
    owner: instance.owner,
    title,
    category: category ?? null,
    status,
    dormant,
    word: statusWord({ status, dormant, step: next?.step }),
    reason: deps.redact(reason),
    since: sinceMs === undefined ? null : toTime(sinceMs),
    retryAt: state.kind === "backoff" ? toTime(state.retryAtMs) : null,
    next,
    transport,
    era: connection?.peer.era ?? null,
    revision: connection?.peer.revision ?? null,
    tools: cost.tools,
    tokens: cost.tokens,
    tokensExact: cost.isExact,
    calls: used?.calls ?? 0,
    errors: used?.errors ?? 0,
    p95Ms: used === undefined ? null : p95Of(used),
    memoryBytes: isOwn ? memoryOf(connection?.replicas?.all().map((one) => one.pid) ?? [pid]) : null,
    pid: isOwn ? (pid ?? null) : null,
    replicas: toReplicas(connection?.replicas),
    node: deps.nodeOf(instance),
    oddities: instance.oddities.sentences().map(deps.redact),
  };
}

/** Null where there is one. */
function toReplicas(replicas: Replicas | undefined): ServerStatus["replicas"] {
  const all = replicas?.all() ?? [];
  if (all.length === 0) return null;
  return {
    of: all.length,
    up: all.filter(({ isUp, breaker }) => isUp && breaker !== "open").length,
    inFlight: all.reduce((sum, { inFlight }) => sum + inFlight, 0),
  };
}

function count(servers: readonly ServerStatus[]): StatusCounts {
  const byStatus = new Map<string, number>();
  const tools = new Map<string, number>();
  let calls = 0;
  let errors = 0;
  for (const { server, status, dormant, ...facts } of servers) {
    const name = dormant ? "dormant" : status;
    byStatus.set(name, (byStatus.get(name) ?? 0) + 1);
    // People's instances of one server have the same tools.
    tools.set(server, Math.max(tools.get(server) ?? 0, facts.tools));
    calls += facts.calls;
    errors += facts.errors;
  }
  return {
    servers: tools.size,
    tools: [...tools.values()].reduce((sum, one) => sum + one, 0),
    calls,
    errors,
    byStatus: Object.fromEntries(byStatus),
  };
}
