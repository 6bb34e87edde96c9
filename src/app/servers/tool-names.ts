import type { InstanceCatalog } from "../../catalog/model/snapshot.ts";
import type { ToolRules } from "../../config/config.ts";
import type { EventBus } from "../../kernel/events/event-bus.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import type { Fleet } from "../../servers/instance/fleet/fleet.ts";
import { matchesPattern } from "../../config/words/slug.ts";
import type { InstanceId } from "../../kernel/ids.ts";

export interface ToolNamesDeps {
  readonly fleet: Pick<Fleet, "all" | "get">;
  readonly catalogOf: (instance: InstanceId) => InstanceCatalog | undefined;
  readonly events: EventBus;
  readonly log: Log;
}

/**
 * Names that have been reported. A configuration has a few hundred rules; one that is edited for weeks must not be
 * remembered for ever.
 */
const mostTold = 1_000;

/**
 * Warns of names under a server's `tools` that none of its tools has: a typing mistake would hide or show the wrong
 * ones. Each name is reported once.
 */
export function warnOfToolNames({ fleet, catalogOf, events, log }: ToolNamesDeps): void {
  const told = new Set<string>();

  function look(id: InstanceId): void {
    const server = fleet.get(id)?.server;
    const part = catalogOf(id);
    if (server === undefined || part === undefined) return;
    const names = part.tools.map((tool) => tool.upstreamName);
    for (const { field, written, means } of writtenNames(server.tools)) {
      const place = `${server.slug}: tools.${field}: ${JSON.stringify(written)}`;
      if (told.has(place) || names.some(means)) continue;
      if (told.size >= mostTold) told.clear();
      told.add(place);
      log.warn(
        { component: "config", server: server.slug },
        `${place} is the name of none of its ${names.length} tools`,
      );
    }
  }

  events.on(["catalog.changed"], ({ instance, kinds }) => {
    if (kinds.includes("tools")) look(instance);
  });
  events.on(["config.changed"], () => {
    for (const { id } of fleet.all()) look(id);
  });
}

interface WrittenName {
  readonly field: keyof ToolRules;
  readonly written: string;
  readonly means: (name: string) => boolean;
}

/** Patterns under `allow` and `deny`, complete names under `rename` and `describe`. */
function writtenNames({ allow = [], within = [], deny, rename, describe }: ToolRules): readonly WrittenName[] {
  const pattern = (field: keyof ToolRules) => (written: string) => ({
    field,
    written,
    means: (name: string) => matchesPattern(written, name),
  });
  const whole = (field: keyof ToolRules) => (written: string) => ({
    field,
    written,
    means: (name: string) => name === written,
  });
  return [
    ...[...allow, ...within.flat()].map(pattern("allow")),
    ...deny.map(pattern("deny")),
    ...Object.keys(rename).map(whole("rename")),
    ...Object.keys(describe).map(whole("describe")),
  ];
}
