import type { ControlAnswer } from "../../app/owner/owner-commands.ts";
import type { PeopleAnswer, PeopleRequest } from "../../app/owner/owner-people.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { TeamLimits } from "../../store/people-rows.ts";
import type { CommandContext } from "../command/command-context.ts";
import { givenOption, isOn, textOption, typedTeam } from "../command/options.ts";
import { control } from "../gateway/owner-client.ts";
import { plainText } from "../terminal/plain-text.ts";
import { findGateway } from "../gateway/running-gateways.ts";
import { importTeam } from "./team-import.ts";
import { printTable } from "../terminal/table.ts";
import { misused } from "../terminal/wrong-usage.ts";

/** `toolyard user add|list|account|email|disable|enable|role|reset|remove`. */
export async function user(context: CommandContext): Promise<number> {
  const [task = "list", name] = context.positionals;
  if (task === "list") return await ask(context, { task: "user.list" });
  if (task === "link") return await ask(context, { task: "user.link", name });
  const tasks = ["add", "account", "email", "disable", "enable", "role", "reset", "remove"];
  if (!tasks.includes(task) || name === undefined) return misused(`user list, or ${tasks.join(", ")} with NAME`);
  const role = textOption(context, "role");
  if (task === "role") return await ask(context, { task: "user.role", name, role });
  if (task === "account") {
    const [issuer, subject] = [textOption(context, "issuer"), textOption(context, "subject")];
    if (issuer === undefined || subject === undefined) return misused("user account NAME --issuer URL --subject ID");
    return await ask(context, { task: "user.account", name, issuer, subject });
  }
  const email = textOption(context, "email");
  if (task === "email") {
    if (email === undefined) return misused("user email NAME --email ADDRESS");
    return await ask(context, { task: "user.email", name, email: email === "none" ? "" : email });
  }
  const isAdmin = isOn(context, "admin");
  const about = { team: typedTeam(context), role, days: readDays(context) };
  if (task !== "add") return await ask(context, { task: `user.${task}`, name });
  const code = await ask(context, { task: "user.add", name, isAdmin, email, ...about });
  return code === 0 && isOn(context, "password-link") ? await ask(context, { task: "user.link", name }) : code;
}

/** `toolyard team add|list|members|role|owner|limits|import|remove`. */
export async function team(context: CommandContext): Promise<number> {
  const [task = "list", name] = context.positionals;
  if (task === "list") return await ask(context, { task: "team.list" });
  const tasks = ["add", "members", "role", "owner", "limits", "import", "remove"];
  if (!tasks.includes(task) || name === undefined) return misused(`team list, or ${tasks.join(", ")} with TEAM`);
  if (task === "import") {
    const file = textOption(context, "file");
    return file === undefined ? misused("team import TEAM --file FILE") : await importTeam(context, name, file);
  }
  const member = textOption(context, "user");
  if (task === "limits") return await ask(context, { task: "team.limits", name, limits: readLimits(context) });
  if (task === "role" || task === "owner") {
    if (member === undefined) return misused(`team ${task} TEAM --user USER`);
    return await ask(context, { task: `team.${task}`, name, user: member, role: textOption(context, "role") });
  }
  return task === "members" ? await members(context, name) : await ask(context, { task: `team.${task}`, name });
}

async function members(context: CommandContext, name: string): Promise<number> {
  const [added, removed] = [textOption(context, "add"), textOption(context, "remove")];
  if (added !== undefined && removed !== undefined)
    return misused("team members TEAM with --add or --remove, not both");
  const role = textOption(context, "role");
  if (added !== undefined) return await ask(context, { task: "team.member.add", name, user: added, role });
  if (removed !== undefined) return await ask(context, { task: "team.member.remove", name, user: removed });
  return await ask(context, { task: "team.members", name });
}

/** `toolyard invite new|list|revoke`. */
export async function invite(context: CommandContext): Promise<number> {
  const [task = "list", name] = context.positionals;
  const of = typedTeam(context);
  if (task === "list") return await ask(context, { task: "invite.list", team: of });
  if (task === "revoke" && name !== undefined) return await ask(context, { task: "invite.revoke", name });
  if (task !== "new" || of === undefined) return misused("invite list, or new --team TEAM, or revoke ID");
  const [role, about] = [textOption(context, "role"), textOption(context, "about")];
  return await ask(context, { task: "invite.new", team: of, role, about });
}

