import type { Gateway } from "../../app/gateway.ts";
import { clientNamed, clientTable } from "../../config/clients/table/client-table.ts";
import type { ClientRow } from "../../config/clients/table/client-row.ts";
import { sleep } from "../../kernel/runtime/abort.ts";
import { toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { CommandContext } from "../command/command-context.ts";
import { connect } from "../clients/client-commands.ts";
import { findClients } from "../../operations/machine/clients/client-lines.ts";
import { besideBar } from "../terminal/fitted-text.ts";
import { toCell } from "../terminal/record-cells.ts";

export interface GuideConnectionOptions {
  readonly gateway: Pick<Gateway, "listedBy">;
  /** With the flags that name the configuration. */
  readonly context: CommandContext;
  readonly stopping: AbortSignal;
}

/**
 * Connects clients for as long as somebody wants, and waits for each to ask for the list of tools. Returns false for
 * Ctrl-C at a question of its own.
 */
export async function connectClients(options: GuideConnectionOptions): Promise<boolean> {
  const connected = new Set<string>();
  while (!options.stopping.aborted) {
    const row = await askWhichClient(options, connected);
    if (row === undefined) return false;
    if (row === "later") return true;
    if (!(await connectOne(options, row))) continue;
    connected.add(row.id);
    const isWatched = await waitForList(options, row);
    if (!isWatched) return true;
  }
  return true;
}

async function askWhichClient(
  { context, stopping }: GuideConnectionOptions,
  connected: ReadonlySet<string>,
): Promise<ClientRow | "later" | undefined> {
  const { isCancel, select } = await import("@clack/prompts");
  const found = await findClients(context);
  const rows = (found.length === 0 ? clientTable : found.map(({ row }) => row)).filter(({ id }) => !connected.has(id));
  const later = connected.size === 0 ? "Later (`toolyard connect` does it)" : "No other one";
  const answer = await select<ClientRow | "later">({
    message: connected.size === 0 ? "Which client should use it?" : "Another client?",
    options: [...rows.map((row) => ({ value: row, label: row.label })), { value: "later", label: later }],
    initialValue: connected.size === 0 ? (rows[0] ?? "later") : "later",
    signal: stopping,
  });
  return isCancel(answer) ? undefined : answer;
}

/** The very command, so that the change is shown, asked about and kept as it always is. */
async function connectOne({ context }: GuideConnectionOptions, row: ClientRow): Promise<boolean> {
  try {
    return (await connect({ ...context, positionals: [row.id] })) === 0;
  } catch (error) {
    const { log } = await import("@clack/prompts");
    const { message, hint } = toGatewayError(error);
    log.error(besideBar(`${toCell(message, 400)}\n${toCell(hint, 400)}`));
    return false;
  }
}

const lookMs = 200;

/**
 * Waits for the client's first list of tools: what was written is green only when the client has really come. Returns
 * false when the gateway is to stop. Anybody may go on without it.
 */
async function waitForList({ gateway, stopping }: GuideConnectionOptions, row: ClientRow): Promise<boolean> {
  const { log, select } = await import("@clack/prompts");
  const over = new AbortController();
  const arrival = watchLists(gateway, row, AbortSignal.any([over.signal, stopping]));
  const arrived = arrival.then((client) => {
    if (client !== undefined) over.abort(new Error("it has come"));
    return client;
  });
  const question = select({
    message: `Waiting for ${row.label} to ask for the tools. ${row.reload}`,
    options: [{ value: "later", label: "Go on without waiting" }],
    signal: AbortSignal.any([over.signal, stopping]),
  });
  await question;
  const hasCome = over.signal.aborted;
  over.abort(new Error("no one waits any more"));
  const client = await arrived;
  if (hasCome && client !== undefined) {
    log.success(besideBar(`${row.label} has asked for the tools (it calls itself ${toCell(client, 60)}).`));
    return true;
  }
  if (!stopping.aborted)
    log.info(besideBar(`${row.label} has not asked for the tools yet. \`toolyard clients\` shows when it is there.`));
  return !stopping.aborted;
}

/**
 * Resolves to the name by which the client listed tools since the gateway was started; undefined when the signal
 * aborts first.
 */
async function watchLists(
  gateway: Pick<Gateway, "listedBy">,
  row: ClientRow,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (;;) {
    const name = gateway
      .listedBy()
      .flatMap(({ client }) => client ?? [])
      .find((client) => clientNamed(client) === row.id);
    if (name !== undefined) return name;
    if (signal.aborted) return undefined;
    await sleep(lookMs, signal).catch(() => undefined);
  }
}
