import { createDefinitionBook, type DefinitionBook } from "../../catalog/definitions/definition-book.ts";
import { definitionOwner } from "../../catalog/definitions/definition-origin.ts";
import type { Config } from "../../config/config.ts";
import type { EventBus } from "../../kernel/events/event-bus.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { openOnce, type LateModules } from "../../kernel/runtime/late-module.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import type { Fleet } from "../../servers/instance/fleet/fleet.ts";
import type { DefinitionDesk } from "../../operations/services.ts";
import type { GatewayStore } from "../../store/store.ts";

export interface DefinitionWiringDeps {
  readonly config: () => Config;
  readonly store: Pick<GatewayStore, "definitions">;
  readonly events: EventBus;
  readonly late: LateModules;
  readonly log: Log;
  readonly clock: Clock;
}

/** What servers' definitions were. The code that judges them is loaded when a new one is listed. */
export function createDefinitions({ config, store, events, late, log, clock }: DefinitionWiringDeps): DefinitionBook {
  const pageAt = createPages(config, events);
  const load = async () => await import("../../catalog/definitions/definition-judge.ts");
  return createDefinitionBook({
    store: store.definitions,
    clock,
    settings() {
      const { team, definitions } = config().settings;
      return { ...definitions, changes: definitions.changes ?? (team ? "hold" : "check") };
    },
    judge: openOnce(async () => (await late.load("the code that looks at definitions", load)).definitionJudge),
    onNews(about, { what, tools, reasons }) {
      const page = what === "held" ? pageAt(`servers/${about.server}`) : undefined;
      const by = { by: "gateway", through: "gateway" };
      events.emit({ type: `definition.${what}`, ...about, ...by, tools, reasons, page });
    },
    onUnwritten: (error) =>
      log.warn({ component: "catalog", operation: "definitions", err: error }, "definitions cannot be kept"),
  });
}

/** Addresses of pages of the dashboard, for messages; undefined where the gateway has none that people can open. */
export function createPages(config: () => Config, events: EventBus): (path: string) => string | undefined {
  let address: string | undefined;
  events.on(["gateway.listening"], (event) => void (address ??= event.address));
  return (path) => {
    const base = config().settings.publicUrl ?? address;
    return base?.startsWith("http") === true ? `${base.replace(/\/$/, "")}/ui/${path}` : undefined;
  };
}

/** What people decide about definitions. */
export function createDefinitionDesk(
  book: DefinitionBook,
  { fleet, events }: { readonly fleet: Pick<Fleet, "all">; readonly events: EventBus },
): DefinitionDesk {
  return {
    pinOf: book.pinOf,
    textsOf: book.textsOf,
    async decide(instance, chosen, { state, by, via }) {
      const owner = definitionOwner(instance.server);
      await book.decide(instance.server, chosen, { state, by });
      for (const one of fleet.all()) if (definitionOwner(one.server) === owner) one.recall();
      const tools = chosen.slice(0, mostTold).map(({ tool }) => tool);
      const verdict = state === "taken" ? "approve" : "block";
      events.emit({ type: "definition.decided", ...instance.about(), tools, verdict, by, through: via });
    },
  };
}

/** Each is read by a person. */
const mostTold = 20;
