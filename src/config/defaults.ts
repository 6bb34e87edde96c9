import { deepestJson, longestMs } from "../kernel/limits.ts";
/**
 * Every number that the configuration may change: its default, its range, and why the default is what it is.
 * Times in ms, sizes in bytes. docs and schema are made from these rows, so that they cannot disagree.
 */
export interface NumberRow {
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly reason: string;
}

type Rows<Name extends string> = Readonly<Record<Name, NumberRow>>;

const KiB = 1024;
const MiB = 1024 * KiB;

/** Times that each server inherits from `toolyard.instances` unless it names its own. */
export const serverTimes = {
  discoveryTimeoutMs: {
    value: 45_000,
    min: 100,
    max: longestMs,
    reason: "servers with thousands of tools need a dozen pages; a hung one is given up before a person does",
  },
  callTimeoutMs: {
    value: 300_000,
    min: 100,
    max: longestMs,
    reason: "silence, not work: progress starts it again; builds and queries take minutes",
  },
  maxCallTimeoutMs: {
    value: 3_600_000,
    min: 100,
    max: longestMs,
    reason: "whatever progress a server reports, no call holds its resources for more than an hour",
  },
  idleTimeoutMs: {
    value: 180_000,
    min: 0,
    max: longestMs,
    reason: "a pause in a conversation is shorter; a forgotten process costs 50-100 MB. 0 means never",
  },
  statefulIdleTimeoutMs: {
    value: 7_200_000,
    min: 0,
    max: longestMs,
    reason: "a lunch or a meeting is shorter; what a browser or a shell holds cannot be brought back. 0 means never",
  },
} as const satisfies Rows<string>;

export const instanceNumbers = {
  idleGraceMs: {
    value: 60_000,
    min: 0,
    max: longestMs,
    reason: "a server just started is about to be used",
  },
  idleCheckMs: {
    value: 30_000,
    min: 100,
    max: longestMs,
    reason: "an idle process may live half a minute longer; checking more often would show as idle CPU",
  },
  startQueue: {
    value: 1_000,
    min: 1,
    max: 100_000,
    reason: "200 users with five servers each may connect at once; more is a mistake or an attack",
  },
  parallelInstalls: {
    value: 2,
    min: 1,
    max: 64,
    reason: "each install keeps a core, the disk and the line busy; more at once only make every one of them slower",
  },
  runnerQuietMs: {
    value: 120_000,
    min: 1_000,
    max: longestMs,
    reason:
      "a first start by npx, uvx, docker and the like that shows no sign of work: a registry that hangs is retried within it",
  },
  runnerStartMs: {
    value: 900_000,
    min: 1_000,
    max: longestMs,
    reason: "an install that works is waited for, but a start that only seems to work must end some time",
  },
  runnerStopMs: {
    value: 30_000,
    min: 0,
    max: longestMs,
    reason:
      "a runner that is killed in the middle of an install leaves a broken folder behind; undoing it takes seconds",
  },
  stopTimeoutMs: {
    value: 10_000,
    min: 0,
    max: longestMs,
    reason: "servers that save their work on SIGTERM take seconds",
  },
  probeIntervalMs: {
    value: 180_000,
    min: 1_000,
    max: longestMs,
    reason: "a remote server that was down is found again within three minutes without being pestered",
  },
  refreshIntervalMs: {
    value: 600_000,
    min: 1_000,
    max: longestMs,
    reason: "servers that announce no changes are listed again every ten minutes",
  },
  drainTimeoutMs: {
    value: 25_000,
    min: 0,
    max: longestMs,
    reason: "service managers kill after 30 s; five of them are for stopping the children",
  },
  steadyUptimeMs: {
    value: 60_000,
    min: 0,
    max: longestMs,
    reason: "what ran for a minute was no failed start: it is worth an immediate one",
  },
  crashWindowMs: {
    value: 300_000,
    min: 1_000,
    max: longestMs,
    reason: "four crashes in five minutes are a loop; one an hour is a nuisance that is lived with",
  },
  callRetryMs: {
    value: 1_000,
    min: 0,
    max: longestMs,
    reason: "a hundred calls for a server that is down must not become a hundred attempts",
  },
  failedRetryMs: {
    value: 600_000,
    min: 1_000,
    max: longestMs,
    reason: "a server that was mended is found again by whoever calls it, without anybody's doing",
  },
} as const satisfies Rows<string>;

/** Waits before the restarts after the first, second and third crash: long enough to be mended, short enough to be waited for. */
export const restartDelaysMs = [1_000, 5_000, 15_000] as const;

/** `parallelStarts`: cores x 2, because a starting server waits for its disk half of the time. */
export const parallelStartsPerCore = 2;
export const parallelStartsRange = { min: 1, max: 1_024 } as const;

