import { deepestJson, longestMs } from "../../kernel/limits.ts";
import { number } from "./setting-row.ts";

const KiB = 1024;
const MiB = 1024 * KiB;

/** A single user disturbs no one; several users share the machine. */
const atOnce = { alone: 1_024, shared: 128 };
const perSecond = { alone: 100_000, shared: 200 };

/** `toolyard.limits`. Sizes in bytes, times in milliseconds. */
export const limitRows = {
  requestBodyBytes: number({
    fallback: 4 * MiB,
    min: KiB,
    max: 1024 * MiB,
    about: "most bytes of one request from a client",
    reason: "room for a file in an argument; the whole body is held in memory",
    isReadAtStart: true,
  }),
  upstreamMessageBytes: number({
    fallback: 16 * MiB,
    min: KiB,
    max: 1024 * MiB,
    about: "most bytes of one message from a server",
    reason:
      "a page of a thousand tools with schemas takes 4 MiB; without a limit an endless line would fill the memory",
  }),
  resultBytes: number({
    fallback: 32 * MiB,
    min: KiB,
    max: 1024 * MiB,
    about: "most bytes of the result of a call",
    reason: "room for images and audio in base64; no model reads more",
    isReadAtStart: true,
  }),
  jsonDepth: number({
    fallback: 64,
    min: 8,
    max: deepestJson,
    about: "most levels of nesting in the JSON of a request",
    reason: "real messages nest a dozen levels; recursive parsers overflow at a few thousand",
    isReadAtStart: true,
  }),
  bodyTimeoutMs: number({
    fallback: 30_000,
    min: 100,
    max: longestMs,
    about: "milliseconds within which a request must have arrived completely",
    reason: "enough for 4 MiB over a slow line; a client that sends its request as slowly as it can is cut off",
    isReadAtStart: true,
  }),
  sessions: number({
    fallback: 10_000,
    min: 1,
    max: 1_000_000,
    about: "most sessions of legacy clients",
    reason: "a thousand clients, each with ten sessions left over from reconnects; a session takes about 2 KB",
    isReadAtStart: true,
  }),
  sessionIdleMs: number({
    fallback: 1_800_000,
    min: 1_000,
    max: longestMs,
    about: "milliseconds without use after which a session ends",
    reason: "clients that disappear do not end their sessions; half an hour is longer than a break",
    isReadAtStart: true,
  }),
  stdinQueueBytes: number({
    fallback: 8 * MiB,
    min: 64 * KiB,
    max: 1024 * MiB,
    about: "most bytes that wait for a server process to read them",
    reason: "two of the largest requests; a server that does not read must not fill the gateway's memory",
  }),
  listPages: number({
    fallback: 1_000,
    min: 1,
    max: 100_000,
    about: "most pages of one list of a server",
    reason: "a server might never stop sending pages",
  }),
  listItems: number({
    fallback: 20_000,
    min: 1,
    max: 1_000_000,
    about: "most items of one list of a server",
    reason: "twice the largest catalog that search is measured with",
  }),
  contentBlocks: number({
    fallback: 10_000,
    min: 1,
    max: 100_000,
    about: "most content blocks of one result",
    reason: "a result of a thousand rows may have a block for each; each takes memory in every client",
    isReadAtStart: true,
  }),
  openStreams: number({
    fallback: 1_024,
    min: 1,
    max: 1_000_000,
    about: "most event streams that one person may have open",
    reason: "counted over all clients of the person; each stream takes a socket and up to 1 MiB of buffer",
  }),
  parkedCalls: number({
    fallback: 8,
    min: 1,
    max: 10_000,
    about: "most calls of one instance that wait for the answer to a question",
    reason: "each of them is a call that waits for a person",
    isReadAtStart: true,
  }),
  clientInstances: number({
    fallback: 100,
    min: 1,
    max: 10_000,
    about: "most instances of servers of scope `client` that one person may have",
    reason: "enough for twenty clients with five such servers each; a process takes 50-100 MB",
  }),
  parkedMs: number({
    fallback: 600_000,
    min: 1_000,
    max: longestMs,
    about: "most milliseconds that a question may wait for its answer",
    reason: "no one answers a question after ten minutes",
    isReadAtStart: true,
  }),
  concurrentCalls: number({
    fallback: atOnce.alone,
    compute: ({ isShared }) => (isShared ? atOnce.shared : atOnce.alone),
    fallbackText: "1024; with `principals` 128",
    min: 1,
    max: 1_000_000,
    about: "most calls that one person may have in progress",
    reason:
      "one user: a thousand clients with a call each; several people: an agent with a hundred parallel steps, " +
      "while one that is stuck leaves room for the others",
    example: 64,
  }),
  callsPerSecond: number({
    fallback: perSecond.alone,
    compute: ({ isShared }) => (isShared ? perSecond.shared : perSecond.alone),
    fallbackText: "100,000; with `principals` 200",
    min: 1,
    max: 1_000_000,
    about: "most calls of one person per second",
    reason:
      "one user: more than one core can serve, so no limit in practice; several people: faster than any agent " +
      "works, but slower than one that calls in an endless loop",
    example: 50,
  }),
};
