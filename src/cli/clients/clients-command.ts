import type { listConnections } from "../../operations/gateway/owner-operations.ts";
import {
  findClients,
  toClientLines,
  type ClientLine,
  type FileLine,
} from "../../operations/machine/clients/client-lines.ts";
import { findOwnGateways } from "../../operations/machine/surroundings/local-gateways.ts";
import { findDataDirectory } from "../../operations/machine/surroundings/surroundings.ts";
import type { GatewayHolder } from "../../store/gateway-holder.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isOn } from "../../config/given.ts";
import { ownersClient } from "../gateway/gateway-client.ts";
import { columnsOf, wrapText } from "../terminal/fitted-text.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { toTable } from "../terminal/table.ts";
import { whileWaiting } from "../terminal/waiting-line.ts";

/** `toolyard clients`: which AI clients there are, and what they are connected to. */
export async function listClients(context: CommandContext): Promise<number> {
  const found = await whileWaiting("Reading the settings of AI clients", async () => await findClients(context));
  const connected = await readConnected(context);
  const { dataDir } = await findDataDirectory(context);
  const lines = await toClientLines(found, { connected, dataDir });
  if (isOn(context, "json")) process.stdout.write(`${JSON.stringify({ clients: lines })}\n`);
  else process.stdout.write(`${toText(lines).join("\n")}\n`);
  return 0;
}

/** The connected clients of all gateways of this machine; undefined while none runs. */
async function readConnected(context: CommandContext): Promise<readonly (string | null)[] | undefined> {
  const { running } = await findOwnGateways(context);
  const ask = async (holder: GatewayHolder) =>
    await ownersClient(holder).ask<typeof listConnections>("GET /api/connections", {});
  const answers = await Promise.all(running.map(async (holder) => await ask(holder).catch(() => undefined)));
  const told = answers.flatMap((answer) => answer ?? []);
  return told.length === 0 ? undefined : told.flatMap(({ clients }) => clients.map(({ client }) => client));
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
