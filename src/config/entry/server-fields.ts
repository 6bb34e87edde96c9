import * as v from "valibot";
import { filledText, text as plainText } from "../file/check.ts";
import { serverTimes, startTimeout } from "../rows/instance-rows.ts";
import { balanceFields, placeFields } from "./balance-fields.ts";
import { routeFields } from "./route-fields.ts";
import { sandboxRow } from "../rows/sandbox-rows.ts";
import { contentRow, definitionsRow, toolEffectsRow, toolPhrases } from "../rows/tool-rows.ts";
import {
  boolean,
  choice,
  group,
  inherited,
  list,
  looseText,
  number,
  optionalGroup,
  other,
  text,
  type Row,
} from "../rows/setting-row.ts";

/** Header names and values as RFC 9110 allows them. A line break in a value would begin a second header. */
const headerRecord = v.record(
  v.pipe(v.string(), v.regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, "expected a header name: letters, digits and dashes")),
  v.pipe(
    v.string(),
    v.regex(/^[\t\x20-\x7e\x80-\uffff]*$/, "expected a header value without line breaks and control characters"),
  ),
);

const environment = v.record(
  v.pipe(v.string(), v.regex(/^[^=\0]+$/, "expected a variable's name: not empty, without `=`")),
  plainText,
);

const looseTexts = { type: "object", additionalProperties: looseText };

const args = list({
  fallback: [],
  item: plainText,
  isLoose: true,
  about: "arguments of the program",
  example: ["-y", "@modelcontextprotocol/server-filesystem", "/srv/files"],
});
const env = other({
  fallback: {},
  schema: environment,
  json: looseTexts,
  type: "object of texts",
  about: "environment variables of the process; it gets only these and a small, safe part of the gateway's own",
  example: { API_KEY: "${API_KEY}" },
});
const headers = other({
  fallback: {},
  schema: headerRecord,
  json: looseTexts,
  type: "object of texts",
  about: "HTTP headers that are sent with every request to the server",
  example: { Authorization: "Bearer ${TOKEN}" },
});

/** What a team or a person may set for a server. */
export const overrideRows = { args, env, headers };

/** Folders of one server. Limited because a server looks each of them up before it takes a call. */
const mostRoots = 100;

const requiredPaths = (whose: string, example: readonly string[]) =>
  list({
    fallback: [],
    item: v.pipe(v.string(), v.regex(/^(env|headers)\../, 'expected "env.NAME" or "headers.NAME"')),
    pattern: /^(env|headers)\../,
    type: "list of `env.NAME` and `headers.NAME`",
    about: `values that ${whose} must supply before the server can be used`,
    example,
  });

/** The path `args` means any further arguments. */
const optionalPaths = (whose: string, example: readonly string[]) =>
  list({
    fallback: [],
    item: v.pipe(v.string(), v.regex(/^(?:(?:env|headers)\..|args$)/, 'expected "env.NAME", "headers.NAME" or "args"')),
    pattern: /^(?:(?:env|headers)\..|args$)/,
    type: "list of `env.NAME`, `headers.NAME` and `args`",
    about:
      `with \`--team\`, values that ${whose} may set, beside those that are required; \`args\` are further ` +
      "arguments",
    reason: "an unnamed part may lead a server elsewhere, with its secrets, or open a part that was to stay closed",
    example,
  });

function toolList(about: string): Row<readonly string[], undefined> {
  return list({ fallback: undefined, about, example: ["read_file", "list_*"] });
}

const textRecord = (about: string, item: v.GenericSchema<string>, example: object) =>
  other({
    fallback: {},
    schema: v.record(v.string(), item),
    json: { type: "object", additionalProperties: { type: "string" } },
    type: "object of texts",
    about,
    example,
  });

/** `tools` of an entry in our own spelling. */
export const ownTools = {
  allow: toolList("the only tools that are offered; `*` matches any characters"),
  deny: toolList("tools that are not offered, even if `allow` contains them"),
  rename: textRecord("new names of tools, by the server's own names", filledText, { create_issue: "new_issue" }),
  describe: textRecord("new descriptions of tools, by the server's own names", v.string(), {
    create_issue: "Opens an issue in our tracker.",
  }),
  phrases: toolPhrases,
  ask: toolList("tools of which each call waits for a person's yes; `*` matches any characters"),
  neverAsk: toolList("tools that are called without a question, whatever `policy.ask` says"),
  effects: toolEffectsRow,
};

