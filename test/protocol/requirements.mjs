// What MCP asks of something that stands between clients and servers, and which tests hold it. `level` and `section`
// are those of the specification (2026-07-28 unless another revision is named); `tests` are titles, or their
// beginnings. docs/protocol.md is made of it.

/** @typedef {"MUST" | "MUST NOT" | "SHOULD" | "SHOULD NOT" | "MAY"} Level */
/** @typedef {{ level: Level, text: string, tests: string[] }} Requirement */
/** @typedef {{ section: string, title: string, requirements: Requirement[] }} Section */

/** @type {(level: Level, text: string, ...tests: string[]) => Requirement} */
const row = (level, text, ...tests) => ({ level, text, tests });

/** @type {readonly Section[]} */
export const sections = [
  {
    section: "basic/index",
    title: "Messages, errors, _meta",
    requirements: [
      row(
        "MUST",
        "Request ids are strings or integers, never null",
        "src/wire/mcp/client-message.test.ts: %j: %s",
        "come back exactly as they were written, and never with another's answer",
      ),
      row(
        "MUST NOT",
        "No id is used twice at a time towards one server",
        "FAULT 67 and 68: each is settled once, by its own id; everything else is dropped and counted",
      ),
      row(
        "MUST",
        "A response repeats the id of its request, exactly",
        "come back exactly as they were written, and never with another's answer",
        "MUST: every modern result says its type",
      ),
      row("MUST", "Every result says its resultType", "MUST: every modern result says its type"),
      row("MUST", "A result without resultType is complete", "MUST: every modern result says its type"),
      row(
        "MUST",
        "Result types of extensions pass when client and server know them",
        "task handles pass, and what is asked about a task goes to the server that gave it out",
        "that asks for input, or is a task, needs no content",
      ),
      row(
        "MUST NOT",
        "Error codes of our own lie outside the reserved range",
        "numbers are the protocol's, or lie outside its range, and each is used once",
      ),
      row(
        "SHOULD",
        "Error codes of other revisions are not emitted: -32002 and -32042 become -32602",
        "MUST: errors of the server are relayed, with the codes of the client's revision",
      ),
      row("MUST NOT", "A notification is not answered", "a message without one is a notification, and is not answered"),
      row(
        "MUST NOT",
        "Nothing depends on earlier requests of the same connection",
        "the SDK v2 client speaks 2026-07-28 without a session",
        "what is loaded belongs to the principal, not to the connection",
      ),
      row("MUST", "State across requests has an explicit handle", "brings the answers to the call that asked"),
      row(
        "MUST",
        "A request without protocolVersion or clientCapabilities is -32602, over HTTP with 400",
        "FAULT 10: a modern request without version or capabilities has invalid params",
      ),
      row(
        "MUST",
        "Requests towards servers carry protocolVersion, clientInfo and clientCapabilities",
        "modern requests always say revision, who we are, and what the client behind them can do",
      ),
      row(
        "MUST",
        "A server's -32021 reaches the client, over HTTP with 400",
        "MUST: errors of the server are relayed, with the codes of the client's revision",
      ),
      row(
        "MUST NOT",
        "A server is told no capability that its client did not declare",
        "FAULT 49: MUST NOT: a client that did not declare it is not asked",
      ),
      row(
        "SHOULD",
        "Results carry our serverInfo; a server's own is not passed for ours",
        "server/discover tells versions, and our name in _meta",
        "what a server claims in the protocol's name does not stand",
      ),
      row(
        "SHOULD NOT",
        "serverInfo decides nothing",
        "FAULT 53: 25 servers with 25 tools each, joined with every separator, keep 625 names apart",
      ),
      row(
        "MUST NOT",
        "Unknown _meta keys are not interpreted: they pass, and so does trace context",
        "MUST: vendor keys and trace context reach the server",
        "keys of vendors and of tracing reach the server; the protocol's own are ours",
      ),
      row("MUST", "JSON Schema 2020-12 is the dialect of schemas that name none", "2020-12 is the default"),
      row(
        "MUST NOT",
        "A $ref to the network is not fetched",
        "$ref with http or file is not followed, and the rest is checked",
      ),
      row(
        "SHOULD",
        "Validation is bounded in time and memory",
        "FAULT 61: a check that takes too long is given up, and the value counts as unchecked",
      ),
      row(
        "MUST",
        "Icons of servers are neither fetched nor changed",
        "SHOULD: icons and annotations pass untouched, and nobody fetches them",
      ),
      row(
        "MUST NOT",
        "2025-11-25 and before: no result says resultType, which these revisions do not have",
        "MUST NOT: no result says resultType, whatever it answers and however large",
        "src/front/mcp/answers/result-text.test.ts: to a legacy client a result does not say %s, and is otherwise what it was",
      ),
      row(
        "MUST",
        "What breaks off is no JSON, also behind a single bracket or brace: -32700",
        "FAULT 2: MUST: a lone bracket or brace is truncated JSON, in every revision",
      ),
    ],
  },
  {
    section: "basic/versioning",
    title: "Revisions and eras",
    requirements: [
      row("MUST", "server/discover is served", "server/discover tells versions, and our name in _meta"),
      row(
        "MUST",
        "An unknown version is -32022 with the supported list, the one of server/discover",
        "FAULT 11: an unknown version is refused with the list of those that are served",
      ),
      row(
        "SHOULD",
        "A revision is chosen from the list that a refusal names",
        "-32022 that names a legacy revision leads to initialize",
      ),
      row(
        "MUST NOT",
        "Falling back to initialize depends on no single error code",
        "a server that answers server/discover with %s is initialized",
        "only a modern server's errors prove its era",
      ),
      row(
        "SHOULD",
        "The verdict on a server is kept, and made again when it turns out wrong",
        "a verdict that turns out wrong is made again once, and the request goes on",
        "a server known as legacy that is modern now is asked anew",
      ),
      row(
        "MUST",
        "A server of both eras is reached in its client's own",
        "MUST: is reached in its client's own era",
        "a server of both eras is spoken to in the caller's: one session, made when it is first needed",
      ),
      row(
        "MUST",
        "Extensions are used only where both sides declare them",
        "task handles pass, and what is asked about a task goes to the server that gave it out",
      ),
    ],
  },
  {
    section: "basic/patterns/mrtr",
    title: "Questions back to the client",
    requirements: [
      row(
        "MUST",
        "Questions to a modern client are input_required results",
        "MUST: an elicitation through execute_mcp_tool is answered, and names the server",
      ),
      row(
        "MUST NOT",
        "Nothing but tools/call, prompts/get and resources/read is answered with input_required",
        "a prompt and a resource may ask as well, behind every exposure",
      ),
      row(
        "MUST NOT",
        "A client is asked only for what it declared",
        "FAULT 49: MUST NOT: a client that did not declare it is not asked",
        "FAULT 49: a question that a modern client did not declare is not passed on",
      ),
      row(
        "MUST",
        "Keys of inputRequests are unique, and a server's own are kept",
        "MUST: a modern server's own keys are kept, its state is not shown to the client",
      ),
      row(
        "MUST",
        "requestState is treated as hostile, protected against change, and refused when it fails",
        "FAULT 48: MUST: it is refused when altered",
        "is refused when a single character of it was altered",
      ),
      row(
        "SHOULD",
        "requestState is bound to principal and request",
        "FAULT 48: MUST: another person, another tool and other arguments are refused",
      ),
      row("SHOULD", "requestState expires", "FAULT 48: SHOULD: nobody answers"),
      row("SHOULD", "requestState is good once", "FAULT 48: SHOULD: it is refused the second time"),
      row(
        "MUST NOT",
        "A server's requestState is echoed byte for byte",
        "a legacy client is asked for real, and its answers go back with the state as it was",
        "a server that asks for ever is stopped; a state without a question goes on by itself",
      ),
      row(
        "MUST",
        "The retry is a request of its own, with another id",
        "FAULT 67 and 68: each is settled once, by its own id; everything else is dropped and counted",
      ),
      row(
        "SHOULD",
        "What is missing in inputResponses is asked again, what is unknown there ignored",
        "SHOULD: what was left unanswered is asked again",
      ),
      row(
        "MAY",
        "Several rounds",
        "rounds follow each other, each with a state of its own",
        "several questions, and several rounds of them, are answered within one call",
      ),
      row(
        "MUST",
        "A call that does not declare what its server's question needs is -32021 with what is required, and not asked",
        "MUST: a call that does not declare what its question needs is -32021, and not asked",
        "MUST: so is what a prompt or a resource of %s asks",
      ),
      row(
        "MUST",
        "A retry is judged by its own capabilities: what it did not declare is -32021 with what is required, and not asked",
        "MUST: a retry is judged by its own capabilities: without what the next question needs it is -32021, not asked",
        "what is left to ask is judged by the request that waits: one that cannot answer it ends the call",
      ),
    ],
  },
  {
    section: "client/elicitation",
    title: "Elicitation",
    requirements: [
      row(
        "MUST",
        "It is clear which server asks",
        "MUST: an elicitation through execute_mcp_tool is answered, and names the server",
      ),
      row(
        "MUST NOT",
        "A mode (form, URL) that the client does not have is not used",
        "FAULT 49: MUST NOT: a client that did not declare it is not asked",
      ),
      row("MUST", "Declining and cancelling reach the server", "what the user declines is declined"),
      row("MUST NOT", "URLs are not opened or fetched here", "an elicitation by URL is answered"),
      row(
        "MUST",
        "Questions are bound to the person who called",
        "FAULT 48: MUST: another person, another tool and other arguments are refused",
      ),
      row(
        "MUST",
        "2025-11-25: a question by URL has an elicitationId that no other has, also when its server speaks a revision without",
        "MUST: a question by URL has an elicitationId of its own, in every call and every round",
      ),
      row(
        "MAY",
        "2025-11-25: notifications/elicitation/complete says which question by URL is done",
        "MAY: a client is told when what it opened is done: when the server asks for it no more",
        "nor one whose call failed: whether it was visited is not known",
        "MAY: who was asked is told with the call's own messages that it is done, and nobody else is",
      ),
      row(
        "MUST",
        "2025-11-25: notifications/elicitation/complete reaches only the client that was asked, also after the call",
        "MUST: who was asked is told after the call too, and nobody else is (%s)",
      ),
    ],
  },
  {
    section: "basic/patterns/cancellation",
    title: "Cancellation and time",
    requirements: [
      row(
        "MUST",
        "A closed stream cancels its request, upstream too",
        "MUST: a modern client that closes its stream has cancelled the call",
      ),
      row("MUST", "On stdio notifications/cancelled does", "a cancelled request is not answered; others are"),
      row("MUST NOT", "A cancelled request gets no further message", "a cancelled request is not answered; others are"),
      row(
        "SHOULD",
        "Cancellations of unknown requests are ignored",
        "SHOULD: a cancellation of something unknown, or of nothing, is ignored",
      ),
      row(
        "SHOULD",
        "Every request has a timeout; at it the request is cancelled",
        "SHOULD: a call that is not answered in time is cancelled upstream, and says so",
        "FAULT 66: silence ends in UPSTREAM_TIMEOUT and a cancellation",
      ),
      row("SHOULD", "A maximum holds whatever progress comes", "SHOULD: a maximum time holds, whatever progress comes"),
      row(
        "MUST",
        "An answer that crosses its cancellation harms nobody",
        "FAULT 67 and 68: each is settled once, by its own id; everything else is dropped and counted",
      ),
      row(
        "MUST",
        "2025-11-25: notifications/cancelled cancels the request that it names",
        "MUST: notifications/cancelled of a legacy client cancels that call, and only that one",
      ),
      row(
        "SHOULD NOT",
        "2025-11-25: a connection that drops is no cancellation",
        "MUST NOT: a dropped POST of a live session is no cancellation",
      ),
      row(
        "MAY",
        "2025-11-25: a server takes its own question back",
        "a question that its server took back is not asked",
        "a server that takes its question back: the client is told, and no answer goes up",
      ),
    ],
  },
  {
    section: "basic/patterns/progress",
    title: "Progress",
    requirements: [
      row(
        "MUST",
        "Progress tokens towards servers are unique among active requests",
        "the progress token of every request is its own",
      ),
      row(
        "MUST",
        "Progress comes under the client's own token, and grows",
        "MUST: progress comes under the client's own token and only grows",
      ),
      row(
        "MUST",
        "Progress for unknown tokens reaches nobody",
        "FAULT 51: MUST: progress for unknown tokens reaches nobody, and none comes unasked",
        "FAULT 51: progress without an owner is dropped and counted",
      ),
      row(
        "MUST",
        "Progress stops with the answer",
        "FAULT 51: MUST: progress for unknown tokens reaches nobody, and none comes unasked",
        "progress after the answer reaches nobody",
      ),
    ],
  },
  {
    section: "basic/patterns/subscriptions",
    title: "Subscriptions",
    requirements: [
      row(
        "MUST",
        "The acknowledgment comes first, and names only what is honoured",
        "MUST: the acknowledgment comes first, names only what is honoured; others' notifications never come",
      ),
      row(
        "MUST NOT",
        "Only types that were asked for are sent",
        "SHOULD: list_changed reaches the legacy GET stream and subscriptions/listen, at the exposures that show it",
      ),
      row(
        "MUST",
        "Every notification carries the subscription's id",
        "SHOULD: list_changed reaches the legacy GET stream and subscriptions/listen, at the exposures that show it",
        "updates of a resource reach those who subscribed, in their own spelling; the server has one subscription for all",
      ),
      row(
        "SHOULD",
        "A subscription that the gateway ends gets its result",
        "SHOULD: a gateway that stops ends its subscriptions with a result",
      ),
      row(
        "MUST",
        "On stdio a subscription that the gateway ends is cancelled with a notification",
        "MUST: on stdio a subscription that the gateway ends gets its result and notifications/cancelled",
      ),
      row(
        "MUST",
        "What the gateway listens to is listened to again after a reconnect",
        "SHOULD: what a server announces is listened to again after it was started again",
        "a resource that is subscribed to stays so when its server crashes",
      ),
    ],
  },
  {
    section: "basic/transports/streamable-http",
    title: "Streamable HTTP",
    requirements: [
      row("MUST", "One endpoint, POST for every message", "FAULT 22: methods that are not served say which are"),
      row("MUST", "A foreign Origin is 403", "is refused on every route"),
      row("SHOULD", "Localhost is bound by default", "FAULT 29: a foreign Host is refused on every route"),
      row(
        "SHOULD",
        "Connections are authenticated where others can reach them",
        "SHOULD: what other machines could reach is not served without authentication",
      ),
      row(
        "MUST",
        "A notification is 202 without a body; responses are not taken",
        "MUST: a notification is accepted with 202, a response is refused: clients send none",
      ),
      row(
        "MUST",
        "JSON or an event stream, as the client takes it",
        "MUST: what a client puts first in Accept it gets",
      ),
      row(
        "MUST NOT",
        "No requests on response streams of the modern era",
        "FAULT 84: MUST NOT: %s is refused, and the client hears nothing of it",
      ),
      row(
        "SHOULD",
        "The answer ends the stream, which says X-Accel-Buffering: no",
        "SHOULD: a stream asks proxies not to buffer it, and ends with its answer",
      ),
      row("MUST", "MCP-Protocol-Version is required and equal to the body's", "test/faults/http/envelope.test.ts: %j"),
      row(
        "MUST",
        "Mcp-Method and Mcp-Name are required and equal to the body's: otherwise 400 and -32020",
        "test/faults/http/envelope.test.ts: %j",
        "the other named methods are checked too, the unnamed ones need no name",
      ),
      row("MUST", "Base64 values are decoded before they are compared", "a name in Base64 is decoded"),
      row(
        "MUST",
        "An unknown method is 404 with -32601",
        "MUST: an unknown method is 404 with -32601, a legacy one too",
      ),
      row(
        "MUST",
        "Towards a server: Mcp-Method, its own name in Mcp-Name, Mcp-Param-* mirrored",
        "FAULT 46: MUST: arguments are mirrored into Mcp-Param-*, coded where they have to be",
      ),
      row(
        "MUST",
        "Values that no header can hold are coded",
        "FAULT 46: %j becomes %j",
        "FAULT 46: no argument value can break out of its header",
      ),
      row(
        "MUST",
        "Tools with an invalid x-mcp-header are left out, the others stay",
        "FAULT 45: MUST: tools whose x-mcp-header is invalid are left out, the others stay",
      ),
      row(
        "SHOULD",
        "Leaving one out is logged with the reason",
        "FAULT 45: MUST: tools whose x-mcp-header is invalid are left out, the others stay",
      ),
      row(
        "MUST",
        "A client's Mcp-Param-* are decoded and compared, missing ones refused",
        "MUST: a client's own Mcp-Param-* are checked when it calls the tool by name",
      ),
      row(
        "SHOULD",
        "Integers are compared as numbers",
        "MUST: a client's own Mcp-Param-* are checked when it calls the tool by name",
      ),
      row(
        "SHOULD",
        "On -32020 the list is fetched again and the call repeated",
        "SHOULD: -32020 of a server: its lists are fetched again and the call is made once more",
        "SHOULD: on -32020 the list is fetched again, and the call made once more with the headers that it asks for",
        "a %s client's call of a tool that was not listed yet is made with what its new entry mirrors",
      ),
      row(
        "SHOULD",
        "A 4xx to a modern request is looked into before falling back",
        "a server that answers server/discover with %s is initialized",
        "a modern server's odd refusal stands when it is still a modern server",
      ),
      row(
        "MUST",
        "2025-11-25: sessions: id at initialize, 404 once it is over, DELETE ends it",
        "MUST: an ended or unknown session is 404, a GET without one 405",
      ),
      row(
        "SHOULD",
        "2025-11-25: streams can be resumed with Last-Event-ID",
        "MAY: a stream that its server breaks off is broken off here too; the rest is there for who comes back",
        "SHOULD: where a server has its client wait, ours is let go so late that the answer is there when it comes back",
        "a broken event stream is resumed after its last event, as long as it goes on",
      ),
      row(
        "MUST",
        "2025-03-26: batches are taken; later revisions have none",
        "of revision 2025-03-26 is answered, up to 100 messages",
        "is refused where the revision has none",
      ),
      row(
        "SHOULD",
        "2024-11-05: servers over HTTP+SSE are found out and used",
        "a server over HTTP+SSE is found out by itself and called like any other",
      ),
      row(
        "MUST",
        "tasks/get, tasks/update and tasks/cancel carry Mcp-Name, the task's id (SEP-2663)",
        "MUST: what is asked about a task names it in Mcp-Name towards a modern server",
        "MUST: a modern client's own Mcp-Name of a task must be the task's id; without one it is served",
      ),
      row(
        "MUST",
        "A task is bound to whoever began it: others neither ask about it, nor find it in a list, nor hear of it",
        "FAULT 94: a task that another member began is none, to a %s client",
        "MUST: a list of tasks has those of whoever asks, and no others",
        "how a task stands is told only to the client that began it",
      ),
      row(
        "MUST",
        "An Mcp-Param header that nobody here knows is passed on to a server that is shown as it is",
        "MUST: a header parameter that nobody here knows is passed on as it stands, beside those that are mirrored",
        "header parameters of a client reach no server through the other exposures",
      ),
    ],
  },
  {
    section: "basic/transports, 2024-11-05",
    title: "HTTP with SSE",
    requirements: [
      row(
        "MUST",
        "An event stream, and an endpoint for messages that its first event gives",
        "/sse%s shows what /mcp%s shows, and announces a URL of its own",
        "test/protocol/sse.test.ts: lists, discovers, calls, reads and gets prompts",
      ),
      row(
        "MUST",
        "Messages of the server are events whose data is JSON",
        "line ends within a message begin a new data line, wherever its pieces are cut",
        "large answers that are ready at once all arrive whole",
      ),
      row(
        "MUST",
        "A foreign Origin is refused; who is not authenticated is, too",
        "%s is refused as in Streamable HTTP, and nothing comes on the stream",
        "a foreign site gets no stream, and its browser no permission",
      ),
      row(
        "MUST NOT",
        "A session id is no authentication",
        "somebody else's is answered like one that does not exist, and does not hear of it",
      ),
      row(
        "SHOULD",
        "A cancelled request gets no answer",
        "a cancelled request gets no answer, every other one gets one",
      ),
      row(
        "SHOULD",
        "2025-03-26: a client that tries Streamable HTTP first gets a 4xx, and falls back",
        "a client that posts to the stream's URL first is told 405, and gets on with GET",
      ),
    ],
  },
  {
    section: "basic/transports/stdio",
    title: "stdio",
    requirements: [
      row(
        "MUST NOT",
        "Messages hold no newline; nothing else goes to stdout or stdin",
        "members of params go out as the bytes that came in, and the line is one line of ASCII around them",
      ),
      row(
        "MUST NOT",
        "A modern server's requests are not answered",
        "FAULT 84: MUST NOT: %s is refused, and the client hears nothing of it",
      ),
      row("SHOULD NOT", "stderr is no error", "gives whole lines, with any line end, in any pieces"),
      row(
        "SHOULD",
        "Stopping: stdin closed, then SIGTERM, then SIGKILL",
        "a server that ends with its input gets no signal",
        "FAULT 77: what ignores end of input and SIGTERM is killed at the deadline",
      ),
      row("SHOULD", "The gateway ends when its own stdin does", "ends the gateway with 0 and leaves no child: %s"),
      row(
        "SHOULD",
        "A server that ends unexpectedly is started again",
        "a call that comes while it is started again is answered by the new process",
      ),
      row(
        "SHOULD",
        "server/discover is tried first, initialize after any other answer",
        "MUST: an elicitation through execute_mcp_tool is answered, and names the server",
      ),
    ],
  },
  {
    section: "server/discover",
    title: "Discovery",
    requirements: [
      row(
        "MUST",
        "Capabilities are declared: a transparent endpoint's are its server's",
        "MUST: it declares its server's own capabilities and instructions, to the client of either era",
        "a transparent endpoint waits for a server never seen before, and declares what it declares",
      ),
      row(
        "SHOULD",
        "Lists of one server are told apart by its slug, not by serverInfo",
        "servers are found by their slug, and nothing else is",
      ),
    ],
  },
  {
    section: "server/tools",
    title: "Tools",
    requirements: [
      row(
        "MUST NOT",
        "Lists do not depend on the connection",
        "what is loaded belongs to the principal, not to the connection",
      ),
      row(
        "SHOULD",
        "Lists have one order",
        "SHOULD: lists come in the same order every time, whoever asks",
        "FAULT 60: a hundred lists are one and the same",
      ),
      row(
        "SHOULD",
        "Names of several servers are told apart by configuration",
        "FAULT 53: 25 servers with 25 tools each, joined with every separator, keep 625 names apart",
      ),
      row(
        "SHOULD",
        "Client-facing names hold only safe characters",
        "any other name becomes one, different for every identity",
      ),
      row(
        "SHOULD",
        "list_changed reaches who asked for it",
        "SHOULD: list_changed reaches the legacy GET stream and subscriptions/listen, at the exposures that show it",
      ),
      row(
        "MUST",
        "Annotations are claims, and pass as such",
        "SHOULD: icons and annotations pass untouched, and nobody fetches them",
      ),
      row("MUST", "Arguments are validated", "%s is refused before the server sees it, and the field is named"),
      row(
        "SHOULD",
        "Structured results are validated",
        "FAULT 42: structuredContent that does not fit its schema is passed and recorded (%s)",
      ),
      row(
        "SHOULD",
        "Execution errors reach the model as results",
        "isError, pictures, sounds and errors of the server pass (%s)",
      ),
      row(
        "MUST",
        "Calls are limited in rate",
        "so many a second: a burst of one second's worth, then as fast as time goes",
      ),
      row(
        "MUST",
        "Content of every kind passes",
        "content of every kind, unknown fields and _meta keys of others pass",
      ),
    ],
  },
  {
    section: "server/resources",
    title: "Resources and prompts",
    requirements: [
      row(
        "MUST",
        "A resource that is not there is -32602, before -32002; never an empty list",
        "MUST: a resource that is not there is -32602 in 2026-07-28 and -32002 before; never an empty list",
      ),
      row(
        "MUST",
        "URIs that are given out are valid and can be read here",
        "MUST: links are the server's own at its own endpoint, and can be read everywhere else",
        "native URIs are valid ones, and those of UIs keep their scheme",
      ),
      row(
        "MUST",
        "URIs are checked: one server's link does not lead to another",
        "FAULT 44: MUST NOT: a link to another server's resource leads to its own server only",
      ),
      row(
        "SHOULD",
        "Reading is subject to the same rights as listing",
        "calls, reads, prompts and completions by name are refused like what does not exist",
      ),
      row(
        "SHOULD",
        "Updates reach who subscribed; the server has one subscription for all",
        "updates of a resource reach those who subscribed, in their own spelling; the server has one subscription for all",
      ),
      row(
        "MUST",
        "server/prompts: names are looked up, arguments pass",
        "lists, calls, reads, subscribes, and is asked",
      ),
      row(
        "MUST",
        "Skills (SEP-2640): entries, files and directories pass at a server's own endpoint; digests hold wherever a file is read",
        "MUST: skills/list and skills/get pass at the server's own endpoint, entries as they are",
        "MUST: a skill's files have the digests and sizes that its entry names, wherever they are read",
        "directories are read where the server offers it",
      ),
      row(
        "MUST",
        "Skills (SEP-2640): who declares them answers skills/list and skills/get, one server or all together",
        "MUST: skills are declared where skills/list is answered, with directories where all servers read them",
        "a server's own endpoint declares skills as the server does",
        "MUST: where no server offers skills they are not declared, and asking for them is -32601",
      ),
      row(
        "MUST",
        "Skills (SEP-2640): a skill is known by its server and its address; no name shadows another server's",
        "MUST: skills of all servers are listed once each, under addresses that say whose they are",
        "MUST: two servers' skills of one name stay two, each with its own files",
        "MUST NOT: an address of one server's skill is never read from another",
      ),
      row(
        "MUST",
        "Skills (SEP-2640): skills/get answers for every skill that is served, listed or not; others are -32602",
        "MUST: skills/get answers for every skill of %s, listed or not, and with -32602 for anything else",
      ),
      row(
        "MUST NOT",
        "Skills (SEP-2640): files are read when they are asked for, never in advance",
        "MUST NOT: no file of a skill is read before somebody asks for it",
      ),
      row(
        "MUST",
        "Skills (SEP-2640): after a change the listing, the entry and the files agree again",
        "MUST: a changed skill is announced, listed with its new digests, and read as it is now",
      ),
      row(
        "MUST NOT",
        "Skills (SEP-2640): an entry that is malformed, or larger than a host has to accept, is not offered",
        "MUST NOT: entries that are malformed or too large are left out, with the reason",
      ),
    ],
  },
  {
    section: "server/utilities",
    title: "Caching, logging, completion, pagination",
    requirements: [
      row(
        "MUST",
        "caching: lists, reads and discovery carry ttlMs >= 0 and cacheScope",
        "MUST: lists, reads and discovery carry ttlMs and cacheScope",
      ),
      row(
        "MUST NOT",
        "caching: what is private is shared with nobody; merged lists are as short and private as their least part",
        "MUST: a server's ttl and scope are passed; several together are as short and as private as the least of them",
        "FAULT 52: what was fetched with credentials is private, whatever the server says",
      ),
      row(
        "MUST NOT",
        "caching: answers to questions are never kept; reads are asked of the server",
        "MUST NOT: a read is not kept: each is asked of the server",
      ),
      row(
        "MUST",
        "caching: all pages of a list have one scope",
        "all pages together are the list, in its order, and the last has no cursor",
      ),
      row(
        "SHOULD",
        "caching: a list is fetched again after its ttl",
        "a list that says how long it is good for is fetched again after that, in the background",
      ),
      row(
        "MUST NOT",
        "logging: no log messages unless asked for, none below the level, none on other streams",
        "MUST NOT: a modern client gets no logs unless it asks, and none below the level that it asks for",
      ),
      row(
        "MUST",
        "logging: who passes log messages on declares logging",
        "MUST: it declares its server's own capabilities and instructions, to the client of either era",
        "logging is declared wherever log messages may come",
      ),
      row("SHOULD", "logging: an unknown level is -32602", "SHOULD: an unknown log level is refused with -32602"),
      row(
        "MUST",
        "logging, 2025-11-25: logging/setLevel decides what a client gets",
        "a legacy client gets what its logging/setLevel lets through",
        "a server hears the most talkative level that its legacy clients want",
      ),
      row(
        "MUST",
        "completion: declared, and answered by the server whose prompt or template it is",
        "MUST: every modern result says its type",
      ),
      row(
        "SHOULD",
        "pagination: a cursor that was not given out is -32602",
        "FAULT 59: a cursor of another person, list or exposure is refused, and so is an invented one",
      ),
      row(
        "MUST",
        "pagination: servers' cursors are opaque, and endless ones end",
        "all pages of all lists are fetched",
      ),
    ],
  },
];
