import { createToken } from "../../people/identity/token.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isOn, listOption, textOption, typedTeam } from "../../config/given.ts";
import { type TokenScope, tokenScopes } from "../../engine/policy/scopes.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type {
  addToken,
  linkAccount,
  listTokens,
  makeSetupLink,
  revokeToken,
} from "../../operations/people/account-operations.ts";
import type {
  addUser,
  disableUser,
  enableUser,
  listUsers,
  removeUser,
  renameUser,
  revokeTokens,
  setRole,
} from "../../operations/people/user-operations.ts";
import { orderDone, printAnswer } from "../gateway/list-output.ts";
import { type GatewayClient, mostRows, openGatewayClient } from "../gateway/gateway-client.ts";
import { allRows } from "../../kernel/all-rows.ts";
import type { TypesOf } from "../../operations/operation.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { printTable } from "../terminal/table.ts";
import { misused } from "../terminal/wrong-usage.ts";
import { minuteOf, readDays, readTeamRole, showToken } from "./team-lists.ts";
import type {
  endAnySession,
  listAllApps,
  listAllSessions,
  revokeAnyApp,
} from "../../operations/people/access-operations.ts";
import type { addClient, listClients, removeClient } from "../../operations/people/client-operations.ts";

const wrongUsage = 2;

/**
 * `toolyard token new`: prints the token to stdout, and where to put it to stderr. With `--user`, and for every other
 * task, it is about tokens that a gateway for teams keeps.
 */
export async function token(context: CommandContext): Promise<number> {
  const [what, extra] = context.positionals;
  if (what === "new" && extra !== undefined) {
    process.stderr.write(`toolyard: what is ${JSON.stringify(extra)}? Usage: toolyard token new [options]\n`);
    return wrongUsage;
  }
  if (what !== "new" || textOption(context, "user") !== undefined) return await personalToken(context);
  const made = createToken();
  const principal = textOption(context, "principal");
  const place =
    principal !== undefined
      ? `"toolyard": { "principals": { ${JSON.stringify(principal)}: { "tokenHash": "${made.hash}" } } }`
      : `"toolyard": { "auth": { "tokenHashes": ["${made.hash}"] } }`;
  process.stdout.write(`${made.token}\n${made.hash}\n`);
  process.stderr.write(
    `The first line is the token: it is shown only now. The second is its hash, for the configuration:\n  ${place}\n`,
  );
  return 0;
}

/** `toolyard user add|list|link|account|email|disable|enable|role|reset|remove`. */
export async function user(context: CommandContext): Promise<number> {
  const [task = "list", name] = context.positionals;
  if (task === "list") return await listAllUsers(context);
  if (task === "link") return await printLink(context, await openGatewayClient(context), name);
  if (name === undefined || !Object.hasOwn(userTasks, task))
    return misused(`user list, or ${Object.keys(userTasks).join(", ")} with NAME`);
  return (await userTasks[task]?.(context, name)) ?? 0;
}

type UserTask = (context: CommandContext, name: string) => Promise<number>;

const userTasks: Readonly<Record<string, UserTask>> = {
  async add(context, name) {
    const gateway = await openGatewayClient(context);
    const about = { name, admin: isOn(context, "admin"), team: typedTeam(context), days: readDays(context) };
    const body = { ...about, role: readTeamRole(context), email: textOption(context, "email") };
    const { user: added, made } = await gateway.ask<typeof addUser>("POST /api/users", { body });
    const code = printAnswer(context, made === null ? {} : { user: added, made }, () => showToken(made));
    return isOn(context, "password-link") ? await printLink(context, gateway, name) : code;
  },
  async account(context, name) {
    const [issuer, subject] = [textOption(context, "issuer"), textOption(context, "subject")];
    if (issuer === undefined || subject === undefined) return misused("user account NAME --issuer URL --subject ID");
    const given = { params: { id: name }, body: { issuer, subject } };
    return await orderDone<typeof linkAccount>(context, "PUT /api/users/{id}/account", given);
  },
  async email(context, name) {
    const given = textOption(context, "email");
    if (given === undefined) return misused("user email NAME --email ADDRESS");
    const body = { email: given === "none" ? null : given };
    return await orderDone<typeof renameUser>(context, "PATCH /api/users/{id}", { params: { id: name }, body });
  },
  async disable(context, id) {
    return await orderDone<typeof disableUser>(context, "POST /api/users/{id}/disable", { params: { id } });
  },
  async enable(context, id) {
    return await orderDone<typeof enableUser>(context, "POST /api/users/{id}/enable", { params: { id } });
  },
  async role(context, id) {
    const role = textOption(context, "role");
    if (role !== "admin" && role !== "user")
      throw new GatewayError("PEOPLE_CONFLICT", "the role of a user is admin or user", {
        hint: "Give one of the two with --role.",
      });
    return await orderDone<typeof setRole>(context, "PUT /api/users/{id}/role", { params: { id }, body: { role } });
  },
  async reset(context, id) {
    const gateway = await openGatewayClient(context);
    const answer = await gateway.ask<typeof revokeTokens>("DELETE /api/users/{id}/tokens", { params: { id } });
    return printAnswer(context, answer, ({ revoked }) => process.stdout.write(`${revoked} tokens revoked\n`));
  },
  async remove(context, id) {
    return await orderDone<typeof removeUser>(context, "DELETE /api/users/{id}", { params: { id } });
  },
};

