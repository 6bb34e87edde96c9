import * as z from "zod";
import { hasRole } from "../../engine/policy/rights.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { Reader } from "../../records/calls/record-history.ts";
import type { PageQuery, TimeRange } from "../../store/record-store.ts";
import type { Services } from "../services.ts";
import * as schemas from "../schemas.ts";

/** Rows of one page, at most: as many as the store gives at once. */
export const mostPerPage = 1_000;

const time = z.string().max(40).optional();

/** Parameters that every list of records has. */
export const recordParameters = {
  from: time.describe("ISO 8601, or ms since 1970. Inclusive."),
  to: time.describe("Exclusive."),
  limit: schemas.clampedNumber({ least: 1, most: mostPerPage, standard: 100 }),
  cursor: schemas.cursor.describe("`nextCursor` of the page before, or the id of a row: older ones follow."),
  after: schemas.cursor.describe("The id of a row: only newer ones."),
};

/** Of lists that can be followed. */
export const followParameter = {
  follow: schemas.flag.describe(
    "`true`: lines of JSON, the newest rows with the oldest first, then those that come. A line with `missed` says " +
      "that some are left out; one with `lost`, how many lines of servers were not kept long enough to be sent.",
  ),
  newest: schemas
    .clampedNumber({ least: 0, most: 10_000, standard: 10 })
    .describe("With `follow`: how many of the newest rows are sent first."),
};

/** A text that rows have to have exactly. */
export const filter = z.string().max(4_096).optional();

interface Asked {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly after?: string | undefined;
}

/** Throws PARAMS_INVALID and CURSOR_INVALID. */
export function toPageQuery({ from, to, limit, cursor, after }: Asked): PageQuery & TimeRange {
  return { limit, before: readCursor(cursor), after: readCursor(after), ...toTimes({ from, to }) };
}

/** Throws PARAMS_INVALID. */
export function toTimes({ from, to }: Pick<Asked, "from" | "to">): TimeRange {
  return { fromMs: readTime("from", from), toMs: readTime("to", to) };
}

/** Rights do not depend on it, so that it is not signed. */
function readCursor(cursor: string | undefined): number | undefined {
  if (cursor === undefined || cursor === "") return undefined;
  const id = /^\d{1,16}$/.test(cursor) ? Number(cursor) : Number.NaN;
  if (!Number.isSafeInteger(id)) throw new GatewayError("CURSOR_INVALID", "the cursor is not one that was given out");
  return id;
}

/** The team whose records somebody may see because they run it; undefined for all others. */
export function runTeamOf({ people }: Pick<Services, "people">, principal: Principal): Reader["team"] {
  const { team } = principal;
  const row = team === null || !hasRole(principal, "team-admin") ? undefined : people()?.book.teamOf(team);
  return row === undefined ? undefined : { slug: row.slug, sinceMs: row.createdAtMs };
}

/**
 * An admin sees that others call, never the contents; an admin of a team sees that of the team's. The log of
 * somebody's own instance is what that person says and gets, too. A gateway without credentials has one person, who
 * also sees records of removed servers.
 */
export function toReader(services: Services, principal: Principal): Reader {
  const { id, roles } = principal;
  // The owner of the data directory can read the database itself.
  if (principal.via === "owner") return { id, calls: "all", contents: "all", logs: "all" };
  const isAlone = services.isOpen();
  const team = runTeamOf(services, principal);
  return {
    id,
    calls: isAlone || roles.includes("admin") ? "all" : team === undefined ? "own" : "team",
    team,
    contents: "own",
    logs: isAlone ? "all" : "own",
  };
}

/** Date.parse alone takes nearly any text that ends in a number for a day of the year 2001. */
const iso = /^\d{4}(?:-\d\d(?:-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?)?)?$/i;

/**
 * A time in a query, as ISO 8601 or ms since 1970, in ms; four digits are a year. Undefined when it is missing or
 * empty. Throws PARAMS_INVALID.
 */
export function readTime(field: string, text: string | undefined): number | undefined {
  if (text === undefined || text === "") return undefined;
  const isoMs = iso.test(text) ? Date.parse(text) : Number.NaN;
  const ms = Number.isNaN(isoMs) && /^\d{1,15}$/.test(text) ? Number(text) : isoMs;
  if (Number.isNaN(ms))
    throw new GatewayError("PARAMS_INVALID", `querystring.${field}: is neither a time in ISO 8601 nor a number of ms`, {
      data: { field: `querystring.${field}` },
      hint: "Compare the request with GET /openapi.json.",
    });
  return ms;
}
