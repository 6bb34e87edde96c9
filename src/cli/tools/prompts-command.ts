import { isJsonObject } from "../../kernel/text/json-bytes.ts";
import type { TypesOf } from "../../operations/operation.ts";
import type { listPrompts } from "../../operations/tools/prompt-operations.ts";
import type { CommandContext } from "../command/command-context.ts";
import { matcherOf, printList } from "../gateway/list-output.ts";
import { toCell } from "../terminal/record-cells.ts";

type PromptRow = TypesOf<typeof listPrompts>["answer"]["prompts"][number];

/** `toolyard prompts [server]`: prompts of all servers, under the names that clients see. */
export async function prompts(context: CommandContext): Promise<number> {
  return await printList<PromptRow>(context, {
    columns: [
      { heading: "PROMPT" },
      { heading: "SERVER", rank: 2 },
      { heading: "ARGUMENTS", fit: "wrap", least: 12, rank: 1 },
      { heading: "DESCRIPTION", fit: "cut" },
    ],
    async read(gateway, { server, match }) {
      const query = { server };
      const { prompts: all } = await gateway.ask<typeof listPrompts>("GET /api/prompts", { query });
      const matches = matcherOf(match);
      return all.filter(({ name, description }) => matches([name, description]));
    },
    toCells: ({ name, server, arguments: given = [], description }) => [
      toCell(name, 80),
      toCell(server, 40),
      toCell(
        given
          .filter(isJsonObject)
          .map((one) => `${String(one["name"])}${one["required"] === true ? "" : "?"}`)
          .join(", "),
        60,
      ),
      toCell(description ?? "", 200),
    ],
    toJson: (prompt) => JSON.stringify(prompt),
    nothing: "there is no such prompt",
  });
}
