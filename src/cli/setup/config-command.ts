import { findProblems, readConfig } from "../../operations/machine/surroundings/surroundings.ts";
import { basename } from "node:path";
import type { compareConfig } from "../../operations/gateway/database-operations.ts";
import { configurationSchema } from "../../config/settings/config-schema.ts";
import { listValues } from "../../app/fronts/config-values.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { CommandContext } from "../command/command-context.ts";
import { forget, keep } from "./kept-values.ts";
import { teamConfig } from "../people/installs-command.ts";
import { isOn } from "../../config/given.ts";
import { openGatewayClient } from "../gateway/gateway-client.ts";
import { printText } from "../terminal/fitted-text.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { toTable } from "../terminal/table.ts";

const wrongConfiguration = 2;

/** `toolyard config check|show|diff|schema|keep|forget|get|set|unset`. */
export async function config(context: CommandContext): Promise<number> {
  const [action] = context.positionals;
  switch (action) {
    case "check":
      return await check(ofFile(context));
    case "show":
      return await show(ofFile(context));
    case "diff":
      return await diff(ofFile(context));
    case "get":
    case "set":
    case "unset":
      return await teamConfig(context);
    case "keep":
      return await keep(context);
    case "forget":
      return await forget(context);
    case "schema":
      process.stdout.write(`${JSON.stringify(configurationSchema(), undefined, 2)}\n`);
      return 0;
    default:
      throw new GatewayError(
        "CONFIG_INVALID",
        `${action === undefined ? "" : `${JSON.stringify(plainText(action))} is no part of this: `}expected check, show, diff, schema, keep, forget, get, set or unset`,
        {
          hint: "For example `toolyard config check`.",
        },
      );
  }
}

/** `--team` names a team here, and is no setting. */
function ofFile(context: CommandContext): CommandContext {
  return { ...context, flags: { ...context.flags, team: undefined } };
}

/** Every problem on a line of its own. A server that cannot be used is one, and a mere oddity is none. */
async function check(context: CommandContext): Promise<number> {
  const { file, problems, warnings } = await findProblems(context);
  if (isOn(context, "json")) {
    process.stdout.write(
      `${JSON.stringify({ file: file ?? null, valid: problems.length === 0, problems, warnings })}\n`,
    );
    return problems.length === 0 ? 0 : wrongConfiguration;
  }
  for (const problem of problems) printText(process.stdout, plainText(problem));
  for (const warning of warnings) printText(process.stderr, `warning: ${plainText(warning)}`);
  if (problems.length > 0) return wrongConfiguration;
  process.stdout.write(
    file === undefined ? "There is no configuration file; the defaults hold.\n" : `${file} is fine.\n`,
  );
  return 0;
}

/** The settings in force for a command or a gateway that is started here with these flags. */
async function show(context: CommandContext): Promise<number> {
  const current = await readConfig(context);
  const values = await listValues(current, context);
  if (isOn(context, "json")) {
    const rows = isOn(context, "origins") ? values : values.map(({ path, value }) => ({ path, value }));
    process.stdout.write(`${JSON.stringify({ file: current.file ?? null, values: rows })}\n`);
    return 0;
  }
  const columns = [
    { heading: "NAME" },
    { heading: "VALUE", fit: "wrap", least: 12 },
    { heading: "FROM", fit: "below" },
  ] as const;
  const withOrigins = isOn(context, "origins");
  const rows = values.map(({ path, value, origin }) => [
    plainText(path),
    plainText(JSON.stringify(value)),
    withOrigins ? plainText(shortPlace(origin, current.file)) : "",
  ]);
  process.stdout.write(`${toTable(withOrigins ? columns : columns.slice(0, 2), rows).join("\n")}\n`);
  return 0;
}

/** Without the folders of the file, which is the same one in every line. */
function shortPlace(origin: string, file: string | undefined): string {
  return file !== undefined && origin.startsWith(`${file}:`) ? basename(file) + origin.slice(file.length) : origin;
}

/** What the file says otherwise than the running gateway. */
async function diff(context: CommandContext): Promise<number> {
  const gateway = await openGatewayClient(context);
  const standing = await gateway.ask<typeof compareConfig>("GET /api/config/drift", {});
  if (isOn(context, "json")) process.stdout.write(`${JSON.stringify(standing)}\n`);
  if (standing.refused !== null) {
    process.stderr.write(
      `toolyard: the gateway keeps its old configuration, because the file is refused: ${plainText(standing.refused)}\n`,
    );
    return wrongConfiguration;
  }
  if (isOn(context, "json")) return 0;
  if (standing.differences.length === 0) {
    process.stdout.write(`The running gateway has ${standing.file ?? "the configuration"} in force.\n`);
    return 0;
  }
  const rows = standing.differences.map(({ path, before, after, needsRestart }) => [
    plainText(path),
    shown(before),
    shown(after),
    needsRestart ? "takes effect at the next start" : "about to be applied",
  ]);
  const columns = [
    { heading: "NAME" },
    { heading: "IN FORCE", fit: "wrap", least: 12 },
    { heading: "IN THE FILE", fit: "wrap", least: 12 },
    { heading: "", fit: "below" },
  ] as const;
  process.stdout.write(`${toTable(columns, rows).join("\n")}\n`);
  return 0;
}

function shown(value: unknown): string {
  return value === null ? "-" : plainText(JSON.stringify(value));
}
