import { switchedOff } from "../../config/entry/servers.ts";
import { countText, toDurationText } from "../../kernel/text/number-text.ts";
import type { GatewayStatus, ServerStatus } from "../../records/gateway-status.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { toCell, toInstanceText, toMsText } from "./record-cells.ts";
import { toTable } from "./table.ts";

/** A gateway on some lines: its address and version, its problems, and a row for each instance. */
export function toStatusLines(status: GatewayStatus, nowMs: number): readonly string[] {
  const { counts, uptimeMs, configProblem, restart, store, unready } = status;
  const calls = `${counted(counts.calls, "call")} in 24 h${counts.errors === 0 ? "" : `, ${countText(counts.errors)} failed`}`;
  return [
    `  up ${toDurationText(uptimeMs)}, ${counted(counts.servers, "server")}, ${counted(counts.tools, "tool")}, ${calls}`,
    ...(configProblem === null
      ? []
      : [`  the changed configuration is refused, the old one stays: ${plainText(configProblem)}`]),
    ...(restart === null ? [] : [`  restart it: ${plainText(restart)}`]),
    ...(unready === null ? [] : [`  not ready: ${plainText(unready)}`]),
    ...store.problems.flatMap(({ message, hint }) => {
      const text = `${message}. ${hint}`;
      return text === unready ? [] : [`  records: ${plainText(text)}`];
    }),
    ...(store.droppedRows === 0 ? [] : [`  ${counted(store.droppedRows, "record")} lost since the start`]),
    ...(status.servers.length === 0
      ? []
      : toTable(
          columns,
          status.servers.map((server) => toRow(server, nowMs)),
        )),
    ...toOddityLines(status.servers).map((line) => `  ${line}`),
  ];
}

const columns = [
  { heading: "  SERVER" },
  { heading: "STATUS" },
  { heading: "TOOLS", align: "right" },
  { heading: "TOKENS", align: "right" },
  { heading: "CALLS", align: "right" },
  { heading: "P95", align: "right" },
  { heading: "MEMORY", align: "right" },
  { heading: "PROCESS", align: "right" },
  { heading: "NEXT" },
] as const;

function toRow(server: ServerStatus, nowMs: number): readonly string[] {
  return [
    `  ${toInstanceText(server)}`,
    statusText(server, nowMs),
    server.tools === 0 ? "-" : countText(server.tools),
    server.tokens === 0 ? "-" : `${server.tokensExact ? "" : "~"}${countText(server.tokens)}`,
    server.calls === 0 ? "-" : countText(server.calls),
    server.p95Ms === null ? "-" : toMsText(server.p95Ms),
    server.memoryBytes === null ? "-" : `${Math.round(server.memoryBytes / 1024 ** 2)} MB`,
    server.pid === null ? "-" : String(server.pid),
    nextText(server),
  ];
}

/** The same rows without what only a gateway that has run for a while can say. */
export function toServerTable(servers: readonly ServerStatus[], nowMs: number): readonly string[] {
  const table = toTable(
    [
      { heading: "SERVER" },
      { heading: "STATUS" },
      { heading: "TOOLS", align: "right" },
      { heading: "TOKENS", align: "right" },
      { heading: "NEXT" },
    ],
    servers.map((server) => {
      const [name = "", status = "", tools = "", tokens = ""] = toRow(server, nowMs);
      return [name.trim(), status, tools, tokens, nextText(server)];
    }),
  );
  return [...table, ...toOddityLines(servers)];
}

/** What servers do that was mended, for their authors. */
function toOddityLines(servers: readonly ServerStatus[]): readonly string[] {
  return servers.flatMap((server) =>
    server.oddities.map((sentence) => `${toInstanceText(server)}: ${plainText(sentence)}`),
  );
}

/** `online`, `asleep (a call starts it)`, `restarting (in 4 s)`. */
export function statusText({ word, dormant, retryAt }: ServerStatus, nowMs: number): string {
  if (dormant) return `${word} (a call starts it)`;
  if (retryAt === null) return word;
  return `${word} (in ${Math.max(0, Math.round((Date.parse(retryAt) - nowMs) / 1_000))} s)`;
}

/** What to type, where there is something; otherwise why it is not up. */
export function nextText({ next, reason, status }: ServerStatus): string {
  const isOff = status === "disabled" && reason === switchedOff;
  const what = next?.command ?? (status === "disabled" ? "" : (next?.text ?? ""));
  const why = status === "online" || isOff ? "" : toCell(reason, 120);
  return [what, why].filter((text) => text !== "").join("  # ");
}

function counted(number: number, noun: string): string {
  return `${countText(number)} ${noun}${number === 1 ? "" : "s"}`;
}
