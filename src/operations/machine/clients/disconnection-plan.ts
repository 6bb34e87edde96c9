import { disconnectionChanges, entryNamed, type Target } from "../../../config/clients/connect/client-connection.ts";
import { applyUndo, planEdit, planUndo, type PlannedUndo } from "../../../config/clients/connect/client-edit.ts";
import { readClientText } from "../../../config/clients/connect/client-text.ts";
import { readKeptChanges } from "../../../config/clients/connect/kept-changes.ts";
import { tokenIn } from "../../../config/clients/connect/own-entry.ts";
import { textOf } from "../../../config/clients/table/client-file.ts";
import { reloadAfterRemoval } from "../../../config/clients/table/client-row.ts";
import type { Config } from "../../../config/config.ts";
import { hashToken } from "../../../people/identity/token.ts";
import {
  dataDirectoryOf,
  findDataDirectory,
  openDataDirectory,
  type Surroundings,
} from "../surroundings/surroundings.ts";
import { planWithoutHook } from "./connection-hook.ts";
import { openTarget } from "./connection-target.ts";
import { ownOrigins } from "./connection-way.ts";
import {
  toDiffLines,
  applyAll,
  changesOf,
  type ChangeFacts,
  type ChangeOutcome,
  type PlannedChange,
} from "./planned-change.ts";

interface DisconnectionFacts extends ChangeFacts {
  readonly scope: string;
  readonly name: string;
}

/** How our entry is found: by the name that it has, or by the address that it leads to. */
export interface DisconnectionAsk {
  readonly name?: string | undefined;
  readonly url?: string | undefined;
}

/** Plans to take our entry out of a client's file, and to leave the rest as it is now. */
export async function planDisconnection(
  place: Surroundings,
  config: Config,
  target: Target,
  asked: DisconnectionAsk,
): Promise<PlannedChange<DisconnectionFacts>> {
  const { row, path: file, scope } = target;
  const dataDir = dataDirectoryOf(config, place);
  const ownUrls = await ownOrigins(place, config, asked.url);
  const { opened, name } = await openTarget(place, target, { ownUrls, dataDir, name: asked.name });
  const entry = entryNamed(target, opened.values, name);
  const facts = (outcome: ChangeOutcome, changes: readonly string[], notes: readonly string[]): DisconnectionFacts => ({
    ...{ client: row.id, scope, file, name, outcome, changed: outcome === "disconnected", changes, notes },
    reload: reloadAfterRemoval(row),
  });
  if (entry === undefined)
    return { changes: [], apply: async () => undefined, facts: () => facts("unchanged", [], []) };
  const kept = await readKeptChanges(dataDir, opened.file.realPath);
  const edit = await planEdit(opened, disconnectionChanges(target, opened.values, { name, kept }));
  const edits = [...(await planWithoutHook(place, target, name)), edit];
  const changes = await changesOf(edits);
  const token = tokenIn(row, entry);
  const notes = token === undefined ? [] : [tokenNote(token)];
  return {
    changes,
    apply: async () => await applyAll(edits, openDataDirectory(config, place)),
    facts: (isDone) => facts(isDone ? "disconnected" : "dry-run", changes.flat(), notes),
  };
}

type Undo = Exclude<PlannedUndo, { kind: "nothing" }>;

/** A change that takes our last one back. */
interface UndoPlan extends PlannedChange {
  /** `nothing` where none is kept. */
  readonly kind: PlannedUndo["kind"];
}

/** Plans to make the file what it was before the last change that we made. */
export async function planUndoing(place: Surroundings, target: Target): Promise<UndoPlan> {
  const { row, path: file } = target;
  const { dataDir } = await findDataDirectory(place);
  const undo = await planUndo(file, { dataDir });
  const facts = { client: row.id, file, reload: reloadAfterRemoval(row) };
  if (undo.kind === "nothing") {
    const notes = [`Nothing is kept that could be undone in ${file}.`];
    const unchanged = { ...facts, outcome: "unchanged" as const, changed: false, changes: [], notes };
    return { kind: "nothing", changes: [], apply: async () => undefined, facts: () => unchanged };
  }
  const changes = await changesOfUndo(undo, target);
  const isDone = undo.kind === "done";
  const notes = tokensLost(undo).map(tokenNote);
  return {
    ...{ kind: undo.kind, changes: isDone ? [] : [changes] },
    apply: async () => await applyUndo(undo),
    facts: (isWritten) => ({ ...facts, outcome: outcomeOf(undo), changed: isWritten && !isDone, changes, notes }),
  };
}

function outcomeOf(undo: Undo): ChangeOutcome {
  if (undo.kind === "restore") return undo.bytes === undefined ? "removed" : "restored";
  return undo.kind === "done" ? "unchanged" : "taken back";
}

/** The lines of what changes, without secrets. */
async function changesOfUndo(undo: Undo, { path, format }: Target): Promise<readonly string[]> {
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
function tokenNote(token: string): string {
  return `Its token still opens the gateway: to end that, take ${hashToken(token)} out of the configuration.`;
}

/** Tokens of ours that the file will not have any more. */
function tokensLost(undo: Undo): readonly string[] {
  if (undo.kind === "done") return [];
  const { before, after } = textsOf(undo);
  const found = [...before.matchAll(/Bearer (ty_[0-9a-f]{64})/g)].map(([, token = ""]) => token);
  return [...new Set(found)].filter((token) => !after.includes(token));
}
