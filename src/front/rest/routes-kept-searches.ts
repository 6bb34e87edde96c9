import * as z from "zod";
import { readDiscoverArguments } from "../../catalog/exposure/meta-arguments.ts";
import type { KeptSearch } from "../../catalog/discovery/kept-searches.ts";
import type { View } from "../../catalog/model/view.ts";
import { ownRecords, ownWork } from "../../engine/policy/rights.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";
import { createdAnswer, jsonAnswer } from "./answer.ts";
import { abortedWith } from "./client-gone.ts";
import type { RestDeps } from "./deps.ts";
import { restContext } from "./execute.ts";
import { checkPart } from "./part-check.ts";
import { doneAnswer, noStore } from "./people-request.ts";
import { answers, creations } from "./responses.ts";
import { route, type Route } from "./route.ts";
import * as schemas from "./schemas.ts";

const tag = "Tools and resources";
/** As deep as a search can be asked to look. */
const deepest = 50;
/** As many as one request to the search may have. */
const batch = 10;

const keptBody = z
  .strictObject({
    query: z
      .string()
      .max(1_000)
      .refine((text) => text.trim() !== "", "has no words")
      .describe("As a person or model would ask."),
    tool: z.string().min(1).max(500).describe("The path of the tool that should be found: `server:tool`."),
  })
  .meta({ id: "SearchToKeep" });

const rank = z.int().nullable().describe(`The tool's place, from 1; null where it is not among the first ${deepest}.`);

const keptSearch = z
  .object({ id: z.string(), query: z.string(), tool: z.string(), rank, keptAt: z.string() })
  .meta({ id: "KeptSearch" });

const keptSearchList = z.object({ searches: z.array(keptSearch) }).meta({ id: "KeptSearchList" });

const keptSearchRun = z
  .object({
    searches: z.array(
      keptSearch.extend({
        rankNow: rank,
        toolExists: z.boolean().describe("Whether whoever asks may call a tool of this path now."),
        first: schemas.nullableText.describe("The tool that is found first now; null where nothing is."),
      }),
    ),
    degraded: schemas.nullableText.describe("What the search could not use this time."),
  })
  .meta({ id: "KeptSearchRun" });

/** Searches that people keep as tests: each sees and runs their own. */
export function createKeptSearchRoutes(deps: RestDeps): readonly Route[] {
  return [listThem(deps), keepOne(deps), runThem(deps), removeOne(deps)];
}

function listThem(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/searches",
    right: ownRecords,
    operation: {
      id: "listKeptSearches",
      tag,
      summary: "Your searches that are kept as tests",
      responses: answers(keptSearchList, "Each with the tool's place when it was kept."),
    },
    async handle({ principal }) {
      const kept = await deps.keptSearches();
      return jsonAnswer({ searches: kept.of(principal.id).map(toJson) }, noStore);
    },
  });
}

function keepOne(deps: RestDeps): Route {
  return route({
    method: "POST",
    path: "/api/searches",
    right: ownWork,
    operation: {
      id: "keepSearch",
      tag,
      summary: "Keep a search as a test",
      description:
        "The search is made, and the tool's place is kept with it. The same words for the same tool replace what was " +
        "kept before. Only you see it: it is kept in this gateway's folder of the data directory, a hundred for each " +
        "person, and teaches the search nothing.",
      body: keptBody,
      responses: creations(keptSearch, "The search, with the tool's place.", [413, 415, 429, 503]),
    },
    async handle({ principal, body, response, raw }) {
      const { query, tool } = checkPart(keptBody, "body", body);
      const [found] = (await findAll(deps, principal, { queries: [query], signal: abortedWith(response) })).needs;
      const kept = await deps.keptSearches();
      const made = await kept.keep({ person: principal.id, query, tool, rank: placeOf(found ?? [], tool) });
      return createdAnswer(`${deps.publicUrl(raw)}/api/searches/${made.id}`, jsonAnswer(toJson(made), noStore));
    },
  });
}

function runThem(deps: RestDeps): Route {
  return route({
    method: "POST",
    path: "/api/searches/run",
    right: ownRecords,
    operation: {
      id: "runKeptSearches",
      tag,
      summary: "Run your kept searches again",
      description: "What stands where now, beside where it stood. Nothing is learned, and nothing is kept of it.",
      responses: answers(keptSearchRun, "All of them, in the order in which they were kept.", [415, 429, 503]),
    },
    async handle({ principal, response }) {
      const own = (await deps.keptSearches()).of(principal.id);
      const queries = [...new Set(own.map(({ query }) => query))];
      const { view, needs, degraded } = await findAll(deps, principal, { queries, signal: abortedWith(response) });
      const searches = own.map((search) => {
        const found = needs[queries.indexOf(search.query)] ?? [];
        const rankNow = placeOf(found, search.tool);
        return { ...toJson(search), rankNow, toolExists: hasTool(view, search.tool), first: found[0] ?? null };
      });
      return jsonAnswer({ searches, degraded }, noStore);
    },
  });
}

function removeOne(deps: RestDeps): Route {
  return route({
    method: "DELETE",
    path: "/api/searches/{id}",
    right: ownWork,
    params: z.object({ id: schemas.name }),
    operation: {
      id: "removeKeptSearch",
      tag,
      summary: "Keep a search no longer",
      responses: answers(z.object({ done: z.boolean() }), "It is not kept any more.", [404, 415, 503]),
    },
    async handle({ principal, params }) {
      const kept = await deps.keptSearches();
      if (!(await kept.remove(principal.id, params.id)))
        throw new GatewayError("KEPT_SEARCH_UNKNOWN", "you keep no search of this id");
      return doneAnswer();
    },
  });
}

interface Finding {
  readonly queries: readonly string[];
  readonly signal: AbortSignal;
}

interface FoundAll {
  readonly view: View;
  /** For each query the paths of what was found, the best first. */
  readonly needs: readonly (readonly string[])[];
  readonly degraded: string | null;
}

/** Searches as a trial does: nothing is learned. Rejects with SEARCH_FAILED. */
async function findAll(deps: RestDeps, principal: Principal, { queries, signal }: Finding): Promise<FoundAll> {
  const view = deps.viewOf(principal);
  const needs: (readonly string[])[] = [];
  let degraded: string | null = null;
  for (let at = 0; at < queries.length; at += batch) {
    const asked = readDiscoverArguments({ queries: queries.slice(at, at + batch), limit: deepest });
    const request = { ...asked, isTrial: true };
    const found = await deps.performer.perform(
      { kind: "discover", request },
      { view, context: restContext(principal, signal) },
    );
    if (found.kind === "servers") throw new GatewayError("INTERNAL", "a search was answered with servers");
    if (found.search === undefined) throw new GatewayError("SEARCH_FAILED", found.failed ?? "the search failed");
    degraded ??= found.search.degraded ?? null;
    needs.push(...found.search.needs.map(({ hits }) => hits.map(({ tool }) => tool.path)));
  }
  return { view, needs, degraded };
}

function placeOf(found: readonly string[], tool: string): number | null {
  const at = found.indexOf(tool);
  return at === -1 ? null : at + 1;
}

function hasTool({ servers }: View, path: string): boolean {
  return servers.some(({ tools }) => tools.some((tool) => tool.path === path));
}

function toJson({ id, query, tool, rank: place, keptAtMs }: KeptSearch): z.output<typeof keptSearch> {
  return { id, query, tool, rank: place, keptAt: new Date(keptAtMs).toISOString() };
}
