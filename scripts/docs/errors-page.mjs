// docs/errors.md from the table of failures. What the table does not say, when a failure happens, stands here.

/** @type {readonly { title: string, codes: Readonly<Record<string, string>> }[]} */
const groups = [
  {
    title: "The message itself",
    codes: {
      PARSE_ERROR: "The body or line is empty, cut off, no JSON or no UTF-8.",
      REQUEST_INVALID:
        "It is JSON, but no JSON-RPC request: no object, no method, an id that is neither string nor integer. Or what came is no HTTP.",
      METHOD_UNKNOWN: "The method does not exist at this endpoint, or not in the request's era.",
      PARAMS_INVALID: "`params` is no object, or a member that the method needs is missing or of another type.",
      INTERNAL: "The gateway itself failed. Its log has the cause.",
      HEADER_MISMATCH:
        "`Mcp-Method` or `Mcp-Name` is missing, differs from the body, or is badly encoded (2026-07-28).",
      CAPABILITY_MISSING:
        "A server refused a call because the client did not declare a capability, or asks for something that the request did not declare that it can answer; `data.requiredCapabilities` says what is missing (2026-07-28).",
      VERSION_UNSUPPORTED:
        "The request names a protocol revision that the gateway does not speak; `data.supported` lists those that it does.",
      BODY_TOO_LARGE: "The body is larger than `limits.requestBodyBytes`.",
      BODY_TOO_DEEP: "The JSON nests deeper than `limits.jsonDepth`.",
      BODY_TOO_COMPLEX:
        "The JSON holds more than 100,000 texts, objects and lists, more than a million elements, or a number of more than 65,536 digits.",
      BODY_TIMEOUT: "The request did not arrive as a whole within `limits.bodyTimeoutMs`, or its head within 10 s.",
      MEDIA_TYPE_UNSUPPORTED: "The `Content-Type` is not JSON, or the body is compressed.",
      HTTP_METHOD_UNSUPPORTED: "The path exists, the HTTP method does not; `Allow` lists those that do.",
      ROUTE_UNKNOWN: "Nothing is served at this path.",
      NOT_ACCEPTABLE: "The `Accept` header excludes what the endpoint answers with.",
      HEADERS_TOO_LARGE: "The request has more than 200 headers, or more than 16 KB of them.",
    },
  },
  {
    title: "Who calls, and from where",
    codes: {
      HOST_INVALID: "The `Host` header is missing, given twice, or not a host name.",
      HOST_FORBIDDEN: "The `Host` header names a host that the gateway is not known by (DNS rebinding).",
      PEER_FORBIDDEN: "A program of another user of the machine came to a gateway that asks for no token.",
      ORIGIN_FORBIDDEN: "A web page of another origin sends the request.",
      UNAUTHORIZED: "A token is needed, and the request has none or a wrong one.",
      FORBIDDEN: "The token is good, but not for this.",
      LOGIN_NOT_RECENT:
        "Operations on the whole gateway need a login with a browser within the last 15 minutes; no token is enough.",
      SCOPE_INSUFFICIENT: "The token's scopes do not permit it; `scope` lists those that are needed.",
      RATE_LIMITED: "More calls, streams or subscriptions at once than the principal may have.",
      SESSION_UNKNOWN: "`Mcp-Session-Id` names a session that has ended or never was.",
      SESSION_LIMIT: "`limits.sessions` sessions are open.",
      BROWSER_LIMIT: "As many browsers as possible are logged in at the dashboard with tokens.",
      TOO_MANY_CONNECTIONS: "There are 10,000 connections, or 1,000 from one address that is no trusted proxy.",
      LOGIN_BUSY: "As many logins as possible come back from one identity provider at once.",
      DIRECTORY_UNAVAILABLE:
        "Where the gateway's people are kept did not answer in time, or too many requests wait for it.",
      DRAINING: "The gateway was told to stop and takes nothing new.",
    },
  },
  {
    title: "Finding",
    codes: {
      TOOL_UNKNOWN: "No tool has this name in any spelling; `closest` lists those most like it.",
      TOOL_AMBIGUOUS: "Several tools have this name; `tool_paths` lists them.",
      SERVER_UNKNOWN: "No server has this name, or it was removed from the configuration.",
      RESOURCE_UNKNOWN:
        "No server has this resource, or several do; `uris` lists those. `resources/read` answers -32602, to legacy clients -32002.",
      PROMPT_UNKNOWN: "No server has this prompt. Over MCP the number is -32602.",
      CURSOR_INVALID:
        "The cursor was not given out for this list, or not to this principal. The lists of the protocol answer -32602.",
      QUERY_INVALID: "The query is longer than 10 KB.",
      KEPT_SEARCH_UNKNOWN: "You keep no search of this id: it was removed, or is somebody else's.",
      KEPT_SEARCH_LIMIT: "You keep a hundred searches as tests, or all people of the gateway together ten thousand.",
      SEARCH_FAILED: "The search engine took too long or failed.",
    },
  },
  {
    title: "Calling",
    codes: {
      ARGUMENTS_INVALID:
        "The arguments do not fit the tool's schema; `field` says where, `signature` what fits. The server was not called.",
      POLICY_DENIED:
        "A rule of `policy.rules` or of the team denies this call; or the tool was denied while it was called. Later it is in no list, and `TOOL_UNKNOWN`.",
      APPROVAL_NEEDED:
        "A person has to say yes to this call (`policy.ask`, `tools.ask`, a rule), and none has yet. `data.approval` is its id, `data.approver` who decides, `data.page` where.",
      APPROVAL_DENIED: "A person said no to this call, now or within the last minute.",
      SECRET_LEAVES:
        "What was given to a server holds a secret that does not belong to it, and `policy.secrets` is not `off`.",
      PROFILE_UNKNOWN: "The path, or `?profile=`, names a profile that is not in `toolyard.profiles`.",
      NOT_READ_ONLY:
        "Something called through `execute_read_only_mcp_tool` that, as far as the gateway can tell, does more than read: by its name, its arguments or the configuration.",
      DEFINITION_HELD:
        "The tool's definition changed, or something was found in it, and no person has allowed it (`definitions`). It is " +
        "in no list.",
      DEFINITION_CHANGED: "A decision named a `hash` that is not what the server lists now; `data.hash` is.",
      APPROVAL_UNKNOWN:
        "There is no such call that waits for a yes, or no such remembered yes; or it is another person's.",
      CALL_CANCELLED: "The client cancelled, or closed the connection.",
      RESULT_TOO_LARGE:
        "The result is larger than `limits.resultBytes` or has more blocks than `limits.contentBlocks`.",
      CLIENT_CANNOT_ANSWER:
        "The server asks the user or the model something that this client did not declare that it can answer (clients of 2026-07-28: `CAPABILITY_MISSING`), or that cannot be answered at all.",
      HANDLE_INVALID:
        "`requestState` was changed, has expired, or belongs to another request or principal. The answer is -32602.",
      QUESTION_AMBIGUOUS:
        "Told to a server that asks something while several calls are in flight, and does not say which one it belongs to.",
      QUESTION_UNKNOWN:
        "An answer was sent over REST to a question that is no longer open, or that another person was asked.",
      QUESTION_TIMEOUT: "A server's question was not answered in time.",
    },
  },
  {
    title: "Servers",
    codes: {
      SERVER_STARTING: "The server is starting, and its tools are not known yet.",
      SERVER_OFFLINE: "A remote server does not answer; the gateway tries again at every call and every few minutes.",
      SERVER_FAILED: "The server could not be started, or crashed four times within five minutes.",
      BREAKER_OPEN:
        "Too many of the server's calls have failed lately, so that it gets none until it is tried again; the message says when.",
      SERVER_DISABLED: "The configuration disables it, or a variable that it needs is not set.",
      SERVER_NEEDS_LOGIN: "The server answers 401.",
      SERVER_NEEDS_CONFIG: "The server requires values from this principal that are not there.",
      SERVER_STOPPED: "It was stopped by hand.",
      SANDBOX_UNAVAILABLE:
        "The server's entry, or `sandbox.mode`, wants a sandbox, and this machine cannot make one: the engine or " +
        "`nsenter` is missing, the system refuses them, or the engine cannot do what the entry says. It is not started.",
      SANDBOX_WITHOUT_NAMES:
        "Hosts were to be noted or allowed for a server without a sandbox, with the network of this machine or with none.",
      SANDBOX_REFUSED:
        "`sandbox.write` or `sandbox.read` of the entry covers what no server may have: the data directory, the " +
        "configuration, keys, start files of shells. Or a path or variable cannot be given to the engine.",
      SPAWN_FAILED: "The command does not exist, may not be executed, or the machine has no room for another process.",
      START_TIMEOUT: "The server did not finish its handshake within `startTimeoutMs`.",
      CONNECT_FAILED: "No connection to the server's URL.",
      UPSTREAM_TIMEOUT:
        "The server did not answer the call within `callTimeoutMs` of silence, or `maxCallTimeoutMs` in all.",
      INSTANCE_MOVED: "The server is being moved from one node of a cluster to another, for more than ten seconds.",
      OUTCOME_UNKNOWN: "The node that runs the server was lost after it had the call.",
      NODE_FENCED:
        "This node of a cluster has no lease, because it could not reach the database, or it cannot ask who runs the server.",
      NODE_SILENT: "The node that runs the server does not answer, and its lease has not run out yet.",
      NO_CLUSTER: "Something was asked about the nodes of a cluster, and the gateway is none.",
      NODE_UNKNOWN: "No node of the cluster has that name, or it has ended.",
      NODE_ALONE: "A node was to be drained, and no other one is ready.",
      NODE_ENDED: "What a client came back for was kept at a node that has ended, such as the rest of a large result.",
      FILES_ELSEWHERE: "The server keeps files at a node of the cluster that is away, or drained (`files`).",
      NO_ROOM: "No node of the cluster has the labels that the server asks for.",
      UPSTREAM_CLOSED:
        "The server ended, or closed its output, while a call was in flight; `stderr` has its last lines.",
      UPSTREAM_PROTOCOL: "The server answered with something that MCP does not allow.",
      UPSTREAM_BUSY: "The server does not read its input, and its queue is full.",
      UPSTREAM_HTTP: "The server answered with an HTTP status that is not an answer.",
      SERVER_IS_GATEWAY: "A server turned out to be this gateway, or another one that has it as a server.",
      START_QUEUE_FULL: "`instances.startQueue` servers wait to be started.",
      CLIENT_INSTANCE_LIMIT:
        "`limits.clientInstances` instances of servers of scope `client` run for this person already, each for a client that is connected.",
    },
  },
  {
    title: "The gateway's own life",
    codes: {
      PERSON_UNKNOWN: "A command names a user, team or token that the gateway's database does not have.",
      TEMPLATE_UNKNOWN: "No template of this name or id is for the team.",
      INSTALLATION_UNKNOWN: "The team has no such server: it was not installed, or is another team's.",
      INSTALLATION_CONFLICT:
        "A server or template of that name is there already, or it cannot go while something was installed from it.",
      CONFIG_FROM_FILE: "The object to be changed is in the configuration file, or has the name of a server there.",
      VALUE_REFUSED: "A template, name, value or secret is not what its field takes, or the caller may not give it.",
      SECRET_UNKNOWN: "The team has no secret of this name.",
      LOGIN_ELSEWHERE:
        "This gateway takes the tokens of another authorization server (`auth.external`), and is none itself.",
      SECRET_UNREADABLE: "A secret was encrypted with another key, or its row was changed.",
      LOGIN_EXPIRED:
        "A login at an identity provider took longer than ten minutes, was used, or began in another browser.",
      PROVIDER_UNREACHABLE: "The identity provider does not answer, or answers with an error of its own.",
      PROVIDER_REFUSED: "The identity provider says that this person may not log in.",
      PROVIDER_ANSWER_INVALID:
        "What the identity provider says does not stand up to a check: another issuer, key, audience, nonce or time.",
      IDENTITY_UNKNOWN:
        "The person who logged in at the identity provider has no account here, and logging in does not make one.",
      PEOPLE_CONFLICT:
        "A change of people that does not fit: a name that is taken or is none, the last admin, a disabled user, too many days.",
      REVISION_MISMATCH: "`If-Match` names an older revision: somebody else changed it since it was read.",
      CONFIG_INVALID: "The configuration cannot be read; the message names file, line and column.",
      CONFIG_CHANGED: "Somebody else changed the configuration file while it was being edited; it was not touched.",
      CONFIG_UNTRUSTED: "A configuration file was found in the working directory, and was not allowed as it is now.",
      CONFIG_UNWRITABLE: "The configuration file could not be replaced; it is as it was.",
      REGISTRY_FAILED: "A server or package was looked up in its registry, and is not there or cannot be used.",
      PORT_TAKEN: "Another process listens on the port.",
      BIND_REFUSED: "The address can be reached from other machines, and no authentication is configured.",
      LOGIN_FAILED: "The login was refused, abandoned, or could not be finished.",
      GATEWAY_UNREACHABLE: "A command needs the running gateway, and there is none, or it does not answer.",
      GATEWAY_AMBIGUOUS: "A command needs one running gateway, several run, and it was not said which.",
      GATEWAY_REPLACED:
        "Something is needed for the first time, and the files that it is loaded from are missing or of another version: the package was reinstalled or rebuilt under the running gateway. It goes away by itself when the same files are back.",
      RECORD_UNKNOWN: "A call was asked for that was never recorded, is not kept any more, or is somebody else's.",
      STORE_UNAVAILABLE:
        "Records or the audit were asked for, and their database cannot be used: it is switched off, is still being opened, is damaged, is a server that is away, was written by a newer version, was deleted or replaced, or its thread is being started again.",
      DATABASE_SILENT:
        "The gateway shares its database with others, and has not heard from it for so long that it cannot know who may still use it. People of the configuration file are let in as before.",
      KEY_DIFFERS:
        "Gateways share a database, and another one encrypted keys of teams with a key that this one does not have. What this one can still open it goes on using; it encrypts nothing that the others could not open.",
      STORE_BEHIND:
        "People or servers of teams were to be changed, and other gateways of the same database were faster, a hundred times in a row.",
      BACKUP_UNUSABLE:
        "A backup cannot be written to its place; or the file to restore is not a backup, is damaged, or is of a newer version. Also for a PostgreSQL, which has its own programs for backups.",
      STORE_FULL:
        "Something has to be written down before it may be done, and there is no room on the disk of the data directory.",
      DATA_DIR_UNWRITABLE:
        "Something has to be kept on disk, and cannot be: the disk is full, or may not be written to.",
      CLIENT_FILE_UNUSABLE: "`toolyard connect` cannot read or change an AI client's file.",
      ADDRESS_UNUSABLE: "The address to listen on is not one of this machine.",
    },
  },
];

