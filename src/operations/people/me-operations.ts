import * as z from "zod";
import { ownCredentials, reading } from "../../engine/policy/rights.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";
import { approveScope, isApproving } from "../../engine/policy/scopes.ts";
import type { Member } from "../../people/directory/books/member.ts";
import type { PatRow } from "../../store/people-rows.ts";
import { changesBy, madeJson, requirePeople, toIso } from "../request/people-request.ts";
import * as shapes from "./people-schemas.ts";
import { answers, creations } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation, type OperationRequest } from "../operation.ts";
import { created, done } from "../reply.ts";
import type { RestPeople, Services } from "../services.ts";

const tag = "People";
const usualDays = 90;

const me = z
  .object({
    id: z.string().describe("As calls and the audit name the caller."),
    user: z.object({ id: z.string(), name: z.string(), role: shapes.userRole }).nullable(),
    team: schemas.nullableText,
    roles: z.array(z.string()),
    via: z.string().describe("The kind of credential."),
    scopes: z.array(z.string()).describe("Empty: everything that the roles permit."),
    only: z.array(z.string()).nullable().describe("The servers that the credential is for; null: all."),
    teams: z.array(shapes.membership).describe("In a browser all teams of the user, elsewhere that of the credential."),
  })
  .meta({ id: "Me" });

const tokenList = z.object({ tokens: z.array(shapes.token) }).meta({ id: "PersonalTokenList" });

export const showMe = operation({
  route: "GET /api/me",
  right: reading,
  id: "showMe",
  tag,
  summary: "Who asks, and with what",
  responses: answers(me, "You."),
  run(services, { principal }) {
    const { id, team, roles, via, scopes, only = null } = principal;
    const book = services.people()?.book;
    const row = book?.users.get(principal.user ?? "");
    const user = row === undefined ? null : { id: row.id, name: row.name, role: row.role };
    const teams = book === undefined ? [] : membershipsOf(book, principal).map(toMembership);
    return { id, user, team, roles, via, scopes, only, teams };
  },
});

/** A token shows the team that it is for alone: its finder learns nothing of the others. */
export function membershipsOf(book: RestPeople["book"], { id, user, via }: Principal): readonly Member[] {
  if (via === "session" && user !== null) return book.membersOf(user);
  const member = book.members.get(id);
  return member === undefined ? [] : [member];
}

export function toMembership({ row, team }: Member): z.output<typeof shapes.membership> {
  return { team: team.slug, title: team.title, role: row.role, membership: row.id };
}

const listTokens = operation({
  route: "GET /api/me/tokens",
  right: ownCredentials,
  id: "listMyTokens",
  tag,
  summary: "Your tokens for this team",
  responses: answers(tokenList, "Without the tokens themselves, which are not kept."),
  run(services, { principal }) {
    return { tokens: requirePeople(services).book.patsOf(principal.id).map(toToken) };
  },
});

const makeToken = operation({
  route: "POST /api/me/tokens",
  right: ownCredentials,
  id: "makeMyToken",
  tag,
  summary: "Another token for yourself in this team",
  body: shapes.tokenBody,
  responses: creations(shapes.madeToken, "The token, which is shown only now.", [409, 415]),
  async run(services, request) {
    const { name = "", days = usualDays, ...limits } = request.body;
    const { team, user } = request.principal;
    if (user === null || team === null)
      throw new GatewayError("PEOPLE_CONFLICT", "only people of the database have tokens there", {
        hint: "Tokens of the configuration stand in its file.",
      });
    requireMayGive(services, request, user);
    const made = await changesBy(services, request).addToken({ user, team, name, days, ...limits });
    return created(`/api/me/tokens/${made.id}`, madeJson(made));
  },
});

type GivenLimits = Pick<z.output<typeof shapes.tokenBody>, "scopes" | "profile">;

/**
 * Whether somebody may make a token with these limits for a user. A token that says yes for people is made by a person
 * for themselves: not with another token, and by no admin in another one's name. Throws PROFILE_UNKNOWN and FORBIDDEN.
 */
export function requireMayGive(
  services: Pick<Services, "settings">,
  {
    principal,
    body,
    loginAgeMs,
  }: Pick<OperationRequest<unknown, unknown, GivenLimits>, "principal" | "body" | "loginAgeMs">,
  user: string,
): void {
  const { scopes = [], profile } = body;
  if (profile !== undefined && !Object.hasOwn(services.settings().profiles, profile))
    throw new GatewayError("PROFILE_UNKNOWN", `there is no profile ${JSON.stringify(profile.slice(0, 80))}`);
  if (!isApproving({ scopes }) || principal.via === "owner") return;
  if (principal.user === user && (loginAgeMs() !== undefined || isApproving(principal))) return;
  throw new GatewayError("FORBIDDEN", `a token with ${approveScope} is made by the person whose it is, in a browser`, {
    hint: "Log in at the dashboard, or use `toolyard token new --user NAME` on the gateway's machine.",
  });
}

const params = z.object({ id: schemas.name });

const showToken = operation({
  route: "GET /api/me/tokens/{id}",
  params,
  right: ownCredentials,
  id: "showMyToken",
  tag,
  summary: "One of your tokens",
  responses: answers(shapes.token, "The token, without itself.", [404]),
  run(services, { principal, params: { id } }) {
    const pat = requirePeople(services).book.pats.get(id);
    if (pat?.membershipId !== principal.id)
      throw new GatewayError("PERSON_UNKNOWN", "there is no such token", { hint: "GET /api/me/tokens lists yours." });
    return toToken(pat);
  },
});

const revokeToken = operation({
  route: "DELETE /api/me/tokens/{id}",
  params,
  right: ownCredentials,
  id: "revokeMyToken",
  tag,
  summary: "Revoke one of your tokens",
  description: "Ends what was opened with it, also when it is the one that asks.",
  responses: answers(shapes.done, "It is not valid any more.", [404]),
  async run(services, request) {
    await changesBy(services, request).revokeToken(request.params.id, request.principal.id);
    return done;
  },
});

export function toToken(row: PatRow): z.output<typeof shapes.token> {
  const { id, name, scopes, only, profile = null, createdAtMs, expiresAtMs, usedAtMs } = row;
  const times = { created: toIso(createdAtMs), expires: toIso(expiresAtMs) };
  return {
    id,
    name,
    scopes: [...scopes],
    only: only === null ? null : [...only],
    profile,
    ...times,
    used: usedAtMs === null ? null : toIso(usedAtMs),
  };
}

/** Who asks, and their own tokens: those of the same membership. */
export const meOperations: readonly Operation[] = [showMe, listTokens, makeToken, showToken, revokeToken];
