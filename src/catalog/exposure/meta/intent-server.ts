import type { ServerSlug } from "../../../kernel/ids.ts";
import type { Intent, ServerIntent } from "../intent.ts";

/** The server that an intent is for, regardless of whose instance of it. */
export function slugOf(intent: ServerIntent): ServerSlug {
  switch (intent.kind) {
    case "call":
      return intent.tool.server;
    case "prompt":
      return intent.prompt.server;
    case "read":
    case "complete":
    case "forward":
      return intent.server.slug;
  }
}

/** Undefined for what the gateway itself answers. */
export function serverOf(intent: Intent): ServerSlug | undefined {
  switch (intent.kind) {
    case "discover":
    case "list-resources":
    case "list-namespace":
    case "kept":
    case "answer":
      return undefined;
    default:
      return slugOf(intent);
  }
}
