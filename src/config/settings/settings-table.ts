import { exposureNames } from "../rows/exposures.ts";
import * as v from "valibot";
import { filledText, text as plainText } from "../file/check.ts";
import { clusterRows } from "./cluster-rows.ts";
import { enrichRows } from "../rows/enrich-rows.ts";
import { leastClientTokens, profiledTools, type ClientProfile } from "../rows/client-profiles.ts";
import { longestMs } from "../../kernel/limits.ts";
import { assertionRows, externalRows } from "../rows/external-rows.ts";
import { breakerRow, instanceRows, serverTimes, startTimeout } from "../rows/instance-rows.ts";
import { limitRows } from "../rows/limit-rows.ts";
import { approvalRows, definitionRows, pinRow, policyRows } from "../rows/tool-rows.ts";
import { profileName, profileRows } from "../rows/profile-rows.ts";
import { providerRows } from "../rows/provider-rows.ts";
import { sandboxRows } from "../rows/sandbox-rows.ts";
import { overrideRows } from "../entry/server-fields.ts";
import {
  boolean,
  choice,
  group,
  keyed,
  list,
  needed,
  number,
  optionalGroup,
  other,
  text,
  type Row,
} from "../rows/setting-row.ts";
import { eventRows } from "../rows/webhook-rows.ts";
import {
  addressRange,
  hostName,
  postgresUrl,
  publicAddress,
  webOrigin,
  webUrl,
  withoutBrackets,
} from "../words/web-names.ts";

const tokenPattern = /^sha256:[0-9a-fA-F]{64}$/;
const tokenHash = v.pipe(
  v.string(),
  v.regex(tokenPattern, "expected `sha256:` and 64 hexadecimal digits, as `toolyard token new` prints them"),
  v.transform((written) => written.toLowerCase()),
);
const exampleHash = `sha256:${"0123456789abcdef".repeat(4)}`;

const hashRow = (whose: string) =>
  text({
    fallback: undefined,
    schema: tokenHash,
    pattern: tokenPattern,
    type: "`sha256:` and 64 hexadecimal digits",
    about: `the hash of ${whose}, as \`toolyard token new\` prints it`,
    example: exampleHash,
  });

const hashesRow = (whose: string) =>
  list({
    fallback: [],
    item: tokenHash,
    pattern: tokenPattern,
    type: "list of `sha256:` and 64 hexadecimal digits",
    about: `hashes of ${whose}: a new token can be given out before the old one is revoked`,
    example: [exampleHash],
  });

/** Anything that a client looks for in a tool's `_meta`. Keys and values are up to the client. */
const toolMeta = v.optional(v.record(v.string(), v.unknown()));
const toolMetaSchema = v.object(
  Object.fromEntries(profiledTools.map((name) => [name, toolMeta])) as {
    readonly [Name in (typeof profiledTools)[number]]: typeof toolMeta;
  },
);

const toolMetaRow: Row<ClientProfile["toolMeta"], undefined> = other({
  fallback: undefined,
  fallbackText: "as in [the table](clients.md)",
  schema: toolMetaSchema as v.GenericSchema<unknown, ClientProfile["toolMeta"]>,
  json: {
    type: "object",
    properties: Object.fromEntries(profiledTools.map((name) => [name, { type: "object" }])),
    additionalProperties: false,
  },
  type: `object with ${profiledTools.map((name) => `\`${name}\``).join(", ")}`,
  about: "additions to `_meta` of the four tools in the list, by tool; `*` applies to all of them",
  example: { "*": { "example.com/alwaysLoad": true } },
});

const helpToolPattern = /^[A-Za-z0-9_-]{1,64}$/;

const namespaceFlags = {
  enabled: boolean({ fallback: true, about: "whether the exposure `namespaces` is offered" }),
  legacySupport: boolean({
    fallback: true,
    about: "whether a tool may be called by its bare name when no other tool has that name",
  }),
  deprecationWarnings: boolean({
    fallback: true,
    about: "whether the answer to a call by bare name carries a warning",
  }),
  autoMigration: boolean({
    fallback: false,
    about: "whether REST answers a call by bare name with the tool's path beside the result",
  }),
};

const serversOf = (whose: string) =>
  keyed({ about: `values that ${whose} sets for servers, by the server's name`, key: "SERVER" }, overrideRows);

