import type { Intent } from "../../../catalog/exposure/intent.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { SpanAttributes, SpanStart, TraceSource, TraceSpan } from "../../../kernel/runtime/tracing.ts";
import type { Outcome, Work } from "../work.ts";
import type { Passage } from "../stages.ts";

/**
 * Puts a span around every intent that means work, whichever front it came through. Its parent is the client's span,
 * if the client has one; what the intent sends to servers gets the new span as its parent.
 */
export function tracePassage(pass: Passage, traces: TraceSource): Passage {
  return (intent, work) => {
    const start = traces.current === undefined ? undefined : startOf(intent, work);
    if (traces.current === undefined || start === undefined) return pass(intent, work);
    const span = traces.current.begin(start);
    const { context } = work;
    return pass(intent, { ...work, context: { ...context, meta: span.toMeta(context.meta) } }).then(
      (outcome) => {
        end(span, outcome);
        return outcome;
      },
      (error: unknown) => {
        span.end(error instanceof GatewayError ? error.code : "CALL_CANCELLED");
        throw error;
      },
    );
  };
}

/** Undefined for intents that are answered from memory. */
function startOf(intent: Intent, work: Work): SpanStart | undefined {
  const { method, target, attributes } = aboutIntent(intent, work);
  if (method === undefined) return undefined;
  const { meta, client } = work.context;
  return {
    name: target === undefined ? method : `${method} ${target}`,
    kind: "server",
    parent: meta,
    attributes: { "mcp.method.name": method, "mcp.protocol.version": client.revision, ...attributes },
  };
}

interface About {
  readonly method?: string;
  /** What the name of the span ends with: from a set that does not grow with use. */
  readonly target?: string;
  readonly attributes?: SpanAttributes;
}

function aboutIntent(intent: Intent, { request }: Work): About {
  switch (intent.kind) {
    case "call":
      return aboutTool(intent.tool.path, intent.tool.server);
    case "discover":
      return aboutTool("discover_mcp_tools");
    case "list-namespace":
      return aboutTool(`${intent.server.namespace}__list_tools`, intent.server.slug);
    case "read":
      return { method: "resources/read", attributes: { "toolyard.server": intent.server.slug } };
    case "prompt": {
      const { name } = intent.prompt.definition;
      const attributes = { "gen_ai.prompt.name": name, "toolyard.server": intent.prompt.server };
      return { method: "prompts/get", target: name, attributes };
    }
    case "complete":
      return { method: "completion/complete", attributes: { "toolyard.server": intent.server.slug } };
    case "forward":
      return { method: request?.method ?? "", attributes: { "toolyard.server": intent.server.slug } };
    case "list-resources":
    case "kept":
    case "answer":
      return {};
  }
}

function aboutTool(name: string, server?: string): About {
  const attributes = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": name,
    "toolyard.server": server,
  };
  return { method: "tools/call", target: name, attributes };
}

function end(span: TraceSpan, outcome: Outcome): void {
  if (outcome.kind === "found") {
    const needs = outcome.search?.needs ?? [];
    span.set({
      "toolyard.search.engine": outcome.search?.engine,
      "toolyard.search.results": needs.reduce((sum, need) => sum + need.hits.length, 0),
    });
    span.end(outcome.failed === undefined ? undefined : "SEARCH_FAILED");
    return;
  }
  const isToolError = outcome.kind === "result" && outcome.result.isError;
  span.end(outcome.kind === "error" ? "error" : isToolError ? "tool_error" : undefined);
}
