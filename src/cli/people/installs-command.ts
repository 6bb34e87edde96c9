import { readFile } from "node:fs/promises";
import { toRegistryTemplate } from "../../config/registry/registry-template.ts";
import { parseServerJson } from "../../config/registry/server-json.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";
import type { rotateKeys } from "../../operations/gateway/database-operations.ts";
import type { addInstallation, removeInstallation } from "../../operations/installations/installation-operations.ts";
import type { listSecrets, putSecret, removeSecret } from "../../operations/installations/secret-operations.ts";
import type {
  patchOwnValues,
  patchTeamValues,
  setMemberValues,
  showMemberValues,
  showOwnValues,
  showTeamValues,
} from "../../operations/installations/server-value-operations.ts";
import type {
  addTemplate,
  changeTemplate,
  removeTemplate,
} from "../../operations/installations/template-operations.ts";
import type { TypesOf } from "../../operations/operation.ts";
import type { showMe } from "../../operations/people/me-operations.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isOn, listOption, textOption, typedTeam } from "../../config/given.ts";
import { printAnswer, printDone } from "../gateway/list-output.ts";
import { openGatewayClient, type GatewayClient } from "../gateway/gateway-client.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { printTable } from "../terminal/table.ts";
import { misused } from "../terminal/wrong-usage.ts";
import { allTeams, installationsOf, templatesOf, theTeam, type Installation } from "./team-lists.ts";

const scopes = ["user", "shared", "client"] as const;

/** `toolyard install`. */
export async function install(context: CommandContext): Promise<number> {
  const [template] = context.positionals;
  if (template === undefined) return misused("install TEMPLATE --team TEAM");
  const values = await readValues(listOption(context, "set"));
  const locks = [...listOption(context, "lock")];
  const [slug, given] = [textOption(context, "as"), textOption(context, "scope")];
  const scope = scopes.find((known) => known === given);
  if (given !== undefined && scope === undefined)
    throw new GatewayError("CONFIG_INVALID", `there is no scope ${JSON.stringify(given.slice(0, 40))}`, {
      hint: `Give one of these with --scope: ${scopes.join(", ")}.`,
    });
  const gateway = await openGatewayClient(context);
  const team = await theTeam(gateway, context);
  const body = {
    ...{ template, slug, scope },
    ...(Object.keys(values).length === 0 ? {} : { values }),
    ...(locks.length === 0 ? {} : { locks }),
  };
  const made = await gateway.ask<typeof addInstallation>("POST /api/teams/{team}/installations", {
    params: { team },
    body,
  });
  return printAnswer(context, { installations: [{ ...made, team }] }, ({ installations: rows }) =>
    printInstallations(rows),
  );
}

/** `toolyard uninstall`. */
export async function uninstall(context: CommandContext): Promise<number> {
  const [installation] = context.positionals;
  if (installation === undefined) return misused("uninstall SERVER --team TEAM");
  const gateway = await openGatewayClient(context);
  const params = { team: await theTeam(gateway, context), installation };
  await gateway.ask<typeof removeInstallation>("DELETE /api/teams/{team}/installations/{installation}", { params });
  return printDone(context);
}

/** `toolyard installations`. */
export async function installations(context: CommandContext): Promise<number> {
  const gateway = await openGatewayClient(context);
  const named = typedTeam(context);
  const teams = named === undefined ? (await allTeams(gateway)).map(({ slug }) => slug) : [named];
  const lists = await Promise.all(teams.map(async (team) => await installationsOf(gateway, team)));
  return printAnswer(context, { installations: lists.flat() }, ({ installations: rows }) => printInstallations(rows));
}

function printInstallations(rows: readonly Installation[]): void {
  printTable(
    ["SERVER", "TEAM", "TEMPLATE", "SCOPE", "MISSING"],
    rows.map((row) => [
      row.slug,
      row.team,
      row.template,
      row.enabled ? row.scope : "switched off",
      row.missing.map(({ path, tier }) => `${path} (${tier})`).join(", "),
    ]),
  );
}

