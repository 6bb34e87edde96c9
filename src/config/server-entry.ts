import * as v from "valibot";
import { check, filledText, numberOf, refuse, text, unknownFields, type Origin } from "./check.ts";
import { longestMs, serverTimes } from "./defaults.ts";

/** Header names and values as RFC 9110 allows them; a line break in one would be a second header. */
const headers = v.record(
  v.pipe(v.string(), v.regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "expected a header name: letters, digits and dashes")),
  v.pipe(
    v.string(),
    v.regex(/^[\t\x20-\x7e\x80-\uffff]*$/, "expected a header value without line breaks and control characters"),
  ),
);

const environment = v.record(
  v.pipe(v.string(), v.regex(/^[^=\0]+$/, "expected a variable's name: not empty, without `=`")),
  text,
);

/** What a team or a person may give a server. */
export const overridesSchema = v.object({
  args: v.optional(v.array(text)),
  env: v.optional(environment),
  headers: v.optional(headers),
});

const requiredPaths = v.array(
  v.pipe(v.string(), v.regex(/^(env|headers)\../, 'expected "env.NAME" or "headers.NAME"')),
);

const toolNames = v.array(filledText);

/** One entry of `mcpServers` with the fields of DESIGN.md section 9, and the spellings of other clients. */
const entrySchema = v.object({
  type: v.optional(v.string()),
  transport: v.optional(v.string()),
  command: v.optional(filledText),
  args: v.optional(v.array(text)),
  env: v.optional(environment),
  cwd: v.optional(filledText),
  url: v.optional(filledText),
  serverUrl: v.optional(filledText),
  httpUrl: v.optional(filledText),
  headers: v.optional(headers),
  disabled: v.optional(v.boolean()),
  enabled: v.optional(v.boolean()),
  namespace: v.optional(
    v.pipe(v.string(), v.regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,47}$/, "expected 1 to 48 letters, digits, `_` or `-`")),
  ),
  displayName: v.optional(filledText),
  icon: v.optional(v.string()),
  category: v.optional(v.string()),
  priority: v.optional(v.picklist(["high", "normal", "low"])),
  scope: v.optional(v.picklist(["shared", "user"])),
  startTimeoutMs: v.optional(numberOf({ min: 100, max: longestMs })),
  discoveryTimeoutMs: v.optional(numberOf(serverTimes.discoveryTimeoutMs)),
  callTimeoutMs: v.optional(numberOf(serverTimes.callTimeoutMs)),
  maxCallTimeoutMs: v.optional(numberOf(serverTimes.maxCallTimeoutMs)),
  idleTimeoutMs: v.optional(numberOf(serverTimes.idleTimeoutMs)),
  stateful: v.optional(v.boolean()),
  retry: v.optional(v.boolean()),
  strictResults: v.optional(v.boolean()),
  interactive: v.optional(v.boolean()),
  requestLogging: v.optional(v.boolean()),
  tools: v.optional(
    v.object({
      allow: v.optional(toolNames),
      deny: v.optional(toolNames),
      rename: v.optional(v.record(v.string(), filledText)),
      describe: v.optional(v.record(v.string(), v.string())),
    }),
  ),
  required: v.optional(v.object({ user: v.optional(requiredPaths), team: v.optional(requiredPaths) })),
});

type WrittenEntry = v.InferOutput<typeof entrySchema>;
type WrittenTransport =
  | "type"
  | "transport"
  | "command"
  | "args"
  | "env"
  | "cwd"
  | "url"
  | "serverUrl"
  | "httpUrl"
  | "headers"
  | "disabled"
  | "enabled";

/** One entry in our own spelling, whichever client it was written for. Nothing is resolved or defaulted yet. */
export interface ServerEntry extends Omit<WrittenEntry, WrittenTransport> {
  readonly enabled: boolean;
  readonly transport:
    | {
        readonly kind: "stdio";
        readonly command: string;
        readonly args: readonly string[];
        readonly env: Readonly<Record<string, string>>;
        readonly cwd: string | undefined;
      }
    | {
        readonly kind: "http" | "sse";
        readonly url: string;
        readonly urlField: "url" | "serverUrl" | "httpUrl";
        readonly headers: Readonly<Record<string, string>>;
      };
}

/**
 * Checks one entry and brings it to our own spelling. This one way is taken by the configuration and by imports alike.
 * Throws GatewayError CONFIG_INVALID with place and path; unknown fields become warnings.
 */
export function parseServerEntry(value: unknown, origin: Origin, warnings: string[]): ServerEntry {
  const written = check(entrySchema, value, origin);
  warnings.push(...unknownFields(entrySchema, value, origin));
  const {
    type,
    transport: transportName,
    command,
    args,
    env,
    cwd,
    url,
    serverUrl,
    httpUrl,
    headers: given,
    disabled,
    enabled,
    ...rest
  } = written;
  const address = firstAddress({ httpUrl, url, serverUrl });
  const field = type === undefined ? "transport" : "type";
  const named = type ?? transportName;
  const kind =
    named === undefined
      ? impliedKind(command, address, origin)
      : kindOf(named, { document: origin.document, path: [...origin.path, field] });
  const common = { ...rest, enabled: enabled !== false && disabled !== true };
  if (kind === "stdio") {
    if (command === undefined) return refuse(origin, "expected `command`, because this is a stdio server");
    return { ...common, transport: { kind, command, args: args ?? [], env: env ?? {}, cwd } };
  }
  if (!address) return refuse(origin, `expected \`url\`, because this is an ${kind === "sse" ? "SSE" : "HTTP"} server`);
  return {
    ...common,
    transport: { kind, url: address.url, urlField: address.field, headers: given ?? {} },
  };
}

/** Gemini writes `httpUrl`, Windsurf `serverUrl`, the others `url`. Where several stand, `httpUrl` wins, as in Gemini. */
function firstAddress(fields: {
  readonly [Field in "httpUrl" | "url" | "serverUrl"]: string | undefined;
}) {
  for (const field of ["httpUrl", "url", "serverUrl"] as const) {
    const url = fields[field];
    if (url !== undefined) return { field, url };
  }
  return undefined;
}

function impliedKind(command: string | undefined, address: object | undefined, origin: Origin): "stdio" | "http" {
  if (command !== undefined && address)
    return refuse(origin, "expected either `command` or `url`, not both (or say which with `type`)");
  if (command !== undefined) return "stdio";
  return address ? "http" : refuse(origin, "expected `command` (a process) or `url` (a remote server)");
}

/** `streamable-http`, `streamableHttp` (Cline) and `streamable_http` are one. */
function kindOf(name: string, origin: Origin): "stdio" | "http" | "sse" {
  const plain = name.toLowerCase().replace(/[-_ ]/g, "");
  if (plain === "stdio" || plain === "http" || plain === "sse") return plain;
  if (plain === "streamablehttp") return "http";
  return refuse(origin, 'expected "stdio", "http", "streamable-http" or "sse"');
}
