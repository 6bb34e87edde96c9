import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import type { listResources, readOne } from "../../operations/tools/resource-operations.ts";
import type { CommandContext } from "../command/command-context.ts";
import type { GatewayClient } from "../gateway/gateway-client.ts";
import { printList, type ListAsked } from "../gateway/list-output.ts";
import { toCell } from "../terminal/record-cells.ts";
import { openStartedGateway, whenListed } from "../gateway/started-gateway.ts";
import { refuseUsage } from "../terminal/wrong-usage.ts";
import { printResult } from "./result-output.ts";

interface ResourceRow {
  readonly isTemplate: boolean;
  /** As list_mcp_resources gives it. */
  readonly definition: JsonObject;
}

/** `toolyard resources [server]`: resources and templates of all servers, with URIs as `toolyard read` takes them. */
export async function resources(context: CommandContext): Promise<number> {
  return await printList<ResourceRow>(context, {
    columns: [
      { heading: "URI", fit: "wrap", least: 40 },
      { heading: "TYPE", rank: 3 },
      { heading: "NAME", rank: 2 },
      { heading: "DESCRIPTION", fit: "cut", rank: 1 },
    ],
    read: readResources,
    toCells: ({ isTemplate, definition }) => [
      toCell(textIn(definition, isTemplate ? "uriTemplate" : "uri"), 120),
      isTemplate ? "template" : toCell(textIn(definition, "mimeType") || "-", 40),
      toCell(textIn(definition, "title") || textIn(definition, "name"), 40),
      toCell(textIn(definition, "description"), 200),
    ],
    toJson: ({ definition }) => JSON.stringify(definition),
    nothing: "there is no such resource",
  });
}

async function readResources(gateway: GatewayClient, { server, match }: ListAsked): Promise<readonly ResourceRow[]> {
  const rows: ResourceRow[] = [];
  for (let cursor: string | undefined; ;) {
    const query = { server, query: match, cursor };
    const page = await gateway.ask<typeof listResources>("GET /api/resources", { query });
    rows.push(...page.resources.map((definition) => ({ isTemplate: false, definition })));
    rows.push(...page.resource_templates.map((definition) => ({ isTemplate: true, definition })));
    if (page.nextCursor === undefined) return rows;
    cursor = page.nextCursor;
  }
}

function textIn(given: JsonObject, key: string): string {
  const value = given[key];
  return typeof value === "string" ? value : "";
}

/** `toolyard read <uri>`: reads a resource by any form of its URI, and prints or saves it. */
export async function read(context: CommandContext): Promise<number> {
  const [uri] = context.positionals;
  if (uri === undefined) return refuseUsage("which resource?", "toolyard read <uri> [options]");
  const gateway = await openStartedGateway(context);
  const query = { uri };
  const ask = async () => await gateway.text<typeof readOne>("GET /api/resources/read", { query });
  return await printResult(context, await whenListed(gateway, ask));
}