/** `toolyard template list|add|change|rm`. */
export async function template(context: CommandContext): Promise<number> {
  const [task = "list", name] = context.positionals;
  const team = typedTeam(context);
  if (task === "list") {
    const gateway = await openGatewayClient(context);
    return printAnswer(context, { templates: await templatesOf(gateway, team) }, ({ templates }) =>
      printTable(
        ["TEMPLATE", "SOURCE", "ID"],
        templates.map((row) => [row.slug, row.source, row.id]),
      ),
    );
  }
  if (name === undefined) return misused("template list, or add, change or rm NAME");
  const file = textOption(context, "file");
  if (task !== "rm" && ((task !== "add" && task !== "change") || file === undefined))
    return misused(`template ${task} NAME --file FILE`);
  const gateway = await openGatewayClient(context);
  if (task === "rm") {
    const params = { template: await ownTemplate(gateway, name, team) };
    await gateway.ask<typeof removeTemplate>("DELETE /api/templates/{template}", { params });
    return printDone(context);
  }
  const content = await readTemplate(file ?? "", context);
  if (task === "add") {
    const body = { slug: name, team, ...content };
    const { id } = await gateway.ask<typeof addTemplate>("POST /api/templates", { body });
    return printAnswer(context, { template: id }, () => undefined);
  }
  const params = { template: await ownTemplate(gateway, name, team) };
  await gateway.ask<typeof changeTemplate>("PATCH /api/templates/{template}", { params, body: content });
  return printDone(context);
}

/** The id of a template of the team that is named, or of all teams where none is: one is never meant by the other. */
async function ownTemplate(gateway: GatewayClient, name: string, team: string | undefined): Promise<string> {
  const all = await templatesOf(gateway, team);
  const found = all.find((row) => (row.slug === name || row.id === name) && row.team === (team ?? null));
  if (found !== undefined) return found.id;
  throw new GatewayError(
    "TEMPLATE_UNKNOWN",
    team === undefined
      ? "there is no template of all teams with this name"
      : "the team has no template of its own with this name",
  );
}

/** `toolyard secret list|set|rm`. */
export async function secret(context: CommandContext): Promise<number> {
  const [task = "list", name] = context.positionals;
  if (task !== "list" && ((task !== "set" && task !== "rm") || name === undefined))
    return misused("secret list, or set or rm NAME");
  const gateway = await openGatewayClient(context);
  const team = await theTeam(gateway, context);
  const params = { team, secret: name ?? "" };
  if (task === "rm") {
    await gateway.ask<typeof removeSecret>("DELETE /api/teams/{team}/secrets/{secret}", { params });
    return printDone(context);
  }
  if (task === "set") {
    const body = { value: await readSecret() };
    await gateway.ask<typeof putSecret>("PUT /api/teams/{team}/secrets/{secret}", { params, body });
    return printDone(context);
  }
  const answer = await gateway.ask<typeof listSecrets>("GET /api/teams/{team}/secrets", { params: { team } });
  return printAnswer(context, answer, ({ secrets }) =>
    printTable(
      ["SECRET", "SERVER", "SET", "LAST USED"],
      secrets.map((row) => [
        row.name,
        row.server ?? "",
        row.updated.slice(0, 10),
        row.used === null ? "never" : row.used.slice(0, 10),
      ]),
    ),
  );
}

/** `toolyard key rotate`. */
export async function key(context: CommandContext): Promise<number> {
  if (context.positionals[0] !== "rotate") return misused("key rotate");
  const gateway = await openGatewayClient(context);
  const rotated = await gateway.ask<typeof rotateKeys>("POST /api/system/keys/rotate", {
    body: { data: isOn(context, "data") },
  });
  return printAnswer(context, { rotated }, () =>
    process.stdout.write(
      `The key is a new one. ${rotated.secrets} secrets of ${rotated.teams} teams were encrypted again.\n`,
    ),
  );
}

/**
 * `toolyard config get|set|unset`, of servers of teams: values of the team, of one of its members, or with `--me` one's
 * own at a gateway where one is logged in.
 */
