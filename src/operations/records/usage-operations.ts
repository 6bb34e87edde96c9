import * as z from "zod";
import { exposureNames } from "../../config/rows/exposures.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { Reader } from "../../records/calls/record-history.ts";
import { minuteMs } from "../../records/calls/call-minutes.ts";
import type { UsageAnswer } from "../../records/usage/usage-log.ts";
import { latencyBoundsMs } from "../../store/record-rows.ts";
import { usageDimensions, type UsageDimension, type UsageQuery, type UsageSum } from "../../store/record-store.ts";
import { ownRecords } from "../../engine/policy/rights.ts";
import { filter, runTeamOf, readTime } from "./record-query.ts";
import { answers, type Responses } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { toCsv } from "./csv.ts";
import { text } from "../reply.ts";
import { operation, type Operation } from "../operation.ts";
import type { Services } from "../services.ts";

const tag = "Usage";

const usageGroup = z
  .object({
    group: z
      .record(z.string(), schemas.nullableText)
      .describe("Values of `by`; `hour` and `day` are the time at which they begin. `code` is empty for success."),
    calls: z.int(),
    errors: z.int().describe("Calls that did not go well: their `code` is not empty."),
    lastHour: z.string().describe("When the latest hour with a call begins: what is counted is counted by the hour."),
    durationMs: z.object({ sum: z.number(), max: z.number() }).describe("Without waiting for a start or a person."),
    latency: z.array(z.int()).describe("Calls by duration: one more than `latencyBoundsMs`, for what took longer."),
    argumentTokens: z.int().describe("An estimate."),
    resultTokens: z.int().describe("Of what clients were given. An estimate."),
    resultsCut: z.int().describe("Results that were cut to fit their budget."),
  })
  .meta({ id: "UsageGroup" });

const usageList = z
  .object({
    from: z.string(),
    to: z.string(),
    since: schemas.nullableText.describe("What was before this time is not known; null where all that was is."),
    by: z.array(z.enum(usageDimensions)),
    latencyBoundsMs: z.array(z.int()),
    usage: z.array(usageGroup),
    names: z.record(z.string(), z.string()).describe("Of people whose ids are among the groups: `ann (red)`."),
  })
  .meta({ id: "UsageList" });

const usageMinutes = z
  .object({
    since: z.string().describe("When this gateway was started: what was before is not among them."),
    minutes: z.array(z.object({ from: z.string().describe("When it begins."), calls: z.int(), errors: z.int() })),
  })
  .meta({ id: "UsageMinutes" });

const sum = { tokens: z.int(), isExact: z.boolean().describe("False while an estimate is in it.") };
export const tokenSum = z.object(sum).meta({ id: "TokenSum" });

const tokenReport = z
  .object({
    tokenizer: z.literal("o200k_base"),
    flat: tokenSum.describe("What the list and the instructions of `/mcp/flat` cost now."),
    here: z.object({ exposure: z.string(), ...sum }).describe("What those of this exposure cost."),
    savedAtStart: tokenSum.describe("`flat` less `here`. May be negative."),
    spentOnFinding: z
      .object({
        sinceMs: z.number().describe("Midnight in UTC, or the start of the gateway."),
        tokens: z.int(),
        answers: z.int().describe("Answers of discover_mcp_tools."),
        answerTokens: z.int(),
        wrappedCalls: z.int().describe("Calls through execute_mcp_tool."),
        wrappingTokens: z.int().describe("What models wrote more for these calls."),
      })
      .describe("Estimates."),
    sessions: z
      .object({
        count: z.int(),
        sinceMs: z.number().nullable().describe("When the first of them began."),
        medianNet: z.int().nullable().describe("Saved at the start less spent on finding. May be negative."),
        worstNet: z.int().nullable(),
        isExact: z.boolean(),
        byHour: z
          .array(z.object({ fromMs: z.number().describe("When the hour begins."), sessions: z.int(), net: z.int() }))
          .describe(
            "Hours in which sessions began, the oldest first: the sum of what these saved less what they spent.",
          ),
        unknown: z
          .array(z.object({ client: z.string(), sessions: z.int() }))
          .describe("Clients that keep definitions from their models by themselves: what they save is unknown."),
      })
      .describe("Sessions that asked for the list of tools of this exposure, in the last thirty days."),
    servers: z
      .array(z.object({ server: z.string(), tools: z.int(), isKnown: z.boolean(), ...sum }))
      .describe("`isKnown` is false while tools have never been listed, so that what they cost is not known."),
    phrases: z
      .object({ config: z.int(), server: z.int(), book: z.int(), enrich: z.int(), none: z.int() })
      .describe("Tools of this list by who wrote the phrases they are found by."),
    enrichment: z
      .object({
        state: z.string(),
        asked: z.int().describe("Questions to the model, one tool each, since the first start."),
        failed: z.int().describe("Those that brought no phrases."),
        promptTokens: z.int(),
        answerTokens: z.int(),
        isExact: z.boolean().describe("Whether every answer said what it took; otherwise some of it is estimated."),
        waiting: z.int().describe("Tools that shall still be asked for."),
        givenUp: z.int().describe("Tools for which the model wrote nothing of use."),
      })
      .nullable()
      .describe("What a model that writes phrases has cost (`search.enrich`); null without one."),
  })
  .meta({ id: "TokenReport" });

