import * as z from "zod";
import type { ToolEntry } from "../../catalog/model/snapshot.ts";
import { serverOf, type View, type ViewServer } from "../../catalog/model/view.ts";
import { readDiscoverArguments } from "../../catalog/exposure/meta/meta-arguments.ts";
import { renderFound } from "../../catalog/exposure/discover/discover-text.ts";
import { chooseServers } from "../../catalog/exposure/resource-list.ts";
import { toSignature } from "../../catalog/exposure/text/signature.ts";
import { resolveTool } from "../../catalog/exposure/text/tool-lookup.ts";
import { noArguments } from "../../kernel/call/call-context.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";
import { toCachedText } from "../cached-text.ts";
import type { Decision } from "../../engine/policy/decide.ts";
import { approvers, toolEffects } from "../../kernel/call/tool-effects.ts";
import { reading } from "../../engine/policy/rights.ts";
import { decisionsOf } from "./policy-operations.ts";
import { restContext } from "../request/tracked.ts";
import { answers } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation } from "../operation.ts";
import { cached, cachedText, bytes } from "../reply.ts";
import type { Services } from "../services.ts";

const tag = "Tools and resources";
/** Far more than for a model, because the reader is a program. */
const searchTokens = 100_000;
const limits = { least: 1, most: 1_000, standard: 100 } as const;
const signatureTokens = 160;

const listQuery = z.object({
  query: schemas.words,
  server: schemas.name.optional(),
  profile: schemas.name.optional().describe("Only what this profile has (`toolyard.profiles`)."),
  readOnly: schemas.flag,
  match: z
    .string()
    .max(1_000)
    .optional()
    .describe("Of a list: only tools with these words in path, title or description."),
  sort: z.enum(["server", "tokens"]).optional().describe("Of a list: by server, as by default, or the dearest first."),
  detail: z.enum(["names", "signature", "schema"]).optional(),
  limit: schemas.clampedNumber(limits),
  cursor: schemas.cursor,
});

const decidedBy = {
  approver: z.enum(approvers).nullable().describe("Who says yes where it asks."),
  decided_by: schemas.nullableText.describe("The rule that decides; null where the effect alone does."),
};

const toolSummary = z
  .object({
    tool_path: z.string(),
    name: z.string(),
    title: schemas.nullableText,
    description: schemas.nullableText,
    server: z.string(),
    namespace: z.string(),
    read_only: z.boolean().describe("Whether `execute_read_only_mcp_tool` takes it."),
    effect: z.enum(toolEffects).describe("What the gateway says that it does."),
    asks: z.boolean().describe("Whether calls wait for a yes; arguments may change that (`policy/explain`)."),
    ...decidedBy,
    annotations: schemas.json.describe("What the server says the tool does: unverified hints."),
    input: z.string().describe("Compact signature."),
    upstream_name: z.string().describe("The server's own name for it, which the rules of its entry use."),
    tokens: z.int().describe("What its definition costs in a flat list."),
    tokens_exact: z.boolean().describe("Whether that was counted; otherwise it is an estimate."),
  })
  .meta({ id: "ToolSummary" });

const toolList = z
  .object({ tools: z.array(toolSummary), total: z.int(), next_cursor: z.string().optional() })
  .meta({ id: "ToolList" });

const toolSearch = z
  .object({
    match: z
      .enum(["good", "weak", "none"])
      .optional()
      .describe("How well the best tool fits; absent when the search failed."),
    tools: z.array(schemas.json).optional(),
    more: z
      .record(z.string(), z.array(z.string()))
      .optional()
      .describe("Names of other tools of the best results' servers. Their `tool_path` is `server:name`."),
    unavailable: z
      .array(schemas.json)
      .optional()
      .describe("Servers that may be what was asked for, but cannot be used now."),
    unavailable_others: z.int().optional().describe("How many other servers cannot be used now."),
  })
  .catchall(z.unknown())
  .describe("What discover_mcp_tools answers.")
  .meta({ id: "ToolSearch" });

const toolDetails = z
  .object({
    tool_path: z.string(),
    server: z.string(),
    namespace: z.string(),
    instance: z.string(),
    spellings: z.object({ path: z.string(), flat: z.string(), double_underscore: z.string(), dot: z.string() }),
    input: z.string(),
    effect: z.enum(toolEffects).describe("What the gateway says that it does."),
    because: z.string().describe("Why it says so."),
    asks: z.boolean().describe("Whether calls wait for a yes; arguments may change that (`policy/explain`)."),
    ...decidedBy,
    tokens: z.int().describe("What its definition costs in a flat list."),
    phrases: z.array(z.string()).describe("What people say when they need it, as far as the search knows."),
    definition: schemas.tool,
  })
  .meta({ id: "ToolDetails" });

export const listTools = operation({
  route: "GET /api/tools",
  right: reading,
  query: listQuery,
  id: "listTools",
  tag,
  summary: "Search tools, or list them",
  description: "With `query`, the answer of discover_mcp_tools, best first. Without it, all tools, in pages.",
  responses: answers(z.union([toolList, toolSearch]), "Tools.", [304, 404, 429, 503]),
  async run(services, { principal: asking, query, signal }) {
    const principal = query.profile === undefined ? asking : services.profiles.enter(asking, query.profile);
    if (query.query !== undefined)
      return bytes(await search(services, principal, { ...query, query: query.query }, signal));
    const view = services.viewOf(principal);
    const { match = "", sort = "server" } = query;
    const key = JSON.stringify(["tools", query.limit, query.cursor, query.server, query.readOnly, match, sort]);
    const priceOf = await services.toolTokens(view);
    const decisionOf = decisionsOf(services, principal);
    const page = (): ToolPage => toToolPage(view, query, { priceOf, decisionOf });
    // Estimates become exact while the view stays the same.
    const isFinal = chooseServers(view, query.server).every((server) =>
      server.tools.every((tool) => priceOf(server, tool).isExact),
    );
    return cachedText(isFinal ? services.texts.of(view, key, page) : toCachedText(page()));
  },
});