/**
 * @param {Readonly<Record<string, { http: number, rpc: number, retry: boolean, hint: string }>>} failures
 * @returns {string} the page
 */
export function errorsPage(failures) {
  const told = new Set(groups.flatMap(({ codes }) => Object.keys(codes)));
  const missing = Object.keys(failures).filter((code) => !told.has(code));
  const gone = [...told].filter((code) => !Object.hasOwn(failures, code));
  if (missing.length + gone.length > 0)
    throw new Error(
      `scripts/docs/errors-page.mjs does not say when these happen: ${missing.join(", ") || "none"}; and knows these that are gone: ${gone.join(", ") || "none"}`,
    );
  const sections = groups.map(
    ({ title, codes }) =>
      `## ${title}\n\n${head}\n${Object.entries(codes)
        .map(([code, when]) => row(code, when, failures[code]))
        .join("\n")}\n`,
  );
  return `${opening}\n${sections.join("\n")}`;
}

const opening = `# Errors

<!-- Made by scripts/write-docs.mjs from src/kernel/failures/failures.ts. Do not edit. -->

Every failure of the gateway's own is one row of these tables, and its code is part of the API. A failure that a model can act on is a
tool result with \`isError: true\` and the text \`{ "code", "message", "hint", ... }\`; a violation of the protocol is a JSON-RPC error
with the number below and the code in \`data.code\`. If the protocol has a number of its own for a failure, that one is used, and the
row says so. REST answers with
problem details (RFC 9457). Errors that a server itself returns are passed on unchanged.

*HTTP* is the status, if the failure is answered with one. *Retry* says whether the same request may succeed later unchanged.
`;

const head = "| Code | HTTP | JSON-RPC | Retry | When it happens | What to do |\n|---|---|---|---|---|---|";

function row(code, when, { http, rpc, retry, hint }) {
  return `| \`${code}\` | ${http} | ${rpc} | ${retry ? "yes" : "no"} | ${cell(when)} | ${cell(hint)} |`;
}

/** A table's cell ends at a bar, and Markdown takes \`<\` for markup. */
const cell = (text) => text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
