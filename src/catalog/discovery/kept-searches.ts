import type { Clock } from "../../kernel/runtime/clock.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { type PrincipalId, randomId } from "../../kernel/ids.ts";

/** A question that somebody keeps as a test, with the tool that it should find. */
export interface KeptSearch {
  readonly id: string;
  /** Who kept it, and sees it. */
  readonly person: PrincipalId;
  readonly query: string;
  /** The path of the tool that should be found. It need not exist any more. */
  readonly tool: string;
  /** The tool's place when it was kept, from 1; null where it was not among the first 50. */
  readonly rank: number | null;
  readonly keptAtMs: number;
}

/** Where searches of people who are not in the database outlive the process: all of them as one. */
export interface KeptSearchStore {
  /** What can be read; nothing where the file is damaged. */
  read(): readonly KeptSearch[];
  /** Replaces all of them. Rejects when they cannot be written. */
  write(searches: readonly KeptSearch[]): Promise<void>;
}

/** `gone`: there is no such member any more. */
export type KeepOutcome = "kept" | "full" | "gone";

/** Where those of members of teams are, who may come to several gateways: row by row. */
export interface MemberSearchStore {
  of(person: PrincipalId): Promise<readonly KeptSearch[]>;
  /** Resolves with the search as it is kept, if it is. */
  keep(search: KeptSearch, most: number): Promise<{ readonly search: KeptSearch; readonly outcome: KeepOutcome }>;
  remove(person: PrincipalId, id: string): Promise<boolean>;
}

/** Searches that people keep as tests, each person their own. */
export interface KeptSearches {
  /** In the order in which they were kept. */
  of(person: PrincipalId): Promise<readonly KeptSearch[]>;
  /**
   * Resolves when it is written. The same question for the same tool replaces the one before, with its place of now.
   * Rejects with KEPT_SEARCH_LIMIT, with UNAUTHORIZED where the person has left meanwhile, and with STORE_FULL or
   * whatever else writing fails with; then nothing is kept.
   */
  keep(given: Omit<KeptSearch, "id" | "keptAtMs">): Promise<KeptSearch>;
  /** Resolves to whether the person had one with this id. */
  remove(person: PrincipalId, id: string): Promise<boolean>;
}

export interface KeptSearchesDeps {
  readonly store: KeptSearchStore;
  readonly clock: Pick<Clock, "now">;
}

/** Running all of them again takes a search for each: a tenth of a second in a large catalog. */
const mostOfOne = 100;
/** The file is replaced as a whole at each change: characters of questions and tools, of which usual ones have 70. */
const mostCharacters = 1_000_000;

export function createKeptSearches({ store, clock }: KeptSearchesDeps): KeptSearches {
  let kept = store.read();
  let writing: Promise<unknown> = Promise.resolve();

  /** One change after the other, each from what the one before has written: what could not be written is not kept. */
  async function change(plan: (now: readonly KeptSearch[]) => readonly KeptSearch[]): Promise<void> {
    const next = writing.then(async () => {
      const planned = plan(kept);
      if (planned === kept) return;
      await store.write(planned);
      kept = planned;
    });
    writing = next.catch(() => undefined);
    await next;
  }

  return {
    of: async (person) => kept.filter((search) => search.person === person),
    async keep(given) {
      const made = make(given, clock);
      await change((now) => withRoom(now, given.person, made));
      return made;
    },
    async remove(person, id) {
      let wasThere = false;
      await change((now) => {
        const rest = now.filter((search) => search.person !== person || search.id !== id);
        wasThere = rest.length < now.length;
        return wasThere ? rest : now;
      });
      return wasThere;
    },
  };
}

/** Those of members of teams, who may leave while one is being kept: no row of theirs stays. */
export function createMemberSearches(store: MemberSearchStore, clock: KeptSearchesDeps["clock"]): KeptSearches {
  return {
    of: async (person) => await store.of(person),
    async keep(given) {
      const { search, outcome } = await store.keep(make(given, clock), mostOfOne);
      if (outcome === "full") throw tooMany(mostOfOne);
      if (outcome === "gone") throw new GatewayError("UNAUTHORIZED", "whoever kept it has left the team");
      return search;
    },
    remove: async (person, id) => await store.remove(person, id),
  };
}

function make(given: Omit<KeptSearch, "id" | "keptAtMs">, clock: KeptSearchesDeps["clock"]): KeptSearch {
  return { ...given, id: randomId(""), keptAtMs: clock.now() };
}

function tooMany(own: number): GatewayError {
  return new GatewayError("KEPT_SEARCH_LIMIT", `you keep ${own} searches already`);
}

/** Throws KEPT_SEARCH_LIMIT. */
function withRoom(now: readonly KeptSearch[], person: PrincipalId, made: KeptSearch): readonly KeptSearch[] {
  const isSame = (search: KeptSearch): boolean =>
    search.person === person && search.query === made.query && search.tool === made.tool;
  const others = now.filter((search) => !isSame(search));
  const own = others.filter((search) => search.person === person).length;
  if (own >= mostOfOne) throw tooMany(own);
  const characters = [...others, made].reduce((sum, { query, tool }) => sum + query.length + tool.length, 0);
  if (characters > mostCharacters)
    throw new GatewayError("KEPT_SEARCH_LIMIT", `${others.length} searches are kept in this gateway`);
  return [...others, made];
}
