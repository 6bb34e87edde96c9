import type { LogJson } from "../../records/calls/record-json.ts";
import type { CommandContext } from "../command/command-context.ts";
import { textOption } from "../command/options.ts";
import { toCell, toClockText, toInstanceText } from "../terminal/record-cells.ts";
import { printRecords, readRecordOptions, type RowsShown } from "./records-output.ts";

/** `toolyard logs [server]`: prints the newest lines, the oldest of them first. */
export async function logs(context: CommandContext): Promise<number> {
  const [server] = context.positionals;
  const asked = { ...readRecordOptions(context, 100), server, level: textOption(context, "level") };
  const ofServer = `there is no line of ${JSON.stringify(server)}: \`toolyard status\` lists the servers`;
  const nothing = server === undefined ? shown.nothing : ofServer;
  return await printRecords(context, { command: "logs", ...asked }, { ...shown, nothing });
}

const longestLine = 4_096;

const shown: RowsShown<LogJson> = {
  columns: [
    { heading: "TIME", width: 8 },
    { heading: "SERVER", width: 16 },
    { heading: "LEVEL", width: 7 },
    { heading: "LINE", width: 0 },
  ],
  rowOf: ({ log }) => log,
  toCells: (log, now) => [
    toClockText(log.time, now),
    toInstanceText(log),
    log.level,
    // Indentation shows what belongs together, as in a stack.
    `${/^ */.exec(log.line)?.[0] ?? ""}${toCell(log.line, longestLine)}`,
  ],
  nothing: "there is no such line",
};
