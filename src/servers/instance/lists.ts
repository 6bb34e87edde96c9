import { rpcCodes } from "../../wire/mcp/rpc-codes.ts";
import { parseExact, stringifyExact } from "../../wire/json/exact-json.ts";
import type { RawLists } from "../../catalog/model/instance-catalog.ts";
import { skillSettings } from "../../catalog/model/skill-extension.ts";
import type { Era } from "../../kernel/call-context.ts";
import { abortAfter } from "../../kernel/abort.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import { isJsonObject, toJsonBytes, type JsonBytes, type JsonObject } from "../../kernel/json-bytes.ts";
import type { Connection, ParamMember } from "../upstream/connection.ts";
import { skipValue } from "../../wire/json/json-scan.ts";
import { parseErrorObject } from "../../wire/mcp/error-object.ts";

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
 * How much of one server's skills is kept: a listing may be arbitrarily large (SEP-2640, limits), an entry with all
 * its files takes up to 100 KB, and what is left out can still be read and is answered by skills/get. Somebody who
 * waits for the server's tools does not wait for its skills longer than this.
 */
const skillLimits = Object.freeze({ items: 2_000, characters: 8 * 2 ** 20, waitMs: 10_000 });

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
    room: skillLimits.characters,
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
  /** Characters that all items together may have, as JSON. Default: any number. */
  readonly room?: number;
  /** Where items are put as they come, for those who can do with a part of them. */
  readonly items?: unknown[];
}

async function fetchPages(connection: Connection, list: ListRequest, signal: AbortSignal): Promise<readonly unknown[]> {
  const items = list.items ?? [];
  let room = list.room ?? Number.POSITIVE_INFINITY;
  const seen = new Set<Cursor>();
  let cursor: Cursor | undefined;
  for (let page = 0; page < list.limits.pages; page += 1) {
    const result = await fetchPage(connection, list, cursor, signal);
    if (result === undefined) return items;
    const more = result[list.key];
    noteHints(list.hints, result);
    const fresh: readonly unknown[] = Array.isArray(more) ? more.slice(0, list.limits.items - items.length) : [];
    for (const item of fresh) {
      if (list.room !== undefined && (room -= stringifyExact(item).length) < 0) {
        list.onCut(list.method, `its items take more than ${list.room} characters`);
        return items;
      }
      items.push(item);
    }
    const next = cursorOf(result, connection.peer.era);
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
): Promise<JsonObject | undefined> {
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
  let parsed: unknown;
  try {
    parsed = parseExact(reply.result.toString("utf8"));
  } catch {
    parsed = undefined;
  }
  if (!isJsonObject(parsed))
    throw new GatewayError("UPSTREAM_PROTOCOL", `${list.method} was answered with something that is not an object`);
  return isTooDeep(reply.result) ? withoutDeepItems(parsed, list) : parsed;
}

/**
 * How deep an item of a list may nest. Definitions are written again, to clients and to disk, and JSON.stringify
 * could fail on deeper ones.
 */
const greatestDepth = 500;

function isTooDeep(bytes: JsonBytes): boolean {
  try {
    skipValue(bytes, 0, bytes.length, greatestDepth);
    return false;
  } catch {
    return true;
  }
}

/** Leaves out items that nest too deeply: one hostile schema must not hide the server's other tools (fault 61). */
function withoutDeepItems(result: JsonObject, list: ListRequest): JsonObject {
  const items = result[list.key];
  if (!Array.isArray(items)) return {};
  const kept = (items as readonly unknown[]).filter((item) => {
    if (!nestsDeeper(item, greatestDepth)) return true;
    const name = isJsonObject(item) ? (item["name"] ?? item["uri"]) : undefined;
    const shown = JSON.stringify(typeof name === "string" ? name.slice(0, 100) : "an item without a name");
    list.onCut(list.method, `${shown} is left out, because it nests deeper than ${greatestDepth} levels`);
    return false;
  });
  const { nextCursor, ttlMs, cacheScope } = result;
  return { [list.key]: kept, nextCursor, ttlMs, cacheScope };
}

/** Works level by level, because a value like this would overflow the stack of a recursive function. */
function nestsDeeper(value: unknown, limit: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > limit) return true;
    level = level.flatMap((node) => (typeof node === "object" && node !== null ? Object.values(node) : []));
  }
  return false;
}

/**
 * Combines the pages: the smallest ttl counts, and one private page makes the list private (2026-07-28,
 * server/utilities/caching).
 */
function noteHints(hints: CacheHints, result: JsonObject): void {
  const ttlMs = result["ttlMs"];
  if (typeof ttlMs === "number" && ttlMs >= 0) hints.ttlMs = Math.min(hints.ttlMs ?? Number.POSITIVE_INFINITY, ttlMs);
  if (result["cacheScope"] === "private") hints.cacheScope = "private";
}
