import type { CommandContext } from "../command/command-context.ts";
import { isOn, textOption } from "../../config/given.ts";
import { toTable, type Column } from "../terminal/table.ts";
import { openGatewayClient, type GatewayClient, type Order } from "./gateway-client.ts";
import { openStartedGateway, tellUnlisted, waitForServers } from "./started-gateway.ts";

/** How things of one kind are listed. */
export interface ListShown<Row> {
  readonly columns: readonly Column[];
  readonly read: (gateway: GatewayClient, asked: ListAsked) => Promise<readonly Row[]>;
  readonly toCells: (row: Row) => readonly string[];
  readonly toJson: (row: Row) => string;
  /** Said to a person where there are none. */
  readonly nothing: string;
}

/** Which of them. */
export interface ListAsked {
  readonly server: string | undefined;
  /** Words that each has in its name or description. */
  readonly match: string | undefined;
}

/** Prints what the gateway has of one kind, as a table or as lines of JSON. */
export async function printList<Row>(
  context: CommandContext,
  { columns, read, toCells, toJson, nothing }: ListShown<Row>,
  after?: (gateway: GatewayClient, asked: ListAsked) => Promise<void>,
): Promise<number> {
  const [server] = context.positionals;
  const asked = { server, match: textOption(context, "match") };
  const gateway = await openStartedGateway(context);
  await waitForServers(gateway);
  const rows = await read(gateway, asked);
  if (isOn(context, "json")) for (const row of rows) process.stdout.write(`${toJson(row)}\n`);
  else if (rows.length === 0) process.stderr.write(`${nothing}\n`);
  else process.stdout.write(`${toTable(columns, rows.map(toCells)).join("\n")}\n`);
  await tellUnlisted(gateway, server);
  await after?.(gateway, asked);
  return 0;
}

/** Whether every word that was given occurs in one of the texts, ignoring case. */
export function matcherOf(match: string | undefined): (texts: readonly (string | null | undefined)[]) => boolean {
  const words = (match ?? "").toLowerCase().split(/\s+/);
  return (texts) => {
    const text = texts.join("\n").toLowerCase();
    return words.every((word) => text.includes(word));
  };
}

/** Prints what a gateway answered: with --json as one object, otherwise as `show` does. Returns the exit code 0. */
export function printAnswer<Answer extends object>(
  context: CommandContext,
  answer: Answer,
  show: (answer: Answer) => void,
): number {
  if (isOn(context, "json")) process.stdout.write(`${JSON.stringify({ ok: true, ...answer })}\n`);
  else show(answer);
  return 0;
}

/** The same where there is nothing to say but that it was done. */
export function printDone(context: CommandContext): number {
  return printAnswer(context, {}, () => undefined);
}

/** Carries out an operation at the gateway that is meant. Says nothing but that it was done. Rejects as `ask` does. */
export async function orderDone<O>(context: CommandContext, ...order: Order<O>): Promise<number> {
  const gateway = await openGatewayClient(context);
  await gateway.ask<O>(...order);
  return printDone(context);
}
