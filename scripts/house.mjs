// The house: every wing of src/ from the top to the cellar, with its rooms. A wing imports only wings below it; a room
// only rooms after it in its own wing; everybody may import `kernel`. The lint rules and ARCHITECTURE's table are made
// from this list, so that they cannot drift. What is planned and not built yet stands in `planned`.

/**
 * @typedef {{ name: string, about: string }} Room
 * @typedef {{ name: string, about: string, rooms: readonly Room[], ground?: true }} Wing With `ground` it has files of
 *   its own beside its
 *   rooms, which lie below all of them.
 */

/** @type {readonly Wing[]} */
export const wings = [
  { name: "cli", about: "argv to command, terminal output, exit codes. The only wing that prints", rooms: [] },
  {
    name: "app",
    about:
      "builds every part, one file per wing that it builds; starts and stops them in order. The only wing that sees all",
    rooms: [],
  },
  {
    name: "front",
    about: "decodes what comes in, calls `engine/perform`, encodes what goes out",
    rooms: [
      { name: "owner", about: "the door of whoever owns the data directory: commands and clients of `toolyard stdio`" },
      { name: "rest", about: "REST and its OpenAPI document, loaded at the first request" },
      { name: "mcp", about: "both protocol eras over HTTP, SSE and stdio: sessions, streams, subscriptions" },
      { name: "web", about: "pages for people" },
      { name: "http", about: "node:http, Host, Origin, bodies, admission, problem details" },
    ],
  },
  {
    name: "engine",
    about: "carries intents out",
    rooms: [
      { name: "perform", about: "the waist: one switch over the kinds of intent, and its stages" },
      { name: "approvals", about: "a person's yes to a call" },
      { name: "namespaces", about: "which namespaces are loaded for whom" },
      { name: "calls", about: "what a call is: retries, questions, checks of results, subscriptions" },
      {
        name: "results",
        about: "results that are too large for a model: where they are cut, and how the rest is read",
      },
      { name: "validation", about: "arguments against schemas, compiled in a worker" },
      { name: "policy", about: "who may do what: one pure function" },
    ],
  },
  { name: "cluster", about: "leases and connections to instances on other nodes", rooms: [] },
  {
    name: "people",
    about: "who calls",
    rooms: [
      { name: "sign-in", about: "logging in at identity providers, and who somebody is who comes from there" },
      { name: "authorization-server", about: "passwords, browser sessions, and OAuth towards our clients" },
      { name: "identity", about: "credential to principal" },
      { name: "directory", about: "the people that there are, and what they may use" },
      { name: "installations", about: "what teams installed, with their values and secrets" },
    ],
  },
  { name: "records", about: "what happened: sinks of events, metrics, the structured log", rooms: [] },
  {
    name: "store",
    about: "what is kept: `store.ts` is one object of small interfaces; a backend is a folder",
    ground: true,
    rooms: [
      { name: "files", about: "files in the data directory" },
      {
        name: "sql",
        about: "SQLite in a worker thread: `records.db`, which may lose, and `state.db`, which may not; or PostgreSQL",
      },
    ],
  },
  {
    name: "servers",
    about: "the servers behind the gateway",
    rooms: [
      { name: "instance", about: "state machine, starts, idle stop, crashes, the fleet of all instances" },
      { name: "logins", about: "logging in at servers that ask for it" },
      { name: "upstream", about: "MCP towards servers: `stdio/`, `streamable/`, `sse/`" },
      { name: "process", about: "process trees and their guardian" },
    ],
  },
  {
    name: "catalog",
    about: "what exists, how it is shown and found",
    rooms: [
      { name: "exposure", about: "how a view is shown to a client: pure functions" },
      { name: "discovery", about: "searches with I/O: engines, memory of use, embeddings" },
      { name: "search", about: "index and ranking, pure; `words/` is what it knows of words" },
      { name: "model", about: "snapshots, names, views, pure" },
    ],
  },
  {
    name: "config",
    about: "file, environment and flags to one frozen `Config`; hot reload",
    ground: true,
    rooms: [
      { name: "clients", about: "AI clients: where their MCP settings are, what stands in them, what we take over" },
    ],
  },
  {
    name: "wire",
    about: "bytes on the way",
    rooms: [
      { name: "http", about: "an HTTP/1.1 client that knows no MCP" },
      { name: "sse", about: "event streams, read and written" },
      { name: "mcp", about: "JSON-RPC and the protocol: revisions, numbers by name, sealed states" },
      { name: "json", about: "JSON as bytes: scan, validity, exact numbers" },
    ],
  },
  { name: "kernel", about: "what everybody needs: ids, principal, status, failures, events, abort, clock", rooms: [] },
];

/**
 * Wings and rooms that later work moves into. Their place is kept here and in the lint rules; there is no folder yet.
 */
export const planned = new Set(["cluster", "engine/approvals"]);
