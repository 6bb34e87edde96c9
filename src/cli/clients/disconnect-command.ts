import { systemClock } from "../../kernel/runtime/clock.ts";
import { planEdit } from "../../config/clients/connect/client-edit.ts";
import { disconnectionChanges, entryNamed } from "../../config/clients/connect/client-connection.ts";
import { readKeptChanges } from "../../config/clients/connect/kept-changes.ts";
import { reloadAfterRemoval } from "../../config/clients/table/client-row.ts";
import { tokenIn } from "../../config/clients/connect/own-entry.ts";
import { dataDirectoryOf, openDataDirectory, readConfig, type CommandContext } from "../command/command-context.ts";
import { carryOut } from "./connect-command.ts";
import { planWithoutHook } from "./connection-hook.ts";
import { openTarget, readTarget, type OpenedTarget } from "./connection-target.ts";
import { tokenNote, undoConnection } from "./connection-undo.ts";
import { ownOrigins } from "./connection-way.ts";
import { isOn } from "../command/options.ts";

/** `toolyard disconnect <client>`: takes our entry out of that client's file, and leaves the rest as it is now. */
export async function disconnect(context: CommandContext): Promise<number> {
  const target = await readTarget(context);
  if (isOn(context, "undo")) return await undoConnection(context, target);
  const config = await readConfig(context);
  const dataDir = dataDirectoryOf(config, context);
  const at = await openTarget(context, target, { ownUrls: await ownOrigins(context, config), dataDir });
  const entry = entryNamed(target, at.opened.values, at.name);
  if (entry === undefined) return report(context, at, "not connected");
  const kept = await readKeptChanges(dataDir, at.opened.file.realPath);
  const changes = disconnectionChanges(target, at.opened.values, { name: at.name, kept });
  const token = tokenIn(target.row, entry);
  const note = token === undefined ? [] : [tokenNote(token)];
  return await carryOut(context, {
    edits: [...(await planWithoutHook(context, target, at.name)), await planEdit(at.opened, changes)],
    question: `Disconnect ${target.row.label}?`,
    openPlace: () => ({ dataDir: openDataDirectory(config, context), clock: systemClock }),
    report: (outcome, changes) => report(context, at, outcome, { notes: note, changes }),
  });
}

type Outcome = "not connected" | "shown" | "done";

interface Said {
  readonly notes: readonly string[];
  readonly changes: readonly string[];
}

const nothing: Said = { notes: [], changes: [] };

function report(
  context: CommandContext,
  at: OpenedTarget,
  outcome: Outcome,
  { notes, changes }: Said = nothing,
): number {
  const { row, path, scope } = at.target;
  if (isOn(context, "json")) {
    const word = { "not connected": "unchanged", shown: "dry-run", done: "disconnected" }[outcome];
    const result = {
      client: row.id,
      scope,
      file: path,
      name: at.name,
      outcome: word,
      changed: outcome === "done",
      changes,
      notes,
      reload: reloadAfterRemoval(row),
    };
    process.stdout.write(`${JSON.stringify(result)}\n`);
    return 0;
  }
  const said = {
    "not connected": `${row.label} is not connected: nothing in ${path} leads to Toolyard`,
    shown: "Nothing was changed: this is what would be.",
    done: `${row.label} is not connected any more`,
  }[outcome];
  process.stdout.write(`${[said, ...notes, ...(outcome === "done" ? [reloadAfterRemoval(row)] : [])].join("\n  ")}\n`);
  return 0;
}
