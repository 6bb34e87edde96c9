import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { noTeam } from "../../engine/policy/rights.ts";
import type { ChangeActor } from "../../people/directory/change-queue.ts";
import type { MadeToken } from "../../people/directory/people-lookup.ts";
import type { PeopleChanges } from "../../people/directory/people-changes.ts";
import { auditName } from "../../kernel/principal.ts";
import type { TeamRow } from "../../store/people-rows.ts";
import type { Services, RestPeople } from "../services.ts";
import type { OpenRequest } from "../operation.ts";

/** Throws CONFIG_INVALID where the people are those of the configuration. */
export function requirePeople(services: Pick<Services, "people">): RestPeople {
  const people = services.people();
  if (people !== undefined) return people;
  throw new GatewayError("CONFIG_INVALID", "team mode is off: this gateway was started without --team", {
    hint: "Start it with `toolyard serve --team`, or name people in the configuration.",
  });
}

/** What the sender of a request may do with people; the audit names the sender. */
export function changesBy(services: Services, asking: Sender): PeopleChanges {
  return requirePeople(services).changes(senderOf(asking));
}

/** The facts of a request that say who sent it. */
type Sender = Pick<OpenRequest, "via" | "ip" | "principal">;

/** The sender of a request, as the audit names them. */
export function senderOf({ via, ip, principal }: Sender): ChangeActor {
  if (principal === undefined) return { via, ip, id: "unknown", user: null, isAdmin: false };
  const { user, roles } = principal;
  return { via, ip, id: auditName(principal), user, isAdmin: roles.includes("admin") };
}

/** The team of a path whose right was checked. */
export function teamAt({ book }: RestPeople, slug: string): TeamRow {
  const team = book.teamOf(slug);
  if (team === undefined) throw noTeam();
  return team;
}

/**
 * The revision that If-Match names. Without the header, or with `*`, whatever is there is changed; what we never gave
 * out fits none.
 */
export function expectedOf({ ifMatch: tag }: Pick<OpenRequest, "ifMatch">): number | undefined {
  if (tag === undefined || tag.trim() === "*") return undefined;
  const revision = /^"(\d{1,15})\.[\w-]*"$/.exec(tag.trim())?.[1];
  return revision === undefined ? Number.NaN : Number(revision);
}

/** Shown only in this answer. */
export function madeJson({ id, token, expiresAtMs }: MadeToken) {
  return { id, token, expires: toIso(expiresAtMs) };
}

export function toIso(ms: number): string {
  return new Date(ms).toISOString();
}

/** A part of a list that is sorted by name, and what to ask for the next one with. */
export function pageOf<Row>(
  rows: readonly Row[],
  nameOf: (row: Row) => string,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
): { readonly rows: readonly Row[]; readonly nextCursor: string | null } {
  const behind = (row: Row): boolean => cursor === undefined || cursor === "" || nameOf(row) > cursor;
  const left = rows.filter(behind).sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  const page = left.slice(0, limit);
  const last = page.at(-1);
  return { rows: page, nextCursor: left.length > limit && last !== undefined ? nameOf(last) : null };
}
