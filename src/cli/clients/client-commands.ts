import type { listConnections } from "../../operations/gateway/database-operations.ts";
import {
  findClients,
  toClientLines,
  type ClientLine,
  type FileLine,
} from "../../operations/machine/clients/client-lines.ts";
import { findOwnGateways } from "../../operations/machine/surroundings/local-gateways.ts";
import { findDataDirectory, readConfig } from "../../operations/machine/surroundings/surroundings.ts";
import type { GatewayHolder } from "../../store/gateway-holder.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isOn, textOption } from "../../config/given.ts";
import { ownersClient } from "../gateway/gateway-client.ts";
import { columnsOf, wrapText, printText } from "../terminal/fitted-text.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { toTable } from "../terminal/table.ts";
import { whileWaiting } from "../terminal/waiting-line.ts";
import type { Target } from "../../config/clients/connect/client-connection.ts";
import type { SharedServer } from "../../config/clients/import/shared-servers.ts";
import type { showTokens } from "../../operations/records/usage-operations.ts";
import { countText } from "../../kernel/text/number-text.ts";
import { findGateway } from "../gateway/running-gateways.ts";
import { hookTarget } from "../../operations/machine/clients/connection-hook.ts";
import { planConnection } from "../../operations/machine/clients/connection-plan.ts";
import { findWantedTarget } from "../../operations/machine/clients/connection-target.ts";
import { askSecret, askWhich, canAsk, askYes } from "../terminal/yes-or-no.ts";
import { reloadAfterRemoval } from "../../config/clients/table/client-row.ts";
import { planDisconnection, planUndoing } from "../../operations/machine/clients/disconnection-plan.ts";
import type { PlannedChange } from "../../operations/machine/clients/planned-change.ts";

/** `toolyard clients`: which AI clients there are, and what they are connected to. */
export async function listClients(context: CommandContext): Promise<number> {
  const found = await whileWaiting("Reading the settings of AI clients", async () => await findClients(context));
  const connected = await readConnected(context);
  const { dataDir } = await findDataDirectory(context);
  const lines = await toClientLines(found, { connected, dataDir });
  if (isOn(context, "json")) process.stdout.write(`${JSON.stringify({ clients: lines })}\n`);
  else process.stdout.write(`${toText(lines).join("\n")}\n`);
  return 0;
}

/** The connected clients of all gateways of this machine; undefined while none runs. */
async function readConnected(context: CommandContext): Promise<readonly (string | null)[] | undefined> {
  const { running } = await findOwnGateways(context);
  const ask = async (holder: GatewayHolder) =>
    await ownersClient(holder).ask<typeof listConnections>("GET /api/connections", {});
  const answers = await Promise.all(running.map(async (holder) => await ask(holder).catch(() => undefined)));
  const told = answers.flatMap((answer) => answer ?? []);
  return told.length === 0 ? undefined : told.flatMap(({ clients }) => clients.map(({ client }) => client));
}

function toText(lines: readonly ClientLine[]): readonly string[] {
  if (lines.length === 0) return ["No AI client was found."];
  const rows = lines.flatMap(({ client, files, sessions }) => {
    const count = sessions === null || sessions === 0 ? "-" : String(sessions);
    if (files.length === 0) return [[client, "-", "-", count, "no servers of its own"]];
    return files.map((file, index) => [
      index === 0 ? client : "",
      String(file.servers),
      gatewayText(file),
      index === 0 ? count : "",
      `${file.file}${file.scope === "user" ? "" : ` (${file.scope})`}`,
    ]);
  });
  const problems = lines.flatMap(({ files }) => files.flatMap((file) => file.problems));
  return [
    ...toTable(
      [
        { heading: "CLIENT" },
        { heading: "SERVERS", align: "right" },
        { heading: "GATEWAY" },
        { heading: "SESSIONS", align: "right", rank: 1 },
        { heading: "FILE", fit: "wrap", least: 30 },
      ],
      rows.map((row) => row.map(plainText)),
    ),
    ...[...new Set(problems)].flatMap((problem) =>
      wrapText(`! ${plainText(problem)}`, columnsOf(process.stdout), "  "),
    ),
  ];
}

function gatewayText({ gateways, isConnected }: FileLine): string {
  const others = gateways.filter((name) => name !== "Toolyard");
  return [...(isConnected ? ["this one"] : []), ...others].join(", ") || "-";
}

/** The client, scope and file that the command line means. Rejects with CONFIG_INVALID. */
async function readTarget(context: CommandContext): Promise<Target> {
  const [id] = context.positionals;
  const [scope, file] = ["scope", "file"].map((option) => textOption(context, option));
  return await findWantedTarget(context, { id, scope, file });
}

/** `toolyard connect <client>`: writes our one entry into that client's file, after showing what changes. */
export async function connect(context: CommandContext): Promise<number> {
  const target = await readTarget(context);
  const hasHook = isOn(context, "hook");
  const changed = hasHook ? hookTarget(context, target) : target;
  if (isOn(context, "undo")) return await undoConnection(context, changed);
  const config = await readConfig(context);
  const plan = await planConnection(context, config, target, {
    ...{ hasHook, isStdio: isOn(context, "stdio"), name: textOption(context, "name") },
    ...{ url: textOption(context, "url"), token: textOption(context, "token") },
    ...{ principal: textOption(context, "principal"), profile: textOption(context, "profile") },
    askToken: canAsk()
      ? async () => await askSecret("This gateway requires a token. Which one should the client send?")
      : undefined,
    chooseOff: async (at, shared) => await chooseOff(context, at, shared),
  });
  const { row, path, scope } = target;
  const again = `toolyard connect ${row.id}${scope === "user" ? "" : ` --scope ${scope}`}`;
  const undo = `Undo: ${again} --undo${hasHook ? `, and of the hook: ${again} --hook --undo` : ""}`;
  const notes = plan.notes.map(({ text, command }) => (command === undefined ? text : `${text} ${command}`));
  const where = `${plan.name} in ${path}`;
  if (plan.changes.length === 0) {
    const said = [`${row.label} is connected already: ${where}`, ...notes].join("\n  ");
    if (isOn(context, "json")) process.stdout.write(`${JSON.stringify(plan.facts(false))}\n`);
    else printText(process.stdout, said);
    return 0;
  }
  return await carryOut(context, {
    change: plan,
    question: `Connect ${row.label}?`,
    toText: (isDone) =>
      isDone ? [`${row.label} is connected: ${where}`, ...notes, row.reload, undo] : [onlyShown, ...notes],
  });
}

