import type { EverydayLine } from "../../front/owner/everyday-lines.ts";
import type { EverydayName } from "../../front/owner/everyday-names.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isOn, textOption } from "../command/options.ts";
import { shorten } from "../terminal/plain-text.ts";
import { toTable, type Column } from "../terminal/table.ts";
import { runEveryday } from "./everyday-run.ts";

/** How things of one kind are listed. */
export interface ListShown<Row> {
  readonly columns: readonly Column[];
  readonly rowOf: (line: EverydayLine) => Row | undefined;
  readonly toCells: (row: Row) => readonly string[];
  readonly toJson: (row: Row) => string;
  /** Said to a person where there are none. */
  readonly nothing: string;
}

/** Where the width of the terminal is unknown. */
const usualWidth = 160;

/** Prints what the gateway has of one kind, as a table or as lines of JSON. */
export async function printList<Row>(
  context: CommandContext,
  command: EverydayName,
  { columns, rowOf, toCells, toJson, nothing }: ListShown<Row>,
): Promise<number> {
  const [server] = context.positionals;
  const rows: Row[] = [];
  const request = { server, match: textOption(context, "match") };
  const code = await runEveryday(context, { command, request }, (line) => {
    const row = rowOf(line);
    if (row !== undefined) rows.push(row);
  });
  if (code !== 0) return code;
  if (isOn(context, "json")) for (const row of rows) process.stdout.write(`${toJson(row)}\n`);
  else if (rows.length === 0) process.stderr.write(`${nothing}\n`);
  else {
    const width = process.stdout.isTTY ? process.stdout.columns : usualWidth;
    for (const line of toTable(columns, rows.map(toCells))) process.stdout.write(`${shorten(line, width)}\n`);
  }
  return 0;
}
