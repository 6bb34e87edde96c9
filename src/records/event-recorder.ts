import { createHash } from "node:crypto";
import type { EventOf } from "../kernel/event.ts";
import type { PublishedEvent } from "../kernel/published-events.ts";
import { stringifyExact } from "../wire/json/exact-json.ts";
import type { ToolMetadata } from "../store/record-rows.ts";
import { createEventToJson, type EventFacts } from "./event-json.ts";
import type { RecordSink } from "./record-sink.ts";

/**
 * Records events: one row for each, and the tools that a server offers, which replace those of before. Written as the
 * live stream writes them, secrets taken out.
 */
export function createEventRecorder(
  sink: Pick<RecordSink, "append">,
  facts: EventFacts,
): (event: PublishedEvent) => void {
  const toJson = createEventToJson(facts);
  return (event) => {
    if (event.type === "mcp.tools.discovered") sink.append("tools", toMetadata(event, facts));
    const { server, instance, installation, principal, team, data } = JSON.parse(toJson(event, "whole")) as Written;
    const detail = event.type === "mcp.tools.discovered" ? { ...data, tools: undefined } : data;
    sink.append("event", {
      ...{ atMs: event.atMs, type: event.type, server, instance, installation, principal, team },
      detail: JSON.stringify(detail).slice(0, longestDetail),
    });
  };
}

/** What of an event is beside its own members. */
interface Written {
  readonly server: string | null;
  readonly instance: string | null;
  readonly installation: string | null;
  readonly principal: string | null;
  readonly team: string | null;
  readonly data: object;
}

/** The last lines of a server that crashed fit. */
const longestDetail = 16_384;

function toMetadata(event: EventOf<"mcp.tools.discovered">, facts: EventFacts): ToolMetadata {
  const tools = event.tools
    .filter((tool) => facts.isShown(event.instance, tool))
    .map((tool) => ({
      path: tool.path,
      description: facts.redact(String(tool.definition.description ?? "")),
      schemaHash: createHash("sha256").update(stringifyExact(tool.definition.inputSchema)).digest("hex"),
      tokens: facts.countTokens(tool),
    }));
  return { installation: event.installation, server: event.server, discoveredAtMs: event.atMs, tools };
}
