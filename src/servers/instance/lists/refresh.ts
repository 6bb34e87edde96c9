import { digestOf, type InstanceCatalog } from "../../../catalog/model/snapshot.ts";
import {
  buildingCatalog,
  buildInstanceCatalog,
  type BuiltCatalog,
  type RawLists,
  type SkippedItem,
} from "../../../catalog/model/instance-catalog.ts";
import { slices } from "../../../kernel/runtime/slices.ts";
import { offersSkills } from "../../../catalog/model/skill-extension.ts";
import type { Connection } from "../../upstream/connection.ts";
import type { Oddities } from "../oddities.ts";
import { fetchLists } from "./lists.ts";
import type { InstanceDeps } from "../instance-deps.ts";
import type { Life } from "../instance-state.ts";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import type { JsonObject } from "../../../kernel/text/json-bytes.ts";

/** Fetches, checks and applies the lists of one instance, and keeps them on disk. */
export interface Refresher {
  /** Applies lists that were kept on disk. */
  adopt(lists: RawLists): void;
  /** Applies what was decided about definitions to the lists that are in force. */
  recall(): void;
  /**
   * Fetches all lists, applies them when they are complete, and resolves to the kinds that changed. Until then, and
   * when it fails, the old ones remain valid.
   */
  refresh(connection: Connection, signal: AbortSignal): Promise<readonly ListKind[]>;
  /** Monotonic ms of the last complete refresh. */
  readonly refreshedAtMs: number | undefined;
}

/** The kinds of lists that servers announce changes of; templates belong to resources. */
export type ListKind = "tools" | "resources" | "prompts";

type Deps = Pick<InstanceDeps, "catalog" | "events" | "log" | "clock" | "limits" | "keeper" | "definitions">;

/**
 * `life` tells the configuration that is valid now: names and descriptions of tools may change while the server runs.
 */
export function createRefresher(life: Pick<Life, "id" | "server" | "about" | "oddities">, deps: Deps): Refresher {
  const { id: instance } = life;
  let refreshedAtMs: number | undefined;
  const card = createLateCard(deps.clock);
  const report = createReport(life, deps);

  function putInForce({ catalog, skipped, mended }: BuiltCatalog): readonly ListKind[] {
    report.skipped(skipped);
    noteOddities(life.oddities, skipped, mended);
    return put(catalog);
  }

  /** With the tools held back whose definitions wait for a person, as they are judged at this moment. */
  function put(listed: InstanceCatalog): readonly ListKind[] {
    const catalog = deps.definitions.recall(life.server, listed);
    const held = catalog.tools.filter((tool) => tool.held !== undefined).map(({ upstreamName }) => upstreamName);
    life.oddities.replace("definitions.held", [...held, ...Object.keys(catalog.heldTexts ?? {})]);
    const before = deps.catalog.get(instance);
    const kinds = before === undefined ? (["tools", "resources", "prompts"] as const) : changedKinds(before, catalog);
    if (before === undefined || kinds.length > 0) {
      deps.catalog.put(catalog);
      deps.events.emit({ type: "catalog.changed", ...life.about(), kinds });
    }
    return kinds;
  }

  return {
    get refreshedAtMs() {
      return refreshedAtMs;
    },
    adopt(lists) {
      card.adopt(lists);
      putInForce(buildInstanceCatalog(life.server, instance, lists));
    },
    recall() {
      const now = deps.catalog.get(instance);
      if (now !== undefined) put(now);
    },
    async refresh(connection, signal) {
      const startedMs = deps.clock.monotonic();
      const { server } = life;
      const transport = server.transport.kind;
      const limits = {
        pages: deps.limits().listPages,
        items: deps.limits().listItems,
        timeoutMs: server.discoveryTimeoutMs,
      };
      const fetched = await fetchLists(connection, { transport, limits, onCut: report.cut }, signal);
      const lists = card.addTo(fetched, connection);
      const built = await build(life, lists, deps.definitions);
      // The instance may have been removed meanwhile; then nothing may be applied.
      signal.throwIfAborted();
      const kinds = putInForce(built);
      const { catalog } = built;
      refreshedAtMs = deps.clock.monotonic();
      const durationMs = Math.round(refreshedAtMs - startedMs);
      deps.log.debug(
        { component: "catalog", server: server.slug, operation: "discover", durationMs },
        `${server.slug}: ${catalog.tools.length} tools`,
      );
      deps.events.emit({
        type: "mcp.tools.discovered",
        ...life.about(),
        tools: catalog.tools.filter(({ held }) => held === undefined),
        resources: catalog.resources.length,
        prompts: catalog.prompts.length,
        durationMs,
        installationName: server.displayName,
      });
      await save(lists);
      card.readOnce(connection, signal, async (shown) => {
        const known = await build(life, shown, deps.definitions);
        if (signal.aborted) return;
        putInForce(known);
        await save(shown);
      });
      return kinds;
    },
  };

  async function save(lists: RawLists): Promise<void> {
    const { hash } = life.server;
    await deps.keeper.save(instance, { hash, savedAtMs: deps.clock.now(), lists });
  }
}

/** In turns, because a server may list ten thousand tools. */
async function build(
  life: Pick<Life, "id" | "server" | "about">,
  lists: RawLists,
  definitions: InstanceDeps["definitions"],
): Promise<BuiltCatalog> {
  for (;;) {
    const { server } = life;
    const built = await slices.run(buildingCatalog(server, life.id, lists));
    await definitions.review(server, life.about(), built.catalog);
    // Names and descriptions may have been changed meanwhile.
    if (life.server === server) return built;
  }
}

