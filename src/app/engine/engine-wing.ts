import type { Discovery } from "../../catalog/discovery/discovery.ts";
import { findClientProfile } from "../../config/rows/client-profiles.ts";
import type { Config } from "../../config/config.ts";
import type { FlowLabels } from "../../engine/flows/flow-labels.ts";
import { createLogLevels, type LogLevels } from "../../engine/calls/subscriptions/log-levels.ts";
import { createRouting, type Routing } from "../../engine/calls/routing.ts";
import { slices } from "../../kernel/runtime/slices.ts";
import { createSubscriptions, type Subscriptions } from "../../engine/calls/subscriptions/subscriptions.ts";
import { createPerformer, type PerformDeps, type Performer } from "../../engine/perform/perform.ts";
import type { Elsewhere } from "../../cluster/peers/held-things.ts";
import type { LogRequest } from "../../records/calls/call-recorder.ts";
import { createResultBudgetStage } from "../../engine/perform/result-budget.ts";
import { shareKept } from "../../engine/perform/intents/read-kept.ts";
import { createKeptResults, type KeptFigures, type KeptResults } from "../../engine/results/kept-results.ts";
import { createValidators } from "../../engine/validation/validators.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { EventBus } from "../../kernel/events/event-bus.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import type { TraceSource } from "../../kernel/runtime/tracing.ts";
import { createSessionlessClients, type SessionlessClients } from "../../kernel/sessionless-clients.ts";
import type { Fleet } from "../../servers/instance/fleet/fleet.ts";
import type { ClaimAsk, ClaimStore, SharedState } from "../../store/shared.ts";
import type { GatewayStore } from "../../store/store.ts";
import { createSealedStates } from "../../wire/mcp/sealed-state.ts";
import type { ShownViews } from "./catalog-wing.ts";
import { createChecks, type CheckDeps } from "./check-wiring.ts";
import { openApprovals, type ApprovalWiring, type ApprovalWiringDeps } from "./approval-wiring.ts";
import { createNamespaces, type Namespaces, type NamespacesDeps } from "./namespace-wiring.ts";

export interface EngineDeps
  extends
    Pick<ApprovalWiringDeps, "late" | "people">,
    Pick<CheckDeps, "logins" | "redaction">,
    Pick<NamespacesDeps, "cluster"> {
  readonly config: () => Config;
  readonly fleet: Fleet;
  readonly views: ShownViews;
  readonly discovery: Discovery;
  readonly store: Pick<GatewayStore, "namespaceUsage" | "spill" | "approvals">;
  readonly common: SharedState;
  /** Other nodes; undefined where the gateway is alone. */
  readonly elsewhere: Elsewhere | undefined;
  readonly recordCall: LogRequest | undefined;
  readonly audit: { readonly calls: PerformDeps["callAudit"]; readonly onCallDenied: PerformDeps["onDenied"] };
  readonly events: EventBus;
  readonly log: Log;
  readonly clock: Clock;
  /** Undefined while traces are off. */
  readonly traces: TraceSource | undefined;
}

/** The wing `engine`, connected: what calls need, and which namespaces are loaded for whom. */
export interface Engine {
  readonly routing: Routing;
  /** Carries out every intent, of any principal. */
  readonly performer: Performer;
  /** Calls that wait for a person's yes, and what was said yes to. */
  readonly approvals: ApprovalWiring["book"];
  /** What clients have read, as far as rules go by it. */
  readonly flowLabels: () => Promise<FlowLabels>;
  readonly followApprovals: ApprovalWiring["followPeople"];
  readonly namespaces: Namespaces;
  readonly subscriptions: Subscriptions;
  readonly logLevels: LogLevels;
  readonly sessionlessClients: SessionlessClients;
  /** Writes all pending changes. */
  stopNamespaces(): Promise<void>;
  /** What was cut off results and is kept. */
  readonly keptFigures: () => KeptFigures;
  /** Forgets what was cut off results, and removes its files. */
  stopResults(): Promise<void>;
}

