import { readFileSync } from "node:fs";

/** An input of the gateway that a peer controls, at the largest size that is accepted or that is refused late. */
export interface InputRow {
  readonly who: "client" | "member" | "server" | "file";
  /** The place; of a server the one that `hostile-server.mjs` knows. */
  readonly what: string;
  readonly bytes: number;
  readonly shapes: "text" | "json" | "file";
  /** How many items of a list have it: `bytes` are of all together. */
  readonly items?: number;
  /**
   * What of the tables that the test reads this is: `mcp:METHOD`, `answer:METHOD`, `notice:METHOD`, `question:METHOD`,
   * `shape:NAME`, `reads:FILE`.
   */
  readonly covers?: readonly string[];
}

const KiB = 1_024;
const MiB = 1_048_576;
/** `limits.requestBodyBytes`. */
const body = 4 * MiB - 2 * KiB;
/** Below `limits.upstreamMessageBytes`, with what is around the value. */
const message = 16 * MiB - 64 * KiB;

/**
 * The routes of REST, each as `METHOD PATH`, from the description that a test compares with the gateway's own: none is
 * left out, because none is written here. Read from the project's folder.
 */
export function restRoutes(description = "test/golden/files/openapi.json"): readonly string[] {
  const { paths } = JSON.parse(readFileSync(description, "utf8")) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  };
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  return [...described, "GET /metrics"];
}

const client = (what: string, shapes: InputRow["shapes"], ...covers: string[]): InputRow => ({
  who: "client",
  what,
  bytes: body,
  shapes,
  covers,
});
const server = (what: string, bytes: number, more: Partial<InputRow> = {}): InputRow => ({
  who: "server",
  what,
  bytes,
  shapes: "text",
  ...more,
});
/** Lists of items of which each is as large as one may be. */
const listed = (what: string, ...covers: string[]): InputRow => server(what, 6 * MiB, { items: 25, covers });
const small = (what: string, ...covers: string[]): InputRow => server(what, 6 * MiB, { items: 5_000, covers });

/** The methods of MCP that clients call, with the parameter that is hostile. */
export const clientMethods: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "tools/list": "cursor",
  "resources/list": "cursor",
  "resources/templates/list": "cursor",
  "prompts/list": "cursor",
  "skills/list": "cursor",
  "resources/read": "uri",
  "prompts/get": "name",
  "completion/complete": "argument",
  "skills/get": "uri",
  "resources/directory/read": "uri",
  "server/discover": "x",
  ping: "x",
  initialize: "clientInfo",
  "subscriptions/listen": "notifications",
  "logging/setLevel": "level",
  "resources/subscribe": "uri",
  "resources/unsubscribe": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
  "notifications/initialized": "x",
  "notifications/cancelled": "requestId",
  "notifications/progress": "message",
  "notifications/roots/list_changed": "x",
};