async function listAllUsers(context: CommandContext): Promise<number> {
  const gateway = await openGatewayClient(context);
  const users = await allRows(mostRows, async (query) => {
    const { users: rows, nextCursor } = await gateway.ask<typeof listUsers>("GET /api/users", { query });
    return { rows, nextCursor };
  });
  return printAnswer(context, { users }, () =>
    printTable(
      ["USER", "ROLE", "STATUS", "TEAMS"],
      users.map((one) => [one.name, one.role, one.status, one.teams.map(({ team: slug }) => slug).join(", ")]),
    ),
  );
}

/** Without a name, the link makes the first admin. */
async function printLink(context: CommandContext, gateway: GatewayClient, name: string | undefined): Promise<number> {
  const answer = await gateway.ask<typeof makeSetupLink>("POST /api/setup-links", { body: { user: name } });
  return printAnswer(context, answer, ({ link, expires }) => {
    process.stdout.write(`${link}\n`);
    process.stderr.write(
      `This link sets a password, once, until ${minuteOf(expires)} UTC.
The page asks for the part after the #, which is not sent with the link.\n`,
    );
  });
}

/** `toolyard token new --user`, `token list` and `token revoke`. */
async function personalToken(context: CommandContext): Promise<number> {
  const [task, id] = context.positionals;
  const owner = textOption(context, "user");
  if (task === "list") return await printTokens(context, owner);
  if (task === "revoke" && id !== undefined) {
    return await orderDone<typeof revokeToken>(context, "DELETE /api/tokens/{id}", { params: { id } });
  }
  if (task !== "new" || owner === undefined) return misused("token new, token list, or token revoke ID");
  const gateway = await openGatewayClient(context);
  const about = { name: textOption(context, "name"), team: typedTeam(context), days: readDays(context) };
  const limits = { scopes: readScopes(context), only: readList(context, "only") };
  const body = { ...about, ...limits, profile: textOption(context, "profile") };
  const made = await gateway.ask<typeof addToken>("POST /api/users/{id}/tokens", { params: { id: owner }, body });
  return printAnswer(context, { made }, () => showToken(made));
}

async function printTokens(context: CommandContext, owner: string | undefined): Promise<number> {
  const gateway = await openGatewayClient(context);
  const answer = await gateway.ask<typeof listTokens>("GET /api/tokens", { query: { user: owner } });
  return printAnswer(context, answer, ({ tokens }) =>
    printTable(
      ["ID", "USER", "TEAM", "EXPIRES", "LAST USED", "FOR", "NAME"],
      tokens.map((one) => [
        one.id,
        one.user,
        one.team,
        one.expires.slice(0, 10),
        one.used === null ? "never" : one.used.slice(0, 13).replace("T", " "),
        limitsText(one),
        plainText(one.name),
      ]),
    ),
  );
}

type ShownToken = TypesOf<typeof listTokens>["answer"]["tokens"][number];

function limitsText({ scopes, only, profile }: ShownToken): string {
  const of = [scopes.join(" "), only?.join(" ") ?? ""].filter((text) => text !== "").join(" on ");
  return profile === null ? of : `${of} profile ${plainText(profile)}`.trim();
}

