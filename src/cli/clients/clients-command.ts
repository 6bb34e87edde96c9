import type { FoundClient, FoundFile } from "../../config/clients/import/read-clients.ts";
import { canUndo } from "../../config/clients/connect/client-edit.ts";
import { clientNamed } from "../../config/clients/table/client-table.ts";
import type { listConnections } from "../../operations/gateway/owner-operations.ts";
import type { GatewayHolder } from "../../store/gateway-holder.ts";
import { findDataDirectory, type CommandContext } from "../command/command-context.ts";
import { findClients } from "../import/import-command.ts";
import { isOn } from "../command/options.ts";
import { ownersClient } from "../gateway/gateway-client.ts";
import { findOwnGateways } from "../gateway/local-gateways.ts";
import { columnsOf, wrapText } from "../terminal/fitted-text.ts";
import { plainText } from "../terminal/plain-text.ts";
import { toTable } from "../terminal/table.ts";
import { whileWaiting } from "../terminal/waiting-line.ts";

/** The facts about one client. */
interface ClientLine {
  readonly id: string | null;
  readonly client: string;
  readonly files: readonly FileLine[];
  /** Sessions with gateways of this machine that are open now; null while none runs. */
  readonly sessions: number | null;
}

interface FileLine {
  readonly file: string;
  readonly scope: string;
  /** Servers of its own, without gateways. */
  readonly servers: number;
  /** Gateways that it leads to. */
  readonly gateways: readonly string[];
  readonly isConnected: boolean;
  /** Whether `connect --undo` would take something back. */
  readonly isUndoable: boolean;
  readonly problems: readonly string[];
}

/** `toolyard clients`: which AI clients there are, and what they are connected to. */
export async function listClients(context: CommandContext): Promise<number> {
  const found = await whileWaiting("Reading the settings of AI clients", async () => await findClients(context));
  const connected = await readConnected(context);
  const { dataDir } = await findDataDirectory(context);
  const known = await Promise.all(found.map(async (client) => await toLine(client, { connected, dataDir })));
  const lines = [...known, ...unknownClients(connected)];
  if (isOn(context, "json")) process.stdout.write(`${JSON.stringify({ clients: lines })}\n`);
  else process.stdout.write(`${toText(lines).join("\n")}\n`);
  return 0;
}

/** The connected clients of all gateways of this machine; undefined while none runs. */
async function readConnected(context: CommandContext): Promise<readonly ConnectedLine[] | undefined> {
  const { running } = await findOwnGateways(context);
  const ask = async (holder: GatewayHolder) =>
    await ownersClient(holder).ask<typeof listConnections>("GET /api/connections", {});
  const answers = await Promise.all(running.map(async (holder) => await ask(holder).catch(() => undefined)));
  const told = answers.flatMap((answer) => answer ?? []);
  return told.length === 0
    ? undefined
    : countByName(told.flatMap(({ clients }) => clients.map(({ client }) => client)));
}

/** How many sessions and streams a program has open. The name is untrusted; null for one that gives none. */
interface ConnectedLine {
  readonly name: string | null;
  readonly sessions: number;
}

function countByName(names: readonly (string | null)[]): readonly ConnectedLine[] {
  const counts = new Map<string | null, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, sessions]) => ({ name, sessions }));
}

interface LineFacts {
  readonly connected: readonly ConnectedLine[] | undefined;
  readonly dataDir: string;
}

async function toLine({ row, files }: FoundClient, { connected, dataDir }: LineFacts): Promise<ClientLine> {
  const own = connected?.filter(({ name }) => name !== null && clientNamed(name) === row.id);
  const lines = files.map(async (file) => toFileLine(file, await canUndo(file.path, { dataDir })));
  return { id: row.id, client: row.label, files: await Promise.all(lines), sessions: own ? sum(own) : null };
}

/** Programs that are connected and in no table. */
function unknownClients(connected: readonly ConnectedLine[] = []): readonly ClientLine[] {
  const names = new Set(
    connected.flatMap(({ name }) => (name === null || clientNamed(name) === undefined ? [name] : [])),
  );
  return [...names].map((name) => ({
    id: null,
    client: name ?? "(no name)",
    files: [],
    sessions: sum(connected.filter((line) => line.name === name)),
  }));
}

function sum(lines: readonly ConnectedLine[]): number {
  return lines.reduce((total, { sessions }) => total + sessions, 0);
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

function toText(lines: readonly ClientLine[]): readonly string[] {
  if (lines.length === 0) return ["No AI client was found."];
  const rows = lines.flatMap(({ client, files, sessions }) => {
    const count = sessions === null || sessions === 0 ? "-" : String(sessions);
    if (files.length === 0) return [[client, "-", "-", count, "no servers of its own"]];
    return files.map((file, index) => [
      index === 0 ? client : "",
      String(file.servers),
      gatewayText(file),
      index === 0 ? count : "",
      `${file.file}${file.scope === "user" ? "" : ` (${file.scope})`}`,
    ]);
  });
  const problems = lines.flatMap(({ files }) => files.flatMap((file) => file.problems));
  return [
    ...toTable(
      [
        { heading: "CLIENT" },
        { heading: "SERVERS", align: "right" },
        { heading: "GATEWAY" },
        { heading: "SESSIONS", align: "right", rank: 1 },
        { heading: "FILE", fit: "wrap", least: 30 },
      ],
      rows.map((row) => row.map(plainText)),
    ),
    ...[...new Set(problems)].flatMap((problem) =>
      wrapText(`! ${plainText(problem)}`, columnsOf(process.stdout), "  "),
    ),
  ];
}

function gatewayText({ gateways, isConnected }: FileLine): string {
  const others = gateways.filter((name) => name !== "Toolyard");
  return [...(isConnected ? ["this one"] : []), ...others].join(", ") || "-";
}
