import type { TypesOf } from "../../operations/operation.ts";
import type { listCalls } from "../../operations/records/call-operations.ts";
import { countText } from "../../kernel/text/number-text.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isOn, textOption } from "../../config/given.ts";
import { outcomeText, toCell, toClockText, toMsText, toInstanceText } from "../terminal/record-cells.ts";
import { printRecords, type RowsShown } from "./records-output.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { isJsonObject, parseJson } from "../../kernel/text/json-bytes.ts";
import type { listLogs } from "../../operations/records/log-operations.ts";
import { logLevels } from "../../store/record-rows.ts";
import type { Style } from "../terminal/table.ts";
import {
  openGatewayClient,
  requireStreaming,
  type GatewayClient,
  type LinesRequest,
} from "../gateway/gateway-client.ts";
import { clipText, printText } from "../terminal/fitted-text.ts";
import { plainText } from "../../kernel/text/plain-text.ts";

type CallJson = TypesOf<typeof listCalls>["answer"]["calls"][number];

/** `toolyard calls`: prints the newest calls, the oldest of them first. */
export async function calls(context: CommandContext): Promise<number> {
  const [tool, node] = [textOption(context, "tool"), textOption(context, "node")];
  const filters = { failed: isOn(context, "failed") ? "true" : undefined, tool, node };
  return await printRecords(context, { filters, server: textOption(context, "server"), standard: 20 }, callsShown);
}

const callsShown: RowsShown<CallJson> = {
  path: "/api/calls",
  async read(gateway, query) {
    const { calls: rows, nextCursor } = await gateway.ask<typeof listCalls>("GET /api/calls", { query });
    return { rows, nextCursor };
  },
  columns: [
    { heading: "TIME", width: 8 },
    { heading: "CALL", width: 30, fit: "wrap" },
    { heading: "WHO", width: 18, rank: 4 },
    { heading: "RESULT", width: 17, style: (result) => (result === "ok" ? undefined : "red") },
    { heading: "TOOK", width: 7, align: "right" },
    { heading: "WAITED", width: 7, align: "right", rank: 2 },
    { heading: "TOKENS IN", width: 9, align: "right", rank: 3 },
    { heading: "OUT", width: 10, align: "right", rank: 1 },
    { heading: "NODE", width: 12, rank: 5, isOptional: true },
  ],
  toCells: (call, now) => [
    toClockText(call.time, now),
    toCell(callText(call), 60),
    toCell(call.client === null ? (call.user ?? call.principal) : `${call.user ?? call.principal}/${call.client}`, 40),
    toCell(outcomeText(call.outcome, call.code), 30),
    toMsText(call.durationMs),
    call.waitMs < 1 ? "-" : toMsText(call.waitMs),
    countText(call.argumentTokens),
    `${countText(call.resultTokens)}${call.isResultCut ? " cut" : ""}`,
    [call.node, call.serverNode].filter((node) => node !== undefined).join(" > "),
  ],
  nothing: "there is no such call",
};

function callText({ method, server, name }: CallJson): string {
  if (method === "tools/call") return name;
  return [server, method, name].filter((word) => word !== "").join(" ");
}

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
  const nothing = server === undefined ? logsShown.nothing : ofServer;
  const rows = isOn(context, "whole") ? { ...logsShown, toCells: toCellsWith(wholeText) } : logsShown;
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
  const entry = line.startsWith("{") ? parseJson(line) : undefined;
  const messages = messageNames.map((name) => (isJsonObject(entry) ? entry[name] : undefined));
  return messages.find((message): message is string => typeof message === "string" && message !== "") ?? line;
}

function toCellsWith(textOf: (log: LogJson) => string): RowsShown<LogJson>["toCells"] {
  return (log, now) => {
    const text = textOf(log);
    // Indentation shows what belongs together, as in a stack.
    const indent = /^ */.exec(text)?.[0] ?? "";
    return [toClockText(log.time, now), toInstanceText(log), log.level, indent + toCell(text, longestLine)];
  };
}

