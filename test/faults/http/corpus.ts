/** One request of the corpus. `$SESSION` in a header stands for the session that was made on that side. */
export interface CorpusEntry {
  readonly name: string;
  /** Whose answer ours is compared with: SDK 2's handler, or SDK 1's sessions. */
  readonly against: "handler" | "sessions";
  readonly method?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

const version = "io.modelcontextprotocol/protocolVersion";
const capabilities = "io.modelcontextprotocol/clientCapabilities";
const info = { "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" } };
const envelope = { [version]: "2026-07-28", [capabilities]: {}, ...info };
const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** Methods and params that both eras know, good and bad. */
const requests: readonly (readonly [string, string, object])[] = [
  ["tools/list", "tools/list", {}],
  ["tools/list with an invented cursor", "tools/list", { cursor: "invented" }],
  ["tools/list with a cursor that is a number", "tools/list", { cursor: 5 }],
  ["a call", "tools/call", { name: "echo", arguments: { text: "hi ä" } }],
  ["a call that fails", "tools/call", { name: "fail", arguments: {} }],
  ["a call that throws", "tools/call", { name: "throw" }],
  ["a call with bad arguments", "tools/call", { name: "echo", arguments: { text: 5 } }],
  ["a call without arguments that are needed", "tools/call", { name: "echo" }],
  ["a call with arguments that are a list", "tools/call", { name: "echo", arguments: ["x"] }],
  ["a call of an unknown tool", "tools/call", { name: "nobody", arguments: {} }],
  ["a call of __proto__", "tools/call", { name: "__proto__", arguments: {} }],
  [
    "a call with hostile keys",
    "tools/call",
    { name: "echo", arguments: JSON.parse('{"text":"t","__proto__":{"admin":true}}') },
  ],
  ["a call without a name", "tools/call", {}],
  ["a call with a name that is a number", "tools/call", { name: 5 }],
  ["resources/list", "resources/list", {}],
  ["resources/templates/list", "resources/templates/list", {}],
  ["a read", "resources/read", { uri: "test://text" }],
  ["a read by a template", "resources/read", { uri: "test://n/5" }],
  ["a read of an unknown resource", "resources/read", { uri: "test://nobody" }],
  ["a read of what is no URI", "resources/read", { uri: "nobody" }],
  ["a read without a uri", "resources/read", {}],
  ["prompts/list", "prompts/list", {}],
  ["a prompt", "prompts/get", { name: "greet", arguments: { who: "Ada" } }],
  ["a prompt without its argument", "prompts/get", { name: "greet" }],
  ["an unknown prompt", "prompts/get", { name: "nobody" }],
  ["an unknown method", "nobody/nothing", {}],
  ["the method __proto__", "__proto__", {}],
  ["a method of 10 KB", "m".repeat(10_240), {}],
  ["ping", "ping", {}],
];

