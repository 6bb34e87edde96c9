import { countText } from "../../kernel/text/count-text.ts";
import type { RecordLine, RecordsCommand } from "../../app/owner/owner-records.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { isOn, textOption } from "../command/options.ts";
import type { CommandContext } from "../command/command-context.ts";
import { ownerLines } from "../gateway/owner-lines.ts";
import { findGateway } from "../gateway/running-gateways.ts";
import { toTable } from "../terminal/table.ts";
import { padCells, type LineColumn } from "../terminal/record-cells.ts";

/** How rows of one kind are shown. */
export interface RowsShown<Row> {
  readonly columns: readonly LineColumn[];
  readonly rowOf: (line: RecordLine) => Row | undefined;
  readonly toCells: (row: Row, now: Date) => readonly string[];
  /** Said to a person where there are none. */
  readonly nothing: string;
}

/** Prints rows as a table, then as lines while they come, or all of them as JSON. */
export async function printRecords<Row>(
  context: CommandContext,
  command: RecordsCommand,
  shown: RowsShown<Row>,
): Promise<number> {
  const isTable = !isOn(context, "json") && !command.follow;
  const rows: Row[] = [];
  // The heading is for people, who need the names of the columns; a program that reads lines needs none among them.
  if (command.follow && !isOn(context, "json") && process.stdout.isTTY)
    process.stdout.write(`${padCells(headingsOf(shown.columns), shown.columns)}\n`);
  for await (const line of ownerLines<RecordLine>(await findGateway(context), command)) {
    if (!line.ok) return fail(line);
    if (line.missed === true) process.stderr.write("toolyard: more happened than could be shown: some are left out\n");
    if (line.lost !== undefined) process.stderr.write(`toolyard: ${toLost(line.lost)}\n`);
    const row = shown.rowOf(line);
    if (row === undefined) continue;
    if (isTable) rows.push(row);
    else process.stdout.write(`${isOn(context, "json") ? JSON.stringify(row) : toLine(row, shown)}\n`);
  }
  if (rows.length > 0) process.stdout.write(`${toRows(rows, shown).join("\n")}\n`);
  else if (isTable) process.stderr.write(`${shown.nothing}\n`);
  return 0;
}

function toLost(lines: number): string {
  return lines === 1 ? "1 line was lost" : `${countText(lines)} lines were lost`;
}

function headingsOf(columns: readonly LineColumn[]): readonly string[] {
  return columns.map(({ heading }) => heading);
}

function toLine<Row>(row: Row, { toCells, columns }: RowsShown<Row>): string {
  return padCells(toCells(row, new Date()), columns);
}

function toRows<Row>(rows: readonly Row[], { columns, toCells }: RowsShown<Row>): readonly string[] {
  const now = new Date();
  return toTable(
    columns,
    rows.map((row) => toCells(row, now)),
  );
}

function fail({ message, hint }: RecordLine): number {
  process.stderr.write(`toolyard: ${message ?? "they cannot be read"}\n  ${hint ?? ""}\n`);
  return 1;
}

/** What both commands can be asked. `standard` is how many rows are shown at first. Throws CONFIG_INVALID. */
export function readRecordOptions(
  context: CommandContext,
  standard: number,
): Pick<RecordsCommand, "follow" | "limit" | "failed" | "level" | "tool" | "server"> {
  const follow = isOn(context, "follow");
  return {
    follow,
    limit: readLimit(textOption(context, "limit")) ?? (follow ? followedRows : standard),
    server: undefined,
    tool: undefined,
    level: undefined,
    failed: false,
  };
}

const followedRows = 10;

function readLimit(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,5}$/.test(text) || Number(text) > 10_000)
    throw new GatewayError("CONFIG_INVALID", `--limit: ${JSON.stringify(text)} is no whole number up to 10000`, {
      hint: "Give a number of rows, such as --limit 50.",
    });
  return Number(text);
}
