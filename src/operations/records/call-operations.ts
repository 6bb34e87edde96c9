import * as z from "zod";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { auditName } from "../../kernel/principal.ts";
import { callToJson } from "../../records/calls/record-json.ts";
import { ownRecords, teamAdmin } from "../../engine/policy/rights.ts";
import { filter, followParameter, recordParameters, toPageQuery, toReader, toTimes } from "./record-query.ts";
import type { CallRow, PageQuery } from "../../store/record-store.ts";
import { answers, withExports } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation } from "../operation.ts";
import { records } from "../reply.ts";
import type { Services } from "../services.ts";

const tag = "Records";
const outcomes = ["ok", "tool_error", "error", "failed"] as const;

const call = z
  .object({
    id: z.string(),
    time: z.string().describe("When it ended: ISO 8601."),
    team: schemas.nullableText,
    principal: z.string(),
    client: schemas.nullableText.describe("What the client calls itself."),
    server: z.string().describe("Empty where none was named: a search, or a call of a tool that there is not."),
    instance: z.string().describe("Empty where `server` is."),
    installation: z.string().describe("Of what a team installed its id; otherwise the instance."),
    via: z.string().describe("Which way it came in."),
    method: z.string().describe("Of the protocol; `search` where tools were searched."),
    name: z.string().describe("Path of a tool, URI of a resource, name of a prompt; words of a search."),
    outcome: z.enum(outcomes).describe("`tool_error`: the tool failed; `error`: its server; `failed`: the gateway."),
    code: schemas.nullableText.describe("Of the gateway's failure, or the number of the server's error."),
    durationMs: z.number().describe("Without `waitMs`."),
    waitMs: z.number().describe("Waiting for the server's start, or for a person."),
    argumentTokens: z.int().describe("An estimate."),
    resultTokens: z.int().describe("Of what the client was given. An estimate."),
    isResultCut: z.boolean().describe("Whether it was cut to fit its budget."),
    hasBody: z.boolean().describe("Whether arguments and result were kept."),
    message: schemas.nullableText.describe("First line of the error; of a search, what it found."),
    user: schemas.nullableText.describe("What `principal` is called, where it is somebody of a team."),
    traceId: z.string().optional().describe("Of its trace; only where traces are on."),
    node: z.string().optional().describe("The node that served it; only in a cluster."),
    serverNode: z.string().optional().describe("The node that ran the server; only where that is another one."),
  })
  .meta({ id: "Call" });

const callList = z
  .object({ calls: z.array(call), nextCursor: schemas.nullableText.describe("Null at the end.") })
  .meta({ id: "CallList" });

const callDetails = call
  .extend({
    contents: z
      .enum(["shown", "not-kept", "not-yours"])
      .describe("`not-kept`: the server's `requestLogging` is not `full`, or newer calls took the place of this one."),
    body: z
      .object({
        arguments: z.string(),
        areArgumentsCut: z.boolean().describe("Whether this is only the beginning."),
        result: z.string(),
        isResultCut: z.boolean().describe("Whether this is only the beginning."),
      })
      .nullable()
      .describe("As text, with secrets taken out."),
  })
  .meta({ id: "CallDetails" });

const isTrue = z.enum(["true", "false"]).optional();

const callFilters = {
  team: filter,
  principal: filter.describe("Only an admin may name somebody else."),
  server: filter,
  instance: filter,
  installation: filter.describe("Of what a team installed: its id."),
  tool: filter.describe("`name` of the call."),
  client: filter,
  node: filter.describe("The node of a cluster that served it."),
  outcome: z.enum(outcomes).optional(),
  code: filter,
  failed: isTrue.describe("`true`: only those whose outcome is not `ok`."),
};
const callQuery = z.object({ ...callFilters, ...recordParameters, ...followParameter });
const { from: fromTime, to: toTime } = recordParameters;
/** A filter that is misspelt must not erase what it was to leave out. */
const eraseQuery = z.strictObject({
  ...callFilters,
  from: fromTime,
  to: toTime,
  all: isTrue.describe("`true`: without any filter, all that there are."),
});
const erasedCalls = z
  .object({ erased: z.int(), isWhole: z.boolean().describe("False if the caller left before the end.") })
  .meta({ id: "ErasedCalls" });

