import { createPastQueries } from "../search/past-queries.ts";
import type { Language } from "../search/language.ts";
import type { ToolEntry } from "../model/snapshot.ts";
import type { Clock } from "../../kernel/clock.ts";
import { isJsonObject, type JsonObject } from "../../kernel/json-bytes.ts";
import type { PrincipalId } from "../../kernel/ids.ts";

/** Per tool: past queries and words of each. What is asked for a tool repeats itself; older wording goes first. */
const queriesPerTool = 20;
const wordsPerQuery = 12;
/**
 * A query with more different words than this holds several needs: which of them led to which tool is anyone's guess.
 */
const longestLesson = 24;
/** Queries remembered in all, about 6 MB, and 1 ms of a search; those of the tools taught longest ago go first. */
const queryLimit = 20_000;
/** What was not confirmed for so long may be about another version of the tool. */
const memoryAgeMs = 180 * 86_400_000;
/** A call this long after the search is no longer its answer. */
const offerAgeMs = 30 * 60_000;
const offersPerPrincipal = 10;
const principalLimit = 1_000;

/**
 * What people searched before they called a tool. Teaches the ranking, is never shown. Words that led to a tool of a
 * user's own instance count for that user only; those of a shared instance for all who share it.
 */
export interface UseMemory {
  /** A search was answered with these tools. */
  offered(principal: PrincipalId, query: string, tools: readonly ToolEntry[]): void;
  /** A tool was called with success: if it was offered lately, the query of that offer is remembered for it. */
  executed(principal: PrincipalId, tool: ToolEntry): void;
  /** Places of tools to which queries like this one led this principal, or those who share the server; in no order. */
  recall(principal: PrincipalId, query: string, options: RecallOptions): readonly Recalled[];
  /** Whether what was recalled is about this tool, as this principal has it. */
  isAbout(recalled: Recalled, principal: PrincipalId, tool: ToolEntry): boolean;
}

export interface RecallOptions {
  /** Queries less like the one that is asked are not recalled. */
  readonly least: number;
  readonly rarityOf: (stem: string) => number;
}

export interface Recalled {
  readonly place: Place;
  readonly similarity: number;
}

/** A tool by name, and whose it is: `owner` is null where everyone shares the server. */
export interface Place {
  readonly owner: string | null;
  readonly server: string;
  readonly tool: string;
}

/** Where what was learned is kept. Satisfied by `store/`. */
export interface UseMemoryStore {
  /** What was saved last, unchecked; undefined when there is nothing. */
  load(): Promise<unknown>;
  /** Returns at once; keeps only the newest when called faster than it can write. */
  save(memory: unknown): void;
}

export interface UseMemoryDeps {
  readonly language: Pick<Language, "telling">;
  readonly store: UseMemoryStore;
  readonly clock: Pick<Clock, "now">;
  /** Whether everyone shares the instance of a tool. */
  readonly isShared: (tool: ToolEntry) => boolean;
}

interface Taught {
  readonly place: Place;
  readonly queries: readonly TaughtQuery[];
}

interface TaughtQuery {
  readonly place: Place;
  readonly stems: readonly string[];
  readonly atMs: number;
}

interface Offer {
  readonly stems: readonly string[];
  readonly tools: ReadonlySet<string>;
  readonly atMs: number;
}

