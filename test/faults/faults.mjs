// Bad inputs and faults, and what each gets: numbered, so that a test can name those that it covers (`FAULT 12: ...`,
// `FAULT 10, FAULT 11: ...`). docs/faults.md is made of this table and of the tests' titles.

/**
 * A row is held by at least one test, or says why not: `notBuilt` (what it concerns does not exist yet) or `untested`
 * (why nobody can test it here). `missing` says which part of a row that has tests is not held by them. `tests` names
 * tests that hold a row and are not titled by its number, by the beginning of their titles.
 * @typedef {{ number: string, what: string, gets: string, tests?: string[], missing?: string, notBuilt?: string,
 *   untested?: string }} Fault
 */
/** @typedef {{ letter: string, title: string, about?: string, faults: Fault[] }} FaultGroup */

/** @type {readonly FaultGroup[]} */
export const faultGroups = [
  {
    letter: "A",
    title: "Broken JSON-RPC and HTTP",
    about:
      "A request is *modern* when it names revision 2026-07-28 or a version that nobody knows, " +
      "otherwise *legacy*. A legacy request that is well formed and was let in gets HTTP 200, also " +
      "with a JSON-RPC error.",
    faults: [
      {
        number: "1",
        what: "The body is empty, or holds nothing but white space.",
        gets: "400 and -32700 (`PARSE_ERROR`).",
      },
      {
        number: "2",
        what: "The JSON breaks off, wherever that is.",
        gets: "400 and -32700 (`PARSE_ERROR`).",
      },
      {
        number: "3",
        what: "The body is valid JSON but no object: a number, `null`, a string, `true`.",
        gets:
          "400 and -32600 (`REQUEST_INVALID`). At `POST /execute/{name}`, where the body is the arguments, " +
          "`null` and `[]` are none.",
      },
      {
        number: "4",
        what: "The body is a batch (an array of messages).",
        gets:
          "400 and -32600 in every revision but 2025-03-26, the only one that has batches. There up to " +
          "100 messages are answered, each request once, the broken ones with an error of their own; an" +
          " empty or longer batch is 400.",
      },
      {
        number: "5",
        what: "The id is missing, `null`, a fraction, an object, 10 KB long, or written in an unusual way.",
        gets:
          "A message without an id is a notification: 202, no answer. An id that is neither string nor " +
          "integer is -32600. Every other one comes back byte for byte, and never with another " +
          "request's answer. Of two ids in one message the last counts.",
      },
      {
        number: "6",
        what: "One client uses the same id for several requests in flight.",
        gets: "Every one is answered with its own result.",
      },
      {
        number: "7",
        what:
          "The method is no string or is empty; or nobody has it: `__proto__`, `constructor`, 10 KB of " +
          "text, another case, a method of the other era.",
        gets:
          "-32600 for what is no name. Otherwise -32601 (`METHOD_UNKNOWN`), with HTTP 404 for modern " +
          "requests and HTTP 200 for legacy ones.",
      },
      {
        number: "8",
        what: "`params` is an array of something or a scalar, or one of its members is missing or has the wrong type.",
        gets:
          "-32602 (`PARAMS_INVALID`). `null`, and an empty array, are how many languages write that there is " +
          "nothing: they are taken for that, as params, as arguments and as optional members.",
      },
      {
        number: "9",
        what: "`_meta` has keys that nobody knows, keys reserved by the protocol, or is no object.",
        gets:
          "Keys of vendors and of tracing reach the server. The protocol's own keys are replaced by the" +
          " gateway's, in both directions. A modern request whose `_meta` is no object is -32602; a " +
          "legacy one is answered.",
      },
      {
        number: "10",
        what: "A modern request lacks the protocol version or the client's capabilities in `_meta`.",
        gets: "400 and -32602.",
      },
      {
        number: "11",
        what: "A request names a protocol version that the gateway does not speak.",
        gets:
          "400 and -32022 (`VERSION_UNSUPPORTED`) with the list of those that it does, the same as in " +
          "`server/discover`.",
      },
      {
        number: "12",
        what:
          "The headers `MCP-Protocol-Version`, `Mcp-Method` or `Mcp-Name` of a modern request are " +
          "missing, differ from the body, or are no valid Base64 sentinel.",
        gets: "400 and -32020 (`HEADER_MISMATCH`). Legacy requests have no such headers, and stray ones are ignored.",
      },
      {
        number: "13",
        what: "The body (over stdio: the line) is larger than `limits.requestBodyBytes`, 4 MiB by default.",
        gets:
          "413 before anything is read when `Content-Length` says so; otherwise reading stops at the " +
          "limit, and the client still gets its 413. Over stdio the connection ends, with the reason.",
      },
      {
        number: "14",
        what:
          "The JSON nests deeper than `limits.jsonDepth`, 64 by default: 65, 5,000 or a million levels; or it holds a " +
          "million small members, objects, lists or texts.",
        gets:
          "400 and `BODY_TOO_DEEP`, or 413 and `BODY_TOO_COMPLEX`, before anything is parsed. 64 levels and 100,000 " +
          "parts reach the server.",
      },
      {
        number: "15",
        what: "Arguments, tool names or paths are `__proto__`, `constructor`, `toString` and the like.",
        gets: "They are plain data: forwarded as written, or unknown as a name. No prototype is changed.",
      },
      {
        number: "16",
        what: "An object has a key twice, or params have one in another spelling (`Name`).",
        gets:
          "The last one wins, for the check of the arguments and for the server alike: the bytes that " +
          "are forwarded hold it alone. A spelling that some servers would take for another member is -32602.",
      },
      {
        number: "17",
        what: "The text is no UTF-8, or has a byte-order mark, a control character, or an escaped lone surrogate.",
        gets: "What is no valid JSON text is 400 and -32700. Escapes and characters that are valid pass byte for byte.",
      },
      {
        number: "18",
        what: "Numbers that JavaScript cannot hold: `1e400`, `-0`, 2^53+1, twenty decimals.",
        gets:
          "They reach the server, and come back from it, exactly as they were written; the check of the" +
          " arguments does not refuse them.",
      },
      {
        number: "19",
        what: "A body or a server's answer is compressed: gzip, br, deflate, a compression bomb.",
        gets:
          "A request is 415, unread. An answer of a server is `UPSTREAM_PROTOCOL`, unread: nothing " +
          "compressed was asked for.",
      },
      {
        number: "20",
        what:
          "Headers that two parsers could read in two ways (both `Content-Length` and " +
          "`Transfer-Encoding`, two lengths, folded lines, a bare LF), a header of 17 KB, 2,000 " +
          "headers.",
        gets: "400, 431 or 501, and the connection is closed. A request hidden in another one's body is not run.",
      },
      {
        number: "21",
        what: "The `Content-Type` is not JSON.",
        gets: "415 (`MEDIA_TYPE_UNSUPPORTED`).",
      },
      {
        number: "22",
        what: "GET, DELETE, PUT, PATCH, HEAD, TRACE or an invented method where it is not served.",
        gets: "405 with `Allow`. GET and DELETE on an MCP endpoint need a session.",
      },
      {
        number: "23",
        what:
          "Rare HTTP: `Expect: 100-continue`, a target in absolute form, `OPTIONS *`, CONNECT, HTTP/2, " +
          "HTTP/0.9, TLS on the plain port.",
        gets:
          "`100-continue` is answered, any other expectation is 417. An absolute target is judged by " +
          "its own host. Everything else gets a refusal or a close.",
      },
      {
        number: "24",
        what: "Sockets that send their headers a byte at a time, or send nothing.",
        gets: "They are closed when the headers are not complete within 10 s; everybody else is served meanwhile.",
      },
      {
        number: "25",
        what: "A body that trickles in and never ends.",
        gets:
          "408 (`BODY_TIMEOUT`) after `limits.bodyTimeoutMs`, 30 s by default, also when the request " +
          "had been refused already.",
      },
      {
        number: "26",
        what: "A client does not read its event stream.",
        gets: "At most 8 MiB wait for it; then that stream is closed, and the memory is free again.",
      },
      {
        number: "27",
        what: "The client of an event stream vanishes without closing its connection.",
        gets:
          "A comment is written to every stream each 15 s, so that the operating system notices, and " +
          "the stream is freed.",
        tests: ["keeps itself alive with comments, and brings what changes"],
        missing: "that the operating system gives up such a connection, which takes rights over the network to show.",
      },
      {
        number: "28",
        what: "Connections are opened and dropped in bursts.",
        gets: "No file descriptor is left behind.",
      },
    ],
  },
  {
    letter: "B",
    title: "What a web page could send",
    faults: [
      {
        number: "29",
        what: "The `Host` header names a host that the gateway is not known by (DNS rebinding).",
        gets:
          "403 (`HOST_FORBIDDEN`) on every route. Only `GET /healthz` and `/readyz` answer, with the status and " +
          "nothing else, because a kubelet asks by the address of a pod.",
      },
      {
        number: "30",
        what: "The `Host` header is missing, given twice, or not a host name.",
        gets: "400 (`HOST_INVALID`). Without one, `GET /healthz` and `/readyz` answer as for a foreign one.",
      },
      {
        number: "31",
        what:
          "The `Origin` header names another site: `https://evil.com`, `null`, a look-alike of " +
          "localhost, another port.",
        gets: "403 (`ORIGIN_FORBIDDEN`) on every route. The gateway's own origin and `allowedOrigins` pass.",
      },
      {
        number: "32",
        what: "A CORS preflight from a foreign origin.",
        gets: "403 without any `Access-Control-` header.",
      },
      {
        number: "33",
        what: "A page posts JSON as `text/plain`, as a form, or without a type, which browsers allow without asking.",
        gets: "415, whatever the body holds.",
      },
      {
        number: "34",
        what: "A page of another site, a form, or a GET tries to change something.",
        gets: "403, 404, 405 or 415 on every route that changes something.",
      },
      {
        number: "35",
        what:
          "Markup, scripts, links or bidirectional controls in the names, descriptions, results or log " +
          "lines that servers and people write, shown by a web page.",
        gets: "They are rendered as inert text, and the content security policy allows no inline script.",
      },
      {
        number: "36",
        what: "A page of the gateway is put into a frame.",
        gets:
          "Browsers refuse: `X-Frame-Options: DENY` and `frame-ancestors 'none'`, and the policy has no" +
          " `unsafe-inline`.",
      },
      {
        number: "37",
        what: "A parameter asks for a redirect to another site (`?next=//evil.com`, `/\\evil`, `https:evil`).",
        gets: "Redirects lead to the gateway's own origin only.",
      },
      {
        number: "38",
        what: "A cookie without `Secure`, `HttpOnly` and the prefix `__Host-`.",
        gets: "No such cookie is set.",
      },
      {
        number: "39",
        what: "A WebSocket or an event stream is opened from a foreign origin.",
        gets: "403. There is no WebSocket: without an origin the upgrade is refused too.",
      },
    ],
  },
  {
    letter: "C",
    title: "What servers answer",
    faults: [
      {
        number: "40",
        what:
          "Hidden characters in descriptions and reasons: terminal escapes, bidirectional controls, " +
          "Unicode tags, zero-width characters.",
        gets:
          "They are taken out of search answers, instructions and terminal output, and the search " +
          "answer flags the tool. Where one server is shown as it is, its bytes are unchanged.",
      },
      {
        number: "41",
        what:
          "A result or error of the wrong shape: no content, a `text` that is an object, an `isError` " +
          "that is a string, JSON that breaks off, an error without a number.",
        gets:
          "What can be mended of a result is: blocks that are none become text, members that are odd are left out, " +
          "and the server is told of in `toolyard servers`. What is no object is refused at once as " +
          "`UPSTREAM_PROTOCOL`, which names the server. An error becomes one that clients can read.",
      },
      {
        number: "42",
        what: "`structuredContent` does not fit the tool's `outputSchema`.",
        gets: "It is passed and recorded. With `strictResults` it is an error that names the field.",
      },
      {
        number: "43",
        what:
          "Results that are too large: more than `limits.contentBlocks` (10,000) blocks, or more bytes " +
          "than `limits.resultBytes` (32 MiB) or `limits.upstreamMessageBytes` (16 MiB).",
        gets: "`RESULT_TOO_LARGE`, which names the limit. What fits arrives whole.",
      },
      {
        number: "44",
        what: "A result links to a resource of another server.",
        gets: "The link is rewritten to lead to the server that gave it, and nowhere else.",
      },
      {
        number: "45",
        what: "A tool's `x-mcp-header` is invalid: line breaks, empty, given twice, on a number, under `anyOf`.",
        gets:
          "That tool is left out over HTTP, with a warning; the others stay. Over stdio, where there " +
          "are no headers, it is offered.",
      },
      {
        number: "46",
        what:
          "An argument that is mirrored into a header has line breaks, non-ASCII characters, or looks " +
          "like a Base64 sentinel.",
        gets: "It is encoded in Base64 as the protocol says; nothing can break out of the header.",
      },
      {
        number: "47",
        what: "Icons with `javascript:` or `file:` addresses, of another origin, or SVG with scripts.",
        gets: "The gateway never fetches or changes an icon: it passes the definition on. The dashboard shows none.",
        tests: ["SHOULD: icons and annotations pass untouched, and nobody fetches them"],
      },
      {
        number: "48",
        what:
          "`requestState`, the handle of a question, is altered, used again, or used by another person " +
          "or for another request.",
        gets: "`HANDLE_INVALID` (-32602). For its own person and request it stays good, once.",
      },
      {
        number: "49",
        what: "A server asks something that the client did not declare that it can answer.",
        gets:
          "The question is not forwarded: the call ends with `CLIENT_CANNOT_ANSWER`, for a client of 2026-07-28 with " +
          "-32021 (`CAPABILITY_MISSING`), which says what it would have to declare.",
      },
      {
        number: "50",
        what: "A server announces a thousand changes of its lists a second.",
        gets:
          "Its lists are read at most once a second, the last change is never lost, and clients are " +
          "told a few times.",
      },
      {
        number: "51",
        what:
          "Progress or notifications for a token that nobody has, or for another client's request; " +
          "or without end, as fast as they are read.",
        gets:
          "They are dropped, counted and logged; no client sees them. Of one server, on all its streams together, " +
          "5,000 messages a second are read that answer no request, so that others are served meanwhile, and a call " +
          "that brings nothing else ends with `UPSTREAM_TIMEOUT` at `maxCallTimeoutMs`.",
      },
      {
        number: "52",
        what: "A server marks as public what was fetched with somebody's credentials.",
        gets: "It is private all the same: shared with nobody.",
      },
    ],
  },
  {
    letter: "D",
    title: "Names, lists and searches",
    faults: [
      {
        number: "53",
        what:
          "Server and tool names that run together: server `a-b` with tool `c` and server `a` with tool" +
          " `b-c`, for every separator, 625 pairs.",
        gets:
          "Every exposed name leads to exactly one tool, and no two tools share one. A spelling that " +
          "could mean several answers with all of them.",
      },
      {
        number: "54",
        what: "Two servers whose keys differ only in case, Unicode form, width, invisible or look-alike letters.",
        gets: "The first keeps its name; the later one is disabled, with the reason.",
      },
      {
        number: "55",
        what: "Tool names that are very long, or have spaces, emoji, line breaks, NUL, `../`; or are empty.",
        gets:
          "They are shown in a form that every client takes, and each can be called by it and by its " +
          "path. Empty names and those beyond the limit are left out, with the reason in the log.",
      },
      {
        number: "56",
        what: "A server lists two tools of one name.",
        gets: "The first is kept, the second is warned about.",
      },
      {
        number: "57",
        what: "A server's tool has the name of one of the gateway's own.",
        gets: "It cannot take its place, and stays callable by its path.",
      },
      {
        number: "58",
        what: "A list of 10,000 tools, of more than `limits.listItems` (20,000), or of 50 MB.",
        gets:
          "10,000 are paged. What is beyond the limit is cut, with a warning. A message above " +
          "`limits.upstreamMessageBytes` is refused.",
      },
      {
        number: "59",
        what: "A server's list never ends, or repeats a cursor. A client sends a cursor that it was not given.",
        gets:
          "The list ends after `limits.listPages` (1,000) pages, or at the repetition. A foreign or " +
          "invented cursor is -32602.",
      },
      {
        number: "60",
        what: "The same list is asked for a hundred times.",
        gets: "It is the same a hundred times, byte for byte.",
      },
      {
        number: "61",
        what:
          "Hostile schemas: circular, deep or remote references, 20,000 alternatives, 10,000 levels, " +
          "patterns that take exponential time, unknown dialects.",
        gets:
          "They are read up to a limit of parts, never followed out of the schema, and checked for at most " +
          "15 ms. What of a schema cannot be checked is skipped and the rest is checked; an unknown dialect, " +
          "or a check that takes longer, means no check. A tool whose definition nests too deeply is left out; " +
          "the others stay.",
      },
      {
        number: "62",
        what: "Search queries of any size and content: operators, expressions, emoji, only spaces, 1 MB.",
        gets:
          "They are answered. Beyond 1,000 characters the query is cut, and the answer says so; beyond " +
          "10 KB it is `QUERY_INVALID`.",
      },
      {
        number: "63",
        what: 'A limit of -1, 0, a billion, `"10"`, or no number.',
        gets: "It becomes the nearest one that is possible, or the usual one.",
      },
    ],
  },
  {
    letter: "E",
    title: "Server processes",
    faults: [
      {
        number: "64",
        what: "The command does not exist, may not be executed, or is a directory; the working directory is missing.",
        gets: "The server is in status `error` with a clear reason, and calls get it at once. A call tries again.",
      },
      {
        number: "65",
        what: "A server hangs while it is greeted or listed.",
        gets:
          "It fails at `startTimeoutMs` or `discoveryTimeoutMs`, with its last lines of stderr. Other " +
          "servers start, and are listed, meanwhile.",
      },
      {
        number: "66",
        what: "A server never answers a call.",
        gets: "`UPSTREAM_TIMEOUT` at `callTimeoutMs`, and the server is told that the call is cancelled.",
      },
      {
        number: "67",
        what: "A server answers twice.",
        gets: "The first answer counts, the second is dropped and counted.",
      },
      {
        number: "68",
        what:
          "A server answers to an id that nobody asked with, as text instead of a number, or with " +
          "another call's id.",
        gets:
          "The answer is dropped and counted; the right one still arrives. A server that writes all ids as text, from " +
          "its first answer on, is understood.",
      },
      {
        number: "69",
        what:
          "A server writes to stdout what is no message: a banner, a line of its log with an `id`, blank lines, CRLF, " +
          "nonsense as fast as it can.",
        gets: "It is skipped, counted and logged; other servers are served meanwhile.",
      },
      {
        number: "70",
        what: "A line, event or message that never ends, or never begins.",
        gets:
          "It is cut at `limits.upstreamMessageBytes`, the connection ends with that reason, and the " +
          "server is started again. An event stream of comments and empty lines ends after 1 MiB of them in a minute.",
      },
      {
        number: "71",
        what: "Characters of several bytes arrive in pieces, byte by byte.",
        gets: "The text is exact.",
      },
      {
        number: "72",
        what: "Two messages arrive in one chunk, or one in ten thousand.",
        gets: "All arrive whole, in time proportional to their length.",
      },
      {
        number: "73",
        what: "A server floods stderr.",
        gets: "At most a bounded rate is read, few lines reach the log and the records, the rest is counted, and calls go on.",
      },
      {
        number: "74",
        what: "A server exits or is killed while calls are in flight.",
        gets: "They fail at once with `UPSTREAM_CLOSED`, how it ended and its last stderr lines; it is started again.",
      },
      {
        number: "75",
        what: "A server exits while a process of its own still holds its stdout.",
        gets: "It counts as dead all the same, and that process ends too.",
      },
      {
        number: "76",
        what: "A server crashes again and again.",
        gets:
          "It is started after 1, 5 and 15 s; the fourth crash within five minutes makes it " +
          "`permanently_failed`, with the exit code and the last stderr lines. A changed configuration," +
          " a restart by hand, or a call (once in ten minutes) tries again, and it recovers when it is " +
          "mended.",
      },
      {
        number: "77",
        what: "A server ignores the end of its input and SIGTERM.",
        gets: "It is killed at `instances.stopTimeoutMs`.",
      },
      {
        number: "78",
        what: "A server forks, daemonises, or starts sessions of its own; the gateway is killed with -9.",
        gets: "Every process of the tree is gone with the server, and with the gateway.",
      },
      {
        number: "79",
        what: "A server does not read its stdin, or takes no further requests.",
        gets:
          "A bounded queue (`limits.stdinQueueBytes`, 8 MiB) fills up; then calls are `UPSTREAM_BUSY`, " +
          "and memory stays flat.",
      },
      {
        number: "80",
        what: "A server is stopped by SIGSTOP.",
        gets: "Its call times out, it is killed and started again.",
      },
      {
        number: "81",
        what: "A server starts processes without end, or takes all memory.",
        gets:
          "On Linux a watchdog ends its tree at the limit, with the reason, and the neighbours live. " +
          "[ARCHITECTURE.md](../ARCHITECTURE.md) says what is not confined: CPU time, disk space, " +
          "network.",
      },
      {
        number: "82",
        what: "File descriptors or processes run out.",
        gets:
          "The start fails with `SPAWN_FAILED` and its reason; the gateway stays healthy, and starts " +
          "work again when there is room.",
      },
      {
        number: "83",
        what: "A server closes stdout and lives on.",
        gets: "It counts as dead: ended and started again.",
      },
      {
        number: "84",
        what: "A server of the modern era sends a request of its own.",
        gets: "The request is refused, counted and logged; the call goes on. A ping is answered.",
      },
      {
        number: "85",
        what: "A call is silent for longer than the server may be idle.",
        gets: "The server is not stopped while a call is in flight, while somebody listens, or in the first minute.",
      },
      {
        number: "86",
        what: "Two hundred people connect at once.",
        gets:
          "Each gets exactly one process per server, only `instances.parallelStarts` start at a time, " +
          "and all are served.",
      },
    ],
  },
  {
    letter: "F",
    title: "Configuration and import",
    faults: [
      {
        number: "87",
        what:
          "The file is half written, empty, not JSON, not UTF-8, too large (5 MiB, 200,000 values, keys and signs, a million blanks, a text of 256 KiB, 10,000 values in `toolyard`, or 2,000 servers), has a key twice, or" +
          " has values of the wrong type.",
        gets:
          "It is refused with line and column; a running gateway keeps the old configuration, one that " +
          "starts ends with exit code 2. A wrong entry in `mcpServers` disables that server only, with " +
          "its place.",
      },
      {
        number: "88",
        what: "A variable that the configuration names is not set.",
        gets:
          "In a server it disables that server, with a reason that names the variable; for one person " +
          "it is that person's missing value; in the settings it is an error with its place. No value " +
          "is ever printed.",
      },
      {
        number: "89",
        what: "The file is rewritten a thousand times while calls run.",
        gets: "Bursts are read once they are over, no call to an unchanged server fails, and the last file counts.",
      },
      {
        number: "90",
        what: "The file is renamed over, deleted and created, behind a link that is swapped, or loses its rights.",
        gets: "It is picked up, or the old configuration stays in force.",
      },
      {
        number: "91",
        what:
          "A person who is no operator gives a server another program, interpreter options, dangerous " +
          "variables, or another directory.",
        gets:
          "Such values are ignored, with a warning; nothing else is started. Nothing but the file gives" +
          " such values today.",
      },
      {
        number: "92",
        what: "Arguments with spaces, quotes, `;`, `$()`, line breaks or a leading `-`.",
        gets: "They reach the process byte for byte: there is no shell.",
      },
      {
        number: "93",
        what: "A configuration that is read has keys such as `__proto__` or `constructor`.",
        gets: "It is refused with the place, and nothing is polluted.",
        tests: ["FAULT 87: what is wrong in the file is refused with its place"],
        missing: "importing archives, which is not built.",
      },
    ],
  },
  {
    letter: "G",
    title: "Several people",
    about: "Teams and principals stand in the configuration file or in the gateway's database.",
    faults: [
      {
        number: "94",
        what: "One person uses what belongs to another: a session, an instance, a token, a cursor.",
        gets: "404 or 401, the same answer as for a random one.",
        missing: "that both answers take the same time.",
      },
      {
        number: "95",
        what: "A body claims to be somebody: `userId`, `role`, `isAdmin`, `owner`, `scopes`.",
        gets: "The fields are ignored, or passed to the tool as plain arguments.",
      },
      {
        number: "96",
        what:
          "Lists, searches, counts, suggestions and completions of one person, where another has " +
          "something of their own.",
        gets: "Nothing of it appears; figures of all are for an admin.",
      },
      {
        number: "97",
        what: "A server that holds state is used by two people.",
        gets: 'With `scope: "user"` each has an instance of their own: what one tells it is not known to the other.',
      },
      {
        number: "98",
        what: "A person is removed, loses a token, or changes roles while a stream is open.",
        gets: "The stream and the calls end, what was started for them is stopped, and nobody else notices.",
      },
      {
        number: "99",
        what: "Two hundred people do 100,000 random things, each with a canary that nobody else may see.",
        gets: "No canary reaches anybody else.",
        missing:
          "that size: two teams of four do ten thousand things in the tests, and as many as one likes in " +
          "`npm run bench bench/teams/run.ts -- --only=isolation --operations=1000000`.",
      },
    ],
  },
  {
    letter: "H",
    title: "Tokens, logins and addresses",
    faults: [
      {
        number: "100",
        what:
          "No token, a wrong one, one character more or less, its hash, in the query, in a cookie, " +
          "twice, with another scheme, an unsigned JWT.",
        gets:
          "401 with `resource_metadata`. Only `Authorization: Bearer` with the exact token counts; the " +
          "scheme may be in upper or lower case (RFC 9110, section 11.1).",
      },
      {
        number: "101",
        what: "A token whose scope is too small.",
        gets: "403 `insufficient_scope`, with the scope that is needed.",
      },
      {
        number: "102",
        what:
          "An OAuth flow is attacked: no PKCE, a wrong `state`, metadata of another issuer, a reused " +
          "code or refresh token.",
        gets:
          "As a client of authorization servers and identity providers, the gateway refuses such answers and " +
          "metadata before anything is kept. As an authorization server it asks nobody without PKCE, a code works " +
          "once, and a refresh token that another app has ends the consent.",
        tests: [
          "an answer with a wrong state is refused, and the right one is still taken",
          "an authorization server whose metadata %s is not used",
        ],
      },
      {
        number: "103",
        what: "A server redirects, or names an endpoint on another host, to get a token.",
        gets:
          "No server gets the client's token or another server's. A request follows no redirect but one to " +
          "its own URL with a slash more or less at the end of the path, and an endpoint on another origin is refused.",
      },
      {
        number: "104",
        what:
          "Addresses that a server names lead into private networks, to a cloud's metadata service, or " +
          "to other protocols, in any notation.",
        gets:
          "A server on the Internet cannot send a login there: `LOGIN_FAILED` before anything is asked." +
          " A server on this machine may name this machine. A server that a team chose is connected to at addresses" +
          " of the public Internet alone, wherever its name leads when the connection is made.",
      },
      {
        number: "105",
        what: "A server answers 401 for ever, or its metadata is 10 MB, endless redirects, or wrong.",
        gets: "It is asked a bounded number of times, with one browser prompt at most; nothing is kept.",
      },
    ],
  },
  {
    letter: "I",
    title: "Storage, clock, several nodes, life and death",
    faults: [
      {
        number: "106",
        what: "The database is damaged, of a newer version, or taken away, at the start or later.",
        gets:
          "Calls are served. Records are set aside and begin anew; of anything else `/readyz` and the log say what " +
          "is wrong and what to do, and the gateway goes on by itself when it is mended.",
      },
      {
        number: "107",
        what: "The disk is full, or the data directory may not be written to.",
        gets:
          "A gateway that can write nothing to its data directory does not start, and says why " +
          "(`DATA_DIR_UNWRITABLE`). Servers start also where it cannot be noted that they run. Where the disk " +
          "fills up later, calls are served, records are dropped and counted, and go on when there is room.",
        tests: [
          "a data directory that cannot be written to is told as such",
          "servers are started also where it cannot be recorded that they run",
        ],
      },
      {
        number: "108",
        what: "SIGTERM with two hundred calls in flight, and a second SIGTERM.",
        gets:
          "Nothing new is taken, calls that end within `instances.drainTimeoutMs` (25 s) are answered, " +
          "the others get `DRAINING`, all children are gone, exit code 0. The second one waits for no " +
          "call.",
      },
      {
        number: "109",
        what: "The gateway is killed with -9 at any moment.",
        gets:
          "The next one starts with every file whole, finds every server, and no process of the old life is left. " +
          "What was answered in logins, consents, renewals, installations and rotations of keys is there, in both " +
          "databases, and nothing half; a migration was carried out or not begun.",
      },
      {
        number: "110",
        what: "The clock jumps, or the machine sleeps.",
        gets:
          "All durations are measured by a clock that never jumps. Nothing expires or is given up, and what happened " +
          "is recorded once, with the time that the clock showed.",
      },
    ],
  },
  {
    letter: "J",
    title: "Secrets",
    about: "Held over all the others: many tests assert that no secret is in the output.",
    faults: [
      {
        number: "J",
        what:
          "Secrets in environment, headers, tokens, arguments, URLs, and line breaks or terminal " +
          "escapes in any field.",
        gets: "No secret stands in any output: log, answers, files, errors. One event is one JSON line.",
        tests: ["secrets of the configuration are in no output", "no token, code or verifier in any output or file"],
        missing: "the dashboard, which shows what REST answers.",
      },
    ],
  },
  {
    letter: "K",
    title: "Noisy neighbours",
    faults: [
      {
        number: "K",
        what:
          "One person calls a hundred times too fast, opens a thousand streams, has 200 calls hanging, " +
          "asks for gigabytes.",
        gets:
          "429 with `Retry-After` for that person; everybody else is served. A thousand clients at once" +
          " are served.",
        tests: ["a thousand clients at once are all served"],
      },
    ],
  },
  {
    letter: "L",
    title: "Unasked",
    faults: [
      {
        number: "L",
        what: "A folder that was cloned has a configuration, which names programs, variables and files of the user.",
        gets:
          "Nothing of it is used before the user allowed it as it is; without a terminal `CONFIG_UNTRUSTED`, with what " +
          "to do. One that changes is asked about again, also while a gateway runs with it.",
      },
      {
        number: "M",
        what: "A program of another user of the machine connects to a gateway that asks for no token.",
        gets: "`PEER_FORBIDDEN` (403), where the kernel says whose program it is (Linux), except for its health.",
      },
      {
        number: "N",
        what: "A server writes `toolyard/` names into `_meta` or `data`, or texts that imitate the gateway's notes.",
        gets:
          "The names are taken out, in every spelling, of results, definitions, notifications, questions and errors. A " +
          "text stays as it is, after a note that the server wrote it.",
      },
      {
        number: "O",
        what: "A client is gone while a server waits for an answer to its question.",
        gets: "After ten seconds in which it does not come back, the server is told that it was cancelled.",
      },
    ],
  },
];
