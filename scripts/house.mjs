// The house: every wing of src/ from the top to the cellar, with its rooms, and rooms within rooms. A wing imports only
// wings below it; a room only rooms after it in its own wing or room; everybody may import `kernel`. Files directly in
// a wing or room may import its rooms and be imported by them, except where `ground` says that they lie below. The lint
// rule and the tables of the architecture pages read this list, so that they cannot drift. What is not built yet is
// listed in `planned`.

/**
 * @typedef {{ name: string, about: string, rooms?: readonly Room[], ground?: true }} Room With `ground`, its own files
 *   lie below all of its rooms.
 */

/** @type {readonly Room[]} */
export const wings = [
  {
    name: "cli",
    about: "argv to command, terminal output, exit codes. The only wing that prints",
    rooms: [
      { name: "serve", about: "commands that run a gateway: its report, its live view, the guided first start" },
      { name: "records", about: "what was recorded: calls, logs, events, usage, tokens, audit" },
      { name: "clients", about: "asking and telling about files of AI clients: connect, disconnect, trust" },
      { name: "doctor", about: "printing findings; what only a person may have started" },
      { name: "import", about: "taking over servers that clients have" },
      { name: "servers", about: "adding, changing and trying configured servers" },
      { name: "setup", about: "the service, logins, the configuration, the databases" },
      { name: "people", about: "users, teams, tokens, installations" },
      { name: "tools", about: "searching, showing and calling tools, resources and prompts" },
      { name: "completion", about: "completion of words in shells" },
      { name: "gateway", about: "finding a running gateway and talking to it" },
      { name: "command", about: "rows of commands, options and help" },
      { name: "terminal", about: "tables, questions, progress: what a terminal shows" },
    ],
  },
  {
    name: "app",
    about:
      "builds every part, one file per wing that it builds; starts and stops them in order. The only wing that sees all",
    rooms: [
      { name: "embedded", about: "the gateway as a library" },
      { name: "owner", about: "what the owner's commands may ask a running gateway" },
      { name: "fronts", about: "builds REST, the dashboard, and management of the configuration" },
      { name: "people", about: "builds credentials, teams and their access" },
      { name: "records", about: "builds records, audit, usage, metrics, webhooks" },
      { name: "engine", about: "builds engine, catalog and the MCP front" },
      { name: "servers", about: "builds connections to servers, and logins at them" },
    ],
  },
  {
    name: "front",
    about: "decodes what comes in, calls `engine/perform`, encodes what goes out",
    rooms: [
      {
        name: "mcp",
        about: "both protocol eras over HTTP, SSE and stdio",
        rooms: [
          { name: "transports", about: "HTTP of both eras, SSE, stdio, batches" },
          { name: "sessions", about: "sessions, stateless conversations, questions to clients" },
          { name: "listen", about: "subscriptions to lists and resources" },
          { name: "endpoint", about: "one request: dispatch, capabilities, the client's profile" },
          { name: "running", about: "requests in progress, parked conversations, cancellation" },
          { name: "streams", about: "answers as streams, resumable after a disconnect" },
          { name: "answers", about: "outcomes and errors as the protocol's texts" },
        ],
      },
      {
        name: "owner",
        about: "the door of the data directory's owner: REST for commands, and clients of `toolyard stdio`",
      },
      {
        name: "rest",
        about: "operations over HTTP; loaded at the first request",
        rooms: [
          { name: "document", about: "the OpenAPI document, and a page that shows it" },
          { name: "execute", about: "calls of tools, whose bytes are passed on" },
          { name: "streams", about: "events, exports, and what ends them" },
        ],
      },
      { name: "web", about: "pages for people", rooms: [{ name: "pages", about: "their texts and forms" }] },
      {
        name: "http",
        about: "node:http, problem details, health",
        rooms: [{ name: "guards", about: "Host, Origin, peer, admission, room for bodies and connections" }],
      },
    ],
  },
  {
    name: "operations",
    about: "management: each operation is one object, of which route, description and clients are made",
    rooms: [
      { name: "gateway", about: "the gateway itself: configuration, commands, databases, support" },
      { name: "installations", about: "what teams install: templates, values, secrets" },
      { name: "tools", about: "tools, resources, prompts, searches, namespaces" },
      { name: "servers", about: "servers and instances" },
      { name: "people", about: "users, teams, members, invitations, apps, oneself" },
      { name: "records", about: "calls, logs, events, audit, usage, status" },
      { name: "request", about: "what operations share: who asks, what that sender may change, how long it may take" },
      {
        name: "machine",
        about: "work on the machine of a gateway or a command: what orders over REST and commands of the terminal call",
        rooms: [
          { name: "thread", about: "what a gateway does with files of AI clients, in a thread of its own" },
          { name: "doctor", about: "findings, one file for each subject" },
          { name: "servers", about: "entries of new servers, what came of a trial, whether a change is in force" },
          { name: "clients", about: "plans for files of AI clients, and servers that are taken over from them" },
          {
            name: "surroundings",
            about: "what was started where: configuration, data directory, gateways, our own command",
          },
        ],
      },
    ],
  },
  {
    name: "engine",
    about: "carries intents out",
    rooms: [
      {
        name: "perform",
        about: "the waist: one switch over the kinds of intent, and its stages",
        rooms: [
          { name: "intents", about: "one file for each kind of intent that is not a call" },
          { name: "stages", about: "what happens around each of them: policy, audit, records" },
        ],
      },
      { name: "approvals", about: "a person's yes to a call" },
      { name: "namespaces", about: "which namespaces are loaded for whom" },
      {
        name: "calls",
        about: "what a call is: retries, routing, the exchange with a server",
        rooms: [
          { name: "arguments", about: "arguments that a server wants in headers" },
          { name: "questions", about: "questions of servers to the caller" },
          { name: "results", about: "checks and repairs of results" },
          { name: "subscriptions", about: "resources that are watched, roots, log levels" },
        ],
      },
      {
        name: "results",
        about: "results that are too large for a model: where they are cut, and how the rest is read",
      },
      {
        name: "validation",
        about: "arguments against schemas",
        rooms: [
          { name: "schema", about: "a schema as functions that check values" },
          { name: "formats", about: "formats and patterns in bounded time" },
        ],
      },
      { name: "policy", about: "who may do what: one pure function" },
      { name: "flows", about: "secrets on their way, and what a caller has read: pure" },
    ],
  },
  {
    name: "cluster",
    about: "gateways of one database that run each server once",
    rooms: [
      { name: "placement", about: "where an instance runs: here, or at the node that has it" },
      { name: "peers", about: "encrypted connections between nodes, and instances over them" },
      { name: "leases", about: "this node among others, and until when it may serve" },
    ],
  },
  {
    name: "people",
    about: "who calls",
    rooms: [
      { name: "sign-in", about: "logging in at identity providers, and who somebody is who comes from there" },
      {
        name: "authorization-server",
        about: "passwords, browser sessions, and OAuth towards our clients",
        rooms: [{ name: "oauth", about: "the library, its storage, and what it is told" }],
      },
      { name: "identity", about: "credential to principal" },
      {
        name: "directory",
        about: "the people that there are, and what they may use",
        rooms: [
          { name: "books", about: "indexes of people and access in memory" },
          { name: "plans", about: "changes as pure functions: rows before, rows after" },
        ],
      },
      { name: "installations", about: "what teams installed, with their values and secrets" },
      { name: "changes", about: "one writer of changes, with the audit; rows in memory; what other gateways change" },
    ],
  },
  {
    name: "records",
    about: "what happened",
    rooms: [
      { name: "audit", about: "who changed what: events, queue, history" },
      { name: "telemetry", about: "metrics, traces, the structured log" },
      { name: "usage", about: "tokens, savings, searches" },
      { name: "calls", about: "calls and server logs as they are recorded and read" },
      { name: "events", about: "live events and webhooks" },
      { name: "redaction", about: "secrets taken out of texts" },
    ],
  },
  {
    name: "store",
    about: "what is kept: `store.ts` is one object of small interfaces; a backend is a folder",
    ground: true,
    rooms: [
      {
        name: "files",
        about: "files in the data directory",
        rooms: [{ name: "safe", about: "locks, atomic replacement, encryption" }],
      },
      {
        name: "sql",
        about: "SQLite in a worker thread: `records.db`, which may lose, and `state.db`, which may not; or PostgreSQL",
        rooms: [
          { name: "client", about: "what the main thread calls" },
          { name: "thread", about: "the worker: its life, its questions, its rounds" },
          { name: "postgres", about: "PostgreSQL: dialect, links, changes that other gateways announce" },
          { name: "records", about: "`records.db`: reading, retention, usage, logs" },
          { name: "state", about: "`state.db`: people, access, installations, audit" },
          { name: "requests", about: "calls on their way into rows" },
          { name: "sqlite", about: "SQLite: driver, dialect, files, schema steps" },
          {
            name: "migrations",
            about: "steps of the schema, frozen",
            rooms: [
              { name: "records", about: "of `records.db`" },
              { name: "state", about: "of `state.db`" },
            ],
          },
        ],
      },
    ],
  },
  {
    name: "servers",
    about: "the servers behind the gateway",
    rooms: [
      {
        name: "instance",
        about: "state machine and life of an instance",
        rooms: [
          { name: "fleet", about: "all instances: which are wanted, for whom" },
          {
            name: "replicas",
            about: "several processes or addresses of one server, and breakers",
          },
          { name: "starts", about: "attempts, deadlines, crashes, idle stop" },
          { name: "lists", about: "lists of tools, resources and prompts, fetched and kept fresh" },
        ],
      },
      {
        name: "sandbox",
        about: "confined processes: what they see, and which hosts they reach; loaded with the first one",
        rooms: [{ name: "egress", about: "names to addresses, and connections to the hosts that a server may reach" }],
      },
      {
        name: "logins",
        about: "logging in at servers that ask for it",
        rooms: [
          { name: "flow", about: "a login with a person, in a browser or with a code" },
          { name: "protocol", about: "metadata, registration, tokens" },
        ],
      },
      {
        name: "upstream",
        about: "MCP towards servers",
        rooms: [
          { name: "remote", about: "the choice of a remote transport" },
          { name: "runner", about: "npx, uvx and docker as commands" },
          { name: "sse", about: "the transport of 2024-11-05" },
          { name: "stdio", about: "MCP over pipes" },
          {
            name: "streamable",
            about: "Streamable HTTP, both eras",
            rooms: [
              { name: "legacy", about: "sessions" },
              { name: "exchange", about: "one request and its answer" },
            ],
          },
          { name: "messages", about: "encoding, reception, requests that wait" },
          { name: "questions", about: "what servers ask" },
        ],
      },
      {
        name: "process",
        about: "process trees",
        rooms: [{ name: "guardian", about: "the process that outlives us to stop what we started" }],
      },
    ],
  },
  {
    name: "catalog",
    about: "what exists, how it is shown and found",
    rooms: [
      { name: "definitions", about: "definitions of tools that change: which may be used" },
      {
        name: "exposure",
        about: "how a view is shown to a client: pure functions",
        rooms: [
          { name: "discover", about: "answers to a search" },
          { name: "namespaces", about: "tools by server, loaded on demand" },
          { name: "meta", about: "the four tools; the flat list" },
          { name: "skills", about: "skills of servers" },
          { name: "text", about: "signatures, links, estimates of tokens" },
        ],
      },
      {
        name: "discovery",
        about: "searches with I/O: engines, memory of use",
        rooms: [
          { name: "phrases", about: "phrases that a model writes about tools" },
          { name: "meaning", about: "embeddings, and their fusion with words" },
        ],
      },
      {
        name: "search",
        about: "index and ranking, pure",
        rooms: [
          { name: "explain", about: "why a tool has its place" },
          { name: "learning", about: "what choices teach" },
          { name: "rank", about: "scores, coverage, confidence" },
          { name: "index", about: "postings, and their merging over servers" },
          { name: "language", about: "words, stems, synonyms, fields" },
          { name: "phrases", about: "the phrase book: data" },
          { name: "words", about: "word lists: data" },
        ],
      },
      {
        name: "model",
        about: "snapshots and views, pure",
        rooms: [{ name: "names", about: "names that are unique among all servers" }],
      },
    ],
  },
  {
    name: "config",
    about: "file, environment and flags to one frozen `Config`; hot reload",
    rooms: [
      {
        name: "clients",
        about: "AI clients: where their MCP settings are, what stands in them, what we take over",
        rooms: [
          { name: "import", about: "servers that are taken over from clients" },
          { name: "connect", about: "our entry in a client's file: JSON, TOML, YAML" },
          { name: "table", about: "one row for each client" },
        ],
      },
      { name: "edit", about: "edits of the configuration file that keep everything else as it is" },
      { name: "registry", about: "entries from the official registry" },
      { name: "people", about: "people and tiers in the configuration" },
      { name: "settings", about: "the table of settings, and its schema" },
      { name: "entry", about: "a server's entry" },
      { name: "rows", about: "rows of the table, by subject" },
      { name: "file", about: "documents with places, substitution, watching" },
      { name: "words", about: "names of keys, commands and secrets" },
    ],
  },
  {
    name: "wire",
    about: "bytes on the way",
    rooms: [
      { name: "http", about: "an HTTP/1.1 client that knows no MCP" },
      { name: "sse", about: "event streams, read and written" },
      {
        name: "mcp",
        about: "JSON-RPC and the protocol: revisions, numbers by name, sealed states",
        rooms: [{ name: "shapes", about: "shapes of results and definitions, and what is odd in them" }],
      },
      { name: "json", about: "JSON as bytes: scan, validity, exact numbers" },
    ],
  },
  {
    name: "kernel",
    about: "what everybody needs",
    rooms: [
      { name: "events", about: "the bus, and which events are published" },
      { name: "call", about: "what travels with a call" },
      { name: "runtime", about: "clock, abort, limits, slices, workers, log" },
      { name: "failures", about: "the table of failures; status in words" },
      { name: "text", about: "texts, ids, bytes" },
    ],
  },
];

/** Places that later work moves into. They are kept here and held by lint; there is no folder yet. */
export const planned = new Set([]);