export const showTool = operation({
  route: "GET /api/tools/{path}",
  right: reading,
  params: z.object({ path: schemas.name.describe("`server:tool`, or another spelling.") }),
  id: "showTool",
  tag,
  summary: "One tool, by any spelling",
  responses: answers(toolDetails, "The tool.", [304, 404, 409]),
  async run(services, { principal, params }) {
    const view = services.viewOf(principal);
    for (const listing of ["flat", "namespaced"] as const) await services.namesInTurns(view, listing, params.path);
    const { tool } = resolveTool(view, params.path, noArguments);
    const { tokens } = (await services.toolTokens(view))(serverOf(view, tool), tool);
    const phrases = [...(await services.discovery.phrasesOf(tool))];
    const decision = decisionsOf(services, principal)(serverOf(view, tool), tool);
    return cached({
      ...toDetails(view, tool),
      ...toEffect(decision),
      because: decision?.because ?? "",
      tokens,
      phrases,
      definition: tool.definition,
    });
  },
});

/** The same search as discover_mcp_tools, with a larger budget for the answer. */
async function search(
  services: Services,
  principal: Principal,
  wanted: z.output<typeof listQuery> & { query: string },
  signal: AbortSignal,
): Promise<Buffer> {
  const { query, limit, server, readOnly, detail } = wanted;
  const asked = readDiscoverArguments({ query, limit, server, readOnly, detail });
  const work = { view: services.viewOf(principal), context: restContext(principal, signal) };
  const found = await services.performer.perform({ kind: "discover", request: asked }, work);
  return Buffer.from(renderFound(found, searchTokens), "utf8");
}

type ToolPage = z.output<typeof toolList>;
type PriceOf = Awaited<ReturnType<Services["toolTokens"]>>;

/** Facts about each tool beside its definition. */
interface Told {
  readonly priceOf: PriceOf;
  readonly decisionOf: ReturnType<typeof decisionsOf>;
}

type Decided = Pick<z.output<typeof toolSummary>, "effect" | "asks" | "approver" | "decided_by">;

function toEffect(decision: Decision | undefined): Decided {
  const asks = decision?.verdict === "ask";
  return {
    ...{ effect: decision?.effect ?? "unknown", asks },
    ...{ approver: asks ? decision.approver : null, decided_by: decision?.rule ?? null },
  };
}

interface PageRequest {
  readonly server?: string | undefined;
  readonly readOnly: boolean;
  readonly match?: string | undefined;
  readonly sort?: "server" | "tokens" | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

function toToolPage(view: View, request: PageRequest, told: Told): ToolPage {
  const { priceOf, decisionOf } = told;
  if (request.cursor !== undefined && !/^\d{1,7}$/.test(request.cursor))
    throw new GatewayError("CURSOR_INVALID", "the cursor is not one that this list gave out");
  const start = Number(request.cursor ?? 0);
  const words = (request.match ?? "").toLowerCase().split(/\s+/);
  const found = chooseServers(view, request.server)
    .filter((server) => server.shown)
    .flatMap((server) =>
      server.tools
        .filter((tool) => !request.readOnly || decisionOf(server, tool)?.passes === true)
        .filter((tool) => hasWords(tool, words))
        .map((tool) => ({ server, tool })),
    );
  const tokensOf = ({ server, tool }: (typeof found)[number]): number => priceOf(server, tool).tokens;
  const all = request.sort === "tokens" ? found.toSorted((one, other) => tokensOf(other) - tokensOf(one)) : found;
  const end = start + request.limit;
  return {
    tools: all.slice(start, end).map(({ server, tool }) => toSummary(server, tool, told)),
    total: all.length,
    ...(end < all.length ? { next_cursor: String(end) } : {}),
  };
}

function hasWords({ path, definition }: ToolEntry, words: readonly string[]): boolean {
  const text = `${path} ${definition.title ?? ""} ${definition.description ?? ""}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

function toSummary(server: ViewServer, tool: ToolEntry, { priceOf, decisionOf }: Told): z.output<typeof toolSummary> {
  const { path, definition, upstreamName } = tool;
  const { tokens, isExact } = priceOf(server, tool);
  const decision = decisionOf(server, tool);
  return {
    tool_path: path,
    name: definition.name,
    title: definition.title ?? null,
    description: definition.description ?? null,
    server: server.slug,
    namespace: server.namespace,
    read_only: decision?.passes === true,
    ...toEffect(decision),
    annotations: { ...definition.annotations },
    input: toSignature(definition.inputSchema, { maxTokens: signatureTokens }).text,
    upstream_name: upstreamName,
    tokens,
    tokens_exact: isExact,
  };
}

function toDetails(
  view: View,
  tool: ToolEntry,
): Omit<z.output<typeof toolDetails>, keyof Decided | "because" | "tokens" | "phrases" | "definition"> {
  const { namespace, instance } = serverOf(view, tool);
  return {
    tool_path: tool.path,
    server: tool.server,
    namespace,
    instance,
    spellings: {
      path: tool.path,
      flat: view.names.flatName(tool),
      double_underscore: view.names.namespacedName(tool),
      dot: `${namespace}.${tool.definition.name}`,
    },
    input: toSignature(tool.definition.inputSchema, { maxTokens: signatureTokens }).text,
  };
}

/** Routes that list, search and show tools. */
export const toolOperations: readonly Operation[] = [listTools, showTool];
