import { fork } from "node:child_process";
import { fromSentFailure, GatewayError, type SentFailure } from "../../kernel/failures/gateway-error.ts";
import { abortReason } from "../../kernel/runtime/abort.ts";
import { buildId } from "../../kernel/runtime/late-module.ts";
import { workerUrl } from "../../kernel/runtime/run-worker.ts";
import type { ServerTrial } from "../../operations/machine/servers/trial-result.ts";
import type { Surroundings } from "../../operations/machine/surroundings/surroundings.ts";
import type { TriedServer } from "../../operations/request/management.ts";

/** What the process of a trial is asked. Its environment is that of the process. */
export interface TrialAsk extends Omit<TriedServer, "variables"> {
  /** Of the gateway that asks: its program may have been replaced since it started. */
  readonly build: string;
  readonly place: Omit<Surroundings, "env">;
}

/** What it answers. */
export type TrialAnswer = { readonly trial: ServerTrial } | { readonly failure: SentFailure };

/** What stopping all that a trial started may take. */
const longestStopMs = 15_000;

/**
 * Tries a server in a process of its own, because foreign code is started and a second gateway built for it: its memory
 * is freed afterwards. When the signal aborts, or this process ends, that process stops what it started, and ends.
 */
export async function tryApart(
  { env, ...place }: Surroundings,
  { variables, ...tried }: TriedServer,
  signal: AbortSignal,
): Promise<ServerTrial> {
  signal.throwIfAborted();
  const child = fork(workerUrl(import.meta.url, "trial-main"), {
    cwd: place.cwd,
    env: { ...env, ...variables },
    execArgv: [],
    stdio: "ignore",
  });
  // One that cannot even stop itself is ended.
  let ending: NodeJS.Timeout | undefined;
  child.once("exit", () => clearTimeout(ending));
  // It notices that as its order to stop.
  const leave = (): void => {
    if (child.connected) child.disconnect();
    ending ??= setTimeout(() => child.kill("SIGKILL"), longestStopMs).unref();
  };
  signal.addEventListener("abort", leave);
  try {
    const answer = await new Promise<TrialAnswer>((resolve, reject) => {
      const fail = (why: string, cause?: unknown): void =>
        reject(signal.aborted ? abortReason(signal) : new GatewayError("INTERNAL", `the trial ${why}`, { cause }));
      child.once("message", (said) => resolve(said as TrialAnswer));
      // One that could not be started says so again when it is written to.
      child.on("error", (error) => fail(`could not be started: ${error.message}`, error));
      child.once("exit", (code) => fail(`ended with code ${code ?? 1}`));
      child.send({ ...tried, place, build: buildId } satisfies TrialAsk, (error) => {
        if (error !== null) fail(`could not be asked: ${error.message}`, error);
      });
    });
    if ("trial" in answer) return answer.trial;
    throw fromSentFailure(answer.failure);
  } finally {
    signal.removeEventListener("abort", leave);
    leave();
  }
}
