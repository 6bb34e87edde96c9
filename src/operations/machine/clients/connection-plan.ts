import { connectionChanges, entryNamed, type Target } from "../../../config/clients/connect/client-connection.ts";
import { planEdit, type PlannedEdit } from "../../../config/clients/connect/client-edit.ts";
import { toOwnEntry, tokenIn } from "../../../config/clients/connect/own-entry.ts";
import { sharedServers, type SharedServer } from "../../../config/clients/import/shared-servers.ts";
import type { Config } from "../../../config/config.ts";
import { dataDirectoryOf, openDataDirectory, type Surroundings } from "../surroundings/surroundings.ts";
import { planHook } from "./connection-hook.ts";
import { openTarget, type OpenedTarget } from "./connection-target.ts";
import { findToken, type ConnectionToken, type TokenAsk } from "./connection-token.ts";
import { chooseWay, ownOrigins, type ChosenWay, type ConnectionNote, type WayAsk } from "./connection-way.ts";
import { applyAll, changesOf, type ChangeFacts, type PlannedChange } from "./planned-change.ts";

/** How a client is to be connected. */
export interface ConnectionAsk extends WayAsk, TokenAsk {
  /** Of our entry. */
  readonly name?: string | undefined;
  /** Whether our hook is put before the calls as well. */
  readonly hasHook?: boolean | undefined;
  /** Says which of these servers are switched off in the client: the gateway has them as well. */
  readonly chooseOff: (
    target: Target,
    shared: readonly SharedServer[],
  ) => readonly string[] | Promise<readonly string[]>;
}

/** Our entry in a client's file, as it will be. */
export interface ConnectionPlan extends PlannedChange<ConnectionFacts> {
  readonly name: string;
  readonly notes: readonly ConnectionNote[];
}

export interface ConnectionFacts extends ChangeFacts {
  readonly [more: string]: unknown;
}

interface Planned {
  readonly at: OpenedTarget;
  readonly chosen: ChosenWay;
  readonly token: ConnectionToken | undefined;
  /** Servers that the client has itself, and the gateway as well. */
  readonly shared: readonly SharedServer[];
  /** Names of those that are switched off in the client. */
  readonly off: readonly string[];
  readonly notes: readonly ConnectionNote[];
  /** The client's file last, so that the gateway knows a token before the client sends it. */
  readonly edits: readonly PlannedEdit[];
}

/** Plans our one entry in a client's file. Rejects with CONFIG_INVALID, and with CLIENT_FILE_UNUSABLE. */
export async function planConnection(
  place: Surroundings,
  config: Config,
  target: Target,
  asked: ConnectionAsk,
): Promise<ConnectionPlan> {
  const ownUrls = await ownOrigins(place, config, asked.url);
  const dataDir = dataDirectoryOf(config, place);
  const at = await openTarget(place, target, { ownUrls, dataDir, name: asked.name });
  const planned = await plan(place, config, at, asked);
  const { edits, notes } = planned;
  const changes = await changesOf(edits);
  return {
    ...{ name: at.name, notes, changes },
    apply: async () => await applyAll(edits, openDataDirectory(config, place)),
    facts: (isDone) => factsOf(planned, changes, isDone),
  };
}

async function plan(place: Surroundings, config: Config, at: OpenedTarget, asked: ConnectionAsk): Promise<Planned> {
  const { target, opened, name, servers } = at;
  const chosen = await chooseWay(place, config, target.row, asked);
  const before = entryNamed(target, opened.values, name);
  const token = chosen.needsToken
    ? await findToken(asked, config, before === undefined ? undefined : tokenIn(target.row, before))
    : undefined;
  const way = chosen.way.kind === "url" ? { ...chosen.way, token: token?.token } : chosen.way;
  const entry = toOwnEntry(target.row, name, way, before);
  const shared = sharedServers(servers, config.servers);
  const off = shared.length === 0 ? [] : await asked.chooseOff(target, shared);
  const kept = shared.map(({ name: one }) => one).filter((one) => !off.includes(one));
  const changes = connectionChanges(target, opened.values, { name, entry, off });
  const own = changes.length === 0 ? [] : [await planEdit(opened, changes)];
  const hook = asked.hasHook === true ? await planHook(place, { config, target, name }) : [];
  const advice = asked.hasHook === true ? [] : (target.row.advice ?? []);
  return {
    ...{ at, chosen, token, shared, off },
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

function keptNote({ target }: OpenedTarget, kept: readonly string[]): readonly ConnectionNote[] {
  if (kept.length === 0) return [];
  const text = `${target.row.label} keeps servers that the gateway has too, so that its model sees them twice: ${kept.join(", ")}.`;
  return [{ text, command: "--replace switches them off there." }];
}

function factsOf(
  { at, chosen: { way }, edits, token, shared, off, notes }: Planned,
  changes: PlannedChange["changes"],
  isDone: boolean,
): ConnectionFacts {
  const { row, path, scope } = at.target;
  const shown = way.kind === "url" ? { url: way.url } : { command: way.command, args: way.args };
  return {
    ...{ client: row.id, scope, file: path, name: at.name, way: way.kind, ...shown },
    outcome: edits.length === 0 ? "unchanged" : isDone ? "connected" : "dry-run",
    changed: isDone,
    files: edits.map(({ opened }) => opened.file.path),
    token: token !== undefined,
    shared,
    off,
    changes: changes.flat(),
    notes: notes.map(({ text }) => text),
    reload: row.reload,
  };
}