const time = z.string().max(40).optional();

const usageQuery = z.object({
  from: time.describe("ISO 8601, or ms since 1970; rounded down to the hour. Default: a day before `to`."),
  to: time.describe("Rounded up to the hour. Default: now."),
  by: z
    .string()
    .max(100)
    .optional()
    .describe(`Up to three, separated by commas: ${usageDimensions.join(", ")}. Default: one sum of everything.`),
  team: filter,
  principal: filter.describe("Only an admin may name somebody else."),
  server: filter,
  instance: filter,
  installation: filter.describe("Of what a team installed: its id."),
  tool: filter,
  client: filter,
  limit: schemas.clampedNumber({ least: 1, most: 10_000, standard: 1_000 }),
  format: z.enum(["json", "csv"]).optional().describe("Default: by `Accept`."),
});
type Asked = z.output<typeof usageQuery>;

const { 200: ok, ...failures } = answers(usageList, "Sums, in the order of time, or by calls.");

export const showUsage = operation({
  route: "GET /api/usage",
  right: ownRecords,
  query: usageQuery,
  id: "showUsage",
  tag,
  summary: "Calls, errors, durations and tokens by the hour",
  responses: {
    200: { description: ok?.description ?? "", content: { ...ok?.content, "text/csv": z.string() } },
    ...failures,
  } as Responses<z.output<typeof usageList>>,
  async run(services, { principal, query, accept }) {
    const own = runTeamOf(services, principal);
    const wanted = toQuery(services, query);
    const { isForeign, ...whom } = visible(services, principal, own, wanted);
    const asked = { ...wanted, ...whom };
    const found = isForeign ? { sums: [], sinceMs: null } : await services.usage.read(asked);
    const isCsv = query.format === undefined ? acceptsCsv(accept) : query.format === "csv";
    if (isCsv) return text("text/csv", toCsvText(asked.by, found.sums));
    return { ...toUsageList(asked, found), names: namesOf(services, asked.by, found.sums) };
  },
});

const showMinutes = operation({
  route: "GET /api/usage/minutes",
  right: ownRecords,
  id: "showUsageMinutes",
  tag,
  summary: "Calls and errors of the last hour by the minute",
  description:
    "Counted by this gateway since it was started, whether or not anything is recorded. Everybody sees their own; " +
    "an admin sees everybody's, and an admin of a team the team's.",
  responses: answers(usageMinutes, "Sixty minutes, the oldest first; the last is the one of now."),
  run(services, { principal }) {
    const { startedMs } = services.usage;
    const asked = { fromMs: startedMs };
    const {
      principal: of,
      team,
      fromMs = startedMs,
    } = visible(services, principal, runTeamOf(services, principal), asked);
    const shown = services.usage.minutes({ principal: of, team }).map(({ atMs, ...counts }) => {
      const isKnown = atMs + minuteMs > fromMs;
      return { from: toIso(atMs), ...(isKnown ? counts : { calls: 0, errors: 0 }) };
    });
    return { since: toIso(startedMs), minutes: shown };
  },
});

export const showTokens = operation({
  route: "GET /api/usage/tokens",
  right: ownRecords,
  query: z.object({
    exposure: z.enum(exposureNames).optional().describe("Default: that of `/mcp`."),
    principal: filter.describe("Whose sessions and spending. Only an admin may name somebody else."),
    wait: schemas
      .clampedNumber({ least: 0, most: 10, standard: 0 })
      .describe("Seconds to wait for definitions that are not counted yet."),
  }),
  id: "showTokens",
  tag,
  summary: "What definitions cost the caller, and what finding tools saves",
  description:
    "Definitions that are not counted yet are counted now, and are estimated until then: ask again when " +
    "`isExact` is false.",
  responses: answers(tokenReport, "Tokens of definitions, and of finding."),
  async run(services, { principal, query }) {
    const of = whose(services, principal, query.principal);
    const waitMs = query.wait * 1_000;
    return await services.tokens({ principal, exposure: query.exposure, of, waitMs });
  },
});

interface Visible {
  readonly principal: string | undefined;
  readonly team: string | undefined;
  readonly fromMs?: number;
  /** Another team's were asked for: nothing is found, whether or not there is one. */
  readonly isForeign: boolean;
}

/**
 * Whose sums are read. Those who run a team see all of it since it was made; sums are of hours, so that those of a team
 * that had the same name within that hour are among them. Throws FORBIDDEN.
 */
