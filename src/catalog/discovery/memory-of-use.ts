import type { Language } from "../search/language.ts";
import type { ToolEntry } from "../model/snapshot.ts";
import type { Clock } from "../../kernel/clock.ts";
import { isJsonObject } from "../../kernel/json-bytes.ts";
import type { PrincipalId } from "../../kernel/ids.ts";

/** Per tool: past queries and words of each. More would let one busy tool drown the others. */
const queriesPerTool = 20;
const wordsPerQuery = 12;
/** A query with more different words than this holds several needs: which of them led to which tool is anyone's guess. */
const longestLesson = 24;
/** Tools that anything is remembered of; those taught longest ago go first. */
const toolLimit = 5_000;
/** What was not confirmed for so long may be about another version of the tool. */
const memoryAgeMs = 180 * 86_400_000;
/** A call this long after the search is no longer its answer. */
const offerAgeMs = 30 * 60_000;
const offersPerPrincipal = 10;
const principalLimit = 1_000;

/**
 * What people searched before they called a tool. Teaches the ranking, is never shown. Words that led to a tool of a user's own
 * instance count for that user only; those of a shared instance for all who share it.
 */
export interface UseMemory {
  /** Grows with everything learned. */
  readonly version: number;
  /** A search was answered with these tools. */
  offered(principal: PrincipalId, query: string, tools: readonly ToolEntry[]): void;
  /** A tool was called with success: if it was offered lately, the query of that offer is remembered for it. */
  executed(principal: PrincipalId, tool: ToolEntry): void;
  /** The stems of all queries that led this principal, or those who share the server, to the tool. */
  stemsOf(principal: PrincipalId, tool: ToolEntry): readonly string[] | undefined;
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
  readonly owner: string | null;
  readonly server: string;
  readonly tool: string;
  readonly queries: readonly TaughtQuery[];
}

interface TaughtQuery {
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
  let version = 0;
  const oldest = deps.clock.now() - memoryAgeMs;
  for (const entry of readTaught(await deps.store.load(), oldest)) taught.set(keyOf(entry), entry);

  const placeOf = (principal: PrincipalId, tool: ToolEntry): Omit<Taught, "queries"> => ({
    owner: deps.isShared(tool) ? null : principal,
    server: tool.server,
    tool: tool.upstreamName,
  });

  function teach(place: Omit<Taught, "queries">, stems: readonly string[]): void {
    const key = keyOf(place);
    const atMs = deps.clock.now();
    const said = stems.join(" ");
    const others = (taught.get(key)?.queries ?? []).filter(
      (query) => query.stems.join(" ") !== said && query.atMs > atMs - memoryAgeMs,
    );
    taught.delete(key);
    taught.set(key, { ...place, queries: [...others, { stems, atMs }].slice(-queriesPerTool) });
    if (taught.size > toolLimit) taught.delete(taught.keys().next().value as string);
    version += 1;
    deps.store.save({ version: 1, tools: [...taught.values()] });
  }

  return {
    get version() {
      return version;
    },
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
    stemsOf(principal, tool) {
      if (taught.size === 0) return undefined;
      return taught.get(keyOf(placeOf(principal, tool)))?.queries.flatMap((query) => query.stems);
    },
  };
}

/** Unambiguous: the owner's length is told, a server is a slug, and the tool comes last. */
function keyOf(place: Omit<Taught, "queries">): string {
  return `${place.owner?.length ?? ""}:${place.owner ?? ""}${place.server}\n${place.tool}`;
}

/** Words only: a number, an identifier or a key that somebody searched for says nothing about the tool, and is not ours to keep. */
function keepable(stems: readonly string[]): string[] {
  return [...new Set(stems.filter((stem) => /^\p{L}{2,24}$/u.test(stem)))];
}

function readTaught(saved: unknown, oldestMs: number): Taught[] {
  if (!isJsonObject(saved) || !Array.isArray(saved["tools"])) return [];
  return saved["tools"]
    .map((entry) => readTool(entry, oldestMs))
    .filter((entry) => entry !== undefined)
    .slice(-toolLimit);
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
  const kept = queries.filter((query) => isTaughtQuery(query)).filter((query) => query.atMs > oldestMs);
  return kept.length === 0 ? undefined : { owner, server, tool, queries: kept.slice(-queriesPerTool) };
}

function isTaughtQuery(value: unknown): value is TaughtQuery {
  if (!isJsonObject(value) || typeof value["atMs"] !== "number" || !Array.isArray(value["stems"])) return false;
  return value["stems"].length <= wordsPerQuery && value["stems"].every((stem) => typeof stem === "string");
}
