import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { addInvite, listInvites, removeInvite } from "../../operations/people/invite-operations.ts";
import type { addMember, changeMember, listMembers, removeMember } from "../../operations/people/member-operations.ts";
import type { TypesOf } from "../../operations/operation.ts";
import type { addTeam, changeTeam, removeTeam, setOwner, showTeam } from "../../operations/people/team-operations.ts";
import type { TeamLimits } from "../../store/people-rows.ts";
import type { CommandContext } from "../command/command-context.ts";
import { givenOption, textOption, typedTeam } from "../../config/given.ts";
import { printAnswer, printDone, orderDone } from "../gateway/list-output.ts";
import { mostRows, openGatewayClient, type GatewayClient } from "../gateway/gateway-client.ts";
import { allRows } from "../../kernel/all-rows.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { printTable } from "../terminal/table.ts";
import { misused } from "../terminal/wrong-usage.ts";
import { minuteOf, readTeamRole, showToken, allTeams } from "./team-lists.ts";
import { importTeam } from "./team-import.ts";

/** `toolyard team add|list|members|role|owner|limits|rules|import|remove`. */
export async function team(context: CommandContext): Promise<number> {
  const [task = "list", name] = context.positionals;
  if (task === "list") return await listAllTeams(context);
  if (name === undefined || !Object.hasOwn(teamTasks, task))
    return misused(`team list, or ${Object.keys(teamTasks).join(", ")} with TEAM`);
  return (await teamTasks[task]?.(context, name)) ?? 0;
}

const teamTasks: Readonly<Record<string, (context: CommandContext, slug: string) => Promise<number>>> = {
  async add(context, slug) {
    const gateway = await openGatewayClient(context);
    const { team: added, made } = await gateway.ask<typeof addTeam>("POST /api/teams", { body: { slug } });
    return printAnswer(context, made === null ? {} : { team: added, made }, () => showToken(made));
  },
  async members(context, slug) {
    const [added, removed] = [textOption(context, "add"), textOption(context, "remove")];
    if (added !== undefined && removed !== undefined)
      return misused("team members TEAM with --add or --remove, not both");
    const gateway = await openGatewayClient(context);
    if (added !== undefined) {
      const given = { params: { team: slug }, body: { user: added, role: readTeamRole(context) } };
      await gateway.ask<typeof addMember>("POST /api/teams/{team}/members", given);
      return printDone(context);
    }
    if (removed === undefined) return await printMembers(context, gateway, slug);
    const params = { team: slug, member: removed };
    await gateway.ask<typeof removeMember>("DELETE /api/teams/{team}/members/{member}", { params });
    return printDone(context);
  },
  async role(context, slug) {
    const [member, role] = [textOption(context, "user"), readTeamRole(context)];
    if (member === undefined || role === undefined) return misused("team role TEAM --user USER --role ROLE");
    const given = { params: { team: slug, member }, body: { role } };
    return await orderDone<typeof changeMember>(context, "PATCH /api/teams/{team}/members/{member}", given);
  },
  async owner(context, slug) {
    const member = textOption(context, "user");
    if (member === undefined) return misused("team owner TEAM --user USER");
    return await orderDone<typeof setOwner>(context, "PUT /api/teams/{team}/owner", {
      params: { team: slug },
      body: { member },
    });
  },
  async limits(context, slug) {
    const given = { params: { team: slug }, body: { limits: readLimits(context) } };
    return await orderDone<typeof changeTeam>(context, "PATCH /api/teams/{team}", given);
  },
  async rules(context, slug) {
    const gateway = await openGatewayClient(context);
    const params = { team: slug };
    const file = textOption(context, "file");
    if (file !== undefined) {
      const body = { rules: await readRules(file, context) };
      await gateway.ask<typeof changeTeam>("PATCH /api/teams/{team}", { params, body });
    }
    const { rules } = await gateway.ask<typeof showTeam>("GET /api/teams/{team}", { params });
    return printAnswer(context, { rules }, () =>
      printTable(
        ["RULE", "THEN", "ABOUT"],
        rules.map(({ then, approver, ...about }, at) => [
          ...[`rules[${at}]`, approver === undefined ? then : `${then} (${approver})`],
          plainText(JSON.stringify(about)),
        ]),
      ),
    );
  },
  async import(context, slug) {
    const file = textOption(context, "file");
    return file === undefined ? misused("team import TEAM --file FILE") : await importTeam(context, slug, file);
  },
  async remove(context, slug) {
    return await orderDone<typeof removeTeam>(context, "DELETE /api/teams/{team}", { params: { team: slug } });
  },
};

