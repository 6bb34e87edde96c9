import { z } from "zod";

/** Shapes of what REST takes and gives: checked where it comes in, described in the OpenAPI document, compared in tests where it goes out. */

const json = z.record(z.string(), z.unknown());
const nullableText = z.string().nullable();

export const problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string().describe("What failed: API, see docs/errors.md."),
    hint: z.string().describe("What to do about it."),
  })
  .catchall(z.unknown())
  .describe("RFC 9457 problem details.");

export const namespaceList = z.object({
  namespaces: z.array(
    z.object({
      name: z.string(),
      displayName: z.string(),
      icon: nullableText,
      category: nullableText,
      priority: z.enum(["high", "normal", "low"]),
      toolCount: z.int(),
      loaded: z.boolean().describe("For whoever asks."),
    }),
  ),
});

export const appList = z.array(
  z.object({
    name: z.string(),
    namespace: z.string(),
    icon: nullableText,
    category: nullableText,
    toolCount: z.int(),
    status: z.string().optional().describe("With ?status=true."),
  }),
);

export const tool = z
  .object({ name: z.string(), inputSchema: json })
  .catchall(z.unknown())
  .describe("An MCP tool as its server defines it.");

export const appTools = z.object({
  namespace: z.string(),
  tools: z.array(tool),
  metadata: z.object({
    loadedAt: nullableText.describe("ISO 8601; null when the namespace is not kept loaded."),
    toolCount: z.int(),
    category: nullableText,
    stale: z.string().optional().describe("Why the tools may be out of date."),
  }),
});

export const executeBody = json.describe(
  "The tool's arguments. `_app_context` names the app of a bare name, and is taken out unless the tool's schema has it.",
);

export const executeAnswer = z.object({
  success: z.boolean().describe("False when the tool itself failed."),
  tool_path: z.string(),
  result: json.optional().describe("The tool's result as its server wrote it."),
  error: json.optional().describe("The server's JSON-RPC error, in place of a result."),
  warning: z.string().optional(),
  migrated: z
    .object({ from: z.string(), to: z.string() })
    .optional()
    .describe("With autoMigration: what a bare name stands for."),
});

export const toolSummary = z.object({
  tool_path: z.string(),
  name: z.string(),
  title: nullableText,
  description: nullableText,
  server: z.string(),
  namespace: z.string(),
  read_only: z.boolean(),
  input: z.string().describe("Compact signature."),
});
export const toolList = z.object({ tools: z.array(toolSummary), total: z.int(), next_cursor: z.string().optional() });
export const toolSearch = z
  .object({
    match: z
      .enum(["good", "weak", "none"])
      .optional()
      .describe("Whether a tool does what was asked; absent when the search failed."),
    tools: z.array(json).optional(),
    unavailable: z.array(json).optional().describe("Servers that cannot be used now and may be what was asked for."),
    unavailable_others: z.int().optional().describe("How many other servers cannot be used now."),
  })
  .catchall(z.unknown())
  .describe("What discover_mcp_tools answers.");
export const toolDetails = z.object({
  tool_path: z.string(),
  server: z.string(),
  namespace: z.string(),
  instance: z.string(),
  spellings: z.object({ path: z.string(), flat: z.string(), double_underscore: z.string(), dot: z.string() }),
  input: z.string(),
  definition: tool,
});

export const resourceList = z
  .object({
    resources: z.array(json),
    resource_templates: z.array(json),
    total_resources: z.int(),
    total_templates: z.int(),
    nextCursor: z.string().optional(),
  })
  .catchall(z.unknown());
export const resourceContents = z
  .object({ contents: z.array(json) })
  .catchall(z.unknown())
  .describe("The server's answer; URIs in the form that can be read here.");

export const server = z.object({
  slug: z.string(),
  displayName: z.string(),
  namespace: z.string(),
  icon: nullableText,
  category: nullableText,
  priority: z.enum(["high", "normal", "low"]),
  transport: z.enum(["stdio", "http", "sse"]),
  instance: z.string(),
  status: z.string(),
  dormant: z.boolean(),
  reason: z.string(),
  toolCount: z.int(),
  resourceCount: z.int(),
  promptCount: z.int(),
});
export const serverList = z.object({ servers: z.array(server) });

export const instance = z.object({
  id: z.string(),
  server: z.string(),
  scope: z.enum(["shared", "user", "client"]),
  transport: z.enum(["stdio", "http", "sse"]),
  status: z.string(),
  dormant: z.boolean(),
  reason: z.string(),
  toolCount: z.int(),
  endpoint: z.string().describe("Where MCP clients reach this instance alone, with a token of its own."),
});
export const instanceList = z.object({ instances: z.array(instance) });
export const instanceDetails = instance.extend({
  stderr: z.array(z.string()).describe("The last lines that its process wrote to stderr."),
});
export const instanceToken = z.object({
  token: z.string().describe("Shown only now."),
  instance: z.string(),
  endpoint: z.string(),
});
export const revokedTokens = z.object({ revoked: z.int() });

export const namespaceStats = z.object({
  loads: z.int(),
  hits: z.int(),
  evictions: z.int(),
  errors: z.int(),
  load_time_ms: z.number(),
  migrations: z.int(),
  loaded: z.array(z.object({ name: z.string(), loadedAt: z.string() })),
  namespaces: z.array(
    z.object({
      name: z.string(),
      loads: z.int(),
      calls: z.int(),
      last_used_at: z.string(),
      tools: z.record(z.string(), z.int()),
    }),
  ),
});

export const resourceMetadata = z
  .object({
    resource: z.string(),
    resource_name: z.string(),
    bearer_methods_supported: z.array(z.string()),
    authorization_servers: z.array(z.string()).optional(),
  })
  .describe("RFC 9728.");
export const anyObject = json;

/** A whole number as a query says it; what is none, or beyond the limits, is put right (fault 63). */
export function clampedNumber(limits: { readonly least: number; readonly most: number; readonly standard: number }) {
  return z
    .string()
    .optional()
    .transform((text) => clamp(text, limits))
    .meta({
      type: "integer",
      minimum: limits.least,
      maximum: limits.most,
      default: limits.standard,
      description: "Beyond its limits it is clamped.",
    });
}

function clamp(
  text: string | undefined,
  { least, most, standard }: { least: number; most: number; standard: number },
): number {
  const number = text === undefined || text.trim() === "" ? Number.NaN : Number(text);
  return Number.isNaN(number) ? standard : Math.min(most, Math.max(least, Math.trunc(number)));
}

export const flag = z
  .enum(["true", "false"])
  .optional()
  .transform((text) => text === "true")
  .meta({ type: "string", enum: ["true", "false"] });
export const name = z.string().min(1).max(4_096);
/** Free text may be long: the gateway itself says when it is too long. */
export const words = z.string().max(1_000_000).optional();
export const cursor = z.string().max(1_000).optional();
