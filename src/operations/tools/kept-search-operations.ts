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
import { restContext } from "../request/tracked.ts";
import { answers, creations } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation, type OperationRequest } from "../operation.ts";
import { created, done } from "../reply.ts";
import type { Services } from "../services.ts";

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
        toolExists: z.boolean().describe("Whether the caller may call a tool of this path now."),
        first: schemas.nullableText.describe("The tool that is found first now; null where nothing is."),
      }),
    ),
    degraded: schemas.nullableText.describe("What the search could not use this time."),
  })
  .meta({ id: "KeptSearchRun" });

const listThem = operation({
  route: "GET /api/searches",
  right: ownRecords,
  id: "listKeptSearches",
  tag,
  summary: "Your searches that are kept as tests",
  responses: answers(keptSearchList, "Each with the tool's place when it was kept."),
  async run(services, { principal }) {
    const kept = await services.keptSearches(principal);
    return { searches: (await kept.of(principal.id)).map(toJson) };
  },
});

export const keepOne = operation({
  route: "POST /api/searches",
  right: ownWork,
  id: "keepSearch",
  tag,
  summary: "Keep a search as a test",
  description:
    "The search is made, and the tool's place is kept with it. The same words for the same tool replace what was " +
    "kept before. A tool that does not exist is refused, but not one of a server that has never been up. Only you " +
    "see it, a hundred are kept for each person, and it teaches the search nothing.",
  body: keptBody,
  responses: creations(newKeptSearch, "The search, with the tool's place.", [404, 409, 413, 415, 429, 503]),
  async run(services, request) {
    const { principal } = request;
    const { query, tool } = request.body;
    const work = workOf(services, request);
    const { path, toolExists } = await toolToFind(work.view, tool, services.namesInTurns);
    const place = await placeNow(work, { query, tool: path });
    const kept = await services.keptSearches(principal);
    const made = await kept.keep({ person: principal.id, query, tool: path, rank: place });
    return created(`/api/searches/${made.id}`, { ...toJson(made), toolExists });
  },
});

export const runThem = operation({
  route: "POST /api/searches/run",
  right: ownRecords,
  id: "runKeptSearches",
  tag,
  summary: "Run your kept searches again",
  description: "What stands where now, beside where it stood. Nothing is learned, and nothing is kept of it.",
  responses: answers(keptSearchRun, "All of them, in the order in which they were kept.", [415, 429, 503]),
  async run(services, request) {
    const { principal } = request;
    const own = await (await services.keptSearches(principal)).of(principal.id);
    const { searches, degraded } = await runKept(workOf(services, request), own);
    const shown = searches.map(({ rankNow, toolExists, first, ...search }) => ({
      ...toJson(search),
      ...{ rankNow, toolExists, first },
    }));
    return { searches: shown, degraded };
  },
});

export const removeOne = operation({
  route: "DELETE /api/searches/{id}",
  right: ownWork,
  params: z.object({ id: schemas.name }),
  id: "removeKeptSearch",
  tag,
  summary: "Keep a search no longer",
  responses: answers(z.object({ done: z.boolean() }), "It is not kept any more.", [404, 415, 503]),
  async run(services, { principal, params }) {
    const kept = await services.keptSearches(principal);
    if (!(await kept.remove(principal.id, params.id)))
      throw new GatewayError("KEPT_SEARCH_UNKNOWN", "you keep no search of this id");
    return done;
  },
});

function workOf(
  services: Services,
  { principal, signal }: Pick<OperationRequest, "principal" | "signal">,
): KeptRunWork {
  const context = restContext(principal, signal);
  return { performer: services.performer, view: services.viewOf(principal), context };
}

function toJson({ id, query, tool, rank: place, keptAtMs }: KeptSearch): z.output<typeof keptSearch> {
  return { id, query, tool, rank: place, keptAt: new Date(keptAtMs).toISOString() };
}

/** Searches that people keep as tests: each sees and runs their own. */
export const keptSearchOperations: readonly Operation[] = [listThem, keepOne, runThem, removeOne];
