import { printText } from "../terminal/fitted-text.ts";
import { systemClock } from "../../kernel/runtime/clock.ts";
import {
  applyEdit,
  applyUndo,
  planEdit,
  planUndo,
  type EditPlace,
  type PlannedEdit,
} from "../../config/clients/connect/client-edit.ts";
import { readClientText } from "../../config/clients/connect/client-text.ts";
import { connectionChanges, entryNamed } from "../../config/clients/connect/client-connection.ts";
import { toOwnEntry, tokenIn, type OwnEntry } from "../../config/clients/connect/own-entry.ts";
import { sharedServers } from "../../config/clients/import/shared-servers.ts";
import type { Config } from "../../config/config.ts";
import { dataDirectoryOf, openDataDirectory, readConfig, type CommandContext } from "../command/command-context.ts";
import { hookTarget, planHook } from "./connection-hook.ts";
import { openTarget, readTarget, type OpenedTarget } from "./connection-target.ts";
import { findToken, type ConnectionToken } from "./connection-token.ts";
import { undoConnection } from "./connection-undo.ts";
import { chooseWay, ownOrigins, type ChosenWay, type ConnectionNote } from "./connection-way.ts";
import { toDiffLines } from "./file-diff.ts";
import { isOn } from "../command/options.ts";
import { askWhich, askYes, canAsk } from "../terminal/yes-or-no.ts";

/** `toolyard connect <client>`: writes our one entry into that client's file, after showing what changes. */
export async function connect(context: CommandContext): Promise<number> {
  const target = await readTarget(context);
  if (isOn(context, "undo")) return await undoConnection(context, hookTarget(context, target));
  const config = await readConfig(context);
  const opened = await openTarget(context, target, {
    ownUrls: await ownOrigins(context, config),
    dataDir: dataDirectoryOf(config, context),
  });
  const plan = await planConnection(context, config, opened);
  if (plan.edits.length === 0) return report(context, plan, "connected already");
  return await carryOut(context, {
    edits: plan.edits,
    question: `Connect ${target.row.label}?`,
    openPlace: () => ({ dataDir: openDataDirectory(config, context), clock: systemClock }),
    report: (outcome, changes) => report(context, plan, outcome, changes),
  });
}

interface Plan {
  readonly at: OpenedTarget;
  readonly chosen: ChosenWay;
  readonly entry: OwnEntry;
  readonly token: ConnectionToken | undefined;
  /** Names of the client's own servers that are switched off. */
  readonly off: readonly string[];
  readonly notes: readonly ConnectionNote[];
  /** The client's file last, so that the gateway knows a token before the client sends it. */
  readonly edits: readonly PlannedEdit[];
}

async function planConnection(context: CommandContext, config: Config, at: OpenedTarget): Promise<Plan> {
  const { target, opened, name } = at;
  const chosen = await chooseWay(context, config, target.row);
  const before = entryNamed(target, opened.values, name);
  const token = chosen.needsToken
    ? await findToken(context, config, before === undefined ? undefined : tokenIn(target.row, before))
    : undefined;
  const way = chosen.way.kind === "url" ? { ...chosen.way, token: token?.token } : chosen.way;
  const entry = toOwnEntry(target.row, name, way, before);
  const { off, kept } = await chooseOff(context, at, config);
  const changes = connectionChanges(target, opened.values, { name, entry, off });
  const own = changes.length === 0 ? [] : [await planEdit(opened, changes)];
  const hook = await planHook(context, { config, target, name });
  const advice = isOn(context, "hook") ? [] : (target.row.advice ?? []);
  return {
    at,
    chosen,
    entry,
    token,
    off,
    notes: [
      ...notesOn(at).map((text) => ({ text })),
      ...chosen.notes,
      ...accessNotes(at, chosen, token).map((text) => ({ text })),
      ...keptNote(at, kept),
      ...advice.map((text) => ({ text })),
    ],
    edits: [...(own.length === 0 || token?.edit === undefined ? [] : [token.edit]), ...hook, ...own],
  };
}

function notesOn({ target, opened, elsewhere, ours, name }: OpenedTarget): readonly string[] {
  const { label } = target.row;
  const others = ours.filter((one) => one !== name);
  return [
    ...(opened.file.bytes === undefined ? [`${target.path} is a new file.`] : []),
    ...(others.length > 0
      ? [`${target.path} leads to Toolyard under another name as well: ${others.join(", ")}.`]
      : []),
    ...(elsewhere.length > 0 ? [`${label} is connected in another place as well: ${elsewhere.join(", ")}.`] : []),
  ];
}

/** What opens the gateway to the client. */
function accessNotes(
  { target: { row }, name }: OpenedTarget,
  { isLogin }: ChosenWay,
  token: ConnectionToken | undefined,
): readonly string[] {
  if (token !== undefined) return [token.note];
  if (!isLogin) return [];
  const { label, logInCommand } = row;
  const then =
    logInCommand === undefined ? `${label} opens a browser for that.` : `Run \`${logInCommand} ${name}\` for that.`;
  return [`People log in to this gateway, so that ${label} gets its address and no token. ${then}`];
}

interface Chosen {
  readonly off: readonly string[];
  readonly kept: readonly string[];
}

