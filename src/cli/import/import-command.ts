import { findClients } from "../../operations/machine/clients/client-lines.ts";
import {
  chosenUnasked,
  freshServers,
  hideSecrets,
  planFor,
  planJson,
  textWith,
  writeImport,
  writtenEntry,
  type ImportWritten,
  type SecretWay,
} from "../../operations/machine/clients/import-facts.ts";
import type { FoundClient } from "../../config/clients/import/read-clients.ts";
import { clientTable, findClient } from "../../config/clients/table/client-table.ts";
import type { ImportPlan, PlannedServer } from "../../config/clients/import/import-plan.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { CommandContext } from "../command/command-context.ts";
import { askWhatToImport, askWhetherToWrite, planLines } from "./import-text.ts";
import { readTarget } from "../../operations/machine/clients/import-target.ts";
import type { ImportTarget } from "../../operations/machine/clients/import-target.ts";
import { askForValues } from "../setup/kept-values.ts";
import { isOn, listOption, textOption } from "../../config/given.ts";
import { printText } from "../terminal/fitted-text.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { diffLines } from "../../kernel/text/text-diff.ts";
import { whileWaiting } from "../terminal/waiting-line.ts";

/** Something waits for a yes, and there is no one to ask. */
const needsAnswer = 2;

/**
 * `toolyard import`: takes over the servers of AI clients. Nothing is started, and nothing is written before a person
 * said yes on a terminal, or `--yes`.
 */
export async function importServers(context: CommandContext): Promise<number> {
  const isJson = isOn(context, "json");
  const secrets = secretWay(context);
  const target = await readTarget(context);
  const found = fromOnly(
    await whileWaiting("Reading the settings of AI clients", async () => await findClients(context)),
    textOption(context, "from"),
  );
  const plan = await planFor(context, target, found);
  const only = listOption(context, "only");
  const fresh = freshServers(plan, only);
  const isAsked = !isJson && !isOn(context, "yes") && !isOn(context, "dry-run") && isTerminal();
  if (!isJson) print(planLines(plan, isAsked ? secrets : (secrets ?? "keep")));
  if (fresh.length === 0) {
    if (isJson) printJson(plan, target, null);
    else print(["", "There is nothing to take over."]);
    return 0;
  }
  const choice = isAsked
    ? await askWhatToImport(fresh, secrets)
    : { servers: chosenUnasked(fresh, only), secrets: secrets ?? "keep" };
  if (!isJson && !isAsked) print(leftOutLines(fresh, choice?.servers ?? []));
  if (choice === undefined || choice.servers.length === 0) {
    if (isJson) printJson(plan, target, null);
    else print(["", "Nothing was changed."]);
    return choice === undefined ? 1 : 0;
  }
  const text = textWith(target, choice.servers, choice.secrets);
  if (!isJson) printDiff(target, text, plan.servers);
  if (isOn(context, "dry-run") || !(isOn(context, "yes") || (isAsked && (await askWhetherToWrite(target.file))))) {
    if (isJson) printJson(plan, target, null);
    return refused(context, isAsked, isJson);
  }
  const backup = await writeImport(context, target, choice);
  const entries = choice.servers.map((server) => [server.key, writtenEntry(server, choice.secrets)] as const);
  const there = { ...context, flags: { ...context.flags, config: target.file } };
  const kept = isAsked ? await askForValues(there, entries) : [];
  if (isJson) printJson(plan, target, { file: target.file, backup: backup ?? null });
  else print(outcome(target, choice.servers, { backup, kept }));
  return 0;
}

function fromOnly(found: readonly FoundClient[], asked: string | undefined): readonly FoundClient[] {
  if (asked === undefined) return found;
  if (findClient(asked) === undefined)
    throw new GatewayError("CONFIG_INVALID", `--from: there is no client ${JSON.stringify(asked)}`, {
      hint: `One of ${clientTable.map(({ id }) => id).join(", ")}.`,
    });
  return found.filter(({ row }) => row.id === asked);
}

function leftOutLines(fresh: readonly PlannedServer[], chosen: readonly PlannedServer[]): readonly string[] {
  const names = fresh.filter((server) => !chosen.includes(server)).map(({ key }) => key);
  if (names.length === 0) return [];
  return [
    "",
    `Left out because of what it runs: ${names.join(", ")}. To take it over: ${names.map((name) => `--only ${name}`).join(" ")}`,
  ];
}

function secretWay(context: CommandContext): SecretWay | undefined {
  const given = textOption(context, "secrets");
  if (given === undefined || given === "keep" || given === "variables") return given;
  throw new GatewayError("CONFIG_INVALID", "--secrets: expected keep or variables", {
    hint: "Correct --secrets, or leave it out.",
  });
}

function isTerminal(): boolean {
  return process.stdin.isTTY && process.stdout.isTTY;
}

function refused(context: CommandContext, isAsked: boolean, isJson: boolean): number {
  const isDry = isOn(context, "dry-run");
  if (!isJson) print(["", isDry || isAsked ? "Nothing was changed." : "Nothing was changed: --yes does it."]);
  return isDry ? 0 : isAsked ? 1 : needsAnswer;
}

function printDiff(target: ImportTarget, text: string, servers: readonly PlannedServer[]): void {
  const lines = diffLines(target.text ?? "", text);
  print(["", `${target.text === undefined ? "new file " : ""}${target.file}`, ...hideSecrets(lines, servers)]);
}

function outcome(
  { file }: ImportTarget,
  servers: readonly PlannedServer[],
  { backup, kept }: { readonly backup: string | undefined; readonly kept: readonly string[] },
): readonly string[] {
  const missing = [...new Set(servers.flatMap((server) => server.missing))].filter((name) => !kept.includes(name));
  return [
    "",
    `${servers.length} added to ${file}${backup === undefined ? "" : ` (before: ${backup})`}`,
    ...(missing.length === 0
      ? []
      : [`Keep with \`toolyard config keep\`, or set before the gateway starts: ${missing.join(", ")}`]),
    "A gateway that runs with this file has them at once; otherwise `toolyard` starts one.",
  ];
}

function print(lines: readonly string[]): void {
  printText(process.stdout, lines.map(plainText).join("\n"));
}

function printJson(plan: ImportPlan, { file }: ImportTarget, written: ImportWritten | null): void {
  process.stdout.write(`${JSON.stringify({ config: file, ...planJson(plan), written })}\n`);
}
