import * as z from "zod";
import { ownCredentials, requireRight, teamAdmin } from "../../engine/policy/rights.ts";
import type { InviteRow } from "../../store/people-rows.ts";
import { changesBy, madeJson, requirePeople, teamAt, toIso } from "../request/people-request.ts";
import * as shapes from "./people-schemas.ts";
import { answers, creations } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, publicOperation, type Operation } from "../operation.ts";
import { created, done } from "../reply.ts";

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
    secret: z.string().describe("Shown only now, and good once: its holder joins the team."),
    link: z.string().describe("The page at which a person accepts it."),
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

export const listInvites = operation({
  route: "GET /api/teams/{team}/invites",
  params,
  right: teamAdmin,
  id: "listInvites",
  tag,
  summary: "Invitations into a team",
  responses: answers(inviteList, "Without their secrets, which are not kept.", [404]),
  run(services, { params: { team } }) {
    const people = requirePeople(services);
    const { id } = teamAt(people, team);
    const rows = people.book.invitesOf(id);
    return { invites: rows.map(toInvite) };
  },
});

export const addInvite = operation({
  route: "POST /api/teams/{team}/invites",
  params,
  right: teamAdmin,
  id: "addInvite",
  tag,
  summary: "Invite somebody into a team",
  description: "Good once, for 72 hours, and only as long as the inviter may invite.",
  body: newInvite,
  responses: creations(madeInvite, "The invitation.", [404, 409, 415]),
  async run(services, request) {
    const { role = "member", about } = request.body;
    const { team } = request.params;
    const { id, secret, expiresAtMs } = await changesBy(services, request).addInvite({ team, role, about });
    const answer = { id, secret, link: `${request.base}/invite/${secret}`, expires: toIso(expiresAtMs) };
    return created(`/api/teams/${team}/invites/${id}`, answer);
  },
});

export const removeInvite = operation({
  route: "DELETE /api/teams/{team}/invites/{id}",
  params: params.extend({ id: schemas.name }),
  right: teamAdmin,
  id: "removeInvite",
  tag,
  summary: "Take an invitation back",
  responses: answers(shapes.done, "It is good for nothing any more.", [404]),
  async run(services, request) {
    await changesBy(services, request).removeInvite(request.params.team, request.params.id);
    return done;
  },
});

const acceptInvite = publicOperation({
  route: "POST /api/invites/accept",
  id: "acceptInvite",
  tag,
  summary: "Join a team with the secret of an invitation",
  description: "With a credential its user joins; without one, an account is made. Either gets a token for the team.",
  body: answer,
  responses: answers(joined, "Who joined, and the token, which is shown only now.", [404, 409, 415]),
  async run(services, request) {
    const { principal } = request;
    if (principal !== undefined)
      requireRight(principal, ownCredentials, {
        ...{ isOpen: false, team: undefined },
        ...{ isTeam: () => false, loginAgeMs: () => undefined },
      });
    const { secret, name } = request.body;
    const user = principal === undefined ? null : (principal.user ?? "");
    const {
      user: joined,
      team,
      membership,
      made,
    } = await changesBy(services, request).acceptInvite({
      ...{ secret, user, name },
    });
    const token = made === undefined ? null : madeJson(made);
    return { user: joined, team, membership, made: token };
  },
});

function toInvite(row: InviteRow): z.output<typeof shapes.invite> {
  const { id, role, about, by, createdAtMs, expiresAtMs, usedAtMs } = row;
  const used = usedAtMs === null ? null : toIso(usedAtMs);
  return { id, role, about, by, created: toIso(createdAtMs), expires: toIso(expiresAtMs), used };
}

/** Invitations into a team, and how they are accepted. */
export const inviteOperations: readonly Operation[] = [listInvites, addInvite, removeInvite, acceptInvite];