/** Which of the servers that the gateway has as well are switched off in the client: otherwise its model sees both. */
async function chooseOff(context: CommandContext, { target, servers }: OpenedTarget, config: Config): Promise<Chosen> {
  const names = sharedServers(servers, config.servers).map(({ name }) => name);
  if (names.length === 0 || isOn(context, "replace")) return { off: names, kept: [] };
  const mayAsk = canAsk() && !isOn(context, "yes") && !isOn(context, "dry-run") && !isOn(context, "json");
  if (isOn(context, "keep-own") || !mayAsk) return { off: [], kept: names };
  const how = target.row.switchOff === undefined ? "take out of its file" : "switch off there";
  const off = await askWhich(
    `${target.row.label} has these itself, and the gateway has them too. Which should I ${how}?`,
    names,
  );
  return { off, kept: names.filter((name) => !off.includes(name)) };
}

function keptNote({ target }: OpenedTarget, kept: readonly string[]): readonly ConnectionNote[] {
  if (kept.length === 0) return [];
  const text = `${target.row.label} keeps servers that the gateway has too, so that its model sees them twice: ${kept.join(", ")}.`;
  return [{ text, command: "--replace switches them off there." }];
}

/** Edits that wait for a yes. */
export interface Proposal {
  readonly edits: readonly PlannedEdit[];
  readonly question: string;
  /** Makes the data directory: called once something is written. */
  readonly openPlace: () => EditPlace;
  /** `changes` are the lines of what changes in the files, without secrets. */
  readonly report: (outcome: "shown" | "done", changes: readonly string[]) => number;
}

/** Shows what changes, asks, and writes. Ends with 2 where there is no one to ask, and 1 after a no. */
export async function carryOut(
  context: CommandContext,
  { edits, question, openPlace, report: tell }: Proposal,
): Promise<number> {
  const isJson = isOn(context, "json");
  const diffs: (readonly string[])[] = [];
  for (const edit of edits) diffs.push(await diffOf(edit));
  if (!isJson) for (const lines of diffs) process.stdout.write(`${lines.join("\n")}\n\n`);
  if (isOn(context, "dry-run")) return tell("shown", diffs.flat());
  if (!isOn(context, "yes")) {
    if (isJson || !canAsk()) {
      process.stderr.write("toolyard: nothing was changed: there is no one to ask here, so say --yes or --dry-run\n");
      return 2;
    }
    if (!(await askYes(question))) {
      process.stderr.write("Nothing was changed.\n");
      return 1;
    }
  }
  await applyAll(edits, openPlace());
  return tell("done", diffs.flat());
}

/** All or none: a token that the gateway takes and no client has would be left behind. */
async function applyAll(edits: readonly PlannedEdit[], place: EditPlace): Promise<void> {
  const applied: PlannedEdit[] = [];
  try {
    for (const edit of edits) {
      await applyEdit(edit, place);
      applied.push(edit);
    }
  } catch (error) {
    for (const { opened } of applied.toReversed()) await applyUndo(await planUndo(opened.file.path, place));
    throw error;
  }
}

async function diffOf({ opened, after }: PlannedEdit): Promise<readonly string[]> {
  const { file, text, format, values } = opened;
  const now = await readClientText({ text: after, format, fileName: file.path });
  return toDiffLines({ path: file.path, before: text, after, values: [values, now] });
}

type Outcome = "connected already" | "shown" | "done";

function report(context: CommandContext, plan: Plan, outcome: Outcome, changes: readonly string[] = []): number {
  const { at, chosen, token, off, notes } = plan;
  const { row, path, scope } = at.target;
  if (isOn(context, "json")) {
    const { way } = chosen;
    const shown = way.kind === "url" ? { url: way.url } : { command: way.command, args: way.args };
    const facts = { client: row.id, scope, file: path, name: at.name, way: way.kind, ...shown };
    const changed = outcome === "done";
    const files = plan.edits.map(({ opened }) => opened.file.path);
    const result = {
      ...facts,
      outcome: outcomeWords[outcome],
      changed,
      files,
      token: token !== undefined,
      off,
      changes,
      notes: notes.map(({ text }) => text),
      reload: row.reload,
    };
    process.stdout.write(`${JSON.stringify(result)}\n`);
    return 0;
  }
  const said = {
    "connected already": `${row.label} is connected already: ${at.name} in ${path}`,
    shown: "Nothing was changed: this is what would be.",
    done: `${row.label} is connected: ${at.name} in ${path}`,
  }[outcome];
  const again = `toolyard connect ${row.id}${scope === "user" ? "" : ` --scope ${scope}`}`;
  const undo = `Undo: ${again} --undo${isOn(context, "hook") ? `, and of the hook: ${again} --hook --undo` : ""}`;
  const lines = [
    said,
    ...notes.map(({ text, command }) => `  ${text}${command === undefined ? "" : ` ${command}`}`),
    ...(outcome === "done" ? [`  ${row.reload}`, `  ${undo}`] : []),
  ];
  printText(process.stdout, lines.join("\n"));
  return 0;
}

const outcomeWords: Readonly<Record<Outcome, string>> = {
  "connected already": "unchanged",
  shown: "dry-run",
  done: "connected",
};