/** `toolyard token new --user`, `token list` and `token revoke`. */
export async function personalToken(context: CommandContext): Promise<number> {
  const [task, name] = context.positionals;
  const owner = textOption(context, "user");
  if (task === "list") return await ask(context, { task: "token.list", user: owner });
  if (task === "revoke" && name !== undefined) return await ask(context, { task: "token.revoke", name });
  if (task !== "new" || owner === undefined) return misused("token new, token list, or token revoke ID");
  const about = { name: textOption(context, "name"), team: typedTeam(context), days: readDays(context) };
  const limits = { scopes: readList(context, "scope"), only: readList(context, "only") };
  return await ask(context, { task: "token.new", user: owner, ...about, ...limits });
}

async function ask(context: CommandContext, request: PeopleRequest): Promise<number> {
  // `--team` of these commands is a name, and that of `serve` a setting.
  const holder = await findGateway({ ...context, flags: { ...context.flags, team: undefined } });
  const answer = await control(holder, { command: "people", ...request });
  if (!answer.ok) return fail(answer);
  const people = answer.people ?? {};
  if (isOn(context, "json")) process.stdout.write(`${JSON.stringify({ ok: true, ...people })}\n`);
  else {
    show(people);
    if (people.link !== undefined) showLink(people.link, holder.url);
    if (people.invited !== undefined) showInvite(people.invited, holder.url);
  }
  return 0;
}

function fail({ message, hint }: ControlAnswer): number {
  process.stderr.write(`toolyard: ${plainText(message ?? "it failed")}\n${hint === undefined ? "" : `  ${hint}\n`}`);
  return 1;
}

function show({ users, teams, members, tokens, invites, made, revoked }: PeopleAnswer): void {
  if (users !== undefined)
    printTable(
      ["USER", "ROLE", "STATUS", "TEAMS"],
      users.map((one) => [one.name, one.role, one.status, one.teams.join(", ")]),
    );
  if (teams !== undefined)
    printTable(
      ["TEAM", "MEMBERS"],
      teams.map((one) => [one.slug, String(one.members)]),
    );
  if (members !== undefined)
    printTable(
      ["MEMBER", "ROLE", "TOKENS", "ID"],
      members.map((one) => [one.user, one.role, String(one.tokens), one.id]),
    );
  if (tokens !== undefined)
    printTable(
      ["ID", "USER", "TEAM", "EXPIRES", "LAST USED", "FOR", "NAME"],
      tokens.map((one) => [
        one.id,
        one.user,
        one.team,
        one.expires.slice(0, 10),
        one.used === null ? "never" : one.used.slice(0, 13).replace("T", " "),
        [one.scopes.join(" "), one.only?.join(" ") ?? ""].filter((text) => text !== "").join(" on "),
        plainText(one.name),
      ]),
    );
  if (invites !== undefined)
    printTable(
      ["ID", "TEAM", "ROLE", "EXPIRES", "USED", "FOR"],
      invites.map((one) => [
        ...[one.id, one.team, one.role, one.expires.slice(0, 16).replace("T", " "), one.used ? "yes" : "no"],
        plainText(one.about),
      ]),
    );
  if (revoked !== undefined) process.stdout.write(`${revoked} tokens revoked\n`);
  if (made === undefined) return;
  process.stdout.write(`${made.token}\n`);
  process.stderr.write(
    `This is the token: it is shown only now. It is valid until ${new Date(made.expiresAtMs).toISOString().slice(0, 10)}.\n`,
  );
}

function showLink({ code, publicUrl, expiresAtMs }: NonNullable<PeopleAnswer["link"]>, url: string | null): void {
  process.stdout.write(`${publicUrl ?? url ?? ""}/setup#${code}\n`);
  process.stderr.write(
    `This link sets a password, once, until ${new Date(expiresAtMs).toISOString().slice(0, 16).replace("T", " ")} UTC.
The page asks for the part after the #, which is not sent with the link.\n`,
  );
}

function showInvite(
  { secret, publicUrl, expiresAtMs }: NonNullable<PeopleAnswer["invited"]>,
  url: string | null,
): void {
  process.stdout.write(`${publicUrl ?? url ?? ""}/invite/${secret}\n`);
  process.stderr.write(
    `This link is the invitation: it is shown only now, and good once, until ${new Date(expiresAtMs).toISOString().slice(0, 16).replace("T", " ")} UTC.\n`,
  );
}

function readList(context: CommandContext, name: string): readonly string[] | undefined {
  return textOption(context, name)
    ?.split(/[\s,]+/)
    .filter((text) => text !== "");
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

function readDays(context: CommandContext): number | undefined {
  const given = givenOption(context, "days");
  if (given === undefined) return undefined;
  if (/^\d{1,4}$/.test(given.text)) return Number(given.text);
  throw new GatewayError("CONFIG_INVALID", `${given.name}: expected a number of days`, { hint: "Give 1 to 365." });
}
