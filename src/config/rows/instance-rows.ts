import * as v from "valibot";
import { numberOf } from "../file/check.ts";
import { longestMs } from "../../kernel/limits.ts";
import { boolean, number, other } from "./setting-row.ts";

/** Times of servers, taken from `toolyard.instances` unless a server's entry has its own. */
export const serverTimes = {
  discoveryTimeoutMs: number({
    fallback: 45_000,
    min: 100,
    max: longestMs,
    about: "milliseconds that listing a server's tools, resources and prompts may take",
    reason:
      "servers with thousands of tools need a dozen pages; one that hangs is given up before a person loses patience",
  }),
  callTimeoutMs: number({
    fallback: 900_000,
    min: 100,
    max: longestMs,
    about: "milliseconds that a call may go without an answer or progress",
    reason:
      "builds and queries take up to ten minutes, and clients are kept waiting meanwhile; each report of progress " +
      "starts the time again",
  }),
  maxCallTimeoutMs: number({
    fallback: 3_600_000,
    min: 100,
    max: longestMs,
    about: "milliseconds that a call may take altogether",
    reason: "whatever progress a server reports, no call holds its resources for more than an hour",
  }),
  idleTimeoutMs: number({
    fallback: 180_000,
    min: 0,
    max: longestMs,
    about: "milliseconds without use after which a server's process is stopped",
    reason: "longer than a pause in a conversation; a forgotten process costs 50-100 MB. 0 means never",
  }),
  statefulIdleTimeoutMs: number({
    fallback: 7_200_000,
    min: 0,
    max: longestMs,
    about: "the same for servers that hold something for their users",
    reason: "longer than a lunch or a meeting; what a browser or a shell holds cannot be restored. 0 means never",
  }),
};

export const startTimeout = number({
  fallback: undefined,
  fallbackText:
    "30,000; a first start by npx, uvx, docker and the like has `runnerQuietMs` and `runnerStartMs` instead",
  min: 100,
  max: longestMs,
  about: "milliseconds within which a started process must answer",
  reason: "an installed server answers within seconds, even on a busy machine",
  example: 60_000,
});

/** Whether a server's calls have a breaker, unless its entry says so itself. */
export const breakerRow = boolean({
  fallback: false,
  about:
    "whether a server that fails too often is left alone for a while: its calls are refused at once, until it is " +
    "tried again",
  reason: "most servers serve one person, who notices; with several `replicas` or `urls` it is on",
});

/** Starts per core. A starting server waits for its disk half of the time. */
const parallelStartsPerCore = 2;

const restartDelays = [1_000, 5_000, 15_000] as const;
const mostDelays = 20;

