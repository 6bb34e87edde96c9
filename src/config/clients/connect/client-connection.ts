import { access } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { isJsonObject } from "../../../kernel/text/json-bytes.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { placesOf, type ClientPlace, type ClientSurroundings } from "../table/client-places.ts";
import type { ClientFormat, ClientRow, ClientScope } from "../table/client-row.ts";
import { valueAt, type ClientValues } from "./client-text.ts";
import type { EntryChange } from "../../entry/entry-change.ts";
import type { KeptChange } from "./kept-changes.ts";
import { toolNamespace, type OwnEntry } from "./own-entry.ts";

/** The file of a client that holds our entry, or will hold it. */
export interface Target {
  readonly row: ClientRow;
  readonly scope: ClientScope;
  readonly path: string;
  readonly format: ClientFormat;
  /** Where its servers stand. */
  readonly keyPath: EntryPath;
}

type EntryPath = EntryChange["path"];

/**
 * The file of this client and scope: of several that it reads the one that exists, otherwise the one that it would make
 * itself. Rejects with CONFIG_INVALID for a scope that the client does not have here.
 */
export async function findTarget(
  row: ClientRow,
  scope: ClientScope,
  surroundings: ClientSurroundings,
): Promise<Target> {
  const places = placesOf(row, surroundings);
  const place = places.find((one) => one.row.scope === scope);
  if (place === undefined) {
    const scopes = [...new Set(places.map((one) => one.row.scope))].join(", ");
    throw new GatewayError(
      "CONFIG_INVALID",
      `${row.label} has no settings of the scope ${scope} on this system; it has: ${scopes || "none"}`,
      { hint: "Choose another with --scope." },
    );
  }
  const files = place.files.map((file) => (file.endsWith("*") ? `${file.slice(0, -1)}toolyard.yaml` : file));
  const existing = await Promise.all(files.map(isThere));
  const path = files.find((_, index) => existing[index]) ?? files[0] ?? "";
  return { row, scope, path, format: place.row.format, keyPath: keyPathOf(place, surroundings) };
}

async function isThere(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}

/** Claude Code writes projects with `/` on Windows, too. */
function keyPathOf({ keyPath, row }: ClientPlace, { cwd, platform }: ClientSurroundings): EntryPath {
  const steps = keyPath.map((step) =>
    platform === "win32" && row.scope === "local" && step === cwd ? cwd.replaceAll("\\", "/") : step,
  );
  const [first = "", ...rest] = steps;
  return [first, ...rest];
}

/** The path of the entry with this name, present or not. */
export function entryPath({ row, keyPath }: Target, values: ClientValues, name: string): EntryPath {
  const servers = valueAt(values, keyPath);
  if (row.entries === "continue") {
    const list = Array.isArray(servers) ? (servers as readonly unknown[]) : [];
    const index = list.findIndex((item) => isJsonObject(item) && item["name"] === name);
    return [...keyPath, index === -1 ? list.length : index];
  }
  // opencode's second version has them one level deeper.
  const deeper = valueAt(servers, ["servers"]);
  const isDeeper = row.entries === "opencode" && isJsonObject(deeper) && deeper["type"] === undefined;
  return isDeeper ? [...keyPath, "servers", name] : [...keyPath, name];
}

/** The entry with this name; undefined where there is none. */
export function entryNamed(target: Target, values: ClientValues, name: string): OwnEntry | undefined {
  const value = valueAt(values, entryPath(target, values, name));
  return isJsonObject(value) ? value : undefined;
}

/** Whether the entry is letter for letter what we wrote, wherever it leads: an address alone does not say that. */
export function hasWritten(
  target: Target,
  values: ClientValues,
  { name, kept }: { readonly name: string; readonly kept: readonly KeptChange[] },
): boolean {
  const entry = entryNamed(target, values, name);
  const path = entryPath(target, values, name);
  return kept.some(({ changes }) =>
    changes.some((change) => isDeepStrictEqual(change.path, path) && isDeepStrictEqual(change.value, entry)),
  );
}

export interface WantedConnection {
  readonly name: string;
  readonly entry: OwnEntry;
  /** Names of servers that are switched off, or taken out where the client has no way to switch one off. */
  readonly off: readonly string[];
}

/** The changes that connect a client. Empty when nothing has to change. */
export function connectionChanges(
  target: Target,
  values: ClientValues,
  { name, entry, off }: WantedConnection,
): readonly EntryChange[] {
  const isSame = isDeepStrictEqual(entryNamed(target, values, name), entry);
  const own: EntryChange[] = isSame ? [] : [{ path: entryPath(target, values, name), value: entry }];
  const isNew = Object.keys(values).length === 0;
  return [
    ...(isNew && target.row.entries === "continue" ? continueHead : []),
    ...own,
    ...shownChanges(target, values, name),
    ...offChanges(target, values, off),
  ];
}

