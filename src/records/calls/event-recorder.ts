import { createHash } from "node:crypto";
import type { EventOf } from "../../kernel/events/event.ts";
import { slices } from "../../kernel/runtime/slices.ts";
import type { PublishedEvent } from "../../kernel/events/published-events.ts";
import { stringifyExact } from "../../wire/json/exact-json.ts";
import type { ToolMetadata } from "../../store/record-rows.ts";
import { createEventToJson, type EventFacts } from "../events/event-json.ts";
import { redactSaid } from "../redaction/peer-text.ts";
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

  function write(event: PublishedEvent, more?: object): void {
    const { server, instance, installation, principal, team, data } = JSON.parse(toJson(event, "whole")) as Written;
    const detail = more === undefined ? data : { ...data, ...more, tools: undefined };
    sink.append("event", {
      ...{ atMs: event.atMs, type: event.type, server, instance, installation, principal, team },
      detail: JSON.stringify(detail).slice(0, longestDetail),
    });
  }

  function* writeDiscovery(event: EventOf<"mcp.tools.discovered">): Generator<undefined, void> {
    const metadata = yield* toMetadata(event, facts);
    sink.append("tools", metadata);
    const tokens = metadata.tools.reduce((sum, tool) => sum + tool.tokens, 0);
    write({ ...event, tools: [] }, { tool_count: metadata.tools.length, total_tokens: tokens });
  }

  return (event) => {
    // The gateway that changed it has recorded that.
    if (event.type === "approvals.changed") return;
    if (event.type !== "mcp.tools.discovered") write(event);
    // A list of thousands of tools is looked through in turns. What cannot be written is lost, as without a store.
    else slices.run(writeDiscovery(event)).catch(() => undefined);
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

function* toMetadata(event: EventOf<"mcp.tools.discovered">, facts: EventFacts): Generator<undefined, ToolMetadata> {
  const tools: ToolMetadata["tools"][number][] = [];
  for (const tool of event.tools) {
    yield;
    if (!facts.isShown(event.instance, tool)) continue;
    tools.push({
      path: tool.path,
      description: redactSaid(String(tool.definition.description ?? ""), facts.redact),
      schemaHash: createHash("sha256").update(stringifyExact(tool.definition.inputSchema)).digest("hex"),
      tokens: facts.countTokens(tool),
    });
  }
  return { installation: event.installation, server: event.server, discoveredAtMs: event.atMs, tools };
}
