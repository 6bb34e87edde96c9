import type { EventBus } from "../kernel/events/event-bus.ts";
import type { GatewayEvent } from "../kernel/events/event.ts";
import type { Page, PageQuery } from "../store/record-store.ts";
import type { LostLines } from "./records/log-gaps.ts";
import { toCachedText, type CachedText } from "./cached-text.ts";

/** A list that can be read as pages of JSON, or at once as lines of JSON or as CSV. */
export interface RecordList<Row> {
  /** The name of the list in a page of JSON. */
  readonly name: string;
  readonly columns: readonly string[];
  readonly limit: number;
  readonly before: number | undefined;
  /** The file's name, without its ending. */
  readonly file: string;
  read(page: { readonly limit: number; readonly before: number | undefined }): Promise<Page<Row>>;
  toJson(row: Row): object;
  /** Asked for with `follow=true`: the rows are sent as lines of JSON, and then those that come. */
  readonly follow?: FollowedList<Row>;
  /** For a list that keeps who exported it. The export fails as this does. */
  readonly beforeExport?: (format: "ndjson" | "csv") => Promise<void>;
}

/** Calls `wake` when something of these types happened at another node, or may have. */
export type WakeElsewhere = (types: readonly GatewayEvent["type"][], wake: () => void) => () => void;

/** How a list that grows is followed. */
export interface FollowedList<Row> {
  /** How many of the rows that there are already are sent first. */
  readonly newest: number;
  /** Tells that there may be more. */
  readonly wakenBy: readonly GatewayEvent["type"][];
  readonly events: Pick<EventBus, "on">;
  /** The same of what happens at other nodes of a cluster, which write rows of their own. Returns what ends it. */
  readonly elsewhere?: WakeElsewhere | undefined;
  /** Newest first. */
  read(page: PageQuery): Promise<Page<Row & { readonly id: number }>>;
  /** Begins to count lost lines. Undefined where none are lost but those that are said to be missed. */
  readonly countLost?: () => Omit<LostLines, "end"> & { end(found: readonly Row[]): number };
}

/** How an operation answers with something else than a value that must not be cached. */
export type Reply =
  /** A text that the client may keep, with its entity tag. */
  | { readonly [reply]: "cached"; readonly text: CachedText; readonly etag: string }
  /** JSON that already is bytes. */
  | { readonly [reply]: "bytes"; readonly bytes: Buffer }
  /** A new thing, with the path where it is from now on. */
  | { readonly [reply]: "created"; readonly path: string; readonly value: unknown }
  /** A text of another type than JSON. */
  | { readonly [reply]: "text"; readonly type: string; readonly content: string }
  /** A value that a browser saves as a file. */
  | { readonly [reply]: "file"; readonly name: string; readonly saved: unknown }
  | { readonly [reply]: "records"; readonly list: RecordList<unknown> };

const reply: unique symbol = Symbol("reply");

/** The kind of a reply; undefined for a plain value. */
export function replyKind(value: unknown): Reply[typeof reply] | undefined {
  return typeof value === "object" && value !== null && reply in value ? (value as Reply)[reply] : undefined;
}

/** A value that the client may keep, because asking again tells it whether it has changed. */
export function cached(value: unknown): Reply {
  return cachedText(toCachedText(value));
}

/** The same of a text that was made before. */
export function cachedText(text: CachedText): Reply {
  return { [reply]: "cached", text, etag: text.etag };
}

/** A row, with an entity tag that changes with everything that is shown, and says the row's revision. */
export function revised({ revision }: { readonly revision: number }, value: unknown): Reply {
  const text = toCachedText(value);
  return { [reply]: "cached", text, etag: `"${revision}.${text.etag.slice(1)}` };
}

export function bytes(value: Buffer): Reply {
  return { [reply]: "bytes", bytes: value };
}

export function created(path: string, value: unknown): Reply {
  return { [reply]: "created", path, value };
}

/** @param type of the content: `text/csv` */
export function text(type: string, content: string): Reply {
  return { [reply]: "text", type, content };
}

/** @param name with its ending */
export function file(name: string, saved: unknown): Reply {
  return { [reply]: "file", name, saved };
}

export function records<Row>(list: RecordList<Row>): Reply {
  return { [reply]: "records", list: list as unknown as RecordList<unknown> };
}

/** The answer of an operation that has nothing to say. */
export const done = Object.freeze({ done: true as const });
