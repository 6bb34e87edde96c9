import { toListedTool } from "../catalog/exposure/native.ts";
import { estimateTokens } from "../catalog/exposure/token-estimate.ts";
import type { ToolEntry } from "../catalog/model/snapshot.ts";
import type { View } from "../catalog/model/view.ts";
import type { Config } from "../config/config.ts";
import type { Clock } from "../kernel/clock.ts";
import type { PrincipalId } from "../kernel/ids.ts";
import type { Principal } from "../kernel/principal.ts";
import type { Directory } from "../people/directory/directory.ts";
import { createRecordHistory, type RecordHistory } from "../records/record-history.ts";
import { createStatusReader, type StatusReader } from "../records/gateway-status.ts";
import { readStoreStanding } from "../records/store-standing.ts";
import type { Wings } from "./gateway-wings.ts";

/** What people and programs ask of a gateway: how it is, and what happened. */
export interface Standing {
  readonly status: StatusReader;
  readonly history: RecordHistory;
}

export interface StandingDeps extends Pick<Wings, "events" | "late" | "records" | "redaction" | "servers" | "viewOf"> {
  readonly version: string;
  readonly clock: Clock;
  readonly config: () => Config;
  readonly directory: Pick<Directory, "byId">;
}

export function createStanding(deps: StandingDeps): Standing {
  const { version, clock, config, records, directory, viewOf } = deps;
  const { fleet } = deps.servers;
  const addresses = new Set<string>();
  deps.events.on(["gateway.listening"], ({ address }) => addresses.add(address));

  function viewFor(owner: PrincipalId | null, asking: Principal): View {
    return viewOf(owner === null || owner === asking.id ? asking : (directory.byId(owner) ?? asking));
  }

  /** Shared ones, own ones, and those of the own clients. */
  function idsOf(principal: string): readonly string[] {
    return fleet
      .all()
      .filter(({ owner }) => owner === null || owner === principal)
      .map(({ id }) => id);
  }

  return {
    status: createStatusReader({
      version,
      clock,
      configFile: () => config().file,
      addresses: () => [...addresses],
      restart: () => deps.late.problem,
      store: () => readStoreStanding(records),
      allInstances: fleet.all,
      instancesOf: (principal) => fleet.of(principal),
      viewFor,
      costs: createCosts(),
      usage: async (query) => (await records.store()?.usage(query)) ?? [],
      redact: deps.redaction.text,
    }),
    history: createRecordHistory({
      source: records,
      instancesOf: idsOf,
      isInstance: (id) => fleet.all().some((instance) => instance.id === id),
    }),
  };
}

/** Tools stay the same objects while nothing about them changes, so that each is written out once. */
function createCosts() {
  const known = new WeakMap<ToolEntry, number>();
  return (view: View) =>
    view.servers.map((server) => {
      let tokens = 0;
      for (const tool of server.tools) {
        let cost = known.get(tool);
        if (cost === undefined) {
          cost = estimateTokens(toListedTool(tool.definition, view.names.flatName(tool), server));
          known.set(tool, cost);
        }
        tokens += cost;
      }
      return { server: server.slug, tools: server.tools.length, tokens };
    });
}
