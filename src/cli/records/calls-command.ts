import type { TypesOf } from "../../operations/operation.ts";
import type { listCalls } from "../../operations/records/call-operations.ts";
import { countText } from "../../kernel/text/number-text.ts";
import type { CommandContext } from "../command/command-context.ts";
import { isOn, textOption } from "../../config/given.ts";
import { toCell, toClockText, toMsText } from "../terminal/record-cells.ts";
import { printRecords, type RowsShown } from "./records-output.ts";

type CallJson = TypesOf<typeof listCalls>["answer"]["calls"][number];

/** `toolyard calls`: prints the newest calls, the oldest of them first. */
export async function calls(context: CommandContext): Promise<number> {
  const filters = { failed: isOn(context, "failed") ? "true" : undefined, tool: textOption(context, "tool") };
  return await printRecords(context, { filters, server: textOption(context, "server"), standard: 20 }, shown);
}

const shown: RowsShown<CallJson> = {
  path: "/api/calls",
  async read(gateway, query) {
    const { calls: rows, nextCursor } = await gateway.ask<typeof listCalls>("GET /api/calls", { query });
    return { rows, nextCursor };
  },
  columns: [
    { heading: "TIME", width: 8 },
    { heading: "CALL", width: 30, fit: "wrap" },
    { heading: "WHO", width: 20, rank: 3 },
    { heading: "RESULT", width: 17, style: (result) => (result === "ok" ? undefined : "red") },
    { heading: "TOOK", width: 11, align: "right" },
    { heading: "TOKENS IN", width: 9, align: "right", rank: 2 },
    { heading: "OUT", width: 10, align: "right", rank: 1 },
  ],
  toCells: (call, now) => [
    toClockText(call.time, now),
    toCell(callText(call), 60),
    toCell(call.client === null ? (call.user ?? call.principal) : `${call.user ?? call.principal}/${call.client}`, 40),
    toCell(outcomeText(call), 30),
    call.waitMs < 1 ? toMsText(call.durationMs) : `${toMsText(call.durationMs)} +${toMsText(call.waitMs)}`,
    countText(call.argumentTokens),
    `${countText(call.resultTokens)}${call.isResultCut ? " cut" : ""}`,
  ],
  nothing: "there is no such call",
};

function callText({ method, server, name }: CallJson): string {
  if (method === "tools/call") return name;
  return [server, method, name].filter((word) => word !== "").join(" ");
}

function outcomeText({ outcome, code }: CallJson): string {
  if (outcome === "tool_error") return "tool failed";
  if (outcome === "error") return code === null ? "error" : `error ${code}`;
  return outcome === "failed" ? (code ?? "failed") : outcome;
}
