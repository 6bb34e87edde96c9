import type { Lesson } from "../search/learning/learned.ts";
import { createPastQueries, type PastQueries } from "../search/learning/past-queries.ts";
import type { Language } from "../search/language.ts";
import type { ToolEntry } from "../model/snapshot.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";
import type { PrincipalId } from "../../kernel/ids.ts";

/**
 * Past queries kept per tool, and words kept per query. Requests for a tool repeat themselves; the oldest wording is
 * dropped first.
 */
const queriesPerTool = 20;
const wordsPerQuery = 12;
/**
 * A query with more distinct words than this expresses several needs. Which of them led to which tool is unknown, and
 * so is which of its words are about the same.
 */
const longestLesson = 24;
/**
 * Queries kept in all: about 6 MB of memory, and 1 ms of each search. Those of the tools that were taught longest ago
 * are dropped first.
 */
const queryLimit = 20_000;
/** A lesson that was not confirmed for this long may be about another version of the tool. */
const memoryAgeMs = 180 * 86_400_000;
/** A call that comes later than this after a search is no longer attributed to it. */
const offerAgeMs = 30 * 60_000;
const offersPerClient = 10;
const clientLimit = 1_000;

/**
 * Remembers what people searched for before they called a tool. It influences the ranking and is never shown. Words
 * that led to a tool of a user's own instance count for that user only; those for a shared instance count for
 * everyone in the same team who shares it, and never for another team.
 */
export interface UseMemory {
  /** To be told of every search that was answered, with the tools in its answer. `client` is {@link askerOf} it. */
  offered(principal: PrincipalId, query: string, tools: readonly ToolEntry[], client?: string): void;
  /**
   * To be told of every successful call. If the tool was offered to the same client recently, the query of that offer
   * is remembered for it. What a person's other client calls meanwhile says nothing about the query.
   */
  executed(principal: PrincipalId, tool: ToolEntry, client?: string): void;
  /** Tools to which such queries led this principal, or others who share the server. In no particular order. */
  recall(principal: PrincipalId, query: string, options: RecallOptions): readonly Recalled[];
  /** Whether what was recalled is about this tool, as this principal has it. */
  isAbout(recalled: Recalled, principal: PrincipalId, tool: ToolEntry): boolean;
}

export interface RecallOptions {
  /** Queries less similar than this are not recalled. */
  readonly leastLikeness: number;
  /** Nor are words that speak less for a tool than this, as odds. */
  readonly leastOdds: number;
  readonly rarityOf: (stem: string) => number;
}

/** Each place once. */
export interface Recalled extends Lesson {
  readonly place: Place;
}

/** A tool by name and owner: a person, a team, or null where people without a team share the server. */
export interface Place {
  readonly owner: string | null;
  readonly server: string;
  readonly tool: string;
}

/** Where lessons are kept. Implemented in `store/`. */
export interface UseMemoryStore {
  /** What was saved last, unchecked; undefined when there is nothing. */
  load(): Promise<unknown>;
  /** Returns at once. When calls come faster than it can write, only the newest value is written. */
  save(memory: unknown): void;
}