function visible(
  services: Services,
  principal: Principal,
  own: Reader["team"],
  { principal: asked, team, fromMs }: Pick<UsageQuery, "principal" | "fromMs"> & { readonly team?: string | undefined },
): Visible {
  const seesAll = services.isOpen() || principal.roles.includes("admin");
  if (seesAll || own === undefined || asked === principal.id)
    return { principal: whose(services, principal, asked), team, isForeign: false };
  return {
    principal: asked,
    team: own.slug,
    fromMs: Math.max(fromMs, own.sinceMs),
    isForeign: team !== undefined && team !== own.slug,
  };
}

/** Undefined: everybody's. Throws FORBIDDEN. */
function whose(services: Services, { id, roles }: Principal, asked: string | undefined): string | undefined {
  if (services.isOpen() || roles.includes("admin")) return asked;
  if (asked !== undefined && asked !== id)
    throw new GatewayError("FORBIDDEN", "only an admin may see what others used");
  return id;
}

const dayMs = 86_400_000;

/** Throws PARAMS_INVALID. */
function toQuery({ clock }: Services, { from, to, by, format: _format, ...filters }: Asked): UsageQuery {
  const toMs = readTime("to", to) ?? clock.now();
  const fromMs = readTime("from", from) ?? toMs - dayMs;
  if (fromMs > toMs) throw invalid("from", "is after `to`");
  return { ...filters, fromMs, toMs, by: readBy(by) };
}

function readBy(text: string | undefined): readonly UsageDimension[] {
  const names = (text ?? "").split(",").filter((name) => name !== "");
  const by = usageDimensions.filter((dimension) => names.includes(dimension));
  if (names.length > 3) throw invalid("by", "names more than three");
  if (by.length !== names.length) throw invalid("by", `takes, each once: ${usageDimensions.join(", ")}`);
  return names as UsageDimension[];
}

function invalid(name: string, problem: string): GatewayError {
  const field = `querystring.${name}`;
  const hint = "Compare the request with GET /openapi.json.";
  return new GatewayError("PARAMS_INVALID", `${field}: ${problem}`, { data: { field }, hint });
}

function acceptsCsv(accept: string | undefined): boolean {
  return accept !== undefined && /(?:^|,)\s*text\/csv\b/i.test(accept);
}

function toUsageList(
  { fromMs, toMs, by }: UsageQuery,
  { sums, sinceMs }: UsageAnswer,
): Omit<z.input<typeof usageList>, "names"> {
  return {
    from: toIso(fromMs),
    to: toIso(toMs),
    since: sinceMs === null ? null : toIso(sinceMs),
    by: [...by],
    latencyBoundsMs: [...latencyBoundsMs],
    usage: sums.map((found) => ({
      group: Object.fromEntries(by.map((dimension, at) => [dimension, toValue(dimension, found.group[at])])),
      calls: found.calls,
      errors: found.errors,
      lastHour: toIso(found.lastHourMs),
      durationMs: { sum: found.durationMsSum, max: found.durationMsMax },
      latency: [...found.buckets],
      ...{ argumentTokens: found.argumentTokens, resultTokens: found.resultTokens, resultsCut: found.cut },
    })),
  };
}

function namesOf(
  { people }: Services,
  by: readonly UsageDimension[],
  sums: readonly UsageSum[],
): Readonly<Record<string, string>> {
  const at = by.indexOf("principal");
  const members = people()?.book.members;
  const named = sums.flatMap(({ group }) => {
    const member = at === -1 ? undefined : members?.get(group[at] ?? "");
    return member === undefined ? [] : [[member.row.id, `${member.user.name} (${member.team.slug})`] as const];
  });
  return Object.fromEntries(named);
}

function toValue(dimension: UsageDimension, value: string | null | undefined): string | null {
  const isTime = dimension === "hour" || dimension === "day";
  return isTime && typeof value === "string" ? toIso(Number(value)) : (value ?? null);
}

function toIso(ms: number): string {
  // The last moment that a date can be.
  return new Date(Math.min(ms, 8.64e15)).toISOString();
}

function toCsvText(by: readonly UsageDimension[], sums: readonly UsageSum[]): string {
  const head = ["calls", "errors", "duration_ms_sum", "duration_ms_max", "argument_tokens", "result_tokens"];
  const buckets = [...latencyBoundsMs.map((bound) => `calls_up_to_${bound}_ms`), "calls_longer"];
  const rows = sums.map((found) => [
    ...by.map((dimension, at) => toValue(dimension, found.group[at]) ?? ""),
    ...[found.calls, found.errors, found.durationMsSum, found.durationMsMax],
    ...[found.argumentTokens, found.resultTokens, found.cut, ...found.buckets],
  ]);
  return toCsv([[...by, ...head, "results_cut", ...buckets], ...rows]);
}

/** What was used, and what it cost. Everybody sees their own; an admin sees everybody's. */
export const usageOperations: readonly Operation[] = [showUsage, showMinutes, showTokens];