/** Every input. A new one is a row; `test/lint/stall-rows.test.ts` tells which is missing. */
export const inputRows: readonly InputRow[] = [
  ...Object.keys(clientMethods).map((method) => client(method, "text", `mcp:${method}`)),
  ...["header", "authorization", "address"].map((what) => ({ ...client(what, "text"), bytes: 12 * KiB })),
  client(
    "body",
    "json",
    ...["http/body", "mcp/transports/http", "mcp/transports/sse"].map((name) => `reads:src/front/${name}.ts`),
  ),
  client("batch", "json", "reads:src/front/mcp/transports/stdio.ts"),
  client("execute_mcp_tool.tool_path", "text"),
  client("execute_mcp_tool.arguments", "json"),
  client("discover_mcp_tools.query", "text"),
  client("read_mcp_resource.uri", "text"),
  {
    who: "member",
    what: "every route: its body",
    bytes: body,
    shapes: "json",
    covers: ["rest/execute/execute-handler", "rest/app"].map((name) => `reads:src/front/${name}.ts`),
  },
  { who: "member", what: "every route: each text of its body", bytes: 256 * KiB, shapes: "text" },
  { who: "member", what: "every route: its address", bytes: 12 * KiB, shapes: "text" },
  server("instructions", MiB - 4 * KiB, { covers: ["answer:server/discover", "shape:anyShape", "shape:serverMeta"] }),
  server("serverInfo.name", MiB - 4 * KiB),
  server("serverInfo.version", MiB - 4 * KiB),
  server("serverInfo.title", MiB - 4 * KiB),
  server("capabilities", MiB - 4 * KiB, { shapes: "json" }),
  server("instructions", message),
  server("error:initialize", message),
  server("error:tools/list", message, { covers: ["answer:tools/list"] }),
  listed("tools.description", "shape:toolShape", "shape:text"),
  small("tools.description"),
  small("tools.name"),
  listed("tools.title"),
  listed("tools.inputSchema.description"),
  listed("tools.inputSchema.properties"),
  listed("tools.inputSchema.enum"),
  listed("tools.inputSchema.pattern"),
  { ...listed("tools.inputSchema"), shapes: "json" },
  listed("tools.outputSchema"),
  listed("tools.annotations"),
  listed("tools.icons"),
  { ...listed("tools._meta", "shape:anyObject"), shapes: "json" },
  listed("resources.uri", "shape:resourceShape"),
  small("resources.name"),
  listed("resources.description", "shape:annotations", "shape:role", "shape:anyNumber", "shape:flag"),
  listed("templates.uriTemplate", "shape:templateShape"),
  listed("prompts.description", "shape:promptShape"),
  listed("prompts.arguments"),
  { ...listed("skills.frontmatter", "answer:skills/list"), bytes: 5 * MiB },
  ...["text", "isError", "resource"].map((part) => server(`result.${part}`, message)),
  server("result.structured", message, { shapes: "json", covers: ["answer:tools/call"] }),
  server("result._meta", message, { shapes: "json" }),
  server("error:tools/call", message),
  server("resource.text", message, { covers: ["answer:resources/read", "shape:resourceContents"] }),
  server("resource.blob", message),
  server("error:resources/read", message),
  server("prompt.text", message, { covers: ["answer:prompts/get"] }),
  server("completion.values", message, { covers: ["answer:completion/complete"] }),
  server("error:resources/subscribe", message, {
    covers: ["answer:resources/subscribe", "answer:resources/unsubscribe", "answer:subscriptions/listen"],
  }),
  server("error:logging/setLevel", message, { covers: ["answer:logging/setLevel"] }),
  ...[
    "notifications/message",
    "notifications/progress",
    "notifications/resources/updated",
    "notifications/tools/list_changed",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    "notifications/elicitation/complete",
    "notifications/cancelled",
  ].map((method) => server(method, message, { covers: [`notice:${method}`] })),
  server("notifications/message", message, { shapes: "json" }),
  ...["elicitation/create", "sampling/createMessage", "roots/list", "ping"].map((method) =>
    server(method, message, { covers: [`question:${method}`] }),
  ),
  server("stdout", message, { covers: ["reads:src/servers/upstream/stdio/link.ts"] }),
  server("stderr", message, { covers: ["reads:src/servers/process/stderr-lines.ts"] }),
  ...["message.id", "message.members", "message.batch"].map((part) => server(part, message, { shapes: "json" })),
  server("message.method", message),
  ...["http.header", "http.type", "http.session", "http.login"].map((what) => server(what, 12 * KiB)),
  ...["http.result", "http.comments", "http.names", "http.raw"].map((what) =>
    server(what, message, {
      covers: [
        "servers/upstream/streamable/exchange/http-exchange",
        "wire/http/response-reader",
        "wire/http/undici-client",
      ].map((name) => `reads:src/${name}.ts`),
    }),
  ),
  ...["http.lines", "http.events"].map((what) => server(what, 4 * MiB)),
  server("http.status", message),
  server("http.card", MiB - 4 * KiB, {
    covers: ["servers/upstream/streamable/peer-card", "wire/http/whole-response"].map((name) => `reads:src/${name}.ts`),
  }),
  {
    who: "file",
    what: "configuration",
    bytes: 5 * MiB - 4 * KiB,
    shapes: "file",
    covers: ["reads:src/config/file/file.ts", "reads:src/config/edit/config-edit.ts"],
  },
  // Few enough values that all of it is read, and each mistake told.
  { who: "file", what: "configuration of 300 KB", bytes: 300_000, shapes: "file" },
  { who: "file", what: "configuration of 80 KB", bytes: 80_000, shapes: "file" },
  {
    who: "file",
    what: "client's file",
    bytes: 16 * MiB - 4 * KiB,
    shapes: "file",
    covers: ["table/client-file", "connect/settings-text"].map((name) => `reads:src/config/clients/${name}.ts`),
  },
  { who: "file", what: "client's file of 300 KB", bytes: 300_000, shapes: "file" },
  {
    who: "file",
    what: "envFile",
    bytes: MiB - 4 * KiB,
    shapes: "text",
    covers: ["reads:src/config/entry/env-file.ts"],
  },
];

