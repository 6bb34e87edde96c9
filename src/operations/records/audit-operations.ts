import * as z from "zod";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { auditName, type Principal } from "../../kernel/principal.ts";
import { auditToJson } from "../../records/audit/audit-history.ts";
import { gatewayReading } from "../../engine/policy/rights.ts";
import type { Reader } from "../../records/calls/record-history.ts";
import { filter, recordParameters, runTeamOf, toPageQuery } from "./record-query.ts";
import { answers, withExports } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation } from "../operation.ts";
import { records } from "../reply.ts";
import type { Services } from "../services.ts";

const tag = "Records";
const outcomes = ["ok", "denied", "failed"] as const;

const auditEntry = z
  .object({
    seq: z.int().describe("Its place in the chain, from 1 without gaps."),
    time: z.string(),
    actor: z.string().describe("A principal, `owner` (of the data directory), `gateway`, or `unknown`."),
    via: z.string(),
    team: schemas.nullableText,
    action: z.string(),
    object: z.string(),
    outcome: z.enum(outcomes),
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
    entries: z.int().describe("Those that are there, and in order."),
    pruned: z
      .object({ seq: z.int(), hash: z.string(), time: z.string() })
      .nullable()
      .describe("The last of the entries that were removed for their age, and when they were."),
    last: schemas.nullableText.describe("Hash of the last entry: kept elsewhere, it shows that nothing was cut off."),
    brokenAt: z.int().nullable().describe("The first entry that was changed, or that follows one that is missing."),
    reason: schemas.nullableText,
    lost: z.int().describe("Entries that could not be written since the gateway started."),
  })
  .meta({ id: "AuditCheck" });

const auditQuery = z.object({
  actor: filter,
  action: filter,
  outcome: z.enum(outcomes).optional(),
  team: filter,
  ...recordParameters,
});

const columns = Object.keys(auditEntry.shape);

export const listAudit = operation({
  route: "GET /api/audit",
  right: { role: "team-admin", scope: "mcp:read" },
  query: auditQuery,
  id: "listAudit",
  tag,
  summary: "The audit, newest first",
  description:
    "A page may have fewer entries than asked for although there are more: `nextCursor` tells. As " +
    "`application/x-ndjson` or `text/csv`, up to 100,000 entries at once; each export is an entry itself.",
  responses: withExports(answers(auditList, "One page.", [503])),
  run(services, request) {
    const { principal, query, via } = request;
    const { from, to, limit, cursor, after, ...filters } = query;
    const page = toPageQuery({ from, to, limit, cursor, after });
    const own = visibleTeam(services, principal);
    const since = own === undefined ? {} : { team: own.slug, fromMs: Math.max(own.sinceMs, page.fromMs ?? 0) };
    // A filter for any other team finds nothing, whether or not there is one.
    const isForeign = own !== undefined && filters.team !== undefined && filters.team !== own.slug;
    const [actor, { team }] = [auditName(principal), principal];
    return records({
      name: "entries",
      file: "audit",
      columns,
      limit,
      before: page.before,
      read: async (part) =>
        isForeign ? { rows: [], next: null } : await services.audit.page({ ...filters, ...page, ...since, ...part }),
      toJson: auditToJson,
      beforeExport: async (format) =>
        await services.audit.order({ actor, team, via, action: "audit.export", detail: { format, cursor } }),
    });
  },
});

export const verifyAudit = operation({
  route: "GET /api/audit/verify",
  right: gatewayReading,
  id: "verifyAudit",
  tag,
  summary: "Whether anything in the audit was changed or removed",
  responses: answers(auditCheck, "What was found.", [503]),
  async run(services) {
    return await services.audit.verify();
  },
});

/** Undefined for those who see all of it. Throws FORBIDDEN. */
function visibleTeam(services: Services, principal: Principal): Reader["team"] {
  if (services.isOpen() || principal.roles.includes("admin")) return undefined;
  const team = runTeamOf(services, principal);
  if (team === undefined) throw new GatewayError("FORBIDDEN", "only an admin may see that");
  return team;
}

/** Who changed what, and who was denied: for those who run the gateway, and of a team for those who run the team. */
export const auditOperations: readonly Operation[] = [listAudit, verifyAudit];