export async function teamConfig(context: CommandContext): Promise<number> {
  const [task = "get", name, ...words] = context.positionals;
  const [user, isOwn] = [textOption(context, "user"), isOn(context, "me")];
  const usage = `config ${task} SERVER${task === "get" ? "" : task === "set" ? " PATH=VALUE" : " PATH"}`;
  if (name === undefined || (task !== "get" && words.length === 0)) return misused(`${usage} --team TEAM`);
  // Whose values they are is said by the login alone.
  if (isOwn && (typedTeam(context) !== undefined || user !== undefined || textOption(context, "gateway") === undefined))
    return misused(`${usage} --me --gateway URL, without --user and --team`);
  const gateway = await openGatewayClient(context);
  const params = { team: isOwn ? await ownTeam(gateway) : await theTeam(gateway, context), installation: name };
  const place = `/api/teams/{team}/installations/{installation}` as const;
  if (task === "get") {
    const values = isOwn
      ? await gateway.ask<typeof showOwnValues>(`GET ${place}/config/me`, { params })
      : user === undefined
        ? await gateway.ask<typeof showTeamValues>(`GET ${place}/config/team`, { params })
        : await gateway.ask<typeof showMemberValues>(`GET ${place}/members/{member}/values`, {
            params: { ...params, member: user },
          });
    return printAnswer(context, { values }, () => showValues(values));
  }
  const values = task === "set" ? await readValues(words) : Object.fromEntries(words.map((path) => [path, null]));
  const body = { values };
  if (isOwn) await gateway.ask<typeof patchOwnValues>(`PATCH ${place}/config/me`, { params, body });
  else if (user === undefined)
    await gateway.ask<typeof patchTeamValues>(`PATCH ${place}/config/team`, { params, body });
  else
    await gateway.ask<typeof setMemberValues>(`PATCH ${place}/members/{member}/values`, {
      params: { ...params, member: user },
      body,
    });
  return printDone(context);
}

async function ownTeam(gateway: GatewayClient): Promise<string> {
  const { team } = await gateway.ask<typeof showMe>("GET /api/me", {});
  if (team !== null) return team;
  throw new GatewayError("CONFIG_INVALID", "the person logged in there is in no team, and has no values", {
    hint: "Ask an admin for an invitation, and log in again.",
  });
}

/** `PATH=VALUE`; several of `args` are one list. A value `-` is read from standard input. */
async function readValues(words: readonly string[]): Promise<Record<string, string | string[]>> {
  const values = new Map<string, string | string[]>();
  for (const word of words) {
    const at = word.indexOf("=");
    if (at < 1)
      throw new GatewayError(
        "CONFIG_INVALID",
        `expected PATH=VALUE, such as env.REGION=eu: ${plainText(word.slice(0, 60))}`,
      );
    const [path, given] = [word.slice(0, at), word.slice(at + 1)];
    const value = given === "-" ? await readSecret() : given;
    const before = values.get(path);
    values.set(path, path === "args" ? [...(Array.isArray(before) ? before : []), value] : value);
  }
  return Object.fromEntries(values);
}

/** All of standard input, without the end of its last line. */
export async function readSecret(): Promise<string> {
  if (process.stdin.isTTY) process.stderr.write("Type the secret, then Enter and Ctrl-D:\n");
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks)
    .toString("utf8")
    .replace(/\r?\n$/, "");
}

async function readTemplate(
  file: string,
  context: CommandContext,
): Promise<{ readonly entry: JsonObject; readonly fields: unknown[] }> {
  let written: unknown;
  try {
    written = JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    throw new GatewayError("CONFIG_INVALID", `${file} cannot be used: ${error instanceof Error ? error.message : ""}`);
  }
  if (isJsonObject(written) && isJsonObject(written["entry"]))
    return { entry: written["entry"], fields: Array.isArray(written["fields"]) ? written["fields"] : [] };
  const { entry, fields } = toRegistryTemplate(parseServerJson(written), textOption(context, "from"));
  return { entry: { ...entry }, fields: [...fields] };
}

function showValues({ fields }: TypesOf<typeof showTeamValues>["answer"]): void {
  printTable(
    ["FIELD", "GIVEN BY", "TYPE", "VALUE"],
    fields.map((field) => {
      const value = field.value === null ? (field.set ? "set" : "") : String(field.value);
      const type = field.required ? `${field.type}, required` : field.type;
      // They may be of a gateway elsewhere.
      return [field.path, field.tier, type, value].map(plainText);
    }),
  );
}