/** A sealed state is valid for as long as a parked call would be kept. */
const stateLifetimeMs = 600_000;

/** Whether no other gateway has it; undefined where there are no others. */
function claimState(
  claims: ClaimStore | undefined,
  { id, ...when }: Pick<ClaimAsk, "untilMs" | "nowMs"> & { readonly id: string },
): Promise<boolean> | undefined {
  return claims?.claim({ kind: "state", ids: [id], ...when }).then((fresh) => fresh.length > 0);
}

/** Keeps the rest of results that are cut, for other nodes as well. */
function createKept({ config, store, clock, elsewhere }: EngineDeps): KeptResults {
  const keptResults = createKeptResults({
    files: store.spill(),
    clock,
    limits() {
      const { keepMs, keptMemoryBytes: memoryBytes, keptDiskBytes: diskBytes } = config().settings.results;
      return { keepMs, memoryBytes, diskBytes };
    },
    node: () => elsewhere?.node,
  });
  if (elsewhere !== undefined) shareKept({ keptResults, slices }, elsewhere);
  return keptResults;
}

/** Builds the wing `engine`. */
export function createEngine(deps: EngineDeps): Engine {
  const { fleet, events, log, clock, elsewhere } = deps;
  const { viewOf } = deps.views;
  const validators = createValidators({
    clock,
    onUnchecked: (hash, reason) => log.warn({ component: "validation", hash: hash.slice(0, 12) }, reason),
  });
  const namespaces = createNamespaces({ ...deps, validators, store: deps.store.namespaceUsage });
  const sessionlessClients = createSessionlessClients(clock);
  const routing = createRouting({
    instanceOf: fleet.get,
    viewOf,
    presenceOf: (context) => context.connected?.presence ?? sessionlessClients.of(context),
    clients: fleet.clients,
    validators,
    states: createSealedStates({
      ...{ lifetimeMs: stateLifetimeMs, now: clock.now, keys: () => deps.common.keyFor("states") },
      claim: (id, untilMs) => claimState(deps.common.claims, { id, untilMs, nowMs: clock.now() }),
    }),
    events,
    clock,
    limits: deps.config().settings.limits,
    traces: deps.traces,
  });
  const results = (): Config["settings"]["results"] => deps.config().settings.results;
  const keptResults = createKept(deps);
  const approvals = openApprovals({ ...deps, validators });
  const checks = createChecks(deps);
  const performer = createPerformer({
    routing,
    discovery: deps.discovery,
    loads: namespaces.loads,
    viewOf,
    asks: approvals.asks,
    profiles: deps.views.profiles,
    policy: () => deps.config().settings.policy,
    settled: fleet.settled,
    instanceOf: fleet.get,
    keptResults,
    elsewhere,
    slices,
    recordCall: deps.recordCall,
    callAudit: deps.audit.calls,
    approval: approvals.stage,
    checks: checks.current,
    onDenied: deps.audit.onCallDenied,
    resultBudget: createResultBudgetStage({
      settings: results,
      instanceOf: fleet.get,
      clientLimit: (name) => findClientProfile(deps.config().settings.clients, name)?.maxResultTokens,
      keptResults,
      slices,
      validators,
    }),
    events,
    clock,
    traces: deps.traces,
  });
  return {
    routing,
    performer,
    approvals: approvals.book,
    flowLabels: checks.labels,
    followApprovals: approvals.followPeople,
    namespaces,
    subscriptions: createSubscriptions(fleet.get, events),
    logLevels: createLogLevels(fleet.get, events),
    sessionlessClients,
    stopNamespaces: async () => await namespaces[Symbol.asyncDispose](),
    keptFigures: () => keptResults.figures,
    stopResults: async () => await keptResults[Symbol.asyncDispose](),
  };
}
