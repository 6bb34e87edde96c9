import { rpcCodes, parseErrorObject } from "../../../wire/mcp/error-object.ts";
import { parseExact } from "../../../wire/json/exact-json.ts";
import type { RawLists } from "../../../catalog/model/instance-catalog.ts";
import { skillSettings } from "../../../catalog/model/skill-extension.ts";
import type { Era } from "../../../kernel/call/call-context.ts";
import { abortAfter } from "../../../kernel/runtime/abort.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { toJsonBytes, type JsonBytes, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import type { Connection, ParamMember } from "../../upstream/connection.ts";
import { slices } from "../../../kernel/runtime/slices.ts";
import { openBracket } from "../../../wire/json/characters.ts";
import { eachElement, findMember, scanFor, scanMembers, skipValue, type Member } from "../../../wire/json/json-scan.ts";

/** Limits for each list of a server. */
export interface ListLimits {
  /** The most pages of one list; an endless list ends there (fault 59). */
  readonly pages: number;
  /** The most items of one list. */
  readonly items: number;
  readonly timeoutMs: number;
}

/** Reports a list that is incomplete, or an item that was left out. */
type OnCut = (list: string, reason: string) => void;

/** How lists are fetched. */
export interface ListsOptions {
  readonly transport: RawLists["transport"];
  readonly limits: ListLimits;
  readonly onCut: OnCut;
}

/**
 * Fetches everything that a server offers, with all pages. Kinds that it does not declare, or for which it answers
 * "method not found", are empty lists. Throws what the connection throws, and UPSTREAM_PROTOCOL when tools/list
 * itself fails.
 */
export async function fetchLists(
  connection: Connection,
  { transport, limits, onCut }: ListsOptions,
  signal: AbortSignal,
): Promise<RawLists> {
  const { peer } = connection;
  const hints: CacheHints = { ttlMs: undefined, cacheScope: "public" };
  const fetch = async (declared: string, method: string, key: string): Promise<readonly unknown[]> => {
    if (peer.capabilities[declared] === undefined) return [];
    try {
      return await fetchPages(connection, { method, key, limits, hints, onCut }, signal);
    } catch (error) {
      // One broken list must not hide the others, but a lost connection must end the fetch.
      if (!(error instanceof GatewayError) || error.code !== "UPSTREAM_PROTOCOL") throw error;
      onCut(method, error.message);
      return [];
    }
  };
  const [tools, resources, templates, prompts, skills] = await Promise.all([
    // Requested even when not declared: some servers forget to declare their tools, and without tools a server is of
    // no use.
    fetchPages(connection, { method: "tools/list", key: "tools", limits, hints, onCut }, signal),
    fetch("resources", "resources/list", "resources"),
    fetch("resources", "resources/templates/list", "resourceTemplates"),
    fetch("prompts", "prompts/list", "prompts"),
    fetchSkills(connection, { limits, hints, onCut }, signal),
  ]);
  return {
    tools,
    resources,
    templates,
    prompts,
    skills,
    serverInfo: peer.serverInfo,
    instructions: peer.instructions,
    capabilities: peer.capabilities,
    eras: peer.eras,
    ...(peer.handshake === undefined ? {} : { handshake: peer.handshake }),
    ttlMs: hints.ttlMs,
    cacheScope: hints.cacheScope,
    transport,
  };
}

/**
 * How much of one server's skills is kept: a listing may be arbitrarily large (SEP-2640, limits), an entry with all its
 * files takes up to 100 KB, and skills that are left out can still be read and are answered by skills/get. A request
 * for the server's tools does not wait for its skills longer than `waitMs`.
 */
const skillLimits = Object.freeze({ items: 2_000, bytes: 8 * 2 ** 20, waitMs: 10_000 });

