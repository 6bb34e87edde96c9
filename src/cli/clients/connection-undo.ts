import { applyUndo, planUndo, type PlannedUndo } from "../../config/clients/connect/client-edit.ts";
import { textOf } from "../../config/clients/table/client-file.ts";
import { reloadAfterRemoval } from "../../config/clients/table/client-row.ts";
import { readClientText } from "../../config/clients/connect/client-text.ts";
import type { Target } from "../../config/clients/connect/client-connection.ts";
import { hashToken } from "../../people/identity/token.ts";
import { findDataDirectory, type CommandContext } from "../command/command-context.ts";
import { toDiffLines } from "./file-diff.ts";
import { isOn } from "../command/options.ts";
import { askYes, canAsk } from "../terminal/yes-or-no.ts";

/** `--undo` of `connect` and `disconnect`: the file becomes what it was before the last change that we made. */
export async function undoConnection(context: CommandContext, target: Target): Promise<number> {
  const { dataDir } = await findDataDirectory(context);
  const undo = await planUndo(target.path, { dataDir });
  if (undo.kind === "nothing") {
    process.stderr.write(`toolyard: nothing is kept that could be undone in ${target.path}\n`);
    return 1;
  }
  const changes = await changesOf(undo, target);
  if (!isOn(context, "json") && undo.kind !== "done") process.stdout.write(`${changes.join("\n")}\n\n`);
  const tokens = tokensLost(undo);
  if (isOn(context, "dry-run")) return tell(context, target, undo, { isWritten: false, tokens, changes });
  if (undo.kind !== "done" && !isOn(context, "yes")) {
    if (isOn(context, "json") || !canAsk()) {
      process.stderr.write("toolyard: nothing was changed: there is no one to ask here, so say --yes or --dry-run\n");
      return 2;
    }
    if (!(await askYes(`Undo this in ${target.path}?`))) {
      process.stderr.write("Nothing was changed.\n");
      return 1;
    }
  }
  await applyUndo(undo);
  return tell(context, target, undo, { isWritten: true, tokens, changes });
}

type Undo = Exclude<PlannedUndo, { kind: "nothing" }>;

/** The lines of what changes, without secrets. */
async function changesOf(undo: Undo, { path, format }: Target): Promise<readonly string[]> {
  if (undo.kind === "done") return [];
  const { before, after } = textsOf(undo);
  const texts = [before, after].map(
    async (text) => await readClientText({ text, format, fileName: path }).catch(() => ({})),
  );
  return toDiffLines({ path, before, after, values: await Promise.all(texts) });
}

function textsOf(undo: Exclude<Undo, { kind: "done" }>): { readonly before: string; readonly after: string } {
  return undo.kind === "restore"
    ? { before: textOf(undo.opened), after: undo.bytes?.toString("utf8") ?? "" }
    : { before: undo.edit.opened.text, after: undo.edit.after };
}

/** A note about the token of an entry that is taken out: the configuration still has its hash. */
export function tokenNote(token: string): string {
  return `Its token still opens the gateway: to end that, take ${hashToken(token)} out of the configuration.`;
}

/** Tokens of ours that the file will not have any more. */
function tokensLost(undo: Undo): readonly string[] {
  if (undo.kind === "done") return [];
  const { before, after } = textsOf(undo);
  const found = [...before.matchAll(/Bearer (ty_[0-9a-f]{64})/g)].map(([, token = ""]) => token);
  return [...new Set(found)].filter((token) => !after.includes(token));
}

interface Told {
  readonly isWritten: boolean;
  readonly tokens: readonly string[];
  readonly changes: readonly string[];
}

function tell(
  context: CommandContext,
  { path, row }: Target,
  undo: Undo,
  { isWritten, tokens, changes }: Told,
): number {
  const notes = tokens.map(tokenNote);
  const isRemoved = undo.kind === "restore" && undo.bytes === undefined;
  const outcome =
    undo.kind === "restore" ? (isRemoved ? "removed" : "restored") : undo.kind === "done" ? "unchanged" : "taken back";
  if (isOn(context, "json")) {
    const changed = isWritten && undo.kind !== "done";
    const { id: client } = row;
    const reload = reloadAfterRemoval(row);
    process.stdout.write(`${JSON.stringify({ client, file: path, outcome, changed, changes, notes, reload })}\n`);
    return 0;
  }
  const sentences = {
    removed: `${path} was removed again: it was not there before`,
    restored: `${path} is again what it was, byte for byte`,
    unchanged: `${path} is what it was already`,
    "taken back": `${path} was written again since, so that only what was ours was taken out`,
  } as const;
  if (!isWritten) process.stdout.write("Nothing was changed: this is what would be.\n");
  else {
    const lines = [sentences[outcome], ...notes, ...(undo.kind === "done" ? [] : [reloadAfterRemoval(row)])];
    process.stdout.write(`${lines.join("\n  ")}\n`);
  }
  return 0;
}
