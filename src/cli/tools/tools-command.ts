import type { ToolLine } from "../../front/owner/everyday-lines.ts";
import type { ToolAnnotations } from "../../kernel/call/definitions.ts";
import { countText } from "../../kernel/text/count-text.ts";
import type { CommandContext } from "../command/command-context.ts";
import { toCell } from "../terminal/record-cells.ts";
import { printList } from "../gateway/list-output.ts";

/** `toolyard tools [server]`: every tool that a call can reach. */
export async function tools(context: CommandContext): Promise<number> {
  return await printList<ToolLine>(context, "tools", {
    columns: [
      { heading: "TOOL" },
      { heading: "EFFECT" },
      { heading: "TOKENS", align: "right" },
      { heading: "STATUS" },
      { heading: "DESCRIPTION" },
    ],
    rowOf: ({ tool }) => tool,
    toCells: ({ path, annotations, tokens, word, description, title }) => [
      toCell(path, 80),
      effectOf(annotations),
      `~${countText(tokens)}`,
      word,
      toCell(description ?? title ?? "", 200),
    ],
    toJson: (tool) => JSON.stringify(tool),
    nothing: "there is no such tool",
  });
}

/** A tool's description of its effects: hints of servers that were not checked. */
export function effectOf(annotations: ToolAnnotations): string {
  if (annotations.readOnlyHint === true) return "reads";
  if (annotations.destructiveHint === true) return "destroys";
  return annotations.readOnlyHint === false || annotations.destructiveHint === false ? "writes" : "-";
}
