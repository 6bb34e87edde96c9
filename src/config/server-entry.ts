import { longestMs } from "../kernel/limits.ts";
import * as v from "valibot";
import { check, filledText, numberOf, problemAt, refuse, text, unknownFields, type Origin } from "./check.ts";
import { serverTimes } from "./defaults.ts";
import type { TlsFiles } from "./config.ts";
import { createProblems } from "./problems.ts";
import { withTexts } from "./plain-values.ts";
import {
  isProcessKind,
  kindChoices,
  kindNamed,
  transports,
  type ProcessKind,
  type RemoteKind,
  type TransportKind,
} from "./transports.ts";

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

/** Folders of one server: it looks each of them up before it takes a call. */
const mostRoots = 100;

const toolNames = v.array(filledText);

/** What a server that is reached over the network needs of a company's network; a variable that has no value yet is told elsewhere. */
const routeFields = {
  proxy: v.optional(
    v.union([
      v.literal(false),
      v.pipe(
        v.string(),
        v.regex(/^https?:\/\/[^/]|\$\{/i, "expected the http:// or https:// URL of a proxy, or false for none"),
      ),
    ]),
  ),
  tls: v.optional(
    v.pipe(
      v.object({
        caFile: v.optional(filledText),
        certFile: v.optional(filledText),
        keyFile: v.optional(filledText),
        passphrase: v.optional(text),
      }),
      v.check(
        ({ certFile, keyFile }) => (certFile === undefined) === (keyFile === undefined),
        "expected `certFile` and `keyFile` together: a certificate is of no use without its key",
      ),
    ),
  ),
};

/** One entry of `mcpServers` with our fields, and the spellings of other clients. */
const entryFields = {
  type: v.optional(v.string()),
  transport: v.optional(v.string()),
  command: v.optional(filledText),
  args: v.optional(v.array(text)),
  env: v.optional(environment),
  envFile: v.optional(filledText),
  cwd: v.optional(filledText),
  url: v.optional(filledText),
  serverUrl: v.optional(filledText),
  httpUrl: v.optional(filledText),
  headers: v.optional(headers),
  ...routeFields,
  disabled: v.optional(v.boolean()),
  enabled: v.optional(v.boolean()),
  namespace: v.optional(
    v.pipe(v.string(), v.regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,47}$/, "expected 1 to 48 letters, digits, `_` or `-`")),
  ),
  displayName: v.optional(filledText),
  icon: v.optional(v.string()),
  category: v.optional(v.string()),
  priority: v.optional(v.picklist(["high", "normal", "low"])),
  scope: v.optional(v.picklist(["shared", "user", "client"])),
  roots: v.optional(v.pipe(v.array(filledText), v.maxLength(mostRoots, `expected at most ${mostRoots} roots`))),
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
  // Roo, Windsurf, Kiro; Codex; Gemini, Qwen Code, Amp.
  enabledTools: v.optional(toolNames),
  disabledTools: v.optional(toolNames),
  enabled_tools: v.optional(toolNames),
  disabled_tools: v.optional(toolNames),
  includeTools: v.optional(toolNames),
  excludeTools: v.optional(toolNames),
  required: v.optional(v.object({ user: v.optional(requiredPaths), team: v.optional(requiredPaths) })),
};

const entrySchema = v.object(entryFields);
/** Copilot's CLI and agent write `tools` as the list of those that are offered, `["*"]` for all. */
const listedToolsSchema = v.object({ ...entryFields, tools: toolNames });

/**
 * Fields of other clients that say nothing about what is offered: whether their user is asked before a call (Roo,
 * Cline, Kiro, Gemini, Codex), what a person reads about the server, and how the client shows and develops it.
 */
const meaninglessFields: readonly string[] = [
  "alwaysAllow",
  "autoApprove",
  "trust",
  "default_tools_approval_mode",
  "description",
  "gallery",
  "version",
  "dev",
];

type WrittenEntry = v.InferOutput<typeof entrySchema | typeof listedToolsSchema>;
type WrittenTransport =
  | "type"
  | "transport"
  | "command"
  | "args"
  | "env"
  | "envFile"
  | "cwd"
  | "url"
  | "serverUrl"
  | "httpUrl"
  | "headers"
  | "proxy"
  | "tls"
  | "disabled"
  | "enabled";

/** One entry in our own spelling, whichever client it was written for. Nothing is resolved or defaulted yet. */
export interface ServerEntry extends Omit<WrittenEntry, WrittenTransport> {
  readonly enabled: boolean;
  readonly transport:
    | {
        readonly kind: ProcessKind;
        readonly command: string;
        readonly args: readonly string[];
        readonly env: Readonly<Record<string, string>>;
        readonly envFile: string | undefined;
        readonly cwd: string | undefined;
      }
    | {
        readonly kind: RemoteKind;
        readonly url: string;
        readonly urlField: "url" | "serverUrl" | "httpUrl";
        readonly headers: Readonly<Record<string, string>>;
        readonly proxy: string | false | undefined;
        readonly tls: TlsFiles | undefined;
      };
}

