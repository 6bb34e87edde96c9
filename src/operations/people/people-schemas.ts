import * as z from "zod";
import { approvers, toolEffects } from "../../kernel/call/tool-effects.ts";
import { tokenScopes } from "../../engine/policy/scopes.ts";
import { teamRoles } from "../../store/people-rows.ts";
import * as schemas from "../schemas.ts";

/** Schemas that several groups of routes about people use. */

const time = z.iso.datetime();
export const teamRole = z.enum(teamRoles);
export const userRole = z.enum(["admin", "user"]);
export const shortName = z.string().min(1).max(100);

export const email = z.string().min(3).max(254);

export const madeToken = z
  .object({ id: z.string(), token: z.string().describe("Shown only now."), expires: time })
  .meta({ id: "MadeToken" });

export const done = z.object({ done: z.literal(true) }).meta({ id: "Done" });

/** What a new token is limited to. */
export const tokenBody = z.object({
  name: z.string().max(100).optional().describe("What it is for."),
  days: z.int().min(1).max(365).optional().describe("How long it is valid. Default: 90."),
  scopes: z
    .array(z.enum(tokenScopes))
    .max(tokenScopes.length)
    .optional()
    .describe(
      "Default: everything that the roles permit. `mcp:approve` is never among that: it says yes to calls of others, " +
        "and is given by people in a browser, to themselves, or by the owner of the data directory.",
    ),
  only: z.array(schemas.name).min(1).max(100).optional().describe("Slugs of the servers that it is for. Default: all."),
  profile: schemas.name.optional().describe("The profile of the configuration within which it is. Default: none."),
});

export const token = z
  .object({
    id: z.string(),
    name: z.string(),
    scopes: z.array(z.string()),
    only: z.array(z.string()).nullable(),
    profile: schemas.nullableText.describe("Of the configuration; null for one that is for everything."),
    created: time,
    expires: time,
    used: time.nullable().describe("The hour of its last use."),
  })
  .meta({ id: "PersonalToken" });

export const membership = z.object({ team: z.string(), title: z.string(), role: teamRole, membership: z.string() });

export const user = z
  .object({
    id: z.string(),
    name: z.string(),
    role: userRole,
    status: z.enum(["active", "disabled"]),
    email: schemas.nullableText.describe("An address that is known to be the user's."),
    created: time,
    teams: z.array(membership),
  })
  .meta({ id: "User" });

export const limits = z
  .object({
    members: z.int().min(1).max(1_000_000).optional(),
    servers: z.int().min(0).max(1_000_000).optional(),
    programs: z.int().min(0).max(1_000_000).optional().describe("Of the servers, those that are processes here."),
  })
  .meta({ id: "TeamLimits", description: "The most that a team may have; what is absent is not limited." });

const texts = z.array(z.string());

export const policyRule = z
  .strictObject({
    roles: texts.optional().describe("Of people; each counts as the most that they are."),
    servers: texts.optional().describe("Patterns of names."),
    tools: texts.optional().describe("Patterns of the servers' own names of tools."),
    effects: z.array(z.enum(toolEffects)).optional(),
    when: z.record(z.string(), texts).optional().describe("Patterns of values, by the path of an argument."),
    then: z.enum(["deny", "ask", "allow"]).describe("`allow` is refused: a team only makes calls stricter."),
    approver: z.enum(approvers).optional().describe("Who says yes where it asks; without it, the person who calls."),
  })
  .meta({ id: "PolicyRule" });

export const team = z
  .object({
    slug: z.string(),
    title: z.string(),
    limits,
    rules: z.array(policyRule).describe("About calls of the servers that it installed, beside the gateway's."),
    created: time,
    members: z.int(),
    role: teamRole.nullable().describe("The caller's role in it."),
  })
  .meta({ id: "Team" });

export const member = z
  .object({
    id: z.string().describe("Of the membership: calls and the audit name it."),
    user: z.string(),
    role: teamRole,
    status: z.enum(["active", "disabled"]),
    created: time,
  })
  .meta({ id: "Member" });

export const invite = z
  .object({
    id: z.string(),
    role: teamRole,
    about: z.string(),
    by: z.string(),
    created: time,
    expires: time,
    used: time.nullable(),
  })
  .meta({ id: "Invite" });

export const listParameters = {
  limit: schemas.clampedNumber({ least: 1, most: 1_000, standard: 100 }),
  cursor: schemas.cursor.describe("`nextCursor` of the page before."),
};