/** The skills of a server that declares them. They never keep its tools from being used. */
async function fetchSkills(
  connection: Connection,
  { limits, ...reporting }: Pick<ListRequest, "limits" | "hints" | "onCut">,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  if (skillSettings(connection.peer.capabilities) === undefined) return [];
  const items: unknown[] = [];
  const ended = new AbortController();
  const waiting = abortAfter(skillLimits.waitMs, signal, ended.signal);
  const request: ListRequest = {
    ...reporting,
    method: "skills/list",
    key: "skills",
    limits: { ...limits, items: Math.min(limits.items, skillLimits.items) },
    room: skillLimits.bytes,
    items,
  };
  try {
    await fetchPages(connection, request, waiting);
  } catch (error) {
    const isLost =
      error instanceof GatewayError && (error.code === "UPSTREAM_CLOSED" || error.code === "CONNECT_FAILED");
    if (signal.aborted || isLost) throw error;
    reporting.onCut("skills/list", error instanceof Error ? error.message : String(error));
  } finally {
    ended.abort();
  }
  return items;
}

interface CacheHints {
  ttlMs: number | undefined;
  cacheScope: "public" | "private";
}

interface ListRequest {
  readonly method: string;
  readonly key: string;
  readonly limits: ListLimits;
  readonly hints: CacheHints;
  readonly onCut: OnCut;
  /** Bytes that all items together may have, as JSON. Default: {@link listBytes}. */
  readonly room?: number;
  /** Where items are put as they come, for those who can do with a part of them. */
  readonly items?: unknown[];
}

async function fetchPages(connection: Connection, list: ListRequest, signal: AbortSignal): Promise<readonly unknown[]> {
  const items = list.items ?? [];
  let room = list.room ?? listBytes;
  const seen = new Set<Cursor>();
  let cursor: Cursor | undefined;
  for (let page = 0; page < list.limits.pages; page += 1) {
    const answer = await fetchPage(connection, list, cursor, signal);
    if (answer === undefined) return items;
    const page = await slices.run(readPage(answer, list, { items: list.limits.items - items.length, bytes: room }));
    noteHints(list.hints, page.about);
    for (const item of page.items) items.push(item);
    room -= page.bytes;
    if (room < 0) {
      list.onCut(list.method, `its items take more than ${list.room ?? listBytes} bytes`);
      return items;
    }
    const next = cursorOf(page.about, connection.peer.era);
    if (next === undefined) return items;
    if (items.length >= list.limits.items) {
      list.onCut(list.method, `more than ${list.limits.items} items (limits.listItems)`);
      return items;
    }
    if (seen.has(next)) {
      list.onCut(list.method, "the server repeats a cursor");
      return items;
    }
    seen.add(next);
    cursor = next;
  }
  list.onCut(list.method, `more than ${list.limits.pages} pages (limits.listPages)`);
  return items;
}

/** Cursors are text, and the numbers of pages where a server does not keep to that. */
type Cursor = string | number;

/**
 * What the next page is asked for with; undefined after the last one. In 2026-07-28 "" is a cursor as any other
 * (server/utilities/pagination). Servers of earlier revisions write it where there is none.
 */
function cursorOf({ nextCursor: next }: JsonObject, era: Era): Cursor | undefined {
  if (typeof next === "number") return next > 0 ? next : undefined;
  return typeof next === "string" && (next !== "" || era === "modern") ? next : undefined;
}

async function fetchPage(
  connection: Connection,
  list: ListRequest,
  cursor: Cursor | undefined,
  signal: AbortSignal,
): Promise<JsonBytes | undefined> {
  const params: ParamMember[] = cursor === undefined ? [] : [["cursor", toJsonBytes(cursor)]];
  const { timeoutMs } = list.limits;
  const reply = await connection.request({ method: list.method, params, signal, timeoutMs, maxTimeoutMs: timeoutMs });
  if (reply.kind === "error") {
    const error = parseErrorObject(reply.error);
    if (error.code === rpcCodes.methodNotFound) return undefined;
    throw new GatewayError(
      "UPSTREAM_PROTOCOL",
      `${list.method} failed: ${error.message.slice(0, 200)} (${error.code})`,
    );
  }
  return reply.result;
}

