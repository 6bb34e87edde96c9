import { homedir } from "node:os";
import { resolve } from "node:path";
import type { ClientSurroundings } from "../../../config/clients/table/client-places.ts";
import { openClientFile, type OpenedFile } from "../../../config/clients/connect/client-edit.ts";
import type { ClientScope } from "../../../config/clients/table/client-row.ts";
import { translateEntry } from "../../../config/clients/connect/client-entry.ts";
import { valueAt } from "../../../config/clients/connect/client-text.ts";
import { clientTable, findClient } from "../../../config/clients/table/client-table.ts";
import { entryNamed, findTarget, hasWritten, type Target } from "../../../config/clients/connect/client-connection.ts";
import { findGatewayIn } from "../../../config/clients/connect/known-gateways.ts";
import { readKeptChanges } from "../../../config/clients/connect/kept-changes.ts";
import { readClients, type FoundServer } from "../../../config/clients/import/read-clients.ts";
import { parseSettings } from "../../../config/clients/connect/settings-document.ts";
import { suggestion } from "../../../config/file/near-miss.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { Surroundings } from "../surroundings/surroundings.ts";

/** A client's file, its contents, and the entries in it that lead to Toolyard. */
export interface OpenedTarget {
  readonly target: Target;
  readonly opened: OpenedFile;
  /** The name of the entry that is ours, or will be. */
  readonly name: string;
  /** Every server in this place of the file. */
  readonly servers: readonly FoundServer[];
  /** Names of entries that lead to Toolyard, in this file. */
  readonly ours: readonly string[];
  /** Other places of the same client that lead to Toolyard, too. */
  readonly elsewhere: readonly string[];
}

const scopes: readonly ClientScope[] = ["user", "project", "local"];
const defaultName = "toolyard";

/** Which file of which client is meant. */
export interface WantedTarget {
  readonly id: string | undefined;
  readonly scope?: string | undefined;
  /** In place of the file that the client reads. */
  readonly file?: string | undefined;
}

/** The client, scope and file that are meant. Rejects with CONFIG_INVALID. */
export async function findWantedTarget(place: Surroundings, { id, scope, file }: WantedTarget): Promise<Target> {
  const ids = clientTable.map((row) => row.id);
  if (id === undefined) throw wrong("say which client", `One of: ${ids.join(", ")}.`);
  const row = findClient(id);
  if (row === undefined)
    throw wrong(`there is no client ${JSON.stringify(id)}${suggestion(id, ids)}`, `One of: ${ids.join(", ")}.`);
  const known = scopes.find((one) => one === (scope ?? "user"));
  if (known === undefined)
    throw wrong(
      `--scope: expected ${scopes.join(", ")}, not ${JSON.stringify(scope)}`,
      "Leave it out for all projects of yours.",
    );
  const target = await findTarget(row, known, surroundingsOf(place));
  return file === undefined ? target : { ...target, path: resolve(place.cwd, file) };
}

/** What a client's file is read with. */
export interface TargetFacts {
  readonly ownUrls: readonly string[];
  readonly dataDir: string;
  /** The name that our entry is to have; undefined for the one that it has, or the usual one. */
  readonly name: string | undefined;
}

/** Opens the client's file. Rejects with CLIENT_FILE_UNUSABLE. */
export async function openTarget(
  place: Surroundings,
  target: Target,
  { ownUrls, dataDir, name }: TargetFacts,
): Promise<OpenedTarget> {
  const opened = await openClientFile(target.path, target.format);
  const found = await readClients({ ...surroundingsOf(place), ownUrls });
  const files = found.find(({ row }) => row.id === target.row.id)?.files ?? [];
  const here = files.find((file) => file.realPath === opened.file.realPath && file.scope === target.scope);
  const servers = here?.servers ?? (await readServers(target, opened, ownUrls));
  const kept = await readKeptChanges(dataDir, opened.file.realPath);
  const ours = servers
    .filter((server) => isOurs(server) || hasWritten(target, opened.values, { name: server.name, kept }))
    .map(({ name }) => name);
  return {
    target,
    opened,
    servers,
    ours,
    name: chooseName(name, target, opened, ours),
    elsewhere: files
      .filter((file) => file !== here && file.servers.some(isOurs))
      .map(({ path, scope }) => `${path} (${scope})`),
  };
}

/** Those of a file that is in no place of the table. Entries that cannot be understood are left out. */
async function readServers(
  { row, keyPath, path, format }: Target,
  { text, values }: OpenedFile,
  ownUrls: readonly string[],
): Promise<readonly FoundServer[]> {
  const document = await parseSettings(text, path, format);
  const how = { entries: row.entries, dialect: row.variables, project: undefined };
  return Object.entries(valueAt(values, keyPath) ?? {}).flatMap(([key, value]: [string, unknown]) => {
    const named = (value as { readonly name?: unknown } | null)?.name;
    const name = row.entries === "continue" && typeof named === "string" ? named : key;
    try {
      const { entry, notes } = translateEntry(value, { document, path: [...keyPath, key] }, how);
      return [{ name, place: path, entry, notes, project: undefined, gateway: findGatewayIn(entry, ownUrls) }];
    } catch {
      return [];
    }
  });
}

function isOurs({ gateway }: FoundServer): boolean {
  return gateway?.isOurs === true;
}

/** As asked for, otherwise that of the entry that is ours already. Never that of somebody else's server. */
function chooseName(
  asked: string | undefined,
  target: Target,
  { values }: OpenedFile,
  ours: readonly string[],
): string {
  const name = asked ?? (ours.includes(defaultName) ? defaultName : (ours[0] ?? defaultName));
  if (ours.includes(name) || entryNamed(target, values, name) === undefined) return name;
  throw wrong(
    `${target.path} has a server called ${JSON.stringify(name)} that is not this gateway`,
    `Rename that one, or give our entry another name: \`toolyard connect ${target.row.id} --name gateway\`.`,
  );
}

/** What decides where clients' files are. */
export function surroundingsOf({ env, cwd }: Surroundings): ClientSurroundings {
  const platform = process.platform;
  const home = (platform === "win32" ? env["USERPROFILE"] : env["HOME"]) || homedir();
  return { home, env, platform, cwd };
}

function wrong(message: string, hint: string): GatewayError {
  return new GatewayError("CONFIG_INVALID", message, { hint });
}
