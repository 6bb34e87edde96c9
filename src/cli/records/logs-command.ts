import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { TypesOf } from "../../operations/operation.ts";
import type { listLogs } from "../../operations/records/log-operations.ts";
import { logLevels } from "../../store/record-rows.ts";
import type { CommandContext } from "../command/command-context.ts";
import { textOption } from "../../config/given.ts";
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
  return await printRecords(context, { filters: { level }, server, standard: 100 }, { ...shown, nothing });
}

const longestLine = 4_096;

const shown: RowsShown<LogJson> = {
  columns: [
    { heading: "TIME", width: 8 },
    { heading: "SERVER", width: 16 },
    { heading: "LEVEL", width: 7 },
    { heading: "LINE", width: 0 },
  ],
  path: "/api/logs",
  async read(gateway, query) {
    const { logs: rows, nextCursor } = await gateway.ask<typeof listLogs>("GET /api/logs", { query });
    return { rows, nextCursor };
  },
  toCells: (log, now) => [
    toClockText(log.time, now),
    toInstanceText(log),
    log.level,
    // Indentation shows what belongs together, as in a stack.
    `${/^ */.exec(log.line)?.[0] ?? ""}${toCell(log.line, longestLine)}`,
  ],
  nothing: "there is no such line",
};