/** Fields that are passed on unchanged from the entry. */
export const plainFields = {
  icon: text({
    fallback: undefined,
    schema: v.string(),
    about: "an icon that is shown in lists: an emoji, or the address of a picture",
    example: "🐙",
  }),
  category: text({
    fallback: undefined,
    schema: v.string(),
    about: "what kind of server it is, shown in lists",
    example: "files",
  }),
  priority: choice({
    choices: ["high", "normal", "low"],
    fallback: "normal",
    about: "how much the server is used; at `high` priority its namespace is always kept loaded",
  }),
  retry: boolean({
    fallback: true,
    about: "whether a failed call is tried once more if it never reached the server or is safe to repeat",
  }),
  annotations: choice({
    choices: ["raise", "trust", "ignore"],
    fallback: "raise",
    about: "how far the server's own word on its tools (`readOnlyHint`, `destructiveHint`) decides what they do",
    reason: "they are wrong in both directions, so that they can only make an effect stronger",
  }),
  definitions: definitionsRow,
  content: contentRow,
  strictResults: boolean({
    fallback: false,
    about: "whether a result that does not fit the tool's output schema is an error",
    reason: "many servers do not follow their own output schemas, and their answers are useful all the same",
  }),
  maxResultTokens: number({
    fallback: undefined,
    fallbackText: "`results.maxTokens`",
    min: 0,
    max: 100_000_000,
    about: "tokens of one result of the server that a model reads; 0 for as many as it has",
    example: 50_000,
  }),
  replicas: balanceFields.replicas,
  ...placeFields,
  requestLogging: choice({
    choices: ["full", "metadata", "off"],
    fallback: "metadata",
    about:
      "how much is recorded of the server's calls: also arguments and results, only who called what and when with " +
      "the first line of an error, or nothing",
    reason: "arguments and results may be private; who called what explains most problems without them",
  }),
  interactive: boolean({
    fallback: false,
    about: "whether the server's calls run one after the other, so that each of its questions belongs to one call",
  }),
};

/** Where the server is, or how it is started. */
export const transportFields = {
  type: text({
    fallback: undefined,
    fallbackText: "`stdio` with `command`, `http` with `url`",
    schema: v.string(),
    type: "one of `stdio`, `http`, `streamable-http`, `sse`",
    about: "how the server is reached",
    example: "http",
  }),
  command: {
    ...text({
      fallback: undefined,
      about:
        "the program to start: a path with a slash is relative to the configuration file, anything else is found " +
        "in PATH",
      example: "npx",
    }),
    json: { anyOf: [{ type: "string" }, { type: "array", items: looseText, minItems: 1 }] },
  },
  args,
  env,
  envFile: text({
    fallback: undefined,
    about: "a file of `NAME=value` lines with further variables; those in `env` take precedence",
    example: ".env",
  }),
  cwd: text({
    fallback: undefined,
    fallbackText: "the file's folder",
    about: "the program's working directory",
    example: "tools",
  }),
  url: text({ fallback: undefined, about: "the address of a remote server", example: "https://mcp.example.com/mcp" }),
  urls: balanceFields.urls,
  headers,
  ...routeFields,
  enabled: boolean({ fallback: true, about: "whether the server is used" }),
};

const sameAs = (field: string) => `the same as \`${field}\``;
/** How other clients spell where the server is. */
export const foreignTransportFields = {
  transport: text({ fallback: undefined, schema: v.string(), about: sameAs("type"), example: "stdio" }),
  serverUrl: text({
    fallback: undefined,
    about: `${sameAs("url")}, as Windsurf writes it`,
    example: "https://mcp.example.com/mcp",
  }),
  httpUrl: text({
    fallback: undefined,
    about: `${sameAs("url")}, as Gemini writes it; takes precedence over it`,
    example: "https://mcp.example.com/mcp",
  }),
  disabled: boolean({ fallback: false, about: "the opposite of `enabled`" }),
};