async function listAllTeams(context: CommandContext): Promise<number> {
  const teams = await allTeams(await openGatewayClient(context));
  return printAnswer(context, { teams }, () =>
    printTable(
      ["TEAM", "MEMBERS"],
      teams.map((one) => [one.slug, String(one.members)]),
    ),
  );
}

async function printMembers(context: CommandContext, gateway: GatewayClient, slug: string): Promise<number> {
  const members = await allRows(mostRows, async (query) => {
    const given = { params: { team: slug }, query };
    const page = await gateway.ask<typeof listMembers>("GET /api/teams/{team}/members", given);
    return { rows: page.members, nextCursor: page.nextCursor };
  });
  return printAnswer(context, { members }, () =>
    printTable(
      ["MEMBER", "ROLE", "STATUS", "ID"],
      members.map((one) => [one.user, one.role, one.status, one.id]),
    ),
  );
}

/** `toolyard invite new|list|revoke`. */
export async function invite(context: CommandContext): Promise<number> {
  const [task = "list", id] = context.positionals;
  const slug = typedTeam(context);
  if (task === "list") return await listAllInvites(context, slug);
  const gateway = await openGatewayClient(context);
  if (task === "revoke" && id !== undefined) {
    const found = (await invitesOf(gateway, slug)).find((one) => one.id === id);
    if (found === undefined) throw new GatewayError("PERSON_UNKNOWN", "there is no such invitation");
    const params = { team: found.team, id };
    await gateway.ask<typeof removeInvite>("DELETE /api/teams/{team}/invites/{id}", { params });
    return printDone(context);
  }
  if (task !== "new" || slug === undefined) return misused("invite list, or new --team TEAM, or revoke ID");
  const body = { role: readTeamRole(context), about: textOption(context, "about") };
  const made = await gateway.ask<typeof addInvite>("POST /api/teams/{team}/invites", { params: { team: slug }, body });
  return printAnswer(context, made, ({ link, expires }) => {
    process.stdout.write(`${link}\n`);
    process.stderr.write(
      `This link is the invitation: it is shown only now, and good once, until ${minuteOf(expires)} UTC.\n`,
    );
  });
}

async function listAllInvites(context: CommandContext, slug: string | undefined): Promise<number> {
  const invites = await invitesOf(await openGatewayClient(context), slug);
  return printAnswer(context, { invites }, () =>
    printTable(
      ["ID", "TEAM", "ROLE", "EXPIRES", "USED", "FOR"],
      invites.map((one) => [
        ...[one.id, one.team, one.role, minuteOf(one.expires), one.used === null ? "no" : "yes"],
        plainText(one.about),
      ]),
    ),
  );
}

async function invitesOf(gateway: GatewayClient, slug: string | undefined) {
  const teams = slug === undefined ? (await allTeams(gateway)).map((one) => one.slug) : [slug];
  const lists = await Promise.all(
    teams.map(async (of) => {
      const answer = await gateway.ask<typeof listInvites>("GET /api/teams/{team}/invites", { params: { team: of } });
      return answer.invites.map((one) => ({ ...one, team: of }));
    }),
  );
  return lists.flat();
}

type TeamRules = NonNullable<TypesOf<typeof changeTeam>["body"]["rules"]>;

/** The gateway tells about mistakes in them. Throws CONFIG_INVALID for a file that is no JSON list. */
async function readRules(file: string, { cwd }: CommandContext): Promise<TeamRules> {
  const refuse = (why: string): GatewayError =>
    new GatewayError("CONFIG_INVALID", `--file ${plainText(file)}: ${why}`, {
      hint: 'Write a list such as [{ "effects": ["destroy"], "then": "ask", "approver": "team-admin" }].',
    });
  const text = await readFile(resolve(cwd, file), "utf8").catch((error: unknown) => {
    throw refuse(`cannot be read: ${String((error as NodeJS.ErrnoException).code)}`);
  });
  try {
    const rules: unknown = JSON.parse(text);
    if (Array.isArray(rules)) return rules as TeamRules;
  } catch {
    // Told below.
  }
  throw refuse("expected a JSON list of rules");
}

function readLimits(context: CommandContext): TeamLimits {
  const [members, servers] = [readCount(context, "most-members"), readCount(context, "most-servers")];
  const programs = readCount(context, "most-programs");
  return {
    ...(members === undefined ? {} : { members }),
    ...(servers === undefined ? {} : { servers }),
    ...(programs === undefined ? {} : { programs }),
  };
}

function readCount(context: CommandContext, option: string): number | undefined {
  const given = givenOption(context, option);
  if (given === undefined) return undefined;
  if (/^\d{1,6}$/.test(given.text)) return Number(given.text);
  throw new GatewayError("CONFIG_INVALID", `${given.name}: expected a number`, { hint: "Give a whole number." });
}
