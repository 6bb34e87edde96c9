import type { Target } from "../../config/clients/connect/client-connection.ts";
import { planUndoing } from "../../operations/machine/clients/disconnection-plan.ts";
import type { CommandContext } from "../command/command-context.ts";
import { carryOut, onlyShown } from "./carried-out.ts";

/** `--undo` of `connect` and `disconnect`: the file becomes what it was before the last change that we made. */
export async function undoConnection(context: CommandContext, target: Target): Promise<number> {
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
