import { missingIn } from "../config/file/substitution.ts";
import type { PrincipalId } from "../kernel/ids.ts";
import { localPrincipal } from "../kernel/principal.ts";
import type { Instance } from "../servers/instance/instance.ts";
import type { InstanceState } from "../servers/instance/state.ts";
import { stepOf } from "../servers/instance/state-status.ts";
import { readDescendants, readResidentBytes } from "../servers/process/process-table.ts";
import { latencyBoundsMs } from "../store/record-rows.ts";
import type { UsageSum } from "../store/record-store.ts";

/** The kinds of steps, for links to the place where one is taken. */
export const nextSteps = Object.freeze([
  "log-in",
  "fill-in",
  "enable",
  "correct",
  "start",
  "try-now",
  "see-log",
] as const);

/** What somebody could do about an instance. */
export interface NextStep {
  readonly step: (typeof nextSteps)[number];
  readonly text: string;
  /** A command for a terminal; null where there is none. */
  readonly command: string | null;
}

/** What to do next; null where all is well, or goes on by itself. */
export function nextStep({
  state,
  server,
  owner,
  id,
}: Pick<Instance, "state" | "server" | "owner" | "id">): NextStep | null {
  const { slug } = server;
  const restart = `toolyard restart ${quote(owner === null ? slug : id)}`;
  switch (state.kind) {
    case "needs-login": {
      const page = state.cause.data?.["connect"];
      if (typeof page === "string") return { step: "log-in", text: `Log in: ${page}`, command: null };
      return { step: "log-in", text: "Log in.", command: `toolyard login ${slug}${personOption(owner)}` };
    }
    case "unconfigured":
      return { step: "fill-in", text: `Give it values: ${state.missing.join(", ")}.`, command: null };
    case "disabled": {
      if (stepOf(state) === "enable")
        return { step: "enable", text: "Enable it.", command: `toolyard servers enable ${quote(server.key)}` };
      const text = "Correct what the reason says, in the configuration or the variables of the gateway.";
      const variable = missingIn(state.reason);
      return { step: "correct", text, command: variable === undefined ? null : `toolyard config keep ${variable}` };
    }
    case "stopped":
      return { step: "start", text: "Start it.", command: restart };
    case "offline":
      return { step: "try-now", text: "It is tried again by itself, or now.", command: restart };
    case "error":
    case "failed":
      return {
        step: "see-log",
        text: "Look at its log, fix it and restart it.",
        command: `toolyard logs ${quote(owner === null ? slug : id)}`,
      };
    default:
      return null;
  }
}

function personOption(owner: PrincipalId | null): string {
  return owner === null || owner === localPrincipal.id ? "" : ` --principal ${quote(owner)}`;
}

/** For a shell. Ids of instances contain names of people. */
function quote(word: string): string {
  return /^[\w.@:-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Since when it is as it is, in monotonic ms; undefined where that is not known. */
export function sinceOf(state: InstanceState): number | undefined {
  return "sinceMs" in state ? state.sinceMs : undefined;
}

/** The resident memory of its process and of all that this started; null where there is no process, or no /proc. */
export function memoryOf(processes: readonly (number | undefined)[]): number | null {
  const pids = processes.flatMap((pid) => (pid === undefined ? [] : (readDescendants(pid) ?? [pid])));
  return pids.reduce((sum, member) => sum + readResidentBytes(member), 0) || null;
}

/**
 * A duration that 95 of 100 calls did not exceed: the upper bound of the bucket in which it lies, and never more than
 * the slowest took. Null without calls.
 */
export function p95Of({ buckets, durationMsMax }: Pick<UsageSum, "buckets" | "durationMsMax">): number | null {
  const calls = buckets.reduce((sum, count) => sum + count, 0);
  if (calls === 0) return null;
  let seen = 0;
  const place = buckets.findIndex((count) => (seen += count) >= calls * 0.95);
  return Math.min(latencyBoundsMs[place] ?? durationMsMax, durationMsMax);
}
