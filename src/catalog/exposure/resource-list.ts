import { toNativeTemplate, toNativeUri, toPipeUri } from "../model/resource-uri.ts";
import { inProfile, type View, type ViewServer } from "../model/view.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import type { Intent } from "./intent.ts";
import { listedResources } from "./skills/listed-skills.ts";
import { nearestNames } from "./text/suggestions.ts";
import { estimateTokens } from "./text/token-estimate.ts";
import { unavailableLine, type Unavailable } from "./discover/discover-servers.ts";

type ListRequest = Extract<Intent, { kind: "list-resources" }>;

const pageTokens = 4_000;

interface Item {
  readonly kind: "resource" | "template";
  readonly definition: JsonObject;
}

/**
 * The answer of list_mcp_resources: `{ resources, resource_templates, total_resources, total_templates, nextCursor?,
 * unavailable? }` with URIs as `server|originalUri`, and beside them as resources/read and native lists spell them.
 * Resources come first, then templates; a page fits 4,000 tokens.
 */
export function renderResourceList(view: View, request: ListRequest): JsonObject {
  const servers = chooseServers(view, request.server);
  const shown = servers.filter((server) => server.shown);
  const items = shown.flatMap(itemsOf).filter((item) => matches(item, request.query));
  const start = readCursor(request.cursor);
  const page = takePage(items, start);
  const next = start + page.length;
  const unavailable = servers.filter((server) => isMissed(server, request.server)).map(toUnavailable);
  return {
    resources: page.filter((item) => item.kind === "resource").map((item) => item.definition),
    resource_templates: page.filter((item) => item.kind === "template").map((item) => item.definition),
    total_resources: items.filter((item) => item.kind === "resource").length,
    total_templates: items.filter((item) => item.kind === "template").length,
    ...(next < items.length ? { nextCursor: String(next) } : {}),
    ...(unavailable.length === 0 ? {} : { unavailable }),
  };
}

/**
 * The server of this slug, title or namespace, or all when none is named. Throws SERVER_UNKNOWN with the closest
 * slugs.
 */
export function chooseServers(view: View, slug: string | undefined): readonly ViewServer[] {
  if (slug === undefined) return view.servers;
  const server =
    view.server(slug) ?? view.servers.find((candidate) => candidate.title === slug || candidate.namespace === slug);
  if (server !== undefined) return [server];
  const known = view.servers.map((candidate) => candidate.slug as string);
  throw new GatewayError(
    "SERVER_UNKNOWN",
    `there is no server ${JSON.stringify(slug.slice(0, 80))}${inProfile(view)}`,
    {
      data: { closest: nearestNames(slug, known, 5) },
    },
  );
}

/** Whether a server is missing from the list. One that is switched off counts only when it was asked for. */
function isMissed(server: ViewServer, named: string | undefined): boolean {
  return !server.shown && (named !== undefined || server.status !== "disabled");
}

function itemsOf(server: ViewServer): Item[] {
  const resources = (server.catalog === undefined ? [] : listedResources(server.catalog)).map((definition) => ({
    kind: "resource" as const,
    definition: {
      ...definition,
      uri: toPipeUri(server.slug, definition.uri),
      native_uri: toNativeUri(server.slug, definition.uri),
      server_name: server.slug,
    },
  }));
  const templates = (server.catalog?.templates ?? []).map(({ definition }) => ({
    kind: "template" as const,
    definition: {
      ...definition,
      uriTemplate: toPipeUri(server.slug, definition.uriTemplate),
      native_uri_template: toNativeTemplate(server.slug, definition.uriTemplate),
      server_name: server.slug,
    },
  }));
  return [...resources, ...templates];
}

/** Whether every word of the query occurs in the item, ignoring case. */
function matches(item: Item, query: string | undefined): boolean {
  if (query === undefined) return true;
  const text = JSON.stringify(item.definition).toLowerCase();
  return query
    .slice(0, 1_000)
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function readCursor(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  if (!/^\d{1,7}$/.test(cursor))
    throw new GatewayError("CURSOR_INVALID", "the cursor is not one that this list gave out");
  return Number(cursor);
}

function takePage(items: readonly Item[], start: number): readonly Item[] {
  let tokens = 0;
  let end = start;
  while (end < items.length) {
    tokens += estimateTokens(JSON.stringify(items[end]?.definition));
    if (tokens > pageTokens && end > start) break;
    end += 1;
  }
  return items.slice(start, end);
}

function toUnavailable(server: ViewServer): Unavailable {
  return unavailableLine({ server: server.slug, status: server.status, reason: server.reason, advice: server.advice });
}
