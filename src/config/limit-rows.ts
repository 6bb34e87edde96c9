import { deepestJson, longestMs } from "../kernel/limits.ts";
import { number } from "./setting-row.ts";

const KiB = 1024;
const MiB = 1024 * KiB;

/** One person alone has nobody to disturb; several share the machine. */
const atOnce = { alone: 1_024, shared: 128 };
const perSecond = { alone: 100_000, shared: 200 };

/** `toolyard.limits`. Sizes in bytes, times in milliseconds. */
export const limitRows = {
  requestBodyBytes: number({
    fallback: 4 * MiB,
    min: KiB,
    max: 1024 * MiB,
    about: "bytes of one request of a client",
    reason: "a file in an argument fits; a body is held in memory whole",
    isReadAtStart: true,
  }),
  upstreamMessageBytes: number({
    fallback: 16 * MiB,
    min: KiB,
    max: 1024 * MiB,
    about: "bytes of one message of a server",
    reason: "a page of a thousand tools with schemas is 4 MiB; an endless line must end",
  }),
  resultBytes: number({
    fallback: 32 * MiB,
    min: KiB,
    max: 1024 * MiB,
    about: "bytes of one result of a call",
    reason: "images and audio as base64 fit; no model reads more",
    isReadAtStart: true,
  }),
  jsonDepth: number({
    fallback: 64,
    min: 8,
    max: deepestJson,
    about: "levels that the JSON of a request may nest",
    reason: "real messages nest a dozen levels; recursive parsers overflow at some thousands",
    isReadAtStart: true,
  }),
  bodyTimeoutMs: number({
    fallback: 30_000,
    min: 100,
    max: longestMs,
    about: "milliseconds in which a request must have arrived whole",
    reason: "4 MiB over a slow line; a slowloris holds a socket no longer",
    isReadAtStart: true,
  }),
  sessions: number({
    fallback: 10_000,
    min: 1,
    max: 1_000_000,
    about: "sessions of legacy clients",
    reason: "a thousand clients with stale sessions of ten reconnects each; about 2 KB apiece",
    isReadAtStart: true,
  }),
  sessionIdleMs: number({
    fallback: 1_800_000,
    min: 1_000,
    max: longestMs,
    about: "milliseconds without use after which a session ends",
    reason: "clients that vanish never DELETE; half an hour outlives a break",
    isReadAtStart: true,
  }),
  stdinQueueBytes: number({
    fallback: 8 * MiB,
    min: 64 * KiB,
    max: 1024 * MiB,
    about: "bytes that wait for a server process to read them",
    reason: "two of the largest requests; a server that does not read must not eat our memory",
  }),
  listPages: number({
    fallback: 1_000,
    min: 1,
    max: 100_000,
    about: "pages of one list of a server",
    reason: "a server that never stops paging is stopped",
  }),
  listItems: number({
    fallback: 20_000,
    min: 1,
    max: 1_000_000,
    about: "items of one list of a server",
    reason: "twice the largest catalog that search is measured with",
  }),
  contentBlocks: number({
    fallback: 500,
    min: 1,
    max: 100_000,
    about: "content blocks of one result",
    reason: "real results have a handful; each block costs every client memory of its own",
    isReadAtStart: true,
  }),
  openStreams: number({
    fallback: 1_024,
    min: 1,
    max: 1_000_000,
    about: "event streams that one person has open",
    reason: "per principal: many clients share one; each holds a socket and up to 1 MiB of buffer",
  }),
  parkedCalls: number({
    fallback: 8,
    min: 1,
    max: 10_000,
    about: "calls of one instance that wait for the answer to a question",
    reason: "per instance: each is a call that waits for a person",
    isReadAtStart: true,
  }),
  clientInstances: number({
    fallback: 100,
    min: 1,
    max: 10_000,
    about: "instances of servers of scope `client` that one person has",
    reason: "per person, of all servers of scope `client`: twenty clients with five of them; a process takes 50-100 MB",
  }),
  parkedMs: number({
    fallback: 600_000,
    min: 1_000,
    max: longestMs,
    about: "milliseconds that a question may wait for its answer",
    reason: "nobody answers a question after ten minutes",
    isReadAtStart: true,
  }),
  concurrentCalls: number({
    fallback: atOnce.alone,
    compute: ({ isShared }) => (isShared ? atOnce.shared : atOnce.alone),
    fallbackText: "1024; with `principals` 128",
    min: 1,
    max: 1_000_000,
    about: "calls that one person has in flight",
    reason:
      "a thousand clients of one person, each with a call in flight; of several people an agent with a hundred parallel steps, and a stuck one leaves room for the others",
    example: 64,
  }),
  callsPerSecond: number({
    fallback: perSecond.alone,
    compute: ({ isShared }) => (isShared ? perSecond.shared : perSecond.alone),
    fallbackText: "100,000; with `principals` 200",
    min: 1,
    max: 1_000_000,
    about: "calls of one person in a second",
    reason:
      "alone more than one core can serve, so no limit in practice; of several people faster than any agent works, slower than a loop gone wild",
    example: 50,
  }),
};