export const limitNumbers = {
  requestBodyBytes: {
    value: 4 * MiB,
    min: KiB,
    max: 1024 * MiB,
    reason: "a file in an argument fits; a body is held in memory whole",
  },
  upstreamMessageBytes: {
    value: 16 * MiB,
    min: KiB,
    max: 1024 * MiB,
    reason: "a page of a thousand tools with schemas is 4 MiB; an endless line must end",
  },
  resultBytes: {
    value: 32 * MiB,
    min: KiB,
    max: 1024 * MiB,
    reason: "images and audio as base64 fit; no model reads more",
  },
  jsonDepth: {
    value: 64,
    min: 8,
    max: deepestJson,
    reason: "real messages nest a dozen levels; recursive parsers overflow at some thousands",
  },
  bodyTimeoutMs: {
    value: 30_000,
    min: 100,
    max: longestMs,
    reason: "4 MiB over a slow line; a slowloris holds a socket no longer",
  },
  sessions: {
    value: 10_000,
    min: 1,
    max: 1_000_000,
    reason: "a thousand clients with stale sessions of ten reconnects each; about 2 KB apiece",
  },
  sessionIdleMs: {
    value: 1_800_000,
    min: 1_000,
    max: longestMs,
    reason: "clients that vanish never DELETE; half an hour outlives a break",
  },
  stdinQueueBytes: {
    value: 8 * MiB,
    min: 64 * KiB,
    max: 1024 * MiB,
    reason: "two of the largest requests; a server that does not read must not eat our memory",
  },
  listPages: {
    value: 1_000,
    min: 1,
    max: 100_000,
    reason: "a server that never stops paging is stopped",
  },
  listItems: {
    value: 20_000,
    min: 1,
    max: 1_000_000,
    reason: "twice the largest catalog that search is measured with",
  },
  contentBlocks: {
    value: 500,
    min: 1,
    max: 100_000,
    reason: "real results have a handful; each block costs every client memory of its own",
  },
  openStreams: {
    value: 1_024,
    min: 1,
    max: 1_000_000,
    reason: "per principal: many clients share one; each holds a socket and up to 1 MiB of buffer",
  },
  parkedCalls: {
    value: 8,
    min: 1,
    max: 10_000,
    reason: "per instance: each is a call that waits for a person",
  },
  clientInstances: {
    value: 100,
    min: 1,
    max: 10_000,
    reason: "per person, of all servers of scope `client`: twenty clients with five of them; a process takes 50-100 MB",
  },
  parkedMs: {
    value: 600_000,
    min: 1_000,
    max: longestMs,
    reason: "nobody answers a question after ten minutes",
  },
} as const satisfies Rows<string>;

/** Calls at once and per second, per principal. One person alone has nobody to disturb; several share the machine. */
export const callLimits = {
  alone: {
    concurrentCalls: {
      value: 1_024,
      min: 1,
      max: 1_000_000,
      reason: "a thousand clients of one person, each with a call in flight",
    },
    callsPerSecond: {
      value: 100_000,
      min: 1,
      max: 1_000_000,
      reason: "more than one core can serve: no limit in practice",
    },
  },
  shared: {
    concurrentCalls: {
      value: 128,
      min: 1,
      max: 1_000_000,
      reason: "an agent with a hundred parallel steps; a stuck one leaves room for the others",
    },
    callsPerSecond: {
      value: 200,
      min: 1,
      max: 1_000_000,
      reason: "faster than any agent works, slower than a loop gone wild",
    },
  },
} as const satisfies Readonly<Record<"alone" | "shared", Rows<"concurrentCalls" | "callsPerSecond">>>;

export const settingNumbers = {
  port: {
    value: 3001,
    min: 0,
    max: 65_535,
    reason: "free on most machines; 0 lets the system choose",
  },
  discoverTokens: {
    value: 4_000,
    min: 200,
    max: 100_000,
    reason: "ten results with signatures fit four times over; 2 % of a usual context",
  },
  embeddingDeadlineMs: {
    value: 300,
    min: 10,
    max: 60_000,
    reason: "a search that waits longer is worse than the lexical answer",
  },
  embeddingDimensions: {
    value: 0,
    min: 1,
    max: 16_384,
    reason: "asked of the endpoint only when configured",
  },
  maxNamespaces: {
    value: 20,
    min: 1,
    max: 10_000,
    reason: "twenty namespaces of twenty tools are all that a model can look through",
  },
  cacheTtlMs: {
    value: 300_000,
    min: 1_000,
    max: longestMs,
    reason: "five minutes since the last use: the topic has changed",
  },
} as const satisfies Rows<string>;

/** What is not a number. */
export const defaults = {
  /** Loopback: nobody else reaches it unless somebody decides so. */
  host: "127.0.0.1",
  /** Four tools cost the same however many servers there are. */
  exposure: "meta",
  logLevel: "info",
  engine: "lexical",
  /** Use makes search better, and the memory never leaves the machine. */
  learn: true,
  retry: true,
  /** Many servers in use do not keep to their own output schemas; their answers are still useful. */
  strictResults: false,
  interactive: false,
  requestLogging: true,
  priority: "normal",
  category: undefined,
  /** Asking the registry at every wake costs seconds, and the answer is the same for a day. */
  npxFromFolder: true,
  helpTool: "toolyard_help",
  parallelLoading: true,
} as const;

/** The file itself. Read whole and parsed at once; a real one is below 100 KiB. */
export const configFileBytes = 5 * MiB;