/** Which of the servers that the gateway has as well are switched off in the client: otherwise its model sees both. */
async function chooseOff(
  context: CommandContext,
  { row }: Target,
  shared: readonly SharedServer[],
): Promise<readonly string[]> {
  if (isOn(context, "replace")) return shared.map(({ name }) => name);
  const mayAsk = canAsk() && !isOn(context, "yes") && !isOn(context, "dry-run") && !isOn(context, "json");
  if (isOn(context, "keep-own") || !mayAsk) return [];
  const how = row.switchOff === undefined ? "take out of its file" : "switch off there";
  const tokens = await tokensOfServers(context);
  const choices = shared.map(({ name, server }) => {
    const saved = tokens.get(server);
    return { name, about: saved === undefined ? "" : `saves ${countText(saved)} tokens` };
  });
  return await askWhich(`${row.label} has these itself, and the gateway has them too. Which should I ${how}?`, choices);
}

/** What the tools of each server cost a model, where the gateway runs and knows it. */
async function tokensOfServers(context: CommandContext): Promise<ReadonlyMap<string, number>> {
  try {
    const gateway = ownersClient(await findGateway(context));
    const { servers } = await gateway.ask<typeof showTokens>("GET /api/usage/tokens", {});
    return new Map(servers.flatMap(({ server, tokens, isKnown }) => (isKnown ? [[server, tokens] as const] : [])));
  } catch {
    return new Map();
  }
}

/** `toolyard disconnect <client>`: takes our entry out of that client's file, and leaves the rest as it is now. */
export async function disconnect(context: CommandContext): Promise<number> {
  const target = await readTarget(context);
  if (isOn(context, "undo")) return await undoConnection(context, target);
  const asked = { name: textOption(context, "name"), url: textOption(context, "url") };
  const change = await planDisconnection(context, await readConfig(context), target, asked);
  const { row, path } = target;
  if (change.changes.length === 0) {
    const said = `${row.label} is not connected: nothing in ${path} leads to Toolyard`;
    if (isOn(context, "json")) process.stdout.write(`${JSON.stringify(change.facts(false))}\n`);
    else printText(process.stdout, said);
    return 0;
  }
  const { notes } = change.facts(false);
  return await carryOut(context, {
    change,
    question: `Disconnect ${row.label}?`,
    toText: (isDone) =>
      isDone ? [`${row.label} is not connected any more`, ...notes, reloadAfterRemoval(row)] : [onlyShown, ...notes],
  });
}

/** `--undo` of `connect` and `disconnect`: the file becomes what it was before the last change that we made. */
async function undoConnection(context: CommandContext, target: Target): Promise<number> {
  const { path } = target;
  const change = await planUndoing(context, target);
  if (change.kind === "nothing") {
    process.stderr.write(`toolyard: nothing is kept that could be undone in ${path}\n`);
    return 1;
  }
  const { outcome, notes, reload } = change.facts(true);
  const sentences: Partial<Record<typeof outcome, string>> = {
    removed: `${path} was removed again: it was not there before`,
    restored: `${path} is again what it was, byte for byte`,
    unchanged: `${path} is what it was already`,
    "taken back": `${path} was written again since, so that only what was ours was taken out`,
  };
  return await carryOut(context, {
    change,
    question: `Undo this in ${path}?`,
    toText: (isDone) =>
      isDone ? [sentences[outcome] ?? "", ...notes, ...(change.kind === "done" ? [] : [reload])] : [onlyShown],
  });
}

/** A change that waits for a yes. */
interface Proposal {
  readonly change: PlannedChange;
  readonly question: string;
  /** What people are told, once it is clear whether it is done. */
  readonly toText: (isDone: boolean) => readonly string[];
}

/** Shows what changes, asks, writes, and tells. Ends with 2 where there is no one to ask, and 1 after a no. */
async function carryOut(context: CommandContext, { change, question, toText }: Proposal): Promise<number> {
  const isJson = isOn(context, "json");
  const { changes } = change;
  const tell = (isDone: boolean): number => {
    if (isJson) process.stdout.write(`${JSON.stringify(change.facts(isDone))}\n`);
    else printText(process.stdout, toText(isDone).join("\n  "));
    return 0;
  };
  if (!isJson) for (const lines of changes) process.stdout.write(`${lines.join("\n")}\n\n`);
  if (isOn(context, "dry-run")) return tell(false);
  if (changes.length > 0 && !isOn(context, "yes")) {
    if (isJson || !canAsk()) {
      process.stderr.write("toolyard: nothing was changed: there is no one to ask here, so say --yes or --dry-run\n");
      return 2;
    }
    if (!(await askYes(question))) {
      process.stderr.write("Nothing was changed.\n");
      return 1;
    }
  }
  await change.apply();
  return tell(true);
}

/** The first line after a change was only shown. */
const onlyShown = "Nothing was changed: this is what would be.";
