import * as z from "zod";
import { GatewayError } from "../../kernel/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";
import { auditColumns, auditToCells, auditToJson, auditToLine, type AuditJson } from "../../records/audit-json.ts";
import { jsonAnswer, type Answer } from "./answer.ts";
import { toCsv } from "./csv.ts";
import type { RestDeps } from "./deps.ts";
import { answers } from "./responses.ts";
import { route, type Route } from "./route.ts";
import * as schemas from "./schemas.ts";

const tag = "Records";

const auditEntry = z
  .object({
    seq: z.int().describe("Its place in the chain, from 1 without gaps."),
    time: z.string(),
    actor: z.string().describe("A principal, `owner` (of the data directory), `gateway`, or `unknown`."),
    via: z.string(),
    team: schemas.nullableText,
    action: z.string(),
    object: z.string(),
    outcome: z.enum(["ok", "denied", "failed"]),
    ip: schemas.nullableText,
    detail: z.string().describe("A JSON object, as the text that was sealed."),
    prev: z.string().describe("The hash of the entry before."),
    hash: z.string().describe("HMAC-SHA-256 over the entry and `prev`, with a key of the data directory."),
  })
  .meta({ id: "AuditEntry" });

const auditList = z
  .object({ entries: z.array(auditEntry), nextCursor: schemas.nullableText.describe("Null at the end.") })
  .meta({ id: "AuditList" });

const auditCheck = z
  .object({
    isWhole: z.boolean(),
    entries: z.int(),
    last: schemas.nullableText.describe("Hash of the last entry: kept elsewhere, it shows that nothing was cut off."),
    brokenAt: z.int().nullable().describe("The first entry that was changed, or that follows one that is missing."),
    reason: schemas.nullableText,
    lost: z.int().describe("Entries that could not be written since the gateway started."),
  })
  .meta({ id: "AuditCheck" });

const filter = z.string().max(4_096).optional();
const time = z.string().max(40).optional();
const auditQuery = z.object({
  actor: filter,
  action: filter,
  outcome: z.enum(["ok", "denied", "failed"]).optional(),
  team: filter,
  from: time.describe("ISO 8601. Inclusive."),
  to: time.describe("Exclusive."),
  format: z.enum(["json", "ndjson", "csv"]).optional().describe("Header `Next-Cursor` has the cursor of the others."),
  limit: schemas.clampedNumber({ least: 1, most: 1_000, standard: 100 }),
  cursor: z.string().max(16).optional().describe("`nextCursor` of the page before: older ones follow."),
});

/** Who changed what, and who was denied. For those who run the gateway only. */
export function createAuditRoutes(deps: RestDeps): readonly Route[] {
  return [listAudit(deps), verifyAudit(deps)];
}

function listAudit(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/audit",
    query: auditQuery,
    operation: {
      id: "listAudit",
      tag,
      summary: "The audit, newest first",
      description: "A page may have fewer entries than asked for although there are more: the cursor tells.",
      responses: answers(auditList, "One page.", [503]),
    },
    async handle({ principal, query }) {
      requireAdmin(deps, principal);
      const { format = "json", from, to, cursor, ...asked } = query;
      const range = { fromMs: readTime("from", from), toMs: readTime("to", to), before: readCursor(cursor) };
      if (format !== "json") {
        const { id: actor, team } = principal;
        await deps.audit.order({ actor, team, via: "rest", action: "audit.export", detail: { format, cursor } });
      }
      const { rows, next } = await deps.audit.page({ ...asked, ...range });
      const nextCursor = next === null ? null : String(next);
      const entries = rows.map(auditToJson);
      if (format === "json") return jsonAnswer({ entries, nextCursor }, noStore);
      return toExport(format, entries, nextCursor);
    },
  });
}

const noStore = { "Cache-Control": "no-store" };

function toExport(format: "ndjson" | "csv", entries: readonly AuditJson[], nextCursor: string | null): Answer {
  const [type, body] =
    format === "csv"
      ? (["text/csv", toCsv([auditColumns, ...entries.map(auditToCells)])] as const)
      : (["application/x-ndjson", entries.map(auditToLine).join("")] as const);
  const headers = {
    ...noStore,
    "Content-Type": `${type}; charset=utf-8`,
    "Content-Disposition": `attachment; filename="audit.${format}"`,
    ...(nextCursor === null ? {} : { "Next-Cursor": nextCursor }),
  };
  return { headers, body };
}

function verifyAudit(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/audit/verify",
    operation: {
      id: "verifyAudit",
      tag,
      summary: "Whether anything in the audit was changed or removed",
      responses: answers(auditCheck, "What was found.", [503]),
    },
    async handle({ principal }) {
      requireAdmin(deps, principal);
      return jsonAnswer(await deps.audit.verify(), noStore);
    },
  });
}

function requireAdmin(deps: RestDeps, principal: Principal): void {
  if (!deps.isOpen() && !principal.roles.includes("admin"))
    throw new GatewayError("FORBIDDEN", "only an admin may see that");
}

function readCursor(cursor: string | undefined): number | undefined {
  if (cursor === undefined || cursor === "") return undefined;
  if (!/^\d{1,15}$/.test(cursor)) throw new GatewayError("CURSOR_INVALID", "the cursor is not one that was given out");
  return Number(cursor);
}

function readTime(field: string, text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  const ms = Date.parse(text);
  if (Number.isNaN(ms))
    throw new GatewayError("PARAMS_INVALID", `querystring.${field}: is not a time in ISO 8601`, {
      data: { field: `querystring.${field}` },
      hint: "Compare the request with GET /openapi.json.",
    });
  return ms;
}
