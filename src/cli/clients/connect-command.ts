import type { Target } from "../../config/clients/connect/client-connection.ts";
import type { SharedServer } from "../../config/clients/import/shared-servers.ts";
import type { showTokens } from "../../operations/records/usage-operations.ts";
import { countText } from "../../kernel/text/number-text.ts";
import { ownersClient } from "../gateway/gateway-client.ts";
import { findGateway } from "../gateway/running-gateways.ts";
import { isOn, textOption } from "../../config/given.ts";
import { hookTarget } from "../../operations/machine/clients/connection-hook.ts";
import { planConnection } from "../../operations/machine/clients/connection-plan.ts";
import { findWantedTarget } from "../../operations/machine/clients/connection-target.ts";
import { readConfig } from "../../operations/machine/surroundings/surroundings.ts";
import type { CommandContext } from "../command/command-context.ts";
import { askSecret, askWhich, canAsk } from "../terminal/yes-or-no.ts";
import { printText } from "../terminal/fitted-text.ts";
import { carryOut, onlyShown } from "./carried-out.ts";
import { undoConnection } from "./undo-option.ts";

/** The client, scope and file that the command line means. Rejects with CONFIG_INVALID. */
export async function readTarget(context: CommandContext): Promise<Target> {
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
    principal: textOption(context, "principal"),
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