/**
 * Every setting of the `toolyard` object. A new setting is one row here, and the code that reads it: `settings.name`
 * is typed by it. Run `npm run docs` afterwards.
 */
export const settingsTable = {
  host: text({
    fallback: "127.0.0.1",
    flag: { name: "host", word: "H" },
    about: "the address to listen on",
    reason: "loopback: other machines can connect only after somebody has decided so",
    // Brackets around an IPv6 address are removed: they belong to URLs.
    schema: v.pipe(filledText, v.transform(withoutBrackets)),
    example: "0.0.0.0",
    isReadAtStart: true,
  }),
  port: number({
    fallback: 3001,
    min: 0,
    max: 65_535,
    flag: { name: "port", word: "P" },
    about: "the port; 0 lets the system choose",
    reason: "free on most machines",
    example: 8080,
    isReadAtStart: true,
  }),
  allowedHosts: list({
    fallback: [],
    fallbackText: "those of this machine",
    item: hostName,
    type: "list of host names",
    about: "further host names under which the gateway may be reached; `*` is every host",
    reason: "protects against web pages whose host name is made to resolve to this machine (DNS rebinding)",
    example: ["tools.example.com"],
  }),
  allowedOrigins: list({
    fallback: [],
    fallbackText: "those of this machine",
    item: webOrigin,
    type: "list of origins",
    about: "further sites whose pages may send requests; `*` is every site",
    reason: "a page that somebody happens to visit must not call tools",
    example: ["https://app.example.com"],
  }),
  publicUrl: text({
    fallback: undefined,
    fallbackText: "taken from each request",
    flag: { name: "public-url", word: "URL" },
    schema: publicAddress,
    pattern: /^\s*https?:\/\//i,
    type: "http:// or https:// URL, with a path if there is one",
    about: "the address that clients use, when there is a proxy in front",
    example: "https://tools.example.com/yard",
  }),
  trustedProxies: list({
    fallback: [],
    item: addressRange,
    type: "list of addresses and ranges (CIDR)",
    about: "proxies whose `X-Forwarded-*` headers are trusted",
    reason: "anybody else could write whatever they like into these headers",
    example: ["10.0.0.0/8"],
  }),
  noticeMs: number({
    fallback: 0,
    min: 0,
    max: 3_600_000,
    about:
      "milliseconds that a gateway that stops goes on serving, while `/readyz` says that it is leaving and answers " +
      "close their connections",
    reason:
      "nothing waits for it on one machine; behind a load balancer, more than that takes to notice " +
      "([behind a balancer](team-database.md#behind-a-balancer))",
    example: 5_000,
  }),
  team: boolean({
    fallback: false,
    flag: { name: "team" },
    about: "whether people and teams are kept in the gateway's database, beside those of the configuration",
    isReadAtStart: true,
  }),
  database: text({
    fallback: undefined,
    fallbackText: "SQLite in the data directory",
    flag: { name: "database", word: "URL" },
    schema: postgresUrl,
    pattern: /^\s*(?:postgres|postgresql):\/\/|^\$\{/i,
    type: "postgres:// URL",
    about: "the PostgreSQL, 15 or newer, that people, audit and records are kept in",
    example: "postgres://toolyard@db.example.com/toolyard",
    isReadAtStart: true,
  }),
  cluster: optionalGroup(
    "whether this gateway is one of several nodes that run each server once; it needs `database`",
    clusterRows,
  ),
  databaseSilenceMs: number({
    fallback: 30_000,
    min: 1_000,
    max: 3_600_000,
    about: "milliseconds that people of a PostgreSQL are served for without hearing from it",
    reason:
      "a restart of a database takes seconds; for longer, somebody who lost access elsewhere must not keep it here",
  }),
  dataDir: text({
    fallback: undefined,
    fallbackText: "the platform's usual place, such as `~/.local/share/toolyard`",
    flag: { name: "data-dir", word: "DIR", isCommon: true },
    about: "where catalogs, tokens and what was learned are kept",
    example: "/var/lib/toolyard",
    isReadAtStart: true,
  }),
  exposure: choice({
    choices: exposureNames,
    fallback: "meta",
    flag: { name: "exposure", word: "E", isCommon: true },
    about: "what /mcp shows",
    reason: "four tools cost the same however many servers there are",
  }),
  pin: pinRow,
  transparent: text({
    fallback: undefined,
    fallbackText: "none",
    about: "the name of a server that `/mcp` shows unchanged, as if the gateway were not there",
    example: "github",
  }),
  logLevel: choice({
    choices: ["trace", "debug", "info", "warn", "error", "fatal", "silent"],
    fallback: "info",
    flag: { name: "log-level", word: "L", isCommon: true },
    about: "the lowest level of lines that are logged",
    isReadAtStart: true,
  }),
  registryUrl: text({
    fallback: "https://registry.modelcontextprotocol.io",
    variable: "TOOLYARD_REGISTRY_URL",
    schema: webUrl,
    pattern: /^https?:\/\//i,
    type: "http:// or https:// URL",
    about: "the MCP registry in which `toolyard servers add` looks names up",
    reason: "the official one; a company may have a registry of its own with the same API",
    example: "https://registry.example.com",
  }),
  debugRoute: boolean({
    fallback: false,
    variable: "TOOLYARD_DEBUG_ROUTE",
    about: "whether `GET /api/status/debug` is answered",
    reason: "it shows more of the gateway's internals than callers need",
  }),
  auth: group("who may use the gateway", {
    tokenHash: hashRow("the token of the local user"),
    tokenHashes: hashesRow("the local user's tokens"),
    insecure: boolean({
      fallback: false,
      flag: { name: "insecure" },
      about: "whether to listen beyond this machine without a token",
      reason: "everybody on the network could call every tool",
    }),
    allowTokenInUrl: boolean({
      fallback: false,
      about: "whether an instance's token may be part of its URL",
      reason: "URLs end up in logs and histories, but some clients can send a token in no other way",
    }),
    passwords: boolean({
      fallback: true,
      about: "with `--team`, whether people log in with a password of this gateway; false counts only with `providers`",
      reason: "no identity provider is needed; with one, set it to false",
    }),
    providers: providerRows,
    accessTokenSeconds: number({
      fallback: 3_600,
      min: 60,
      max: 86_400,
      about: "seconds that an app uses an access token before it renews it",
      reason: "taking access away works at once whatever this is, and each renewal can go wrong",
      example: 900,
      isReadAtStart: true,
    }),
    refreshOverlapSeconds: number({
      fallback: 86_400,
      min: 0,
      max: 604_800,
      about: "seconds that a refresh token still works after it was used; 0 is strict",
      reason: "apps renew several times at once, and would be logged out",
      example: 0,
    }),
    clientDocuments: boolean({
      fallback: true,
      about:
        "with `--team`, whether an app may name a document on the web as what it is (client ID metadata " +
        "documents); without, apps register",
      reason: "many apps come with nothing else, and the gateway fetches what they name from the public Internet",
      isReadAtStart: true,
    }),
    external: externalRows,
    assertions: assertionRows,
  }),
  search: group("how tools are found", {
    engine: choice({
      choices: ["lexical", "fuse"],
      fallback: "lexical",
      about: "the engine that ranks the tools",
      reason: "it finds the most in our measurements; see [search](search.md)",
      isReadAtStart: true,
    }),
    learn: boolean({
      fallback: true,
      about: "whether search remembers which tools were called after which queries",
      reason: "the memory improves later searches, and never leaves the machine",
      isReadAtStart: true,
    }),
    embeddings: optionalGroup(
      "an OpenAI-compatible endpoint whose embeddings help to rank; not used unless this object is written",
      {
        url: needed(
          text({
            fallback: undefined,
            fallbackText: "none: required",
            schema: webUrl,
            pattern: /^https?:\/\//i,
            type: "http:// or https:// URL",
            about: "the endpoint's address",
            example: "https://embeddings.example.com/v1/embeddings",
            isReadAtStart: true,
          }),
        ),
        model: needed(
          text({
            fallback: undefined,
            fallbackText: "none: required",
            about: "the model's name",
            example: "nomic-embed-text",
            isReadAtStart: true,
          }),
        ),
        apiKey: text({
          fallback: undefined,
          schema: plainText,
          about: "the key that is sent as a bearer token",
          example: "${EMBEDDINGS_KEY}",
          isReadAtStart: true,
        }),
        dimensions: number({
          fallback: undefined,
          fallbackText: "the model's",
          min: 1,
          max: 16_384,
          about: "the length of a vector",
          reason: "sent to the endpoint only when it is configured",
          example: 512,
          isReadAtStart: true,
        }),
        deadlineMs: number({
          fallback: 300,
          min: 10,
          max: 60_000,
          about: "milliseconds that a search waits for the endpoint",
          reason: "a search that waits longer is worse than the lexical answer",
          isReadAtStart: true,
        }),
      },
    ),
    enrich: enrichRows,
  }),
  policy: group("what a tool may do without a person's yes", policyRows),
  approvals: group("how a person is asked for a yes", approvalRows),
  definitions: group("definitions of tools that change", definitionRows),
  sandbox: group("confinement of servers that are processes", sandboxRows),
  results: group("the size of answers", {
    discoverTokens: number({
      fallback: 4_000,
      min: 200,
      max: 100_000,
      about: "most tokens of one answer of `discover_mcp_tools`",
      reason: "four times what ten results with signatures need; 2 % of a usual context",
      isReadAtStart: true,
    }),
    maxTokens: number({
      fallback: 25_000,
      min: 0,
      max: 100_000_000,
      about: "tokens of one result of a tool that a model reads; a larger one is cut, and 0 cuts nothing",
      reason: "clients that get more drop the rest for good; an eighth of a usual context",
    }),
    keepMs: number({
      fallback: 600_000,
      min: 1_000,
      max: longestMs,
      about: "milliseconds for which the rest of a result that was cut can be read",
      reason: "a model reads on at once or not at all",
    }),
    keptMemoryBytes: number({
      fallback: 16 * 1024 * 1024,
      min: 0,
      max: 1024 ** 4,
      about: "bytes of memory for the rests of results; more goes to the disk",
      reason: "a handful of large pages; a gateway takes 70 MB in all",
    }),
    keptDiskBytes: number({
      fallback: 512 * 1024 * 1024,
      min: 0,
      max: 1024 ** 4,
      about: "bytes on the disk for the rests of results; then the oldest of the user with most are dropped",
      reason: "sixteen results of the largest size",
    }),
  }),
  records: group("which events are recorded", {
    store: choice({
      choices: ["sqlite", "off"],
      fallback: "sqlite",
      about: "where calls, usage, servers' logs and events are recorded; `off` records nothing",
      reason: "a file in the data directory, written by a thread of its own, that needs no other program",
      isReadAtStart: true,
    }),
    keepDays: number({
      fallback: 30,
      min: 1,
      max: 3_650,
      about: "days for which it is recorded who called what; arguments and results are kept for 7 of them at most",
      reason: "long enough for last month's question",
      isReadAtStart: true,
    }),
    keepCalls: number({
      fallback: 5_000_000,
      min: 1_000,
      max: 1_000_000_000,
      about: "most calls that are recorded; the oldest are dropped",
      reason: "about 1 GB on the disk",
      isReadAtStart: true,
    }),
    audit: choice({
      choices: ["on", "strict", "off"],
      fallback: "on",
      about:
        "a sealed list of what changed and who was denied; `strict` lists every call, before it runs and before " +
        "it is answered, and refuses those that cannot be listed",
      reason: "few entries, and the question who did that comes later",
      isReadAtStart: true,
    }),
    keepAuditDays: number({
      fallback: 0,
      min: 0,
      max: 36_500,
      example: 730,
      about: "days for which entries of the audit are kept; 0 keeps them for ever",
      reason: "its loss should not come as a surprise; see docs/audit.md for exporting it before",
      isReadAtStart: true,
    }),
  }),
  instances: group("how servers are started, watched and stopped", {
    ...serverTimes,
    startTimeoutMs: startTimeout,
    breaker: breakerRow,
    ...instanceRows,
  }),
  limits: group("what one client, one server or one message may use", limitRows),
  events: group("where events are sent to", eventRows),
  namespaces: group("the exposure `namespaces`", {
    ...namespaceFlags,
    maxLoaded: number({
      fallback: 20,
      min: 1,
      max: 10_000,
      variable: "TOOLYARD_MAX_NAMESPACES",
      about: "most namespaces that one person has loaded",
      reason: "a model can hardly look through more than twenty namespaces of twenty tools",
    }),
    cacheTtlMs: number({
      fallback: 300_000,
      min: 1_000,
      max: longestMs,
      variable: "TOOLYARD_CACHE_TIMEOUT",
      isVariableInSeconds: true,
      about: "milliseconds since its last use after which a namespace is no longer loaded",
      reason: "after five minutes without use the topic has probably changed",
    }),
    preload: list({
      fallback: [],
      item: filledText,
      variable: "TOOLYARD_PRELOAD_NAMESPACES",
      about: "namespaces that are loaded when the gateway first sees a person",
      example: ["github", "files"],
    }),
    parallelLoading: boolean({
      fallback: true,
      variable: "TOOLYARD_ENABLE_PARALLEL_LOADING",
      about: "whether several namespaces are loaded at the same time",
    }),
    helpTool: text({
      fallback: "toolyard_help",
      schema: v.pipe(v.string(), v.regex(helpToolPattern, "expected 1 to 64 letters, digits, `_` or `-`")),
      pattern: helpToolPattern,
      type: "text, 1 to 64 letters, digits, `_` or `-`",
      about: "the name of the tool that lists the namespaces",
      example: "help",
    }),
  }),
  clients: keyed(
    {
      about: "what kinds of clients need beyond the protocol, by `clientInfo.name`; see [clients](clients.md)",
      key: "CLIENT",
      keySchema: filledText,
    },
    {
      toolMeta: toolMetaRow,
      ownResourceTools: boolean({
        fallback: undefined,
        fallbackText: "as in [the table](clients.md)",
        about: "whether `list_mcp_resources` and `read_mcp_resource` are left out, because the client has its own",
        example: true,
      }),
      splitExecute: boolean({
        fallback: undefined,
        fallbackText: "as in [the table](clients.md)",
        about: "whether `execute_read_only_mcp_tool` is listed as well, and searches mark what passes through it",
        example: true,
      }),
      maxResultTokens: number({
        fallback: undefined,
        fallbackText: "as in [the table](clients.md)",
        min: leastClientTokens,
        max: 100_000_000,
        about: "tokens of one result that the client gives its model, if it is fewer than `results.maxTokens`",
        example: 8_000,
      }),
    },
  ),
  profiles: keyed(
    {
      about: "sets of servers and tools that one person chooses from by path or token; see [profiles](profiles.md)",
      key: "PROFILE",
      keySchema: profileName,
    },
    { ...profileRows, tokenHashes: hashesRow("clients that may have this profile alone") },
  ),
  teams: keyed({ about: "values that several people share", key: "TEAM" }, { servers: serversOf("the team") }),
  principals: keyed(
    { about: "the people who may use the gateway, if there are several", key: "PERSON" },
    {
      team: text({
        fallback: undefined,
        fallbackText: "none",
        about: "the team that the person is in",
        example: "acme",
      }),
      tokenHash: hashRow("the person's token"),
      tokenHashes: hashesRow("the person's tokens"),
      roles: list({
        fallback: ["member"],
        about: "the person's roles; `admin` may also stop shared servers and see everybody's figures",
        example: ["member"],
      }),
      servers: serversOf("the person"),
    },
  ),
};

/** Another spelling of parts of `namespaces`, accepted in `toolyard` and beside it. */
export const foreignNamespaceRows = {
  namespaceSupport: group("another spelling of `namespaces`, which takes precedence", namespaceFlags),
  performance: group("another spelling of `namespaces`, which takes precedence", {
    maxNamespaces: number({ fallback: undefined, min: 1, max: 10_000, about: "the same as `maxLoaded`", example: 10 }),
    cacheTimeout: number({
      fallback: undefined,
      min: 1,
      max: Math.floor(longestMs / 1000),
      about: "the same as `cacheTtlMs`, in seconds",
      example: 300,
    }),
    preloadNamespaces: list({ fallback: undefined, about: "the same as `preload`", example: ["github"] }),
  }),
};

/** Everything that the `toolyard` object may contain. */
export const toolyardRows = { ...settingsTable, ...foreignNamespaceRows };