/** The other fields of an entry in our own spelling. */
export const ownFields = {
  namespace: text({
    fallback: undefined,
    fallbackText: "the server's name in snake case",
    schema: v.pipe(
      v.string(),
      v.regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,47}$/, "expected 1 to 48 letters, digits, `_` or `-`"),
    ),
    pattern: /^[A-Za-z0-9][A-Za-z0-9_-]{0,47}$/,
    type: "text, 1 to 48 letters, digits, `_` or `-`",
    about: "the namespace that its tools are in; servers may share one",
    example: "files",
  }),
  displayName: text({
    fallback: undefined,
    fallbackText: "the key in the file",
    about: "the name that people see",
    example: "Project files",
  }),
  scope: choice({
    choices: ["shared", "user", "client"],
    fallback: undefined,
    fallbackText: "`shared`; `user` with `principals`, or where the entry has `required` or `optional`",
    about: "who shares an instance: everybody, one person's clients, or no one (each connected client has its own)",
    example: "user",
  }),
  roots: list({
    fallback: undefined,
    fallbackText: "none",
    type: "list of folders and `file://` URIs",
    most: { items: mostRoots, message: `expected at most ${mostRoots} roots` },
    about: "folders that the server is told when it asks for roots, instead of those of any client",
    reason: "the server looks each of them up before it takes a call",
    example: ["/srv/project"],
  }),
  sandbox: sandboxRow,
  startTimeoutMs: inherited(startTimeout, "instances.startTimeoutMs"),
  discoveryTimeoutMs: inherited(serverTimes.discoveryTimeoutMs, "instances.discoveryTimeoutMs"),
  callTimeoutMs: inherited(serverTimes.callTimeoutMs, "instances.callTimeoutMs"),
  maxCallTimeoutMs: inherited(serverTimes.maxCallTimeoutMs, "instances.maxCallTimeoutMs"),
  idleTimeoutMs: inherited(serverTimes.idleTimeoutMs, "instances.idleTimeoutMs"),
  stateful: boolean({
    fallback: undefined,
    fallbackText: "true for [servers that are known for it](stateful-servers.md)",
    about: "whether its process holds state for its users, who are told when it is lost",
    example: true,
  }),
  breaker: balanceFields.breaker,
  settings: optionalGroup("another spelling of `requestLogging`, which is stronger", {
    request_logging_enabled: boolean({
      fallback: true,
      about: "false is the same as `requestLogging` `off`",
    }),
  }),
  tools: group("which of the server's tools are offered, and under which names", ownTools),
  required: group("values that must be supplied before the server can be used", {
    user: requiredPaths("each person", ["env.API_KEY"]),
    team: requiredPaths("the team", ["env.ORGANISATION"]),
  }),
  optional: group("values that may be given for the server", {
    user: optionalPaths("each person", ["env.LANGUAGE"]),
    team: optionalPaths("the team", ["env.REGION"]),
  }),
};

/** How other clients spell which tools are offered: Roo, Windsurf and Kiro; Codex; Gemini, Qwen Code and Amp. */
export const foreignToolFields = {
  enabledTools: toolList("tools that are offered, as Roo and Windsurf write it"),
  disabledTools: toolList("tools that are not offered, as Roo and Windsurf write it"),
  enabled_tools: toolList("tools that are offered, as Codex writes it"),
  disabled_tools: toolList("tools that are not offered, as Codex writes it"),
  includeTools: toolList("tools that are offered, as Gemini writes it"),
  excludeTools: toolList("tools that are not offered, as Gemini writes it"),
};

/** One entry of `mcpServers`: our fields, and the spellings of other clients. */
export const entryRows = {
  ...transportFields,
  ...foreignTransportFields,
  ...ownFields,
  ...plainFields,
  ...foreignToolFields,
};

/** As Copilot writes it, with `["*"]` for all. */
export const listedTools = toolList("tools that are offered, as Copilot writes it");

/**
 * Fields of other clients that do not affect the offered tools: whether their user is asked before a call, whether its
 * model searches for the tools first, descriptions for people, and how the client displays or develops the server.
 */
export const meaninglessFields: readonly string[] = [
  ..."alwaysAllow autoApprove trust default_tools_approval_mode deferTools deferred alwaysLoad".split(" "),
  ..."alwaysLoadTools description gallery version dev".split(" "),
];