/** Bodies that are no request at all, or a strange one. */
const garbage: readonly (readonly [string, string | Buffer])[] = [
  ["an empty body", ""],
  ["truncated JSON", '{"jsonrpc":"2.0","id":1,'],
  ["a number", "1"],
  ["null", "null"],
  ["a string", '"x"'],
  ["an empty object", "{}"],
  ["an empty batch", "[]"],
  ["a batch", '[{"jsonrpc":"2.0","id":1,"method":"ping"}]'],
  ["no jsonrpc", '{"id":1,"method":"tools/list"}'],
  ["another jsonrpc", '{"jsonrpc":"1.0","id":1,"method":"tools/list"}'],
  ["the id null", '{"jsonrpc":"2.0","id":null,"method":"tools/list"}'],
  ["an id that is a fraction", '{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}'],
  ["an id that is an object", '{"jsonrpc":"2.0","id":{},"method":"tools/list"}'],
  ["a method that is a number", '{"jsonrpc":"2.0","id":1,"method":5}'],
  ["an empty method", '{"jsonrpc":"2.0","id":1,"method":""}'],
  ["params that are a list", '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":["x"]}'],
  ["params that are an empty list", '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}'],
  ["params that are a string", '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":"x"}'],
  ["invalid UTF-8", Buffer.from([0x7b, 0xff, 0x7d])],
  ["a byte-order mark", '\ufeff{"jsonrpc":"2.0","id":1,"method":"ping"}'],
  ["65 levels", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${"[".repeat(70)}${"]".repeat(70)}}}`],
];

function body(method: string, params: object, id: string | number = 1): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}

function modernEntry(
  name: string,
  method: string,
  params: object,
  change: { meta?: object; headers?: Record<string, string | undefined> } = {},
): CorpusEntry {
  const named = (params as { name?: unknown; uri?: unknown }).name ?? (params as { uri?: unknown }).uri;
  const headers = {
    ...json,
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
    ...(typeof named === "string" ? { "mcp-name": named } : {}),
    ...change.headers,
  };
  const given = Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return {
    name: `modern: ${name}`,
    against: "handler",
    headers: Object.fromEntries(given),
    body: body(method, { ...params, _meta: { ...envelope, ...change.meta } }),
  };
}

const call = { name: "echo", arguments: { text: "hi" } };
const modern: readonly CorpusEntry[] = [
  ...requests.map(([name, method, params]) => modernEntry(name, method, params)),
  ...garbage.map(([name, text]): CorpusEntry => ({
    name: `modern: ${name}`,
    against: "handler",
    headers: { ...json, "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" },
    body: text,
  })),
  modernEntry("server/discover", "server/discover", {}),
  modernEntry("initialize", "initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "t", version: "1" },
  }),
  modernEntry("no capabilities", "tools/list", {}, { meta: { [capabilities]: undefined } }),
  modernEntry("capabilities that are a list", "tools/list", {}, { meta: { [capabilities]: [] } }),
  modernEntry("a version in the header only", "tools/list", {}, { meta: { [version]: undefined } }),
  modernEntry(
    "an unknown version",
    "tools/list",
    {},
    { meta: { [version]: "2030-01-01" }, headers: { "mcp-protocol-version": "2030-01-01" } },
  ),
  modernEntry("two versions", "tools/list", {}, { headers: { "mcp-protocol-version": "2025-11-25" } }),
  modernEntry("no version header", "tools/list", {}, { headers: { "mcp-protocol-version": undefined } }),
  modernEntry("no method header", "tools/call", call, { headers: { "mcp-method": undefined } }),
  modernEntry("another method header", "tools/call", call, { headers: { "mcp-method": "tools/list" } }),
  modernEntry("no name header", "tools/call", call, { headers: { "mcp-name": undefined } }),
  modernEntry("another name header", "tools/call", call, { headers: { "mcp-name": "fail" } }),
  modernEntry("a name header in Base64", "tools/call", call, {
    headers: { "mcp-name": `=?base64?${Buffer.from("echo").toString("base64")}?=` },
  }),
  modernEntry("a broken Base64 name header", "tools/call", call, { headers: { "mcp-name": "=?base64?!!?=" } }),
  modernEntry("Accept: application/json", "tools/list", {}, { headers: { accept: "application/json" } }),
  modernEntry("no Accept", "tools/list", {}, { headers: { accept: undefined } }),
  modernEntry("Content-Type: text/plain", "tools/list", {}, { headers: { "content-type": "text/plain" } }),
  {
    name: "modern: a notification",
    against: "handler",
    headers: { ...json, "mcp-protocol-version": "2026-07-28", "mcp-method": "notifications/x" },
    body: JSON.stringify({ jsonrpc: "2.0", method: "notifications/x", params: { _meta: envelope } }),
  },
  {
    name: "modern: a response",
    against: "handler",
    headers: { ...json, "mcp-protocol-version": "2026-07-28" },
    body: '{"jsonrpc":"2.0","id":1,"result":{}}',
  },
  ...["GET", "DELETE", "PUT", "PATCH"].map((method): CorpusEntry => ({
    name: `modern: ${method}`,
    against: "handler",
    method,
    headers: { accept: "text/event-stream", "mcp-protocol-version": "2026-07-28" },
  })),
];

function legacyEntry(
  against: CorpusEntry["against"],
  name: string,
  text: string | Buffer,
  headers: Readonly<Record<string, string>> = {},
): CorpusEntry {
  const session = against === "sessions" ? { "mcp-session-id": "$SESSION" } : {};
  return {
    name: `${against === "sessions" ? "session" : "stateless"}: ${name}`,
    against,
    headers: { ...json, ...session, ...headers },
    body: text,
  };
}

const initialize = (protocolVersion: unknown): string =>
  body("initialize", { protocolVersion, capabilities: {}, clientInfo: { name: "t", version: "1" } });

function legacy(against: CorpusEntry["against"]): readonly CorpusEntry[] {
  const prefix = against === "sessions" ? "session" : "stateless";
  const session = against === "sessions" ? { "mcp-session-id": "$SESSION" } : {};
  return [
    ...requests.map(([name, method, params]) => legacyEntry(against, name, body(method, params))),
    ...garbage.map(([name, text]) => legacyEntry(against, name, text)),
    ...["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"].map((revision) =>
      legacyEntry(against, `version header ${revision}`, body("tools/list", {}), { "mcp-protocol-version": revision }),
    ),
    legacyEntry(against, "version header 1999-01-01", body("tools/list", {}), { "mcp-protocol-version": "1999-01-01" }),
    legacyEntry(against, "an id that is a text", body("ping", {}, "ä")),
    legacyEntry(against, "a notification", '{"jsonrpc":"2.0","method":"notifications/initialized"}'),
    legacyEntry(against, "an unknown notification", '{"jsonrpc":"2.0","method":"notifications/x"}'),
    legacyEntry(against, "a response to nothing", '{"jsonrpc":"2.0","id":9,"result":{}}'),
    legacyEntry(against, "Accept: application/json", body("ping", {}), { accept: "application/json" }),
    legacyEntry(against, "Accept: text/event-stream", body("ping", {}), { accept: "text/event-stream" }),
    legacyEntry(against, "Content-Type: text/plain", body("ping", {}), { "content-type": "text/plain" }),
    ...["PUT", "PATCH"].map((method): CorpusEntry => ({
      name: `${prefix}: ${method}`,
      against,
      method,
      headers: { ...json, ...session },
    })),
  ];
}

export const corpus: readonly CorpusEntry[] = [
  ...modern,
  ...legacy("handler"),
  ...["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "1999-01-01"].map((revision) =>
    legacyEntry("handler", `initialize ${revision}`, initialize(revision)),
  ),
  ...["GET", "DELETE"].map((method): CorpusEntry => ({
    name: `stateless: ${method}`,
    against: "handler",
    method,
    headers: { accept: "text/event-stream" },
  })),
  ...legacy("sessions"),
  { name: "session: initialize", against: "sessions", headers: json, body: initialize("2025-11-25") },
  { name: "session: initialize without params", against: "sessions", headers: json, body: body("initialize", {}) },
  {
    name: "session: initialize again in the session",
    against: "sessions",
    headers: { ...json, "mcp-session-id": "$SESSION" },
    body: initialize("2025-11-25"),
  },
  { name: "session: a request without the session", against: "sessions", headers: json, body: body("tools/list", {}) },
  {
    name: "session: an unknown session",
    against: "sessions",
    headers: { ...json, "mcp-session-id": "nobody" },
    body: body("tools/list", {}),
  },
  {
    name: "session: GET that takes no stream",
    against: "sessions",
    method: "GET",
    headers: { "mcp-session-id": "$SESSION", accept: "application/json" },
  },
  {
    name: "session: GET of an unknown session",
    against: "sessions",
    method: "GET",
    headers: { "mcp-session-id": "nobody", accept: "text/event-stream" },
  },
  {
    name: "session: DELETE of an unknown session",
    against: "sessions",
    method: "DELETE",
    headers: { "mcp-session-id": "nobody" },
  },
  { name: "session: DELETE", against: "sessions", method: "DELETE", headers: { "mcp-session-id": "$SESSION" } },
];
