import { printText } from "../terminal/fitted-text.ts";
import { reloadAfterRemoval } from "../../config/clients/table/client-row.ts";
import { isOn, textOption } from "../../config/given.ts";
import { planDisconnection } from "../../operations/machine/clients/disconnection-plan.ts";
import { readConfig } from "../../operations/machine/surroundings/surroundings.ts";
import type { CommandContext } from "../command/command-context.ts";
import { carryOut, onlyShown } from "./carried-out.ts";
import { readTarget } from "./connect-command.ts";
import { undoConnection } from "./undo-option.ts";

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
