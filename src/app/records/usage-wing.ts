import type { Discovery } from "../../catalog/discovery/discovery.ts";
import { flatExposure } from "../../catalog/exposure/meta/flat.ts";
import type { Pins } from "../../catalog/discovery/pins.ts";
import { type Exposure, type PinnedTools } from "../../catalog/exposure/exposure.ts";
import { pinTools } from "../../catalog/exposure/pinned-tools.ts";
import type { LazyNames } from "../../catalog/model/names/lazy-names.ts";
import type { ToolEntry } from "../../catalog/model/snapshot.ts";
import type { View, ViewServer } from "../../catalog/model/view.ts";
import type { ExposureName } from "../../config/rows/exposures.ts";
import { untilAborted } from "../../kernel/runtime/abort.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import type { Principal } from "../../kernel/principal.ts";
import { createFindingHistory } from "../../records/usage/finding-history.ts";
import { createFinding, type Finding, type FindingMeter } from "../../records/usage/finding.ts";
import { createListCosts, type ListCosts, type TokenSum } from "../../records/usage/list-costs.ts";
import { createTokenCounts } from "../../records/usage/token-counts.ts";
import {
  readPhraseReport,
  type PhraseReport,
  readTokenReport,
  type TokenReport,
} from "../../records/usage/token-report.ts";
import type { Fleet } from "../../servers/instance/fleet/fleet.ts";
import { createUsage, type Usage, type UsageDeps } from "../../records/usage/usage-log.ts";
import type { RecordStore } from "../../store/record-store.ts";
import type { GatewayStore } from "../../store/store.ts";
import type { EndpointOf } from "../../front/mcp/endpoint/endpoint.ts";

/** What calls and definitions cost, as the page, REST and commands tell it. */
export interface UsageWing {
  readonly usage: Pick<Usage, "read" | "minutes" | "startedMs">;
  /** What finding tools saves and costs. */
  readonly finding: Pick<Finding, "sessions" | "today">;
  /** Told by MCP what clients list and find. */
  readonly meter: FindingMeter;
  readonly costs: ListCosts;
  tokens(ask: TokensAsk): Promise<TokenReport>;
  /** What each tool's definition costs in a flat list. */
  toolTokens(view: View): Promise<(server: ViewServer, tool: ToolEntry) => TokenSum>;
  /** What the list of `/mcp` and its instructions cost the view's principal, with what that person pinned. */
  here(view: View): Promise<TokenSum>;
  /** Counts that list and the flat one exactly, for as long as that may take; the rest is counted after it. */
  count(view: View, waitMs: number): Promise<void>;
  /** The same at another path, and what that shows. */
  listAt(path: string, view: View): Promise<TokenSum & { readonly exposure: string }>;
  /** Writes the counts of calls and of finding that are not written yet: before the store is closed. */
  stop(): Promise<void>;
}

export interface TokensAsk {
  readonly principal: Principal;
  /** Undefined for that of `/mcp`. */
  readonly exposure: ExposureName | undefined;
  /** Whose sessions and spending; undefined for everybody's. */
  readonly of: string | undefined;
  /** How long to wait for definitions that are not counted yet. They are counted in any case. */
  readonly waitMs: number;
}

export interface UsageWingDeps {
  readonly usage: Usage;
  readonly clock: Clock;
  readonly kept: Pick<GatewayStore, "tokenCounts">;
  /** Undefined until it is opened, and where nothing is recorded. */
  readonly store: () => RecordStore | undefined;
  /** See `Records`. */
  readonly onRest: (listener: () => void) => void;
  readonly viewOf: (principal: Principal) => View;
  readonly namesInTurns: LazyNames;
  readonly endpointOf: EndpointOf;
  readonly pins: Pick<Pins, "of">;
  readonly discovery: Pick<Discovery, "enrichment" | "phraseSource">;
  readonly fleet: Pick<Fleet, "get">;
}

/** Counts calls, by the installation that they were made in. */
export function createCallUsage({ fleet, ...deps }: Omit<UsageDeps, "installationOf"> & Pick<UsageWingDeps, "fleet">) {
  return createUsage({ ...deps, installationOf: (id) => fleet.get(id as InstanceId)?.about().installation ?? id });
}

/** Builds what counts tokens. No worker is started before definitions have to be counted. */
export function createUsageWing(deps: UsageWingDeps): UsageWing {
  const { usage, clock, kept, store, viewOf } = deps;
  const counts = createTokenCounts({ store: kept.tokenCounts, clock });
  const costs = createListCosts(counts, deps.namesInTurns);
  const finding = createFinding({ clock, costs });
  const history = createFindingHistory({ finding, clock, store });
  // Otherwise the next minute would wake the store for a few sums.
  deps.onRest(() => {
    usage.write();
    history.write();
  });
  const count = async (view: View, { exposure, pinned }: ShownList, waitMs: number): Promise<void> => {
    const counted = costs.count(view, exposure, { pinned });
    if (waitMs > 0) await untilAborted(counted, AbortSignal.timeout(waitMs)).catch(() => undefined);
  };
  async function costAt(path: string, view: View) {
    const { exposure, pinned } = await listAt(path, view, deps);
    return { exposure: exposure.name, ...costs.of(view, exposure, { pinned }) };
  }
  const phrases = async (view: View): Promise<PhraseReport> => await phrasesOf(view, deps);
  return {
    usage,
    meter: finding,
    finding,
    costs,
    async tokens({ principal, exposure: name, of, waitMs }) {
      const view = viewOf(principal);
      const { exposure, pinned } = await listAt(name === undefined ? "/mcp" : `/mcp/${name}`, view, deps);
      await count(view, { exposure, pinned }, waitMs);
      return await readTokenReport({ costs, finding: history, phrases }, { view, exposure, pinned, principal: of });
    },
    async toolTokens(view) {
      await costs.prepare(view);
      return (server, tool) => costs.tool(view, server, tool);
    },
    async count(view, waitMs) {
      await count(view, await listAt("/mcp", view, deps), waitMs);
    },
    here: async (view) => await costAt("/mcp", view),
    async listAt(path, view) {
      await costs.prepare(view);
      return await costAt(path, view);
    },
    async stop() {
      usage[Symbol.dispose]();
      history[Symbol.dispose]();
      finding[Symbol.dispose]();
      await counts[Symbol.asyncDispose]();
    },
  };
}

interface ShownList {
  readonly exposure: Exposure;
  readonly pinned?: PinnedTools | undefined;
}

async function listAt(path: string, view: View, { endpointOf, pins }: UsageWingDeps): Promise<ShownList> {
  const exposure = endpointOf(path)?.exposure ?? flatExposure;
  if (exposure.hasPins !== true) return { exposure };
  const { paths } = await pins.of(view.principal);
  return { exposure, pinned: pinTools(view, paths, undefined) };
}

async function phrasesOf(view: View, { discovery, fleet }: UsageWingDeps): Promise<PhraseReport> {
  const sourceOf = await discovery.phraseSource();
  return readPhraseReport(view, {
    sourceOf,
    isConfigured: ({ instance }, { upstreamName }) =>
      Object.hasOwn(fleet.get(instance)?.server.tools.phrases ?? {}, upstreamName),
    enrichment: discovery.enrichment(),
  });
}