/** Each is a line of the log and an event, and more would go unread. */
const mostTold = 100;

/** Reports items left out of the lists to the log and to listeners. */
function createReport(life: Pick<Life, "server" | "about">, { log, events }: Pick<Deps, "log" | "events">) {
  function warn(operation: string, text: string): void {
    const { slug } = life.server;
    log.warn({ component: "catalog", server: slug, operation }, `${slug}: ${text}`);
  }

  const cut = (list: string, reason: string): void => warn(list, `${list} is cut: ${reason}`);
  return {
    cut,
    skipped(items: readonly SkippedItem[]): void {
      for (const { kind, name, reason } of items.slice(0, mostTold)) {
        warn("discover", `${kind} ${JSON.stringify(name)} is skipped: ${reason}`);
        events.emit({ type: "catalog.item_skipped", ...life.about(), kind, name, reason });
      }
      if (items.length > mostTold) cut("catalog", `${items.length - mostTold} more items are skipped`);
    },
  };
}

function noteOddities(oddities: Oddities, skipped: readonly SkippedItem[], mended: readonly SkippedItem[]): void {
  const told = (items: readonly SkippedItem[]): readonly string[] =>
    items.map(({ name, reason }) => `${name} (${reason})`);
  oddities.replace("items.skipped", told(skipped), true);
  for (const kind of ["tool", "resource", "template", "prompt"] as const)
    oddities.replace(`${kind}s.odd`, told(mended.filter((item) => item.kind === kind)));
}

/** Compares by content, so that a refresh with the same lists changes nothing for anybody. */
function changedKinds(before: InstanceCatalog, after: InstanceCatalog): readonly ListKind[] {
  const kinds: ListKind[] = [];
  if (!sameList(before.tools, after.tools, ({ hash, held = "" }) => `${hash}${held}`)) kinds.push("tools");
  const text = (entry: { readonly definition: object }): string => digestOf(entry.definition);
  // A skill's files are resources, and there is no notification for skills themselves (SEP-2640).
  if (
    !sameList(before.resources, after.resources, text) ||
    !sameList(before.templates, after.templates, text) ||
    !sameList(before.skills, after.skills, text) ||
    offersSkills(before) !== offersSkills(after)
  )
    kinds.push("resources");
  const isSameHeld = JSON.stringify(before.heldTexts) === JSON.stringify(after.heldTexts);
  if (!sameList(before.prompts, after.prompts, text) || !isSameHeld) kinds.push("prompts");
  // What a server says about itself belongs to its catalog too: instructions are searched, and the eras decide how it
  // is reached.
  if (
    kinds.length === 0 &&
    (before.instructions !== after.instructions ||
      before.serverTitle !== after.serverTitle ||
      digestOf(looksOf(before.serverInfo)) !== digestOf(looksOf(after.serverInfo)) ||
      before.eras.length !== after.eras.length)
  )
    kinds.push("tools");
  return kinds;
}

function sameList<T>(before: readonly T[], after: readonly T[], keyOf: (item: T) => string): boolean {
  return before.length === after.length && before.every((item, index) => keyOf(item) === keyOf(after[index] as T));
}

/** Long enough after a start that nothing waits for the server any more. */
const settleMs = 5_000;

type OnNews = (lists: RawLists) => Promise<void>;

/** Title and icons of a server that says nothing of them itself, from its card (SEP-2127). */
export interface LateCard {
  /** Takes over what was known when the lists were kept on disk, so that nothing changes until the card is read. */
  adopt(lists: RawLists): void;
  /** The same lists, with what the card says where `serverInfo` says nothing. */
  addTo(lists: RawLists, connection: Connection): RawLists;
  /**
   * Reads the card a while later, once for each instance and only where something is missing. `onNews` gets the lists
   * of then, if the card says something else than was known. Failures are silent: everything works without a card.
   */
  readOnce(connection: Connection, signal: AbortSignal, onNews: OnNews): void;
}

function createLateCard(clock: Pick<Clock, "after">): LateCard {
  let known: JsonObject = {};
  /** As they were fetched last, without what the card says. */
  let latest: RawLists | undefined;
  let state: "unread" | "planned" | "read" = "unread";

  const withCard = (lists: RawLists): RawLists => ({ ...lists, serverInfo: { ...known, ...lists.serverInfo } });

  async function read(connection: Connection, signal: AbortSignal, onNews: OnNews): Promise<void> {
    const said = signal.aborted ? undefined : await connection.readCard?.();
    state = said === undefined ? "unread" : "read";
    if (said === undefined || signal.aborted || JSON.stringify(said) === JSON.stringify(known)) return;
    known = said;
    if (latest !== undefined) await onNews(withCard(latest));
  }

  return {
    adopt(lists) {
      known = looksOf(lists.serverInfo);
    },
    addTo(lists, { readCard }) {
      latest = lists;
      return readCard === undefined ? lists : withCard(lists);
    },
    readOnce(connection, signal, onNews) {
      const { title, icons } = connection.peer.serverInfo;
      const isComplete = title !== undefined && icons !== undefined;
      if (connection.readCard === undefined || isComplete || state !== "unread") return;
      state = "planned";
      clock.after(settleMs, () => void read(connection, signal, onNews).catch(() => undefined));
    },
  };
}

/** What a server's `serverInfo` says of how the server is shown. */
function looksOf({ title, icons }: JsonObject): JsonObject {
  return { ...(title === undefined ? {} : { title }), ...(icons === undefined ? {} : { icons }) };
}