const logsShown: RowsShown<LogJson> = {
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

/** `toolyard events -f`: prints what happens in the running gateway, until it ends or the command is interrupted. */
export async function events(context: CommandContext): Promise<number> {
  if (!isOn(context, "follow")) {
    process.stderr.write("toolyard: events are printed as they happen: `toolyard events -f`\n");
    return 2;
  }
  const isJson = isOn(context, "json");
  const types = textOption(context, "types")
    ?.split(",")
    .map((type) => type.trim())
    .join(",");
  const gateway = await openGatewayClient(context);
  requireStreaming(gateway);
  for await (const { type, data } of readStream(gateway, "/api/events", { types })) {
    const text = type === "reset" ? toReset(isJson) : isJson ? data : toLine(JSON.parse(data) as PublishedEvent);
    if (isJson) process.stdout.write(`${text}\n`);
    else printText(process.stdout, text, "    ");
  }
  return 0;
}

/** Server-sent events, each with its data on one line. */
async function* readStream(
  gateway: GatewayClient,
  path: string,
  query: LinesRequest["query"] & object,
): AsyncGenerator<{ readonly type: string; readonly data: string }, void> {
  let type = "";
  for await (const line of gateway.lines({ path, query, accept: "text/event-stream", isEndless: true })) {
    if (line.startsWith("event: ")) type = line.slice("event: ".length);
    else if (line.startsWith("data: ") && type !== "") {
      yield { type, data: line.slice("data: ".length) };
      type = "";
    }
  }
}

function toReset(isJson: boolean): string {
  return isJson ? JSON.stringify({ type: "reset" }) : "... some events are missing here";
}

/** As REST sends it. */
interface PublishedEvent {
  readonly type: string;
  readonly time: string;
  /** Of another node. */
  readonly node?: string;
  readonly instance: string | null;
  readonly principal: string | null;
  readonly coalesced?: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Longer ones, such as lists of tools, are cut: `--json` has all of it. */
const longestData = 300;

/** `12:34:56  type  server or instance  principal  name=value ...` */
function toLine({ type, time, node, instance, principal, coalesced, data }: PublishedEvent): string {
  const facts = Object.entries(data).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  const all = [
    toClockText(time, new Date()),
    type,
    ...(node === undefined ? [] : [`@${node}`]),
    ...(instance === null ? [] : [instance]),
    ...(principal === null ? [] : [`(${principal})`]),
    ...(coalesced === undefined ? [] : [`[+${coalesced}]`]),
    clipText(facts.join(" "), longestData),
  ];
  return plainText(all.join("  ").trimEnd());
}

/** `toolyard protocol`: prints messages between clients, the gateway and servers, until the command is interrupted. */
export async function protocol(context: CommandContext): Promise<number> {
  const isJson = isOn(context, "json");
  const query = Object.fromEntries(["server", "client", "method"].map((name) => [name, textOption(context, name)]));
  const gateway = await openGatewayClient(context);
  requireStreaming(gateway);
  for await (const { type, data } of readStream(gateway, "/api/protocol", query)) {
    if (type === "begin") continue;
    if (isJson) process.stdout.write(`${data}\n`);
    else printText(process.stdout, type === "lost" ? toLost(data) : toMessageLine(data), "    ");
  }
  return 0;
}

function toLost(data: string): string {
  return `... ${(JSON.parse(data) as { readonly count: number }).count} messages were left out here`;
}

/** As REST sends it. */
interface ProtocolMessage {
  readonly time: string;
  readonly side: "client" | "server";
  readonly way: "in" | "out";
  readonly name: string | null;
  readonly kind: string;
  readonly method: string | null;
  readonly id: string | null;
  readonly bytes: number;
  readonly ms: number | null;
  readonly status: number | null;
  readonly text: string;
}

/** `12:34:56  client>gateway cursor  request tools/call 7  1,204 bytes  {...}` */
function toMessageLine(data: string): string {
  const { time, side, way, name, kind, method, id, bytes, ms, status, text } = JSON.parse(data) as ProtocolMessage;
  const all = [
    toClockText(time, new Date()),
    way === "in" ? `${side}>gateway` : `gateway>${side}`,
    name ?? "-",
    [kind, method, id].filter((word) => word !== null).join(" "),
    ...(status === null ? [] : [`HTTP ${status}`]),
    ...(ms === null ? [] : [toMsText(ms)]),
    `${countText(bytes)} bytes`,
    clipText(text.replaceAll(/\s+/g, " "), longestData),
  ];
  return plainText(all.join("  "));
}
