import type { ResourceLine } from "../../front/owner/everyday-lines.ts";
import type { CommandContext } from "../command/command-context.ts";
import { toCell } from "../terminal/record-cells.ts";
import { printList } from "../gateway/list-output.ts";

/** `toolyard resources [server]`: resources and templates of all servers, with URIs as `toolyard read` takes them. */
export async function resources(context: CommandContext): Promise<number> {
  return await printList<ResourceLine>(context, "resources", {
    columns: [{ heading: "URI" }, { heading: "TYPE" }, { heading: "NAME" }, { heading: "DESCRIPTION" }],
    rowOf: ({ resource }) => resource,
    toCells: ({ uri, kind, mimeType, name, description }) => [
      toCell(uri, 120),
      kind === "template" ? "template" : toCell(mimeType ?? "-", 40),
      toCell(name ?? "", 40),
      toCell(description ?? "", 200),
    ],
    toJson: ({ definition }) => definition,
    nothing: "there is no such resource",
  });
}