const columns = Object.keys(call.shape);

export const listCalls = operation({
  route: "GET /api/calls",
  right: ownRecords,
  query: callQuery,
  id: "listCalls",
  tag,
  summary: "Calls and searches that were made, newest first",
  description:
    "A page may have fewer rows than asked for although there are more, when a filter fits few: `nextCursor` " +
    "tells. As `application/x-ndjson` or `text/csv`, up to 100,000 rows at once.",
  responses: withExports(answers(callList, "One page.", [503])),
  run(services, request) {
    const { failed, from, to, limit, cursor, after, follow, newest, ...filters } = request.query;
    const page = toPageQuery({ from, to, limit, cursor, after });
    const asked = { ...filters, ...page, failed: failed === undefined ? undefined : failed === "true" };
    const reader = toReader(services, request.principal);
    const readCalls = async (part: Partial<PageQuery>) => await services.history.calls(reader, { ...asked, ...part });
    return records({
      name: "calls",
      file: "calls",
      columns,
      limit,
      before: page.before,
      read: readCalls,
      toJson: (row) => toJson(services, row),
      ...(follow
        ? {
            follow: {
              newest,
              wakenBy: ["mcp.request.logs", "call.recorded"],
              events: services.events,
              elsewhere: services.wakeElsewhere,
              read: readCalls,
            },
          }
        : {}),
    });
  },
});

const eraseCalls = operation({
  route: "DELETE /api/calls",
  right: teamAdmin,
  query: eraseQuery,
  id: "eraseCalls",
  tag,
  summary: "Erase calls, with what was said in them",
  description:
    "Those of one's own team; admins of the gateway erase everybody's. The filters are those of the list, and at " +
    "least one is needed, or `all`. Sums of usage stay. The audit says who erased what, and how much it was.",
  responses: answers(erasedCalls, "How many there were.", [415, 503]),
  async run(services, { query, principal, via, ip, signal }) {
    const { failed, from, to, all, ...texts } = query;
    const asked = {
      ...texts,
      ...toTimes({ from, to }),
      failed: failed === undefined ? undefined : failed === "true",
    };
    const named = Object.entries(asked).filter(([, value]) => value !== undefined);
    if (named.length === 0 && all !== "true")
      throw new GatewayError("PARAMS_INVALID", "no filter was given: with all=true, all calls are erased", {
        data: { field: "querystring.all" },
      });
    const facts = { actor: auditName(principal), via, team: principal.team, ip };
    const filters = Object.fromEntries(named);
    // Before anything is erased: an erasure that cannot be noted is not done.
    await services.audit.order({ ...facts, action: "calls.erase", detail: { filters } });
    let [erased, isWhole] = [0, false];
    const onErased = (count: number): void => void (erased += count);
    try {
      await services.history.erase(toReader(services, principal), asked, { signal, onErased });
      isWhole = !signal.aborted;
    } finally {
      // Rows that were erased before a failure are lost as well.
      await services.audit.order({ ...facts, action: "calls.erased", detail: { erased, isWhole } });
    }
    return { erased, isWhole };
  },
});

const showCall = operation({
  route: "GET /api/calls/{id}",
  right: ownRecords,
  params: z.object({ id: schemas.name }),
  id: "showCall",
  tag,
  summary: "One call, with arguments and result where they were kept",
  responses: answers(callDetails, "The call.", [404, 503]),
  async run(services, { principal, params: { id } }) {
    const number = /^\d{1,16}$/.test(id) ? Number(id) : Number.NaN;
    if (!Number.isSafeInteger(number)) throw new GatewayError("RECORD_UNKNOWN", "there is no such call");
    const found = await services.history.call(toReader(services, principal), number);
    const { contents, body } = found;
    return { ...toJson(services, found), contents, body };
  },
});

/** Those who see a call may know whose it is: it is theirs, or they manage the team. */
function toJson({ people }: Services, row: CallRow) {
  const user = people()?.book.members.get(row.principal)?.user.name ?? null;
  return { ...callToJson(row), user };
}

/** Calls that were made. Everybody sees their own; an admin sees that others called, not what was said. */
export const callOperations: readonly Operation[] = [listCalls, eraseCalls, showCall];
