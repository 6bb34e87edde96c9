import * as v from "valibot";
import { numberOf } from "./check.ts";
import { longestMs } from "../kernel/limits.ts";
import { boolean, number, other } from "./setting-row.ts";

/** Times of servers, taken from `toolyard.instances` unless a server's entry has its own. */
export const serverTimes = {
  discoveryTimeoutMs: number({
    fallback: 45_000,
    min: 100,
    max: longestMs,
    about: "milliseconds that listing a server's tools, resources and prompts may take",
    reason: "servers with thousands of tools need a dozen pages; a hung one is given up before a person does",
  }),
  callTimeoutMs: number({
    fallback: 300_000,
    min: 100,
    max: longestMs,
    about: "milliseconds that a call may be without an answer or progress",
    reason: "silence, not work: progress starts it again; builds and queries take minutes",
  }),
  maxCallTimeoutMs: number({
    fallback: 3_600_000,
    min: 100,
    max: longestMs,
    about: "milliseconds that a call may take in all",
    reason: "whatever progress a server reports, no call holds its resources for more than an hour",
  }),
  idleTimeoutMs: number({
    fallback: 180_000,
    min: 0,
    max: longestMs,
    about: "milliseconds without use after which a server's process is stopped",
    reason: "a pause in a conversation is shorter; a forgotten process costs 50-100 MB. 0 means never",
  }),
  statefulIdleTimeoutMs: number({
    fallback: 7_200_000,
    min: 0,
    max: longestMs,
    about: "the same for servers that hold something for their users",
    reason: "a lunch or a meeting is shorter; what a browser or a shell holds cannot be brought back. 0 means never",
  }),
};

export const startTimeout = number({
  fallback: undefined,
  fallbackText:
    "30,000; a first start by npx, uvx, docker and the like has `runnerQuietMs` and `runnerStartMs` instead",
  min: 100,
  max: longestMs,
  about: "milliseconds from the start of a process until it answers",
  reason: "a server that is installed answers within seconds, also on a busy machine",
  example: 60_000,
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
    about: "milliseconds after a start in which no process is stopped for want of use",
    reason: "a server just started is about to be used",
  }),
  idleCheckMs: number({
    fallback: 30_000,
    min: 100,
    max: longestMs,
    about: "milliseconds between two looks for idle processes",
    reason: "an idle process may live half a minute longer; checking more often would show as idle CPU",
  }),
  parallelStarts: number({
    fallback: parallelStartsPerCore,
    compute: ({ cores }) => cores * parallelStartsPerCore,
    fallbackText: "2 per processor core",
    min: 1,
    max: 1_024,
    about: "servers that start at a time",
    reason: "a starting server waits for its disk half of the time",
    example: 4,
  }),
  startQueue: number({
    fallback: 1_000,
    min: 1,
    max: 100_000,
    about: "starts that wait for their turn",
    reason: "200 users with five servers each may connect at once; more is a mistake or an attack",
  }),
  parallelInstalls: number({
    fallback: 2,
    min: 1,
    max: 64,
    about: "first starts of package runners (npx, uvx, docker and the like) at a time",
    reason: "each install keeps a core, the disk and the line busy; more at once only make every one of them slower",
  }),
  runnerQuietMs: number({
    fallback: 120_000,
    min: 1_000,
    max: longestMs,
    about: "milliseconds without any sign of work after which a package runner's first start is given up",
    reason:
      "a first start by npx, uvx, docker and the like that shows no sign of work: a registry that hangs is retried within it",
  }),
  runnerStartMs: number({
    fallback: 900_000,
    min: 1_000,
    max: longestMs,
    about: "milliseconds after which a package runner's start is given up, whatever it does",
    reason: "an install that works is waited for, but a start that only seems to work must end some time",
  }),
  runnerStopMs: number({
    fallback: 30_000,
    min: 0,
    max: longestMs,
    about: "milliseconds that a package runner has to end by itself when its start is given up",
    reason:
      "a runner that is killed in the middle of an install leaves a broken folder behind; undoing it takes seconds",
  }),
  npxFromFolder: boolean({
    fallback: true,
    about: "whether `npx -y name` is started from the folder that it was installed into a day ago at most",
    reason: "asking the registry at every wake costs seconds, and the answer is the same for a day",
  }),
  stopTimeoutMs: number({
    fallback: 10_000,
    min: 0,
    max: longestMs,
    about: "milliseconds that a process has to end after SIGTERM before it is killed",
    reason: "servers that save their work on SIGTERM take seconds",
  }),
  probeIntervalMs: number({
    fallback: 180_000,
    min: 1_000,
    max: longestMs,
    about: "milliseconds between two tries to reach a remote server that is down",
    reason: "a remote server that was down is found again within three minutes without being pestered",
  }),
  refreshIntervalMs: number({
    fallback: 600_000,
    min: 1_000,
    max: longestMs,
    about: "milliseconds after which the lists of a server that announces no changes are fetched again",
    reason: "servers that announce no changes are listed again every ten minutes",
  }),
  drainTimeoutMs: number({
    fallback: 25_000,
    min: 0,
    max: longestMs,
    about: "milliseconds that calls in flight have to end when the gateway stops",
    reason: "service managers kill after 30 s; five of them are for stopping the children",
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
      "milliseconds before the restart after the first, second, ... crash; one crash more within `crashWindowMs`, and the server is given up",
    reason: "long enough to be mended, short enough to be waited for",
    example: [1_000, 10_000],
  }),
  steadyUptimeMs: number({
    fallback: 60_000,
    min: 0,
    max: longestMs,
    about: "milliseconds of uptime after which a crash is answered with a restart at once",
    reason: "what ran for a minute was no failed start: it is worth an immediate one",
  }),
  crashWindowMs: number({
    fallback: 300_000,
    min: 1_000,
    max: longestMs,
    about: "milliseconds within which crashes are counted together",
    reason: "four crashes in five minutes are a loop; one an hour is a nuisance that is lived with",
  }),
  callRetryMs: number({
    fallback: 1_000,
    min: 0,
    max: longestMs,
    about: "milliseconds that must pass before another call tries a server that is down",
    reason: "a hundred calls for a server that is down must not become a hundred attempts",
  }),
  failedRetryMs: number({
    fallback: 600_000,
    min: 1_000,
    max: longestMs,
    about: "milliseconds that must pass before a call tries a server that was given up",
    reason: "a server that was mended is found again by whoever calls it, without anybody's doing",
  }),
};
