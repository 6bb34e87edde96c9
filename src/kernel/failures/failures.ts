/**
 * Every failure of the gateway itself, one row each. The code is API; `hint` tells the person or model what to do.
 *
 * `http` and `rpc` are used where the failure leaves as an HTTP status or a JSON-RPC error. The gateway's own numbers
 * lie outside -32768..-32000 (MCP 2026-07-28, basic/index, error codes); those inside are the protocol's. `retry` says
 * whether the same request may succeed later. docs/errors.md lists the table; a test compares the two.
 */
export const failures = {
  // The message
  PARSE_ERROR: { http: 400, rpc: -32700, retry: false, hint: "Send one JSON-RPC message as valid UTF-8 JSON." },
  REQUEST_INVALID: {
    http: 400,
    rpc: -32600,
    retry: false,
    hint: "Send one JSON-RPC 2.0 object with a string method and, for requests, a string or integer id.",
  },
  METHOD_UNKNOWN: {
    http: 404,
    rpc: -32601,
    retry: false,
    hint: "Send server/discover or initialize to learn what this endpoint offers.",
  },
  PARAMS_INVALID: {
    http: 400,
    rpc: -32602,
    retry: false,
    hint: "Check the request's params against the protocol revision that it names.",
  },
  INTERNAL: {
    http: 500,
    rpc: -32603,
    retry: true,
    hint: "This is a bug in the gateway: look at its log, and report it.",
  },
  HEADER_MISMATCH: {
    http: 400,
    rpc: -32020,
    retry: false,
    hint: "Send Mcp-Method and Mcp-Name headers that equal the body's method and name.",
  },
  CAPABILITY_MISSING: {
    http: 400,
    rpc: -32021,
    retry: false,
    hint: "Declare the capability in the request's _meta and start the call again, or call a tool that does not need it.",
  },
  VERSION_UNSUPPORTED: { http: 400, rpc: -32022, retry: false, hint: "Use one of the versions in data.supported." },
  BODY_TOO_LARGE: {
    http: 413,
    rpc: -31101,
    retry: false,
    hint: "Send less at once, or raise limits.requestBodyBytes.",
  },
  BODY_TOO_DEEP: {
    http: 400,
    rpc: -31102,
    retry: false,
    hint: "Nest the JSON less deeply, or raise limits.jsonDepth.",
  },
  BODY_TOO_COMPLEX: {
    http: 413,
    rpc: -31135,
    retry: false,
    hint: "Send it in several requests, or as one text with JSON in it.",
  },
  BODY_TIMEOUT: {
    http: 408,
    rpc: -31103,
    retry: true,
    hint: "Send the whole request within limits.bodyTimeoutMs.",
  },
  MEDIA_TYPE_UNSUPPORTED: {
    http: 415,
    rpc: -31104,
    retry: false,
    hint: "Send Content-Type: application/json, without Content-Encoding.",
  },
  HTTP_METHOD_UNSUPPORTED: {
    http: 405,
    rpc: -31105,
    retry: false,
    hint: "Use one of the methods in the Allow header.",
  },
  ROUTE_UNKNOWN: {
    http: 404,
    rpc: -31106,
    retry: false,
    hint: "MCP is served at /mcp, and of one server at /mcp/server/NAME; GET /openapi.json lists the REST routes.",
  },
  NOT_ACCEPTABLE: { http: 406, rpc: -31107, retry: false, hint: "Send Accept: text/event-stream, or POST a message." },
  HEADERS_TOO_LARGE: {
    http: 431,
    rpc: -31108,
    retry: false,
    hint: "Send at most 200 headers, and at most 16 KB of them.",
  },
  // The sender of a request
  HOST_INVALID: {
    http: 400,
    rpc: -31110,
    retry: false,
    hint: "Send exactly one Host header with a host name and an optional port.",
  },
  HOST_FORBIDDEN: {
    http: 403,
    rpc: -31111,
    retry: false,
    hint: "Add the host to toolyard.allowedHosts if it is yours.",
  },
  ORIGIN_FORBIDDEN: {
    http: 403,
    rpc: -31112,
    retry: false,
    hint: "Add the origin to toolyard.allowedOrigins if you trust that site.",
  },
  PEER_FORBIDDEN: {
    http: 403,
    rpc: -31099,
    retry: false,
    hint: "Programs of its own user are let in. For others its owner makes a token with `toolyard token new`.",
  },
  UNAUTHORIZED: {
    http: 401,
    rpc: -31113,
    retry: false,
    hint: "Send Authorization: Bearer <token>; `toolyard token new` makes one.",
  },
  FORBIDDEN: {
    http: 403,
    rpc: -31114,
    retry: false,
    hint: "This credential may not do that; ask the operator of the gateway.",
  },
  LOGIN_NOT_RECENT: {
    http: 403,
    rpc: -31165,
    retry: false,
    hint: "Log in again with a browser (/auth/login, or `toolyard open`), or run the command on the gateway's machine.",
  },
  SCOPE_INSUFFICIENT: {
    http: 403,
    rpc: -31122,
    retry: false,
    hint: "Use a credential with the scopes named in `scope`; `toolyard token new` makes one.",
  },
  RATE_LIMITED: {
    http: 429,
    rpc: -31115,
    retry: true,
    hint: "Wait as long as Retry-After says, and send fewer requests at once.",
  },
  SESSION_UNKNOWN: { http: 404, rpc: -31116, retry: false, hint: "The session ended: initialize again." },
  SESSION_LIMIT: { http: 429, rpc: -31117, retry: true, hint: "End sessions with DELETE, or raise limits.sessions." },
  BROWSER_LIMIT: {
    http: 429,
    rpc: -31161,
    retry: true,
    hint: "Log browsers out that are not used; an admin does it for others under Sessions.",
  },
  LOGIN_BUSY: {
    http: 503,
    rpc: -31170,
    retry: true,
    hint: "Load this page again in a few seconds: many people log in at this moment.",
  },
  TOO_MANY_CONNECTIONS: {
    http: 503,
    rpc: -31171,
    retry: true,
    hint: "Close connections that are not used. A proxy in front of the gateway is named in trustedProxies.",
  },
  DIRECTORY_UNAVAILABLE: {
    http: 503,
    rpc: -31119,
    retry: true,
    hint: "Try again in a moment. If it fails again, check the directory that the gateway reads its people from.",
  },
  DRAINING: { http: 503, rpc: -31118, retry: true, hint: "The gateway is stopping: connect again in a moment." },
  // Looking things up
  TOOL_UNKNOWN: { http: 404, rpc: -31001, retry: false, hint: "List the tools to see what exists." },
  TOOL_AMBIGUOUS: { http: 409, rpc: -31002, retry: false, hint: "Call one of the listed paths." },
  SERVER_UNKNOWN: {
    http: 404,
    rpc: -31003,
    retry: false,
    hint: "List the servers with GET /api/servers, or with discover_mcp_tools and an empty query at /mcp/meta.",
  },
  RESOURCE_UNKNOWN: { http: 404, rpc: -31004, retry: false, hint: "List the resources to see what exists." },
  PROMPT_UNKNOWN: { http: 404, rpc: -31005, retry: false, hint: "List the prompts to see what exists." },
  CURSOR_INVALID: { http: 400, rpc: -31006, retry: false, hint: "List again from the start, without a cursor." },
  QUERY_INVALID: {
    http: 400,
    rpc: -31007,
    retry: false,
    hint: "Send a query of at most 10 KB that names what you need in a few words.",
  },
  KEPT_SEARCH_UNKNOWN: {
    http: 404,
    rpc: -31191,
    retry: false,
    hint: "`toolyard search --check` and GET /api/searches list the searches that you keep.",
  },
  KEPT_SEARCH_LIMIT: {
    http: 429,
    rpc: -31192,
    retry: false,
    hint: "Remove kept searches that are needed no longer, and try again.",
  },
  SEARCH_FAILED: {
    http: 503,
    rpc: -31008,
    retry: true,
    hint: "Search again with fewer words, or in one server only, with `server`.",
  },
  // Calls
  ARGUMENTS_INVALID: {
    http: 400,
    rpc: -31020,
    retry: false,
    hint: "Correct the arguments to fit the signature and call again.",
  },
  POLICY_DENIED: {
    http: 403,
    rpc: -31021,
    retry: false,
    hint: "The configuration does not allow this tool; use another one.",
  },
  APPROVAL_NEEDED: {
    http: 409,
    rpc: -31030,
    retry: true,
    hint: "A person has to say yes: in the dashboard under Approvals, or with `toolyard approvals`. Then call again.",
  },
  APPROVAL_DENIED: { http: 403, rpc: -31031, retry: false, hint: "Do not try another way; ask the person." },
  APPROVAL_UNKNOWN: {
    http: 404,
    rpc: -31032,
    retry: false,
    hint: "`toolyard approvals` and GET /api/approvals list what waits.",
  },
  SECRET_LEAVES: {
    http: 403,
    rpc: -31036,
    retry: false,
    hint: "Leave the secret out. If the server needs it, a person adds it to the server's entry; see `policy.secrets`.",
  },
  PROFILE_UNKNOWN: {
    http: 404,
    rpc: -31038,
    retry: false,
    hint: "`toolyard profiles` and GET /api/profiles list them; they are in `toolyard.profiles`.",
  },
  NOT_READ_ONLY: {
    http: 409,
    rpc: -31037,
    retry: false,
    hint: "Call it with execute_mcp_tool.",
  },
  DEFINITION_HELD: {
    http: 409,
    rpc: -31033,
    retry: false,
    hint: "A person has to look at the tool's definition: `toolyard definitions`, or the server's page in the dashboard.",
  },
  DEFINITION_CHANGED: {
    http: 409,
    rpc: -31034,
    retry: true,
    hint: "Look at the definition as it is now: `toolyard definitions diff SERVER`.",
  },
  CALL_CANCELLED: { http: 499, rpc: -31022, retry: true, hint: "Call again if the result is still needed." },
  RESULT_TOO_LARGE: {
    http: 502,
    rpc: -31023,
    retry: false,
    hint: "Ask the tool for less (a page, a range, a filter), or raise limits.resultBytes.",
  },
  CLIENT_CANNOT_ANSWER: {
    http: 400,
    rpc: -31024,
    retry: false,
    hint: "Use a client that declares the capability that the tool's question needs.",
  },
  HANDLE_INVALID: {
    http: 400,
    rpc: -31025,
    retry: false,
    hint: "Send requestState exactly as it was given, in time, on the same request; or start the call again.",
  },
  QUESTION_AMBIGUOUS: {
    http: 502,
    rpc: -31026,
    retry: true,
    hint: "Set interactive: true for this server so that its calls run one after the other.",
  },
  QUESTION_UNKNOWN: {
    http: 404,
    rpc: -31160,
    retry: false,
    hint: "It was answered already, taken back, or waited too long: the stream of its call tells.",
  },
  QUESTION_TIMEOUT: {
    http: 504,
    rpc: -31027,
    retry: true,
    hint: "Call again and answer the question in time.",
  },
  // Servers
  SERVER_STARTING: {
    http: 503,
    rpc: -31040,
    retry: true,
    hint: "Call again in a few seconds: the server is starting.",
  },
  SERVER_OFFLINE: {
    http: 503,
    rpc: -31041,
    retry: true,
    hint: "Check that the server's URL answers; the gateway keeps trying.",
  },
  SERVER_FAILED: {
    http: 503,
    rpc: -31042,
    retry: false,
    hint: "Fix the server (its last output says more), then restart it.",
  },
  SERVER_DISABLED: {
    http: 503,
    rpc: -31043,
    retry: false,
    hint: "Enable the server in the configuration, or set the variable that is missing.",
  },
  SERVER_NEEDS_LOGIN: { http: 503, rpc: -31044, retry: false, hint: "Run `toolyard login <server>`." },
  SERVER_NEEDS_CONFIG: {
    http: 503,
    rpc: -31045,
    retry: false,
    hint: "Fill in the values that the server requires from you.",
  },
  SERVER_STOPPED: {
    http: 503,
    rpc: -31046,
    retry: false,
    hint: "Start the server with `toolyard restart <server>`; somebody has stopped it.",
  },
  SANDBOX_UNAVAILABLE: {
    http: 503,
    rpc: -31180,
    retry: false,
    hint: "`toolyard doctor` says what this machine lacks. A server runs without a sandbox only where its entry says so.",
  },
  SANDBOX_REFUSED: {
    http: 503,
    rpc: -31181,
    retry: false,
    hint: "Name narrower folders in `sandbox.read` and `sandbox.write` of the server's entry.",
  },
  SANDBOX_WITHOUT_NAMES: {
    http: 409,
    rpc: -31182,
    retry: false,
    hint: "Hosts are noted and allowed for a server whose entry has `sandbox: true`, or a list in `sandbox.network`.",
  },
  SPAWN_FAILED: {
    http: 503,
    rpc: -31047,
    retry: true,
    hint: "Check the server's command, its permissions, and the machine's process and file limits.",
  },
  START_TIMEOUT: {
    http: 504,
    rpc: -31048,
    retry: true,
    hint: "Raise startTimeoutMs for this server, or look at its last output (`toolyard logs <server>`).",
  },
  CONNECT_FAILED: { http: 502, rpc: -31049, retry: true, hint: "Check the server's URL and the network." },
  UPSTREAM_TIMEOUT: {
    http: 504,
    rpc: -31050,
    retry: true,
    hint: "Raise callTimeoutMs for this server, or look at its log.",
  },
  UPSTREAM_CLOSED: {
    http: 502,
    rpc: -31051,
    retry: true,
    hint: "Check whether the call took effect before you repeat it; the next call restarts or reconnects the server.",
  },
  UPSTREAM_PROTOCOL: {
    http: 502,
    rpc: -31052,
    retry: false,
    hint: "The server does not follow MCP: report it to its author.",
  },
  UPSTREAM_BUSY: {
    http: 503,
    rpc: -31053,
    retry: true,
    hint: "Call again later: the server does not take requests as fast as they arrive.",
  },
  UPSTREAM_HTTP: {
    http: 502,
    rpc: -31054,
    retry: false,
    hint: "Look in the server's own log for why it refused the request.",
  },
  SERVER_IS_GATEWAY: {
    http: 508,
    rpc: -31059,
    retry: false,
    hint: "Remove its entry from this configuration: a gateway cannot be one of its own servers.",
  },
  START_QUEUE_FULL: {
    http: 503,
    rpc: -31055,
    retry: true,
    hint: "Call again in a few seconds: too many servers are starting at once.",
  },
  CLIENT_INSTANCE_LIMIT: {
    http: 503,
    rpc: -31060,
    retry: true,
    hint: 'Close clients that are not used, raise limits.clientInstances, or give the server scope "user".',
  },
  // Starting and running the gateway
  PERSON_UNKNOWN: {
    http: 404,
    rpc: -31120,
    retry: false,
    hint: "`toolyard user list` and `toolyard team list` list who there is.",
  },
  PEOPLE_CONFLICT: {
    http: 409,
    rpc: -31121,
    retry: false,
    hint: "Look at `toolyard user list`, and ask for something that fits.",
  },
  REVISION_MISMATCH: {
    http: 412,
    rpc: -31123,
    retry: false,
    hint: "Read it again, look at what changed, and send If-Match with the new ETag.",
  },
  TEMPLATE_UNKNOWN: {
    http: 404,
    rpc: -31130,
    retry: false,
    hint: "`GET /api/templates` lists what your team can install.",
  },
  INSTALLATION_UNKNOWN: {
    http: 404,
    rpc: -31131,
    retry: false,
    hint: "`toolyard installations` lists what the team installed.",
  },
  INSTALLATION_CONFLICT: {
    http: 409,
    rpc: -31132,
    retry: false,
    hint: "List the installations with `toolyard installations`.",
  },
  CONFIG_FROM_FILE: {
    http: 409,
    rpc: -31133,
    retry: false,
    hint: "Change the configuration file: its entries are changed nowhere else.",
  },
  VALUE_REFUSED: {
    http: 422,
    rpc: -31134,
    retry: false,
    hint: "Give a value that the field takes; the server's fields say which these are.",
  },
  SECRET_UNKNOWN: { http: 404, rpc: -31136, retry: false, hint: "`toolyard secret list` lists those of the team." },
  SECRET_UNREADABLE: {
    http: 503,
    rpc: -31137,
    retry: false,
    hint: "Start the gateway with the key that the secret was encrypted with, or set the secret again.",
  },
  CONFIG_INVALID: {
    http: 400,
    rpc: -31070,
    retry: false,
    hint: "Correct the configuration at the place that the message names.",
  },
  CONFIG_CHANGED: {
    http: 409,
    rpc: -31095,
    retry: true,
    hint: "Look at what the file contains now, and make the change again.",
  },
  CONFIG_UNTRUSTED: {
    http: 409,
    rpc: -31098,
    retry: false,
    hint: "Look at the file, and allow it with `toolyard trust`, or name it with `--config`.",
  },
  CONFIG_UNWRITABLE: {
    http: 500,
    rpc: -31096,
    retry: true,
    hint: "Make the file and its folder writable for you, or free space on the disk; the file is unchanged.",
  },
  REGISTRY_FAILED: {
    http: 502,
    rpc: -31097,
    retry: true,
    hint: "Check the name and the network, or add the server by its command or URL.",
  },
  PORT_TAKEN: {
    http: 500,
    rpc: -31071,
    retry: false,
    hint: "Stop the program that listens there, or choose another --port.",
  },
  BIND_REFUSED: {
    http: 500,
    rpc: -31072,
    retry: false,
    hint: "Configure a token (`toolyard token new`), or give --insecure if everyone on that network may call.",
  },
  LOGIN_FAILED: {
    http: 502,
    rpc: -31073,
    retry: true,
    hint: "Run `toolyard login <server>` again and finish in the browser.",
  },
  GATEWAY_UNREACHABLE: { http: 503, rpc: -31074, retry: true, hint: "Start the gateway with `toolyard serve`." },
  GATEWAY_AMBIGUOUS: {
    http: 409,
    rpc: -31087,
    retry: false,
    hint: "Name the configuration of the gateway that you mean with --config.",
  },
  GATEWAY_REPLACED: {
    http: 503,
    rpc: -31088,
    retry: true,
    hint: "Run `toolyard stop` and start the gateway again. Until then, only parts that are already loaded work.",
  },
  DATA_DIR_UNWRITABLE: {
    http: 500,
    rpc: -31076,
    retry: true,
    hint: "Free space on its disk and make the data directory writable, or choose another with --data-dir.",
  },
  RECORD_UNKNOWN: {
    http: 404,
    rpc: -31091,
    retry: false,
    hint: "`toolyard calls` and GET /api/calls list your calls that are kept: old records are deleted.",
  },
  STORE_UNAVAILABLE: {
    http: 503,
    rpc: -31089,
    retry: true,
    hint: "GET /readyz and the gateway's log say why its database cannot be used; calls are served without it.",
  },
  DATABASE_SILENT: {
    http: 503,
    rpc: -31155,
    retry: true,
    hint: "Try again later: the gateway looks for its database every few seconds. GET /readyz says why it is away.",
  },
  KEY_DIFFERS: {
    http: 503,
    rpc: -31156,
    retry: false,
    hint:
      "Start every gateway of the database with the same TOOLYARD_KEY and the one before it in " +
      "TOOLYARD_KEY_PREVIOUS, and run `toolyard key rotate` at one of them when all have both.",
  },
  STORE_BEHIND: {
    http: 409,
    rpc: -31109,
    retry: true,
    hint: "Another gateway of the same database changed the same: look at how it is now, and try again.",
  },
  LOGIN_EXPIRED: {
    http: 400,
    rpc: -31139,
    retry: false,
    hint: "Log in again, in the browser in which you begin.",
  },
  PROVIDER_UNREACHABLE: {
    http: 502,
    rpc: -31140,
    retry: true,
    hint: "Try again in a moment. If it stays so, an admin finds the reason in the gateway's log.",
  },
  PROVIDER_REFUSED: {
    http: 403,
    rpc: -31141,
    retry: false,
    hint: "The identity provider did not let you in: ask those who run it.",
  },
  PROVIDER_ANSWER_INVALID: {
    http: 502,
    rpc: -31142,
    retry: false,
    hint:
      "No one was logged in. An admin finds the reason in the gateway's log; docs/single-sign-on.md lists what it " +
      "can be.",
  },
  IDENTITY_UNKNOWN: {
    http: 403,
    rpc: -31143,
    retry: false,
    hint: "Ask an admin of the gateway for an invitation, or for a link for your account here.",
  },
  BACKUP_UNUSABLE: {
    http: 422,
    rpc: -31138,
    retry: false,
    hint: "Name a file that `toolyard backup` wrote, or one that can be written.",
  },
  LOGIN_ELSEWHERE: {
    http: 404,
    rpc: -31145,
    retry: false,
    hint: "Log in at the authorization server that /.well-known/oauth-protected-resource names.",
  },
  STORE_FULL: {
    http: 507,
    rpc: -31090,
    retry: true,
    hint: "Free space on the disk of the data directory; the gateway then recovers by itself.",
  },
  CLIENT_FILE_UNUSABLE: {
    http: 409,
    rpc: -31092,
    retry: false,
    hint: "Correct what the message names and try again. The client's file was not changed.",
  },
  ADDRESS_UNUSABLE: {
    http: 500,
    rpc: -31075,
    retry: false,
    hint: "Choose an address of this machine with --host: 127.0.0.1, or 0.0.0.0 for all of its addresses.",
  },
} as const satisfies Record<string, FailureRow>;

interface FailureRow {
  readonly http: number;
  readonly rpc: number;
  readonly retry: boolean;
  readonly hint: string;
}

/** The code of a failure. */
export type FailureCode = keyof typeof failures;
