import { canUndo } from "../../../config/clients/connect/client-edit.ts";
import { readClients, type FoundClient, type FoundFile } from "../../../config/clients/import/read-clients.ts";
import { clientNamed } from "../../../config/clients/table/client-table.ts";
import { findOwnGateways } from "../surroundings/local-gateways.ts";
import type { Surroundings } from "../surroundings/surroundings.ts";

/** The facts about one client. */
export interface ClientLine {
  /** Null for a program that is in no table. */
  readonly id: string | null;
  readonly client: string;
  readonly files: readonly FileLine[];
  /** Its sessions that are open now; null where that is not known. */
  readonly sessions: number | null;
}

export interface FileLine {
  readonly file: string;
  readonly scope: string;
  /** Servers of its own, without gateways. */
  readonly servers: number;
  /** Gateways that it leads to. */
  readonly gateways: readonly string[];
  readonly isConnected: boolean;
  /** Whether a change is kept that `connect --undo` can be asked to take back. */
  readonly isUndoable: boolean;
  readonly problems: readonly string[];
}

/** The clients of this user and this folder. */
export async function findClients(place: Surroundings): Promise<readonly FoundClient[]> {
  const { home, env, cwd } = place;
  const { origins } = await findOwnGateways(place);
  return await readClients({ home, env, platform: process.platform, cwd, ownUrls: origins });
}

/**
 * Lines about these clients, and about programs that are connected and in no table. `connected` has the name of each
 * session's program, which is untrusted, and null for one that gives none.
 */
export async function toClientLines(
  found: readonly FoundClient[],
  { connected, dataDir }: { readonly connected: readonly (string | null)[] | undefined; readonly dataDir: string },
): Promise<readonly ClientLine[]> {
  const count = (isIts: (name: string | null) => boolean): number => (connected ?? []).filter(isIts).length;
  const known = found.map(async ({ row, files }) => ({
    id: row.id,
    client: row.label,
    files: await Promise.all(files.map(async (file) => toFileLine(file, await canUndo(file.path, { dataDir })))),
    sessions: connected && count((name) => name !== null && clientNamed(name) === row.id),
  }));
  const isUnknown = (name: string | null): boolean => name === null || clientNamed(name) === undefined;
  const others = [...new Set((connected ?? []).filter(isUnknown))].map((name) => ({
    id: null,
    client: name ?? "(no name)",
    files: [],
    sessions: count((other) => other === name),
  }));
  return [...(await Promise.all(known)).map((line) => ({ ...line, sessions: line.sessions ?? null })), ...others];
}

function toFileLine({ path, scope, servers, problems }: FoundFile, isUndoable: boolean): FileLine {
  const gateways = servers.flatMap(({ gateway }) => gateway ?? []);
  return {
    file: path,
    scope,
    servers: servers.length - gateways.length,
    gateways: [...new Set(gateways.map(({ name }) => name))],
    isConnected: gateways.some(({ isOurs }) => isOurs),
    isUndoable,
    problems,
  };
}
