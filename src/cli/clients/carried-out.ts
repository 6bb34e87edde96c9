import { isOn } from "../../config/given.ts";
import type { PlannedChange } from "../../operations/machine/clients/planned-change.ts";
import type { CommandContext } from "../command/command-context.ts";
import { printText } from "../terminal/fitted-text.ts";
import { askYes, canAsk } from "../terminal/yes-or-no.ts";

/** A change that waits for a yes. */
interface Proposal {
  readonly change: PlannedChange;
  readonly question: string;
  /** What people are told, once it is clear whether it is done. */
  readonly toText: (isDone: boolean) => readonly string[];
}

/** Shows what changes, asks, writes, and tells. Ends with 2 where there is no one to ask, and 1 after a no. */
export async function carryOut(context: CommandContext, { change, question, toText }: Proposal): Promise<number> {
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
export const onlyShown = "Nothing was changed: this is what would be.";
