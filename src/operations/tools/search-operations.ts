import * as z from "zod";
import { readDiscoverArguments } from "../../catalog/exposure/meta/meta-arguments.ts";
import { toSearchReport } from "../../catalog/exposure/discover/search-report.ts";
import { fieldNames } from "../../catalog/search/language/fields.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";
import { reading } from "../../engine/policy/rights.ts";
import { restContext } from "../request/tracked.ts";
import { answers } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation } from "../operation.ts";
import type { Services } from "../services.ts";

const text = z.string().max(1_000_000);

const searchBody = z
  .object({
    query: text.optional(),
    queries: z.array(text).optional().describe("Several needs at once, in place of `query`."),
    limit: z.union([z.number(), z.string()]).optional().describe("1 to 50; 10 when left out."),
    server: z.string().max(4_096).optional(),
    readOnly: z.boolean().optional().describe("Only tools that `execute_read_only_mcp_tool` takes."),
    only: z
      .enum(["words", "meaning"])
      .optional()
      .describe("Leave out what embeddings say (`search.embeddings`), or all but that, to compare them with both."),
    explain: z.boolean().optional().describe("Also say why each tool was found."),
    detail: z
      .enum(["names", "signature", "schema"])
      .optional()
      .describe("How much of each tool a model is told; it says what the answer costs. `signature` when left out."),
    learn: z
      .boolean()
      .optional()
      .describe("Whether tools that are called after this count as found by it. A trial teaches nothing: false."),
    profile: z.string().max(4_096).optional().describe("Search what this profile has (`toolyard.profiles`)."),
    as: z.string().max(4_096).optional().describe("Search as this person does. For admins."),
  })
  .meta({ id: "SearchTrial" });

const share = z.number().describe("Part of the tool's score.");

const explanation = z
  .object({
    words: z
      .array(
        z.object({
          asked: z.string().describe("As the query has it."),
          share,
          found: z.array(
            z.object({
              word: z.string().describe("As the tool has it."),
              relation: z.enum(["word", "synonym", "hint", "spelling"]),
              fields: z.array(z.enum(fieldNames)),
              share,
            }),
          ),
        }),
      )
      .describe("Words of the query and what they were found in, or stood for."),
    phrases: z
      .array(z.object({ asked: z.string(), where: z.enum(["name", "text"]), share }))
      .describe("Neighbours in the query that are neighbours in the tool."),
    coverage: z.object({ ofName: z.number().describe("How much of its name was asked for, 0 to 1."), share }),
    intent: z.object({
      asked: z.array(z.enum(["read", "create", "update", "delete"])),
      does: z.enum(["read", "create", "update", "delete"]).nullable(),
      share: z.number().describe("Below 0 where the tool does something else than is asked."),
    }),
    serverFit: z.object({ share }),
    learned: z
      .object({ likeness: z.number().describe("How like the most similar of them is, 0 below .3."), share })
      .describe("What such queries, or such words, led to before."),
  })
  .describe("Where the score comes from: all shares together are 1.")
  .meta({ id: "Explanation" });

const searchReport = z
  .object({
    engine: z.enum(["lexical", "fuse"]).nullable().describe("Null when the search failed."),
    meaning: z
      .enum(["used", "left-out", "none"])
      .describe("Whether the meaning of words counted; `none` without `search.embeddings`."),
    search_time_ms: z.number(),
    answer_tokens: z.int().describe("What discover_mcp_tools would cost a model for this; an estimate."),
    answer: z
      .string()
      .optional()
      .describe("What discover_mcp_tools would answer, as a model reads it; with `explain`."),
    query_cut: z.boolean(),
    degraded: schemas.nullableText,
    failed: schemas.nullableText,
    queries: z.array(
      z.object({
        query: z.string(),
        match: z.enum(["good", "weak", "none"]).nullable(),
        total_found: z.int(),
        tools: z.array(
          z.object({
            tool_path: z.string(),
            server: z.string(),
            status: z.string(),
            description: z.string(),
            input: z.string().describe("Compact signature."),
            relevance_score: z.number().describe("A distance: 0 is a perfect match, 1 is none."),
            score: z.number(),
            explanation: explanation.optional(),
          }),
        ),
      }),
    ),
    unavailable: z
      .array(z.object({ server: z.string(), status: z.string(), reason: z.string(), action: z.string() }))
      .describe("Servers that may be what was asked for, but cannot be used now, as a model is told of them."),
    unavailable_others: z.int().describe("How many other servers cannot be used now."),
  })
  .meta({ id: "SearchReport" });

export interface AskedPerson {
  /** An id, the name of a user who is in one team, or `name@team`. */
  readonly id: string;
  /** The field of the request that names the person. */
  readonly field: string;
}

/** Throws FORBIDDEN for all but admins, and PARAMS_INVALID when no person has that name. */
export async function readPerson(
  services: Services,
  asking: Principal,
  { id, field }: AskedPerson,
  signal: AbortSignal,
): Promise<Principal> {
  if (id === asking.id) return asking;
  const isNarrow = asking.only !== undefined || asking.profile !== undefined;
  if (isNarrow || (!services.isOpen() && !asking.roles.includes("admin")))
    throw new GatewayError("FORBIDDEN", "only an admin may ask as somebody else");
  const person = await services.personOf(membershipOf(services, id) ?? id, signal);
  if (person === undefined)
    throw new GatewayError("PARAMS_INVALID", `${field}: there is nobody called ${JSON.stringify(id.slice(0, 80))}`, {
      data: { field },
    });
  await services.fleet.adopting(person);
  return person;
}

/** The membership of a user who is named; undefined where there is none, or several. */
function membershipOf(services: Services, name: string): string | undefined {
  const [user = "", team] = name.split("@");
  const book = services.people()?.book;
  const members = book?.membersOf(book.userNamed(user)?.id ?? "") ?? [];
  const [only, other] = members.filter((member) => team === undefined || member.team.slug === team);
  return other === undefined ? only?.row.id : undefined;
}

export const trySearch = operation({
  route: "POST /api/search",
  right: reading,
  id: "trySearch",
  tag: "Tools and resources",
  summary: "Try a search, and see why each tool was found",
  description:
    "The ranking is that of discover_mcp_tools. With `as`, an admin sees what it is for somebody else, whose " +
    "past use counts.",
  body: searchBody,
  responses: answers(searchReport, "What was found.", [404, 413, 415, 429, 503]),
  async run(services, { principal, body, signal }) {
    const { as, profile, explain = false, learn = false, only, ...given } = body;
    const asked =
      as === undefined ? principal : await readPerson(services, principal, { id: as, field: "body.as" }, signal);
    const person = profile === undefined ? asked : services.profiles.enter(asked, profile);
    const request = { ...readDiscoverArguments(given), explain, isTrial: !learn, only };
    if (request.queries.every((query) => query === ""))
      throw new GatewayError("PARAMS_INVALID", "body.query: has no words", { data: { field: "body.query" } });
    const work = { view: services.viewOf(person), context: restContext(person, signal) };
    const found = await services.performer.perform({ kind: "discover", request }, work);
    if (found.kind === "servers") throw new GatewayError("INTERNAL", "a search was answered with servers");
    return toSearchReport(found, services.settings().results.discoverTokens);
  },
});

/** Searching as a person who wants to see how an answer comes about. */
export const searchOperations: readonly Operation[] = [trySearch];