/** Reads what was kept, and goes on from there. What cannot be read is forgotten. */
export async function createUseMemory(deps: UseMemoryDeps): Promise<UseMemory> {
  const taught = new Map<string, Taught>();
  const offers = new Map<PrincipalId, readonly Offer[]>();
  const past = createPastQueries<TaughtQuery>();
  let count = 0;
  const oldest = deps.clock.now() - memoryAgeMs;
  for (const entry of readTaught(await deps.store.load(), oldest)) remember(entry);

  const placeOf = (principal: PrincipalId, tool: ToolEntry): Place => ({
    owner: deps.isShared(tool) ? null : principal,
    server: tool.server,
    tool: tool.upstreamName,
  });

  function remember(entry: Taught): void {
    const key = keyOf(entry.place);
    forget(key);
    taught.set(key, entry);
    for (const query of entry.queries) past.add(query);
    count += entry.queries.length;
    for (const oldestKey of taught.keys()) {
      if (count <= queryLimit) break;
      forget(oldestKey);
    }
  }

  function forget(key: string): void {
    const queries = taught.get(key)?.queries ?? [];
    for (const query of queries) past.remove(query);
    count -= queries.length;
    taught.delete(key);
  }

  function teach(place: Place, stems: readonly string[]): void {
    const atMs = deps.clock.now();
    const said = stems.join(" ");
    const others = (taught.get(keyOf(place))?.queries ?? []).filter(
      (query) => query.stems.join(" ") !== said && query.atMs > atMs - memoryAgeMs,
    );
    remember({ place, queries: [...others, { place, stems, atMs }].slice(-queriesPerTool) });
    // Written out when the file is: lessons come faster.
    deps.store.save({ toJSON: () => ({ version: fileVersion, tools: [...taught.values()].map(toSaved) }) });
  }

  return {
    offered(principal, query, tools) {
      const stems = keepable(deps.language.telling(query));
      if (stems.length === 0 || stems.length > longestLesson || tools.length === 0) return;
      const offer = {
        stems,
        tools: new Set(tools.map((tool) => keyOf(placeOf(principal, tool)))),
        atMs: deps.clock.now(),
      };
      const earlier = offers.get(principal) ?? [];
      offers.delete(principal);
      offers.set(principal, [...earlier, offer].slice(-offersPerPrincipal));
      if (offers.size > principalLimit) offers.delete(offers.keys().next().value as PrincipalId);
    },
    executed(principal, tool) {
      const place = placeOf(principal, tool);
      const key = keyOf(place);
      const now = deps.clock.now();
      const offer = offers
        .get(principal)
        ?.findLast((candidate) => candidate.tools.has(key) && now - candidate.atMs < offerAgeMs);
      if (offer !== undefined) teach(place, offer.stems.slice(0, wordsPerQuery));
    },
    recall(principal, query, options) {
      if (count === 0) return [];
      return past
        .like(keepable(deps.language.telling(query)), {
          ...options,
          isWanted: ({ place }) => place.owner === null || place.owner === principal,
        })
        .map(({ query: { place }, similarity }) => ({ place, similarity }));
    },
    isAbout: ({ place }, principal, tool) => keyOf(place) === keyOf(placeOf(principal, tool)),
  };
}

/** Unambiguous: the owner's length is told, a server is a slug, and the tool comes last. */
function keyOf(place: Place): string {
  return `${place.owner?.length ?? ""}:${place.owner ?? ""}${place.server}\n${place.tool}`;
}

/**
 * Words only: a number, an identifier or a key that somebody searched for says nothing about the tool, and is not
 * ours to keep.
 */
function keepable(stems: readonly string[]): string[] {
  return [...new Set(stems.filter((stem) => /^\p{L}{2,24}$/u.test(stem)))];
}

/** What a file of another version holds is forgotten. */
const fileVersion = 2;

function toSaved({ place, queries }: Taught): JsonObject {
  return { ...place, queries: queries.map(({ stems, atMs }) => ({ stems, atMs })) };
}

function readTaught(saved: unknown, oldestMs: number): Taught[] {
  if (!isJsonObject(saved) || saved["version"] !== fileVersion || !Array.isArray(saved["tools"])) return [];
  return saved["tools"].map((entry) => readTool(entry, oldestMs)).filter((entry) => entry !== undefined);
}

function readTool(entry: unknown, oldestMs: number): Taught | undefined {
  if (!isJsonObject(entry)) return undefined;
  const { owner, server, tool, queries } = entry;
  if (
    (owner !== null && typeof owner !== "string") ||
    typeof server !== "string" ||
    typeof tool !== "string" ||
    !Array.isArray(queries)
  )
    return undefined;
  const place: Place = { owner, server, tool };
  const kept = queries
    .filter((query) => isSavedQuery(query))
    .filter((query) => query.atMs > oldestMs)
    .slice(-queriesPerTool);
  return kept.length === 0
    ? undefined
    : { place, queries: kept.map(({ stems, atMs }) => ({ place, stems: [...new Set(stems)], atMs })) };
}

function isSavedQuery(value: unknown): value is Omit<TaughtQuery, "place"> {
  if (!isJsonObject(value) || typeof value["atMs"] !== "number" || !Array.isArray(value["stems"])) return false;
  return value["stems"].length <= wordsPerQuery && value["stems"].every((stem) => typeof stem === "string");
}
