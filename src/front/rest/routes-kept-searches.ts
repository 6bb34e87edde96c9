import * as z from "zod";
import type { KeptSearch } from "../../catalog/discovery/kept-searches.ts";
import {
  deepestPlace,
  placeNow,
  runKept,
  toolToFind,
  type KeptRunWork,
} from "../../engine/perform/intents/kept-runs.ts";
import { ownRecords, ownWork } from "../../engine/policy/rights.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { createdAnswer, jsonAnswer } from "./answer.ts";
import { abortedWith } from "./client-gone.ts";
import type { RestDeps } from "./deps.ts";
import { restContext } from "./execute.ts";
import { checkPart } from "./part-check.ts";
import { doneAnswer, noStore } from "./people-request.ts";
import { answers, creations } from "./responses.ts";
import { route, type RestRequest, type Route } from "./route.ts";
import * as schemas from "./schemas.ts";

const tag = "Tools and resources";

const keptBody = z
  .strictObject({
    query: z
      .string()
      .max(1_000)
      .refine((text) => text.trim() !== "", "has no words")
      .describe("As a person or model would ask."),
    tool: z.string().min(1).max(500).describe("The tool that should be found: `server:tool`, or another spelling."),
  })
  .meta({ id: "SearchToKeep" });

const rank = z
  .int()
  .nullable()
  .describe(`The tool's place, from 1; null where it is not among the first ${deepestPlace}.`);

const keptSearch = z
  .object({ id: z.string(), query: z.string(), tool: z.string(), rank, keptAt: z.string() })
  .meta({ id: "KeptSearch" });

const newKeptSearch = keptSearch
  .extend({
    toolExists: z.boolean().describe("False where the tool's server has not told yet what it offers."),
  })
  .meta({ id: "NewKeptSearch" });

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
      const kept = await deps.keptSearches(principal);
      return jsonAnswer({ searches: (await kept.of(principal.id)).map(toJson) }, noStore);
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
        "kept before. A tool that does not exist is refused, but not one of a server that has never been up. Only you " +
        "see it, a hundred are kept for each person, and it teaches the search nothing.",
      body: keptBody,
      responses: creations(newKeptSearch, "The search, with the tool's place.", [404, 409, 413, 415, 429, 503]),
    },
    async handle(request) {
      const { principal } = request;
      const { query, tool } = checkPart(keptBody, "body", request.body);
      const work = workOf(deps, request);
      const { path, toolExists } = await toolToFind(work.view, tool, deps.namesInTurns);
      const place = await placeNow(work, { query, tool: path });
      const kept = await deps.keptSearches(principal);
      const made = await kept.keep({ person: principal.id, query, tool: path, rank: place });
      const url = `${deps.publicUrl(request.raw)}/api/searches/${made.id}`;
      return createdAnswer(url, jsonAnswer({ ...toJson(made), toolExists }, noStore));
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
    async handle(request) {
      const { principal } = request;
      const own = await (await deps.keptSearches(principal)).of(principal.id);
      const { searches, degraded } = await runKept(workOf(deps, request), own);
      const shown = searches.map(({ rankNow, toolExists, first, ...search }) => ({
        ...toJson(search),
        ...{ rankNow, toolExists, first },
      }));
      return jsonAnswer({ searches: shown, degraded }, noStore);
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
      const kept = await deps.keptSearches(principal);
      if (!(await kept.remove(principal.id, params.id)))
        throw new GatewayError("KEPT_SEARCH_UNKNOWN", "you keep no search of this id");
      return doneAnswer();
    },
  });
}

function workOf(deps: RestDeps, { principal, response }: Pick<RestRequest, "principal" | "response">): KeptRunWork {
  const context = restContext(principal, abortedWith(response));
  return { performer: deps.performer, view: deps.viewOf(principal), context };
}

function toJson({ id, query, tool, rank: place, keptAtMs }: KeptSearch): z.output<typeof keptSearch> {
  return { id, query, tool, rank: place, keptAt: new Date(keptAtMs).toISOString() };
}