/**
 * Files that read bytes, and that no peer of a running gateway gives hostile ones, with who writes them. Those of
 * `src/cli` are read by commands in processes of their own, those of `src/store` are in the private data directory.
 */
export const notInputs: Readonly<Record<string, string>> = {
  "src/cluster/peers/frames.ts": "other nodes, who have the gateway's key, and pass on what was judged there",
  "src/config/clients/connect/kept-changes.ts": "a file of the data directory",
  "src/kernel/runtime/late-module.ts": "the name of the build, beside the program",
  "src/servers/logins/http-route.ts": "authorities of TLS that the configuration names",
  "src/app/package-version.ts": "this program's package.json",
  "src/front/http/guards/peer-user.ts": "the kernel's table of connections",
  "src/front/web/dashboard.ts": "files of this program",
  "src/operations/machine/doctor/machine-users.ts": "the accounts of this machine",
  "src/operations/machine/servers/example-servers.ts": "an example of this program",
  "src/people/sign-in/provider-connection.ts": "a secret's file that the configuration names",
  "src/servers/process/orphan-sweep.ts": "files of the data directory",
  "src/servers/process/process-table.ts": "the kernel's files of this machine's processes",
  "src/servers/sandbox/bubblewrap.ts": "switches of this kernel, and the words of bubblewrap",
  "src/servers/sandbox/task-limit.ts": "the kernel's files of control groups",
  "src/servers/sandbox/bubblewrap-start.ts": "the words of bubblewrap",
  "src/servers/sandbox/container-start.ts": "what docker and podman answer",
  "src/servers/sandbox/egress/namespace-sockets.ts": "the words of our own child",
  "src/servers/upstream/runner/installed-npx.ts": "the kernel's files of our own children",
};

/** Places that take so few bytes that no shape takes long, with the limit. A test compares it with their code. */
export const smallInputs: Readonly<Record<string, string>> = {
  "src/catalog/discovery/phrases/endpoint-writer.ts": "answerByteLimit = 256 * 1024",
  "src/people/authorization-server/oauth/client-requests.ts": "mostBytes = 56 * 1024",
  "src/front/web/pages/forms.ts": "mostBytes = 16 * 1024",
  "src/records/events/webhook-post.ts": "mostAnswerBytes = 65_536",
  "src/wire/http/plain-request.ts": "usualBytes = 256 * 1024",
  "src/servers/logins/outgoing.ts": "answerBytes = 256 * 1024",
  "src/servers/logins/flow/login-route.ts": "answerBytes = 256 * 1024",
  "src/servers/sandbox/egress/egress.ts": "mostChunks = 64",
  "src/servers/upstream/runner/confined-npx.ts": "longestAnswer = 10_000",
  // Numbers of an endpoint that the configuration names, parsed once.
  "src/catalog/discovery/meaning/embedding-request.ts": "answerByteLimit = 12_582_912",
};
