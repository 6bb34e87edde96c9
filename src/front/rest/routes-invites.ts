import * as z from "zod";
import { ownCredentials, requireRight, teamAdmin } from "../../engine/policy/rights.ts";
import type { InviteRow } from "../../store/people-rows.ts";
import { createdAnswer, jsonAnswer } from "./answer.ts";
import type { RestDeps } from "./deps.ts";
import { checkPart } from "./part-check.ts";
import { changesBy, doneAnswer, madeJson, noStore, requirePeople, teamAt, toIso } from "./people-request.ts";
import * as shapes from "./people-schemas.ts";
import { answers, creations } from "./responses.ts";
import { publicRoute, route, type Route } from "./route.ts";
import * as schemas from "./schemas.ts";

const tag = "People";
const params = z.object({ team: schemas.name });

const inviteList = z.object({ invites: z.array(shapes.invite) }).meta({ id: "InviteList" });

const newInvite = z.object({
  role: shapes.teamRole.optional().describe("Default: member."),
  about: z.string().max(200).optional().describe("For whom it is; only shown."),
});

const madeInvite = z
  .object({
    id: z.string(),
    secret: z.string().describe("Shown only now, and good once: whoever has it joins the team."),
    expires: z.iso.datetime(),
  })
  .meta({ id: "MadeInvite" });

const answer = z.object({
  secret: z.string().min(1).max(200),
  name: shapes.shortName.optional().describe("Of the account to make; ignored with a credential."),
});

const joined = z
  .object({ user: z.string(), team: z.string(), membership: z.string(), made: shapes.madeToken })
  .meta({ id: "Joined" });

/** Invitations into a team, and how they are accepted. */
export function createInviteRoutes(deps: RestDeps): readonly Route[] {
  return [listInvites(deps), addInvite(deps), removeInvite(deps), acceptInvite(deps)];
}

function listInvites(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/teams/{team}/invites",
    params,
    right: teamAdmin,
    operation: {
      id: "listInvites",
      tag,
      summary: "Invitations into a team",
      responses: answers(inviteList, "Without their secrets, which nobody has.", [404]),
    },
    handle({ params: { team } }) {
      const people = requirePeople(deps);
      const { id } = teamAt(people, team);
      const rows = [...people.book.invites.values()].filter(({ teamId }) => teamId === id);
      return jsonAnswer({ invites: rows.map(toInvite) }, noStore);
    },
  });
}

function addInvite(deps: RestDeps): Route {
  return route({
    method: "POST",
    path: "/api/teams/{team}/invites",
    params,
    right: teamAdmin,
    operation: {
      id: "addInvite",
      tag,
      summary: "Invite somebody into a team",
      description: "Good once, for 72 hours, and only as long as whoever invites may do so.",
      body: newInvite,
      responses: creations(madeInvite, "The invitation.", [404, 409, 415]),
    },
    async handle(request) {
      const { role = "member", about } = checkPart(newInvite, "body", request.body);
      const { team } = request.params;
      const { id, secret, expiresAtMs } = await changesBy(deps, request).addInvite({ team, role, about });
      const answer = jsonAnswer({ id, secret, expires: toIso(expiresAtMs) }, noStore);
      return createdAnswer(`${deps.publicUrl(request.raw)}/api/teams/${team}/invites/${id}`, answer);
    },
  });
}

function removeInvite(deps: RestDeps): Route {
  return route({
    method: "DELETE",
    path: "/api/teams/{team}/invites/{id}",
    params: params.extend({ id: schemas.name }),
    right: teamAdmin,
    operation: {
      id: "removeInvite",
      tag,
      summary: "Take an invitation back",
      responses: answers(shapes.done, "It is good for nothing any more.", [404]),
    },
    async handle(request) {
      await changesBy(deps, request).removeInvite(request.params.team, request.params.id);
      return doneAnswer();
    },
  });
}

function acceptInvite(deps: RestDeps): Route {
  return publicRoute({
    method: "POST",
    path: "/api/invites/accept",
    operation: {
      id: "acceptInvite",
      tag,
      summary: "Join a team with the secret of an invitation",
      description:
        "With a credential its user joins; without one, an account is made. Either gets a token for the team.",
      body: answer,
      responses: answers(joined, "Who joined, and the token, which is shown only now.", [404, 409, 415]),
    },
    async handle(request) {
      const { principal } = request;
      if (principal !== undefined)
        requireRight(principal, ownCredentials, {
          ...{ isOpen: false, team: undefined },
          ...{ isTeam: () => false, loginAgeMs: () => undefined },
        });
      const { secret, name } = checkPart(answer, "body", request.body);
      const user = principal === undefined ? null : (principal.user ?? "");
      const {
        user: joined,
        team,
        membership,
        made,
      } = await changesBy(deps, request).acceptInvite({
        ...{ secret, user, name },
      });
      const token = made === undefined ? null : madeJson(made);
      return jsonAnswer({ user: joined, team, membership, made: token }, noStore);
    },
  });
}

function toInvite(row: InviteRow): z.output<typeof shapes.invite> {
  const { id, role, about, by, createdAtMs, expiresAtMs, usedAtMs } = row;
  const used = usedAtMs === null ? null : toIso(usedAtMs);
  return { id, role, about, by, created: toIso(createdAtMs), expires: toIso(expiresAtMs), used };
}