export interface UseMemoryDeps {
  readonly language: Pick<Language, "telling">;
  readonly store: UseMemoryStore;
  readonly clock: Pick<Clock, "now">;
  /**
   * Who shares the instance of a tool with this person: a team, by a name that no person has; null for everybody, and
   * undefined where the person has an instance alone.
   */
  readonly sharedWith: (principal: PrincipalId, tool: ToolEntry) => string | null | undefined;
  /** The team of this person by that name; undefined for people without one. */
  readonly teamOf: (principal: PrincipalId) => string | undefined;
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

/** Loads what was kept and continues from there. What cannot be read is discarded. */
export async function createUseMemory(deps: UseMemoryDeps): Promise<UseMemory> {
  const taught = new Map<string, Taught>();
  /** By principal and client. */
  const offers = new Map<string, readonly Offer[]>();
  const past = createPastQueries<TaughtQuery>();
  const kept = createCounts();
  const oldest = deps.clock.now() - memoryAgeMs;
  for (const entry of readTaught(await deps.store.load(), oldest)) remember(entry);

  const placeOf = (principal: PrincipalId, tool: ToolEntry): Place => {
    const shared = deps.sharedWith(principal, tool);
    return { owner: shared === undefined ? principal : shared, server: tool.server, tool: tool.upstreamName };
  };

  function remember(entry: Taught): void {
    const key = keyOf(entry.place);
    forget(key);
    taught.set(key, entry);
    for (const query of entry.queries) past.add(query);
    kept.add(entry.place.owner, entry.queries.length);
    for (const oldestKey of taught.keys()) {
      if (kept.all <= queryLimit) break;
      forget(oldestKey);
    }
  }

  function forget(key: string): void {
    const known = taught.get(key);
    if (known === undefined) return;
    for (const query of known.queries) past.remove(query);
    kept.add(known.place.owner, -known.queries.length);
    taught.delete(key);
  }

  function teach(where: Place, stems: readonly string[]): void {
    remember(withLesson(taught.get(keyOf(where)), where, stems, deps.clock.now()));
    // Serialized only when the file is written, because lessons arrive faster than that.
    deps.store.save({ toJSON: () => ({ version: fileVersion, tools: [...taught.values()].map(toSaved) }) });
  }

  return {
    offered(principal, query, tools, client = "") {
      const stems = keepable(deps.language.telling(query));
      if (stems.length === 0 || stems.length > longestLesson || tools.length === 0) return;
      const offer = {
        stems,
        tools: new Set(tools.map((tool) => keyOf(placeOf(principal, tool)))),
        atMs: deps.clock.now(),
      };
      const asker = `${principal}\n${client}`;
      const earlier = offers.get(asker) ?? [];
      offers.delete(asker);
      offers.set(asker, [...earlier, offer].slice(-offersPerClient));
      if (offers.size > clientLimit) offers.delete(offers.keys().next().value as string);
    },
    executed(principal, tool, client = "") {
      const place = placeOf(principal, tool);
      const key = keyOf(place);
      const now = deps.clock.now();
      const offer = offers
        .get(`${principal}\n${client}`)
        ?.findLast((candidate) => candidate.tools.has(key) && now - candidate.atMs < offerAgeMs);
      if (offer !== undefined) teach(place, offer.stems.slice(0, wordsPerQuery));
    },
    recall(principal, query, options) {
      if (kept.all === 0) return [];
      // What somebody without a team, or of another one, asked for is nothing that this one may see the effect of.
      const common = deps.teamOf(principal) ?? null;
      return lessonsOf(past, keepable(deps.language.telling(query)), {
        ...options,
        all: kept.of(common) + kept.of(principal),
        isWanted: ({ owner }) => owner === common || owner === principal,
      });
    },
    isAbout({ place }, principal, tool) {
      const { owner, server, tool: name } = placeOf(principal, tool);
      return place.owner === owner && place.server === server && place.tool === name;
    },
  };
}

function withLesson(known: Taught | undefined, where: Place, stems: readonly string[], atMs: number): Taught {
  const said = stems.join(" ");
  // One object for each place: where it is in an index is looked up once.
  const place = known?.place ?? where;
  const others = (known?.queries ?? []).filter(
    (query) => query.stems.join(" ") !== said && query.atMs > atMs - memoryAgeMs,
  );
  return { place, queries: [...others, { place, stems, atMs }].slice(-queriesPerTool) };
}

/** How many queries are kept, by owner. */
interface Counts {
  readonly all: number;
  of(owner: string | null): number;
  add(owner: string | null, more: number): void;
}

function createCounts(): Counts {
  const byOwner = new Map<string | null, number>();
  let all = 0;
  return {
    get all() {
      return all;
    },
    of: (owner) => byOwner.get(owner) ?? 0,
    add(owner, more) {
      all += more;
      const now = (byOwner.get(owner) ?? 0) + more;
      if (now > 0) byOwner.set(owner, now);
      else byOwner.delete(owner);
    },
  };
}

interface LessonOptions extends RecallOptions {
  /** How many queries `isWanted` holds for. */
  readonly all: number;
  readonly isWanted: (place: Place) => boolean;
}

function lessonsOf(
  past: PastQueries<TaughtQuery>,
  stems: readonly string[],
  { all, leastLikeness, leastOdds, rarityOf, isWanted }: LessonOptions,
): Recalled[] {
  const found = new Map<Place, Recalled>();
  if (stems.length <= longestLesson)
    for (const { place, odds } of past.leaning(stems, { all, least: leastOdds, isWanted }))
      found.set(place, { place, likeness: 0, odds });
  const alike = past.like(stems, { least: leastLikeness, rarityOf, isWanted: ({ place }) => isWanted(place) });
  for (const { query, similarity } of alike) {
    const { place } = query;
    const { likeness, odds } = found.get(place) ?? { likeness: 0, odds: 0 };
    if (similarity > likeness) found.set(place, { place, likeness: similarity, odds });
  }
  return [...found.values()];
}

/**
 * Unambiguous, because the owner's length is given, a server is a slug without separators, and the tool comes last.
 */
function keyOf(place: Place): string {
  return `${place.owner?.length ?? ""}:${place.owner ?? ""}${place.server}\n${place.tool}`;
}

/**
 * Keeps words only. A number, an identifier or a key that somebody searched for says nothing about the tool, and must
 * not be stored.
 */
function keepable(stems: readonly string[]): string[] {
  return [...new Set(stems.filter((stem) => /^\p{L}{2,24}$/u.test(stem)))];
}

/** The contents of a file of any other version are discarded. */
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
