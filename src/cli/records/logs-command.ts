import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { isJsonObject, type JsonObject } from "../../kernel/text/json-bytes.ts";
import type { TypesOf } from "../../operations/operation.ts";
import type { listLogs } from "../../operations/records/log-operations.ts";
import { logLevels } from "../../store/record-rows.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isOn, textOption } from "../../config/given.ts";
import type { Style } from "../terminal/table.ts";
import { toCell, toClockText, toInstanceText } from "../terminal/record-cells.ts";
import { printRecords, type RowsShown } from "./records-output.ts";

type LogJson = TypesOf<typeof listLogs>["answer"]["logs"][number];

/** `toolyard logs [server]`: prints the newest lines, the oldest of them first. */
export async function logs(context: CommandContext): Promise<number> {
  const [server] = context.positionals;
  const given = textOption(context, "level");
  const level = logLevels.find((known) => known === given);
  if (given !== undefined && level === undefined)
    throw new GatewayError("REQUEST_INVALID", `there is no level ${given.slice(0, 40)}`, {
      hint: `Levels are ${logLevels.join(", ")}.`,
    });
  const ofServer = `there is no line of ${JSON.stringify(server)}: \`toolyard status\` lists the servers`;
  const nothing = server === undefined ? shown.nothing : ofServer;
  const rows = isOn(context, "whole") ? { ...shown, toCells: toCellsWith(wholeText) } : shown;
  return await printRecords(context, { filters: { level }, server, standard: 100 }, { ...rows, nothing });
}

const longestLine = 4_096;

const levelStyles: Readonly<Record<string, Style>> = { error: "red", warning: "yellow", debug: "dim" };

/** A line as it was written. */
function wholeText({ line }: LogJson): string {
  return line;
}

/** What programs that log in JSON call their message. */
const messageNames = ["msg", "message", "event", "text", "error"] as const;

/** The message of a line that is JSON; every other line as it was written. */
function messageText({ line }: LogJson): string {
  const entry = line.startsWith("{") ? parsed(line) : undefined;
  const messages = messageNames.map((name) => entry?.[name]);
  return messages.find((message): message is string => typeof message === "string" && message !== "") ?? line;
}

function parsed(line: string): JsonObject | undefined {
  try {
    const entry: unknown = JSON.parse(line);
    return isJsonObject(entry) ? entry : undefined;
  } catch {
    return undefined;
  }
}

function toCellsWith(textOf: (log: LogJson) => string): RowsShown<LogJson>["toCells"] {
  return (log, now) => {
    const text = textOf(log);
    // Indentation shows what belongs together, as in a stack.
    const indent = /^ */.exec(text)?.[0] ?? "";
    return [toClockText(log.time, now), toInstanceText(log), log.level, indent + toCell(text, longestLine)];
  };
}

const shown: RowsShown<LogJson> = {
  columns: [
    { heading: "TIME", width: 8 },
    { heading: "SERVER", width: 16 },
    { heading: "LEVEL", width: 7, rank: 1, style: (level) => levelStyles[level] },
    { heading: "LINE", width: 0, fit: "wrap", least: 40 },
  ],
  path: "/api/logs",
  async read(gateway, query) {
    const { logs: rows, nextCursor } = await gateway.ask<typeof listLogs>("GET /api/logs", { query });
    return { rows, nextCursor };
  },
  toCells: toCellsWith(messageText),
  nothing: "there is no such line",
};