/** Throws PEOPLE_CONFLICT. */
function readScopes(context: CommandContext): TokenScope[] | undefined {
  return readList(context, "scope")?.map((text) => {
    const scope = tokenScopes.find((known) => known === text);
    if (scope !== undefined) return scope;
    throw new GatewayError("PEOPLE_CONFLICT", `there is no scope ${JSON.stringify(text.slice(0, 40))}`, {
      hint: `They are ${tokenScopes.join(", ")}.`,
    });
  });
}

function readList(context: CommandContext, name: string): string[] | undefined {
  return textOption(context, name)
    ?.split(/[\s,]+/)
    .filter((text) => text !== "");
}

/** `toolyard app list|revoke`: what acts for people. */
export async function app(context: CommandContext): Promise<number> {
  const [task = "list", id] = context.positionals;
  const query = { user: textOption(context, "user") };
  if (task === "revoke" && id !== undefined) {
    return await orderDone<typeof revokeAnyApp>(context, "DELETE /api/auth/apps/{id}", { params: { id }, query });
  }
  if (task !== "list") return misused("app list, or app revoke ID");
  const gateway = await openGatewayClient(context);
  const answer = await gateway.ask<typeof listAllApps>("GET /api/auth/apps", { query });
  return printAnswer(context, answer, ({ apps }) =>
    printTable(
      ["ID", "APP", "USER", "TEAM", "LAST USED", "MAY"],
      apps.map((one) => [one.id, plainText(one.name), one.user, one.team, dayOf(one.used), one.scopes.join(" ")]),
    ),
  );
}

/** `toolyard session list|end`: browsers that people are logged in with. */
export async function session(context: CommandContext): Promise<number> {
  const [task = "list", id] = context.positionals;
  const query = { user: textOption(context, "user") };
  if (task === "end" && id !== undefined) {
    return await orderDone<typeof endAnySession>(context, "DELETE /api/auth/sessions/{id}", { params: { id }, query });
  }
  if (task !== "list") return misused("session list, or session end ID");
  const gateway = await openGatewayClient(context);
  const answer = await gateway.ask<typeof listAllSessions>("GET /api/auth/sessions", { query });
  return printAnswer(context, answer, ({ sessions }) =>
    printTable(
      ["ID", "USER", "SINCE", "SEEN", "BY"],
      sessions.map((one) => [one.id, one.user, dayOf(one.created), dayOf(one.seen), plainText(one.via)]),
    ),
  );
}

/** Apps that register by themselves may be very many. REST has all of them, page by page. */
const mostListed = "1000";

/** `toolyard client list|add|rm`: apps that are registered at the gateway's authorization server. */
export async function client(context: CommandContext): Promise<number> {
  const [task = "list", name] = context.positionals;
  if (task === "list") return await listRegistered(context);
  if (task === "rm" && name !== undefined) {
    return await orderDone<typeof removeClient>(context, "DELETE /api/auth/clients/{id}", { params: { id: name } });
  }
  if (task !== "add" || name === undefined) return misused("client list, client add NAME, or client rm ID");
  const redirectUris = [...listOption(context, "redirect")];
  const hasSecret = isOn(context, "with-secret") || redirectUris.length === 0;
  const gateway = await openGatewayClient(context);
  const body = { name, redirectUris, hasSecret };
  const made = await gateway.ask<typeof addClient>("POST /api/auth/clients", { body });
  return printAnswer(context, { client: made }, () => {
    process.stdout.write(`${made.id}\n${made.secret === null ? "" : `${made.secret}\n`}`);
    process.stderr.write(
      made.secret === null
        ? "This is the client's id. It has no secret.\n"
        : "These are the client's id and its secret, which is shown only now.\n",
    );
  });
}

async function listRegistered(context: CommandContext): Promise<number> {
  const gateway = await openGatewayClient(context);
  const { clients, nextCursor } = await gateway.ask<typeof listClients>("GET /api/auth/clients", {
    query: { limit: mostListed },
  });
  return printAnswer(context, { clients, areMore: nextCursor !== null }, () => {
    printTable(
      ["ID", "NAME", "PEOPLE", "UNTIL", "CALLED BACK AT"],
      clients.map((one) => [
        ...[one.id, plainText(one.name), String(one.apps)],
        one.expires === null ? "-" : dayOf(one.expires),
        plainText(one.redirectUris.join(" ")),
      ]),
    );
    if (nextCursor !== null)
      process.stderr.write("There are more, which were used less lately: GET /api/auth/clients has all of them.\n");
  });
}

function dayOf(time: string): string {
  return time.slice(0, 10);
}
