import type { IncomingMessage } from "node:http";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";
import { noTeam } from "../../engine/policy/rights.ts";
import type { ChangeActor } from "../../people/directory/change-queue.ts";
import type { MadeToken } from "../../people/directory/people-lookup.ts";
import type { PeopleChanges } from "../../people/directory/people-changes.ts";
import type { TeamRow } from "../../store/people-rows.ts";
import type { Answer } from "./answer.ts";
import { jsonAnswer } from "./answer.ts";
import { toCachedText } from "./cached-text.ts";
import type { RestDeps, RestPeople } from "./deps.ts";
import type { PublicRequest } from "./route.ts";

export const noStore = { "Cache-Control": "no-store" };

/** Throws CONFIG_INVALID where the people are those of the configuration. */
export function requirePeople(deps: RestDeps): RestPeople {
  const people = deps.people();
  if (people !== undefined) return people;
  throw new GatewayError("CONFIG_INVALID", "this gateway has no people of its own: it was started without --team", {
    hint: "Start it with `toolyard serve --team`, or name people in the configuration.",
  });
}

/** What the sender of a request may do with people; the audit names the sender. */
export function changesBy(deps: RestDeps, { raw, principal }: Pick<PublicRequest, "raw" | "principal">): PeopleChanges {
  return requirePeople(deps).changes(toActor(raw, principal));
}

/** How long ago whoever sends a request logged in with a browser; undefined for any other credential. */
export function loginAgeMs({ browsers, clock }: RestDeps, request: IncomingMessage): number | undefined {
  const beganMs = browsers.loggedInAt(request);
  return beganMs === undefined ? undefined : clock.now() - beganMs;
}

/** Whoever sends a request, as the audit names them. */
export function senderOf({ raw, principal }: Pick<PublicRequest, "raw" | "principal">): ChangeActor {
  return toActor(raw, principal);
}

function toActor({ socket }: IncomingMessage, principal: Principal | undefined): ChangeActor {
  const about = { via: "rest", ip: socket.remoteAddress ?? null };
  if (principal === undefined) return { ...about, id: "unknown", user: null, isAdmin: false };
  const { id, user, roles } = principal;
  return { ...about, id, user, isAdmin: roles.includes("admin") };
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
export function expectedOf({ headers }: IncomingMessage): number | undefined {
  const tag = headers["if-match"];
  if (tag === undefined || tag.trim() === "*") return undefined;
  const revision = /^"(\d{1,15})\.[\w-]*"$/.exec(tag.trim())?.[1];
  return revision === undefined ? Number.NaN : Number(revision);
}

/** A row, with an entity tag that changes with everything that is shown, and says the row's revision. */
export function revisedAnswer({ revision }: { readonly revision: number }, value: unknown): Answer {
  const { bytes, etag } = toCachedText(value);
  const headers = { ETag: `"${revision}.${etag.slice(1)}`, "Cache-Control": "private, no-cache" };
  return {
    headers: { "Content-Type": "application/json; charset=utf-8", ...headers, Vary: "Authorization, Origin" },
    body: bytes,
  };
}

export const doneAnswer = (): Answer => jsonAnswer({ done: true }, noStore);

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
