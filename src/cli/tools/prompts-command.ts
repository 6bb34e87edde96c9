import type { PromptLine } from "../../front/owner/everyday-lines.ts";
import type { CommandContext } from "../command/command-context.ts";
import { toCell } from "../terminal/record-cells.ts";
import { printList } from "../gateway/list-output.ts";

/** `toolyard prompts [server]`: prompts of all servers, under the names that clients see. */
export async function prompts(context: CommandContext): Promise<number> {
  return await printList<PromptLine>(context, "prompts", {
    columns: [{ heading: "PROMPT" }, { heading: "SERVER" }, { heading: "ARGUMENTS" }, { heading: "DESCRIPTION" }],
    rowOf: ({ prompt }) => prompt,
    toCells: ({ name, server, arguments: given, description }) => [
      toCell(name, 80),
      toCell(server, 40),
      toCell(given.map((one) => (one.required ? one.name : `${one.name}?`)).join(", "), 60),
      toCell(description ?? "", 200),
    ],
    toJson: ({ definition }) => definition,
    nothing: "there is no such prompt",
  });
}