/**
 * Checks one entry and brings it to our own spelling. This one way is taken by the configuration and by imports alike.
 * Throws InvalidConfig with place and path of all that is wrong; unknown fields become warnings.
 */
export function parseServerEntry(value: unknown, origin: Origin, warnings: string[]): ServerEntry {
  const plain = withTexts(value, origin);
  refuseOpenCode(plain, origin);
  const problems = createProblems();
  const written = problems.attempt(() => checkEntry(plain, origin, warnings));
  const kind = problems.attempt(() => kindOf(plain, origin));
  problems.refuseAny();
  const {
    type: _type,
    transport: _transport,
    command,
    args,
    env,
    envFile,
    cwd,
    ...afterProcess
  } = written as WrittenEntry;
  const { url, serverUrl, httpUrl, headers: given, proxy, tls, disabled, enabled, ...rest } = afterProcess;
  const common = { ...rest, enabled: enabled !== false && disabled !== true };
  if (kind !== undefined && isProcessKind(kind)) {
    for (const field of ["proxy", "tls"] as const)
      if (written?.[field] !== undefined)
        warnings.push(withoutEffect(origin, field, "only a server with a `url` is reached over the network"));
    return { ...common, transport: { kind, command: command ?? "", args: args ?? [], env: env ?? {}, envFile, cwd } };
  }
  if (envFile !== undefined) warnings.push(withoutEffect(origin, "envFile", "only a process has an environment"));
  const field = addressField({ httpUrl, url, serverUrl }) ?? "url";
  return {
    ...common,
    transport: {
      kind: kind ?? "http",
      url: { httpUrl, url, serverUrl }[field] ?? "",
      urlField: field,
      headers: given ?? {},
      proxy,
      tls: tls && definedOnly(tls),
    },
  };
}

function withoutEffect(origin: Origin, field: string, why: string): string {
  return problemAt({ document: origin.document, path: [...origin.path, field] }, `has no effect here: ${why}`);
}

function definedOnly(tls: object): TlsFiles {
  return Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined));
}

function checkEntry(value: unknown, origin: Origin, warnings: string[]): WrittenEntry {
  const isListed = typeof value === "object" && value !== null && "tools" in value && Array.isArray(value.tools);
  const schema = isListed ? listedToolsSchema : entrySchema;
  const written = check(schema, value, origin);
  warnings.push(...unknownFields(schema, value, origin, meaninglessFields));
  return written;
}

function refuseOpenCode(value: unknown, origin: Origin): void {
  if (typeof value !== "object" || value === null || !("command" in value) || !Array.isArray(value.command)) return;
  refuse(
    { document: origin.document, path: [...origin.path, "command"] },
    "a list is how OpenCode writes it; expected the program alone here, the rest in `args`, and `environment` as `env`",
  );
}

/** Gemini writes `httpUrl`, Windsurf `serverUrl`, the others `url`. Where several stand, `httpUrl` wins, as in Gemini. */
function addressField(fields: object): "httpUrl" | "url" | "serverUrl" | undefined {
  return (["httpUrl", "url", "serverUrl"] as const).find((field) => isThere(fields, field));
}

function isThere(fields: object, name: string): boolean {
  return (fields as Readonly<Record<string, unknown>>)[name] !== undefined;
}

/** Looks only at which fields there are, so that it can be told beside what is wrong in them. */
function kindOf(value: unknown, origin: Origin): TransportKind | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { type, transport } = value as { readonly type?: unknown; readonly transport?: unknown };
  const hasCommand = isThere(value, "command");
  const hasAddress = addressField(value) !== undefined;
  const named = type ?? transport;
  if (named === undefined) return impliedKind(hasCommand, hasAddress, origin);
  if (typeof named !== "string") return undefined;
  const path = [...origin.path, type === undefined ? "transport" : "type"];
  const kind = kindNamed(named) ?? refuse({ document: origin.document, path }, `expected ${kindChoices()}`);
  if (isProcessKind(kind) ? hasCommand : hasAddress) return kind;
  const field = isProcessKind(kind) ? "command" : "url";
  return refuse(origin, `expected \`${field}\`, because this is ${transports[kind].label} server`);
}

function impliedKind(hasCommand: boolean, hasAddress: boolean, origin: Origin): "stdio" | "http" {
  if (hasCommand && hasAddress)
    return refuse(origin, "expected either `command` or `url`, not both (or say which with `type`)");
  if (hasCommand) return "stdio";
  return hasAddress ? "http" : refuse(origin, "expected `command` (a process) or `url` (a remote server)");
}
