import type { View } from "../../catalog/model/view.ts";
import type { Config } from "../../config/config.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { PrincipalId } from "../../kernel/ids.ts";
import type { Principal } from "../../kernel/principal.ts";
import { createRecordHistory, type RecordHistory } from "../../records/calls/record-history.ts";
import { createStatusReader, type StatusReader } from "../../records/gateway-status.ts";
import { readStoreStanding } from "../../records/store-standing.ts";
import type { Instance } from "../../servers/instance/instance.ts";
import type { Wings } from "../gateway-wings.ts";

/** What people and programs ask of a gateway: how it is, and what happened. */
export interface Standing {
  readonly status: StatusReader;
  readonly history: RecordHistory;
}

export interface StandingDeps extends Pick<
  Wings,
  "events" | "late" | "people" | "records" | "redaction" | "servers" | "usage" | "viewOf"
> {
  readonly version: string;
  readonly clock: Clock;
  readonly config: () => Config;
}

export function createStanding(deps: StandingDeps): Standing {
  const { version, clock, config, records, viewOf, usage } = deps;
  const { directory, unready } = deps.people;
  const { fleet } = deps.servers;
  const addresses = new Set<string>();
  deps.events.on(["gateway.listening"], ({ address }) => addresses.add(address));
  let configProblem: string | undefined;
  deps.events.on(["config.refused"], ({ reason }) => (configProblem = deps.redaction.said(reason)));
  deps.events.on(["config.mended"], () => (configProblem = undefined));

  function viewFor(owner: PrincipalId | null, asking: Principal): View {
    return viewOf(owner === null || owner === asking.id ? asking : (directory.byId(owner) ?? asking));
  }

  /** Own ones, those of the own clients, and those that are shared: with everybody, or with the person's team. */
  function idsOf(principal: string): readonly string[] {
    const team = directory.byId(principal as PrincipalId)?.team;
    const isShared = ({ owner, server: { installed } }: Instance): boolean =>
      owner === null && (installed === undefined || installed.team === team);
    return fleet
      .all()
      .filter((instance) => instance.owner === principal || isShared(instance))
      .map(({ id }) => id);
  }

  return {
    status: createStatusReader({
      version,
      clock,
      configFile: () => config().file,
      configProblem: () => configProblem,
      addresses: () => [...addresses],
      restart: () => deps.late.problem,
      unready: () => unready() ?? deps.servers.cluster?.unready,
      store: () => readStoreStanding(records),
      allInstances: fleet.all,
      instancesOf: (principal) => fleet.of(principal),
      nodeOf: (instance) => deps.servers.cluster?.nodeOf(instance) ?? null,
      viewFor,
      costs: usage.costs,
      usage: usage.usage,
      redact: deps.redaction.said,
    }),
    history: createRecordHistory({
      source: records,
      instancesOf: idsOf,
      isInstance: (id) => fleet.all().some((instance) => instance.id === id),
    }),
  };
}