/** Bytes of one list as JSON: as many as one message may have. */
const listBytes = 32 * 2 ** 20;
/**
 * Of one item. The largest definitions of real servers have 60 KB. Each is counted, searched, written and looked
 * through for secrets in one turn.
 */
const itemBytes = 262_144;
/**
 * How deep an item of a list may nest. Definitions are written again, to clients and to disk, and JSON.stringify
 * could fail on deeper ones.
 */
const greatestDepth = 500;

interface Page {
  readonly items: readonly unknown[];
  /** That were read, also those that are left out. More than there is room for where it was not enough. */
  readonly bytes: number;
  /** Its other members. */
  readonly about: JsonObject;
}

/**
 * The items of a page, each parsed in a step of its own, as far as there is room. One that nests too deeply or is too
 * large is left out: a hostile schema must not hide the server's other tools (fault 61).
 */
function* readPage(
  answer: JsonBytes,
  list: ListRequest,
  room: { readonly items: number; readonly bytes: number },
): Generator<undefined, Page> {
  try {
    const members = scanMembers(answer, 0, answer.length, Number.POSITIVE_INFINITY);
    const names = ["nextCursor", "ttlMs", "cacheScope"] as const;
    const about = Object.fromEntries(names.map((name) => [name, shortValue(answer, findMember(members, name))]));
    const listed = findMember(members, list.key);
    const items: unknown[] = [];
    let bytes = 0;
    if (listed === undefined || answer[listed.start] !== openBracket) return { items, bytes, about };
    for (const { start, end } of eachElement(answer, listed.start, listed.end, Number.POSITIVE_INFINITY)) {
      yield;
      bytes += end - start;
      if (bytes > room.bytes || items.length >= room.items) break;
      const item = answer.subarray(start, end);
      const fault = faultOf(item);
      if (fault === undefined) items.push(parseExact(item.toString("utf8")));
      else list.onCut(list.method, `${nameIn(item)} is left out, because it ${fault}`);
    }
    return { items, bytes, about };
  } catch {
    throw new GatewayError("UPSTREAM_PROTOCOL", `${list.method} was answered with something that is not an object`);
  }
}

function faultOf(item: JsonBytes): string | undefined {
  if (item.length > itemBytes) return `has more than ${itemBytes} bytes`;
  try {
    skipValue(item, 0, item.length, greatestDepth);
    return undefined;
  } catch {
    return `nests deeper than ${greatestDepth} levels`;
  }
}

/** What an item is called, without a look at the rest of it. */
function nameIn(item: JsonBytes): string {
  const named = (key: string): unknown => {
    try {
      return shortValue(item, scanFor(item, 0, item.length, Number.POSITIVE_INFINITY, key));
    } catch {
      return undefined;
    }
  };
  const name = named("name") ?? named("uri");
  return JSON.stringify(typeof name === "string" ? name.slice(0, 100) : "an item without a name");
}

/** Cursors and hints are short; undefined for anything else. */
function shortValue(bytes: JsonBytes, member: Member | undefined): unknown {
  if (member === undefined || member.end - member.start > longestValue) return undefined;
  return JSON.parse(bytes.toString("utf8", member.start, member.end)) as unknown;
}

const longestValue = 65_536;

/**
 * Combines the pages: the smallest ttl counts, and one private page makes the list private (2026-07-28,
 * server/utilities/caching).
 */
function noteHints(hints: CacheHints, result: JsonObject): void {
  const ttlMs = result["ttlMs"];
  if (typeof ttlMs === "number" && ttlMs >= 0) hints.ttlMs = Math.min(hints.ttlMs ?? Number.POSITIVE_INFINITY, ttlMs);
  if (result["cacheScope"] === "private") hints.cacheScope = "private";
}
