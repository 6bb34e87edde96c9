import { readFile } from "node:fs/promises";
import type { InstallsAnswer, InstallsRequest } from "../../app/owner/owner-installs.ts";
import { toRegistryTemplate } from "../../config/registry/registry-template.ts";
import { parseServerJson } from "../../config/registry/server-json.ts";
import type { ValuesView } from "../../people/installations/install-view.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import type { CommandContext } from "../command/command-context.ts";
import { configElsewhere } from "./config-elsewhere.ts";
import { isOn, listOption, textOption } from "../command/options.ts";
import { control } from "../gateway/owner-client.ts";
import { plainText } from "../terminal/plain-text.ts";
import { findGateway } from "../gateway/running-gateways.ts";
import { printTable } from "../terminal/table.ts";
import { misused } from "../terminal/wrong-usage.ts";

/** `toolyard install`. */
export async function install(context: CommandContext): Promise<number> {
  const [name] = context.positionals;
  if (name === undefined) return misused("install TEMPLATE --team TEAM");
  const values = await readValues(listOption(context, "set"));
  const locks = listOption(context, "lock");
  const about = { slug: textOption(context, "as"), scope: textOption(context, "scope") };
  return await ask(context, {
    task: "install",
    name,
    ...about,
    ...(Object.keys(values).length === 0 ? {} : { values }),
    ...(locks.length === 0 ? {} : { locks }),
  });
}

/** `toolyard uninstall`. */
export async function uninstall(context: CommandContext): Promise<number> {
  const [name] = context.positionals;
  return name === undefined ? misused("uninstall SERVER --team TEAM") : await ask(context, { task: "uninstall", name });
}

/** `toolyard installations`. */
export async function installations(context: CommandContext): Promise<number> {
  return await ask(context, { task: "list" });
}

/** `toolyard template list|add|change|rm`. */
export async function template(context: CommandContext): Promise<number> {
  const [task = "list", name] = context.positionals;
  if (task === "list") return await ask(context, { task: "template.list" });
  if (name === undefined) return misused("template list, or add, change or rm NAME");
  if (task === "rm") return await ask(context, { task: "template.remove", name });
  const file = textOption(context, "file");
  if ((task !== "add" && task !== "change") || file === undefined) return misused(`template ${task} NAME --file FILE`);
  return await ask(context, { task: `template.${task}`, name, ...(await readTemplate(file, context)) });
}

/** `toolyard secret list|set|rm`. */
export async function secret(context: CommandContext): Promise<number> {
  const [task = "list", name] = context.positionals;
  if (task === "list") return await ask(context, { task: "secret.list" });
  if (name === undefined) return misused("secret list, or set or rm NAME");
  if (task === "rm") return await ask(context, { task: "secret.remove", name });
  if (task !== "set") return misused("secret list, or set or rm NAME");
  return await ask(context, { task: "secret.set", name, text: await readSecret() });
}

/** `toolyard key rotate`. */
export async function key(context: CommandContext): Promise<number> {
  if (context.positionals[0] !== "rotate") return misused("key rotate");
  return await ask(context, { task: "key.rotate", isDeep: isOn(context, "data") });
}

/** `toolyard config get|set|unset`, of servers of teams. */
export async function teamConfig(context: CommandContext): Promise<number> {
  const [task, name, ...words] = context.positionals;
  if (isOn(context, "me") || textOption(context, "gateway") !== undefined)
    return await configElsewhere(context, { readValues, showValues });
  const user = textOption(context, "user");
  if (name === undefined) return misused(`config ${String(task)} SERVER --team TEAM`);
  if (task === "get") return await ask(context, { task: "config.get", name, user });
  if (words.length === 0) return misused(`config ${String(task)} SERVER ${task === "set" ? "PATH=VALUE" : "PATH"}`);
  const values = task === "set" ? await readValues(words) : Object.fromEntries(words.map((path) => [path, null]));
  return await ask(context, { task: "config.set", name, user, values });
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

async function readSecret(): Promise<string> {
  if (process.stdin.isTTY) process.stderr.write("Type the secret, then Enter and Ctrl-D:\n");
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks)
    .toString("utf8")
    .replace(/\r?\n$/, "");
}

async function readTemplate(file: string, context: CommandContext): Promise<Pick<InstallsRequest, "entry" | "fields">> {
  let written: unknown;
  try {
    written = JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    throw new GatewayError("CONFIG_INVALID", `${file} cannot be used: ${error instanceof Error ? error.message : ""}`);
  }
  if (isJsonObject(written) && isJsonObject(written["entry"]))
    return { entry: written["entry"], fields: written["fields"] ?? [] };
  return toRegistryTemplate(parseServerJson(written), textOption(context, "from"));
}

async function ask(context: CommandContext, request: InstallsRequest): Promise<number> {
  const { team } = context.flags;
  // `--team` of these commands is a name, and that of `serve` a setting.
  const holder = await findGateway({ ...context, flags: { ...context.flags, team: undefined } });
  const named = typeof team === "string" ? { team } : {};
  const answer = await control(holder, { command: "installs", ...named, ...request });
  if (!answer.ok) {
    const hint = answer.hint === undefined ? "" : `  ${answer.hint}\n`;
    process.stderr.write(`toolyard: ${plainText(answer.message ?? "it failed")}\n${hint}`);
    return 1;
  }
  const found = answer.installs ?? {};
  if (isOn(context, "json")) process.stdout.write(`${JSON.stringify({ ok: true, ...found })}\n`);
  else show(found);
  return 0;
}

function show({ installations: rows, values, secrets, templates, rotated }: InstallsAnswer): void {
  if (rows !== undefined)
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
  if (values !== undefined) showValues(values);
  if (secrets !== undefined)
    printTable(
      ["SECRET", "SERVER", "SET", "LAST USED"],
      secrets.map((row) => [
        row.name,
        row.server ?? "",
        day(row.updatedAtMs),
        row.usedAtMs === null ? "never" : day(row.usedAtMs),
      ]),
    );
  if (templates !== undefined)
    printTable(
      ["TEMPLATE", "SOURCE", "ID"],
      templates.map((row) => [row.slug, row.source, row.id]),
    );
  if (rotated !== undefined)
    process.stdout.write(
      `The key is a new one. ${rotated.secrets} secrets of ${rotated.teams} teams were encrypted again.\n`,
    );
}

function showValues({ fields }: ValuesView): void {
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

function day(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}