/** Adds our tools to those that the client's model is shown, where the file has a list of them. */
function shownChanges({ row: { shownAt } }: Target, values: ClientValues, name: string): readonly EntryChange[] {
  if (shownAt === undefined) return [];
  const namespace = toolNamespace(name);
  const listed = valueAt(values, shownAt);
  if (Array.isArray(listed))
    return listed.includes(namespace) ? [] : [{ path: [...shownAt, listed.length], value: namespace }];
  const { parent, key } = parentOf(shownAt);
  const around = valueAt(values, parent);
  if (isJsonObject(around)) return [{ path: shownAt, value: [namespace] }];
  // Codex lets a feature be `true` or `false` instead of a table.
  const isOn = typeof around === "boolean" ? { enabled: around } : {};
  return [{ path: parent, value: { ...isOn, [key]: [namespace] } }];
}

/** Takes our tools out of that list, and objects and lists that are empty then. */
function hiddenChanges({ row: { shownAt } }: Target, values: ClientValues, name: string): readonly EntryChange[] {
  const listed = shownAt === undefined ? undefined : valueAt(values, shownAt);
  if (shownAt === undefined || !Array.isArray(listed)) return [];
  const at = listed.indexOf(toolNamespace(name));
  if (at === -1) return [];
  if (listed.length > 1) return [{ path: [...shownAt, at], value: undefined }];
  const { parent } = parentOf(shownAt);
  const isAlone = Object.keys(valueAt(values, parent) ?? {}).length === 1;
  return [{ path: isAlone ? parent : shownAt, value: undefined }];
}

function parentOf([first, ...rest]: readonly [string, ...string[]]): {
  readonly parent: EntryPath;
  readonly key: string;
} {
  return { parent: [first, ...rest.slice(0, -1)], key: rest.at(-1) ?? first };
}

/** Continue reads no file without these. */
const continueHead: readonly EntryChange[] = [
  { path: ["name"], value: "Toolyard" },
  { path: ["version"], value: "1.0.0" },
  { path: ["schema"], value: "v1" },
];

function offChanges(target: Target, values: ClientValues, names: readonly string[]): readonly EntryChange[] {
  const { switchOff } = target.row;
  const paths = names.map((name) => entryPath(target, values, name));
  if (switchOff === undefined)
    // From the last one, so that places in a list stay what they are.
    return paths.toReversed().map((path) => ({ path, value: undefined }));
  if ("field" in switchOff) return paths.map((path) => ({ path: [...path, switchOff.field], value: switchOff.value }));
  const listed = valueAt(values, switchOff.listedAt);
  const list: readonly unknown[] = Array.isArray(listed) ? listed : [];
  return names
    .filter((name) => !list.includes(name))
    .map((name, index) => ({ path: [...switchOff.listedAt, list.length + index], value: name }));
}

/**
 * The changes that take our entry out and bring back what connecting had switched off, unless it was changed since.
 * `kept` are the changes of this file, newest first.
 */
export function disconnectionChanges(
  target: Target,
  values: ClientValues,
  { name, kept }: { readonly name: string; readonly kept: readonly KeptChange[] },
): readonly EntryChange[] {
  const own = entryPath(target, values, name);
  const seen = new Set([JSON.stringify(own)]);
  const back: EntryChange[] = [];
  for (const { changes, reverse } of kept)
    for (const [index, change] of changes.entries()) {
      const key = JSON.stringify(change.path);
      if (seen.has(key)) continue;
      seen.add(key);
      const undo = reverse.at(-1 - index);
      const isOff = isSwitchedOff(target, change);
      if (!isOff || undo === undefined || !isDeepStrictEqual(valueAt(values, change.path), change.value)) continue;
      if (isDeepStrictEqual(undo.path, change.path)) back.push({ path: undo.path, value: undo.value });
    }
  // Members of lists from the last one, as above; ours at the end, behind the members before it.
  return [
    ...back.toSorted((one, other) => lastIndex(other) - lastIndex(one)),
    ...hiddenChanges(target, values, name),
    { path: own, value: undefined },
  ];
}

function lastIndex({ path }: EntryChange): number {
  const last = path.at(-1);
  return typeof last === "number" ? last : -1;
}

/** Whether the change switched a server off, or took it out. */
function isSwitchedOff({ keyPath, row: { switchOff } }: Target, { path, value }: EntryChange): boolean {
  const isWithin = (outer: readonly (string | number)[]): boolean =>
    path.length > outer.length && outer.every((step, index) => step === path[index]);
  if (switchOff === undefined) return value === undefined && isWithin(keyPath) && typeof path.at(-1) === "string";
  return "field" in switchOff ? isWithin(keyPath) && path.at(-1) === switchOff.field : isWithin(switchOff.listedAt);
}
