import { abortAfter, untilAborted } from "../../kernel/runtime/abort.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { EventRecord, RequestBody, ServerLogLine } from "../../store/record-rows.ts";
import type {
  CallQuery,
  CallRow,
  EventQuery,
  LogQuery,
  Page,
  PageQuery,
  RecordStore,
} from "../../store/record-store.ts";
import { requireStore, type StoreSource } from "../store-standing.ts";

/** Who reads, and how much of what others did. */
export interface Reader {
  /** `Principal.id`. */
  readonly id: string;
  readonly calls: "own" | "team" | "all";
  /** With `team`: whose calls, and since when. A team that had the same name before is another. */
  readonly team?: { readonly slug: string; readonly sinceMs: number } | undefined;
  /** Arguments and results. */
  readonly contents: "own" | "all";
  /** `own` are those of the instances that the reader may use. */
  readonly logs: "own" | "all";
}

/** A call with what was said in it, where that may be seen. */
export interface KeptCall extends CallRow {
  /** `not-kept`: the server's `requestLogging` is not `full`, or newer ones took its place. */
  readonly contents: "shown" | "not-kept" | "not-yours";
  readonly body: RequestBody | null;
}

/** What was recorded, as much of it as a reader may see. Everything rejects with STORE_UNAVAILABLE. */
export interface RecordHistory {
  /** Newest first. Rejects with FORBIDDEN when somebody else's calls are asked for. */
  calls(reader: Reader, query: CallQuery): Promise<Page<CallRow>>;
  /**
   * Erases the calls that fit, a piece at a time, with their arguments and results. Calls erased before a failure, or
   * before the signal aborts, stay erased. Rejects with FORBIDDEN for a reader who sees nothing but their own: a record
   * that everybody could take back would be none.
   */
  erase(reader: Reader, query: Omit<CallQuery, keyof PageQuery>, erasing: Erasing): Promise<void>;
  /** Rejects with RECORD_UNKNOWN, for another's call as for one that never was (fault 94). */
  call(reader: Reader, id: number): Promise<KeptCall>;
  /** Newest first. Rejects with SERVER_UNKNOWN for an instance that the reader may not use, or that never was. */
  logs(reader: Reader, query: LogQuery): Promise<Page<ServerLogLine>>;
  /** What happened to one instance, newest first. Rejects with SERVER_UNKNOWN as `logs` does. */
  events(reader: Reader, query: EventQuery & { readonly instance: string }): Promise<Page<EventRecord>>;
}

export interface Erasing {
  readonly signal: AbortSignal;
  /** Told the number of calls of each erased piece. */
  readonly onErased: (count: number) => void;
}

export interface RecordHistoryDeps {
  readonly source: StoreSource;
  /** Ids of the instances that a principal may use. */
  readonly instancesOf: (principal: string) => readonly string[];
  /** Whether there is such an instance, anybody's. */
  readonly isInstance: (id: string) => boolean;
}

/** Who asks wants to see what happened just now. What a slow disk takes longer for is left out. */
const flushMs = 1_000;

/** In one transaction: others write between two of them. */
const erasedAtOnce = 500;

/**
 * Waits a moment for rows that are on their way, and resolves with whether they have come. Without the store's thread
 * they would be waited for until it is back.
 */
export async function flushRecent(store: Pick<RecordStore, "flush">): Promise<boolean> {
  return await untilAborted(store.flush(), abortAfter(flushMs)).then(
    () => true,
    () => false,
  );
}

