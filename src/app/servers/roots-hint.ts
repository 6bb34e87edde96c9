import { asksForRoots } from "../../config/entry/asks-for-roots.ts";
import type { ServerConfig } from "../../config/config.ts";
import type { EventBus } from "../../kernel/events/event-bus.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import type { Fleet } from "../../servers/instance/fleet/fleet.ts";

/** Says what to do about a server that asks for roots and is given none. Undefined where nothing has to be done. */
export type RootsHint = (server: ServerConfig) => string | undefined;

/**
 * Known servers are recognised by their package. An unknown one is noticed when it asks; a line in the log then says
 * so, once for each server.
 */
export function createRootsHint({
  fleet,
  events,
  log,
}: {
  readonly fleet: Pick<Fleet, "get">;
  readonly events: EventBus;
  readonly log: Log;
}): RootsHint {
  const asking = new Set<string>();
  const hint: RootsHint = (server) => {
    const isAnswered = server.scope === "client" || server.roots !== undefined;
    if (isAnswered || !(asking.has(server.slug) || asksForRoots(server.transport))) return undefined;
    return `asks clients for their folders (roots) and gets none, because clients share it: "scope": "client" gives each its own`;
  };
  events.on(["upstream.oddity"], ({ kind, instance, server: slug }) => {
    if (kind !== "roots-refused" || asking.has(slug)) return;
    asking.add(slug);
    const server = fleet.get(instance)?.server;
    const what = server === undefined ? undefined : hint(server);
    if (what !== undefined) log.warn({ component: "instance", server: slug, operation: "roots" }, `${slug} ${what}`);
  });
  return hint;
}
