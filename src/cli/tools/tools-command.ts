import { countText } from "../../kernel/text/number-text.ts";
import type { TypesOf } from "../../operations/operation.ts";
import type { showPins } from "../../operations/tools/pin-operations.ts";
import type { listTools } from "../../operations/tools/tool-operations.ts";
import type { CommandContext } from "../command/command-context.ts";
import { mostRows, type GatewayClient } from "../gateway/gateway-client.ts";
import { allRows } from "../../kernel/all-rows.ts";
import { printList } from "../gateway/list-output.ts";
import { readStatus } from "../gateway/gateway-client.ts";
import { printText } from "../terminal/fitted-text.ts";
import { plainText } from "../../kernel/text/plain-text.ts";
import { toCell } from "../terminal/record-cells.ts";
import { styleOfWord } from "../terminal/status-text.ts";

type ToolPage = Extract<TypesOf<typeof listTools>["answer"], { readonly total: number }>;

/** With the status of its server in a word. */
type ToolRow = ToolPage["tools"][number] & { readonly word: string };

/** `toolyard tools [server]`: every tool that a call can reach. */
export async function tools(context: CommandContext): Promise<number> {
  const shown = {
    columns: [
      { heading: "TOOL" },
      { heading: "EFFECT", rank: 2 },
      { heading: "TOKENS", align: "right", rank: 1 },
      { heading: "STATUS", rank: 3, style: styleOfWord },
      { heading: "DESCRIPTION", fit: "cut", least: 32 },
    ] as const,
    read: readTools,
    toCells: ({ tool_path: path, effect, asks, tokens, tokens_exact: isExact, word, description, title }: ToolRow) => [
      toCell(path, 80),
      asks ? `${effect}, asks` : effect,
      `${isExact ? "" : "~"}${countText(tokens)}`,
      word,
      toCell(description ?? title ?? "", 200),
    ],
    toJson: (tool: ToolRow) => JSON.stringify(tool),
    nothing: "there is no such tool",
  };
  return await printList(context, shown, async (gateway, { server }) => {
    if (server === undefined) await tellPinned(gateway);
  });
}

async function readTools(
  gateway: GatewayClient,
  { server, match }: { readonly server: string | undefined; readonly match: string | undefined },
): Promise<readonly ToolRow[]> {
  const rows = await allRows(mostRows, async (page) => {
    const query = { ...page, server, match };
    const answer = (await gateway.ask<typeof listTools>("GET /api/tools", { query })) as ToolPage;
    return { rows: answer.tools, nextCursor: answer.next_cursor ?? null };
  });
  const { servers } = await readStatus(gateway);
  const words = new Map(servers.map((one) => [one.server, one.word]));
  return rows.map((row) => ({ ...row, word: words.get(row.server) ?? "" }));
}

async function tellPinned(gateway: GatewayClient): Promise<void> {
  const { tools: pinned } = await gateway.ask<typeof showPins>("GET /api/pins", {});
  for (const { tool_path: path, name, tokens, near } of pinned) {
    const meant = near.length === 0 ? "" : ` (${near.map(plainText).join(", ")}?)`;
    const text =
      name === null
        ? `pinned, but there is no such tool: ${plainText(path)}${meant}`
        : `pinned: ${plainText(path)} as ${name}, ~${countText(tokens ?? 0)} tokens in each conversation`;
    printText(process.stderr, `toolyard: ${text}`);
  }
}