/** `toolyard.instances`, besides the times of servers. */
export const instanceRows = {
  idleGraceMs: number({
    fallback: 60_000,
    min: 0,
    max: longestMs,
    about: "milliseconds after its start during which a process is not stopped for being idle",
    reason: "a server that was just started is about to be used",
  }),
  idleCheckMs: number({
    fallback: 30_000,
    min: 100,
    max: longestMs,
    about: "milliseconds between two checks for idle processes",
    reason: "an idle process may run half a minute longer; checking more often would cost CPU time all the while",
  }),
  parallelStarts: number({
    fallback: parallelStartsPerCore,
    compute: ({ cores }) => cores * parallelStartsPerCore,
    fallbackText: "2 per processor core",
    min: 1,
    max: 1_024,
    about: "most servers that start at the same time",
    reason: "a starting server waits for its disk half of the time",
    example: 4,
  }),
  startQueue: number({
    fallback: 1_000,
    min: 1,
    max: 100_000,
    about: "most starts that wait for their turn",
    reason: "200 users with five servers each may connect at once; more is a mistake or an attack",
  }),
  parallelInstalls: number({
    fallback: 2,
    min: 1,
    max: 64,
    about: "most first starts of package runners (npx, uvx, docker and the like) at the same time",
    reason: "each installation keeps a core, the disk and the network busy; more at once only slow each other down",
  }),
  runnerQuietMs: number({
    fallback: 120_000,
    min: 1_000,
    max: longestMs,
    about: "milliseconds without any sign of work after which a package runner's first start is given up",
    reason: "a runner may be installing a package; within this time it retries a registry that does not answer",
  }),
  runnerStartMs: number({
    fallback: 900_000,
    min: 1_000,
    max: longestMs,
    about: "milliseconds after which a package runner's start is given up, whatever it does",
    reason: "a working installation is waited for, but one that only seems to work must end at some time",
  }),
  runnerStopMs: number({
    fallback: 30_000,
    min: 0,
    max: longestMs,
    about: "milliseconds that a package runner gets to end by itself when its start is given up",
    reason:
      "a runner that is killed in the middle of an installation leaves a broken folder behind; cleaning up takes " +
      "seconds",
  }),
  npxFromFolder: boolean({
    fallback: true,
    about:
      "whether `npx -y name` runs from the folder that it was installed into, if that happened within the last day",
    reason: "asking the registry at every start takes seconds, and its answer rarely changes within a day",
  }),
  stopTimeoutMs: number({
    fallback: 10_000,
    min: 0,
    max: longestMs,
    about: "milliseconds that a process gets to end after SIGTERM before it is killed",
    reason: "servers that save their work on SIGTERM take seconds",
  }),
  probeIntervalMs: number({
    fallback: 180_000,
    min: 1_000,
    max: longestMs,
    about: "milliseconds between two attempts to reach a remote server that is down",
    reason: "a remote server is found again within three minutes of its return, without being flooded with requests",
  }),
  refreshIntervalMs: number({
    fallback: 600_000,
    min: 1_000,
    max: longestMs,
    about: "milliseconds after which the lists of a server that does not announce changes are fetched again",
    reason: "rarely enough to cost nothing, often enough that new tools appear within ten minutes",
  }),
  drainTimeoutMs: number({
    fallback: 25_000,
    min: 0,
    max: longestMs,
    about: "milliseconds that calls in progress get to finish when the gateway stops",
    reason: "service managers kill a process after 30 s, and stopping the servers takes up to five of them",
  }),
  restartDelaysMs: other({
    fallback: restartDelays,
    fallbackText: "`[1000, 5000, 15000]`",
    schema: v.pipe(
      v.array(numberOf({ min: 0, max: longestMs })),
      v.maxLength(mostDelays, `expected at most ${mostDelays} delays`),
    ) as v.GenericSchema<unknown, readonly number[]>,
    json: { type: "array", items: { type: "integer", minimum: 0, maximum: longestMs }, maxItems: mostDelays },
    type: `list of whole numbers, at most ${mostDelays}`,
    about:
      "milliseconds before the restart after the first, second, ... crash; a server with one more crash within " +
      "`crashWindowMs` is given up",
    reason: "long enough for a passing problem to end, short enough for callers to wait",
    example: [1_000, 10_000],
  }),
  steadyUptimeMs: number({
    fallback: 60_000,
    min: 0,
    max: longestMs,
    about: "milliseconds of uptime after which a server that crashes is restarted at once",
    reason: "after a minute of work the start itself had succeeded, so that another one probably will",
  }),
  crashWindowMs: number({
    fallback: 300_000,
    min: 1_000,
    max: longestMs,
    about: "milliseconds within which crashes are counted together",
    reason: "four crashes in five minutes show that restarting does not help; one per hour can be lived with",
  }),
  callRetryMs: number({
    fallback: 1_000,
    min: 0,
    max: longestMs,
    about: "milliseconds that must pass before another call tries a server that is down",
    reason: "a hundred calls to a server that is down must not cause a hundred attempts",
  }),
  breakerPercent: number({
    fallback: 50,
    min: 1,
    max: 100,
    about: "percent of the calls within `breakerWindowMs` that fail before a breaker opens",
    reason: "a server that fails every other call is of little use, and every call to it costs its caller a wait",
  }),
  breakerCalls: number({
    fallback: 10,
    min: 2,
    max: 10_000,
    about: "calls within `breakerWindowMs` below which a breaker does not open",
    reason: "two failures of three calls say little",
  }),
  breakerWindowMs: number({
    fallback: 60_000,
    min: 1_000,
    max: longestMs,
    about: "milliseconds within which a breaker counts calls and their failures",
    reason: "longer than a passing overload, short enough that an outage is noticed while it lasts",
  }),
  breakerWaitMs: number({
    fallback: 5_000,
    min: 10,
    max: longestMs,
    about: "milliseconds after which a server whose breaker opened is tried again; doubled with each try that fails",
    reason: "a restart elsewhere takes seconds; the wait grows to at most five minutes",
  }),
  failedRetryMs: number({
    fallback: 600_000,
    min: 1_000,
    max: longestMs,
    about: "milliseconds that must pass before a call tries a server that was given up",
    reason: "a server that works again is found by the next call, without anybody restarting it",
  }),
};