export function createRecordHistory({ source, instancesOf, isInstance }: RecordHistoryDeps): RecordHistory {
  async function storeFor(query: PageQuery | undefined): Promise<RecordStore> {
    const store = requireStore(source);
    // Later pages are of rows that are older than those that wait.
    if (query?.before === undefined) await flushRecent(store);
    return store;
  }

  async function readCalls(reader: Reader, query: CallQuery): Promise<Page<CallRow>> {
    const { rows, next } = await (await storeFor(query)).calls(query);
    return { rows: rows.map((row) => toShown(reader, row)), next };
  }

  return {
    async calls(reader, query) {
      if (reader.calls === "all") return await readCalls(reader, query);
      if (reader.calls === "team" && reader.team !== undefined) {
        const ofTeam = withinTeam(reader.team, query);
        return ofTeam === undefined ? { rows: [], next: null } : await readCalls(reader, ofTeam);
      }
      if (query.principal !== undefined && query.principal !== reader.id)
        throw new GatewayError("FORBIDDEN", "only an admin may see what others did");
      return await readCalls(reader, { ...query, principal: reader.id });
    },
    async erase(reader, query, { signal, onErased }) {
      const asked = { ...query, limit: erasedAtOnce };
      const fits =
        reader.calls === "all" ? asked : reader.team === undefined ? undefined : withinTeam(reader.team, asked);
      if (reader.calls === "own") throw new GatewayError("FORBIDDEN", "only an admin may erase calls");
      if (fits === undefined) return;
      const store = await storeFor(undefined);
      for (let before: number | null | undefined; before !== null && !signal.aborted;) {
        const piece = await store.eraseCalls({ ...fits, before });
        onErased(piece.erased);
        before = piece.next;
      }
    },
    async call(reader, id) {
      const found = await (await storeFor(undefined)).call(id);
      if (found === undefined || !maySee(reader, found))
        throw new GatewayError("RECORD_UNKNOWN", "there is no such call");
      const isShown = maySeeContents(reader, found);
      const hasBody = found.body !== null;
      const contents = !hasBody ? "not-kept" : isShown ? "shown" : "not-yours";
      return { ...toShown(reader, found), hasBody, contents, body: isShown ? found.body : null };
    },
    async logs(reader, query) {
      const { instance } = query;
      const visible = reader.logs === "all" ? undefined : instancesOf(reader.id);
      if (instance !== undefined && visible?.includes(instance) === false) throw unknownInstance();
      const page = await (await storeFor(query)).logs({ ...query, instances: visible });
      // Lines of a removed instance may still be there.
      if (instance !== undefined && page.rows.length === 0 && query.before === undefined && !isInstance(instance))
        throw unknownInstance();
      return page;
    },
    async events(reader, query) {
      const isVisible =
        reader.logs === "all" ? isInstance(query.instance) : instancesOf(reader.id).includes(query.instance);
      if (!isVisible) throw unknownInstance();
      return await (await storeFor(query)).events(query);
    },
  };
}

function maySeeContents(reader: Reader, { principal }: Pick<CallRow, "principal">): boolean {
  return reader.contents === "all" || principal === reader.id;
}

/** Words of a search, and of an error, are what was said. */
function toShown<Row extends Pick<CallRow, "principal" | "method" | "name" | "message">>(
  reader: Reader,
  row: Row,
): Row {
  if (maySeeContents(reader, row)) return row;
  return { ...row, name: row.method === "search" ? "" : row.name, message: null };
}

/** Undefined for a filter of any other team, which finds nothing, whether or not there is one. */
function withinTeam<Query extends Pick<CallQuery, "team" | "fromMs">>(
  { slug, sinceMs }: NonNullable<Reader["team"]>,
  query: Query,
): Query | undefined {
  if (query.team !== undefined && query.team !== slug) return undefined;
  return { ...query, team: slug, fromMs: Math.max(sinceMs, query.fromMs ?? sinceMs) };
}

function maySee({ id, calls, team }: Reader, call: Pick<CallRow, "principal" | "team" | "atMs">): boolean {
  if (calls === "all" || call.principal === id) return true;
  return calls === "team" && team !== undefined && call.team === team.slug && call.atMs >= team.sinceMs;
}

/** The message does not repeat the id, so that the answers to all unknown ids are the same. */
function unknownInstance(): GatewayError {
  return new GatewayError("SERVER_UNKNOWN", "there is no such instance", {
    hint: "`toolyard status` and GET /api/instances list yours.",
  });
}
