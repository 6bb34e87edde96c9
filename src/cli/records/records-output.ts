import { countText } from "../../kernel/text/number-text.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { isOn, textOption } from "../../config/given.ts";
import type { CommandContext } from "../command/command-context.ts";
import { openGatewayClient, requireStreaming, type GatewayClient } from "../gateway/gateway-client.ts";
import { readStatus } from "../gateway/gateway-client.ts";
import { toSlug } from "../../config/words/slug.ts";
import { toTable } from "../terminal/table.ts";
import { padCells, type LineColumn } from "../terminal/record-cells.ts";

/** How rows of one kind are shown, and where they are. */
export interface RowsShown<Row> {
  readonly path: "/api/calls" | "/api/logs";
  readonly columns: readonly LineColumn[];
  readonly toCells: (row: Row, now: Date) => readonly string[];
  /** Said to a person where there are none. */
  readonly nothing: string;
  /** One page, newest first. */
  readonly read: (
    gateway: GatewayClient,
    query: PageOfRows,
  ) => Promise<{ readonly rows: readonly Row[]; readonly nextCursor: string | null }>;
}

/** Beside what only one kind of rows is asked for. */
interface PageOfRows extends NamedServer {
  readonly limit: string;
  readonly cursor?: string | undefined;
}

interface NamedServer {
  readonly server?: string | undefined;
  readonly instance?: string | undefined;
}

/** Filters, as the list has them. */
type Filters = Readonly<Record<string, string | undefined>>;

/** Prints rows as a table, then as lines while they come, or all of them as JSON. */
export async function printRecords<Row>(
  context: CommandContext,
  asked: { readonly filters: Filters; readonly server: string | undefined; readonly standard: number },
  shown: RowsShown<Row>,
): Promise<number> {
  const isJson = isOn(context, "json");
  const isFollowed = isOn(context, "follow");
  const limit = readLimit(context, isFollowed ? followedRows : asked.standard);
  const gateway = await openGatewayClient(context);
  const filters = { ...asked.filters, ...(await findServer(gateway, asked.server)) };
  if (isFollowed) return await follow(gateway, { isJson, limit, filters }, shown);
  const rows = await readNewest(gateway, { limit, filters }, shown);
  if (isJson) for (const row of rows) process.stdout.write(`${JSON.stringify(row)}\n`);
  else if (rows.length > 0) process.stdout.write(`${toRows(rows, shown).join("\n")}\n`);
  else process.stderr.write(`${shown.nothing}\n`);
  return 0;
}

/** A removed server is not known any more, but may have left records: its name is then taken for a slug. */
async function findServer(gateway: GatewayClient, name: string | undefined): Promise<NamedServer> {
  if (name === undefined) return {};
  const { servers } = await readStatus(gateway);
  if (servers.some(({ server }) => server === name)) return { server: name };
  if (servers.some(({ instance }) => instance === name)) return { instance: name };
  const slug = toSlug(name);
  return { server: servers.some(({ server }) => server === slug) ? slug : name };
}

const mostPerPage = 1_000;

/** The oldest of them first. */
async function readNewest<Row>(
  gateway: GatewayClient,
  { limit, filters }: { readonly limit: number; readonly filters: Filters },
  { read }: RowsShown<Row>,
): Promise<readonly Row[]> {
  const all: Row[] = [];
  for (let cursor: string | undefined; all.length < limit;) {
    const page = await read(gateway, { ...filters, limit: String(Math.min(mostPerPage, limit - all.length)), cursor });
    all.push(...page.rows);
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  return all.toReversed();
}

interface Following {
  readonly isJson: boolean;
  readonly limit: number;
  readonly filters: Filters;
}

async function follow<Row>(
  gateway: GatewayClient,
  { isJson, limit, filters }: Following,
  shown: RowsShown<Row>,
): Promise<number> {
  const columns = shown.columns.filter(({ isOptional }) => isOptional !== true);
  const toShown = (row: Row): readonly string[] =>
    shown.toCells(row, new Date()).filter((_, at) => shown.columns[at]?.isOptional !== true);
  // The heading is for people, who need the names of the columns; a program that reads lines needs none among them.
  if (!isJson && process.stdout.isTTY) process.stdout.write(`${padCells(headingsOf(columns), columns)}\n`);
  requireStreaming(gateway);
  const query = { ...filters, newest: String(limit), follow: "true" };
  const asked = { path: shown.path, query, accept: "application/x-ndjson", isEndless: true };
  for await (const line of gateway.lines(asked)) {
    const row = JSON.parse(line) as Row & { readonly missed?: true; readonly lost?: number };
    if (row.missed === true) process.stderr.write("toolyard: more happened than could be shown: some are left out\n");
    else if (row.lost !== undefined) process.stderr.write(`toolyard: ${toLost(row.lost)}\n`);
    else process.stdout.write(`${isJson ? line : padCells(toShown(row), columns)}\n`);
  }
  return 0;
}

function toLost(lines: number): string {
  return lines === 1 ? "1 line was lost" : `${countText(lines)} lines were lost`;
}

function headingsOf(columns: readonly LineColumn[]): readonly string[] {
  return columns.map(({ heading }) => heading);
}

function toRows<Row>(rows: readonly Row[], { columns, toCells }: RowsShown<Row>): readonly string[] {
  const now = new Date();
  const all = rows.map((row) => toCells(row, now));
  const isShown = columns.map(({ isOptional }, at) => isOptional !== true || all.some((cells) => cells[at] !== ""));
  return toTable(
    columns.filter((_, at) => isShown[at]),
    all.map((cells) => cells.filter((_, at) => isShown[at])),
  );
}

const followedRows = 10;

/** How many rows are shown. Throws CONFIG_INVALID. */
export function readLimit(context: Pick<CommandContext, "flags" | "env">, standard: number): number {
  const text = textOption(context, "limit");
  if (text === undefined) return standard;
  if (!/^\d{1,5}$/.test(text) || Number(text) > 10_000)
    throw new GatewayError("CONFIG_INVALID", `--limit: ${JSON.stringify(text)} is no whole number up to 10000`, {
      hint: "Give a number of rows, such as --limit 50.",
    });
  return Number(text);
}
