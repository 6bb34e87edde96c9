import type { Era } from "../../kernel/call/call-context.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import { legacyRevisions, type LegacyRevision } from "../../wire/mcp/revisions.ts";
import { firstRung, type Rung } from "./declared-capabilities.ts";
import type { ConnectionEvents, FailedStep, Handshake } from "./connection.ts";

/** One request of a handshake. */
export type Step = { readonly kind: "probe" } | { readonly kind: "initialize"; readonly rung: Rung };

/** Why a step failed, and what the refusal says of other revisions. */
export interface StepFailure {
  /** One line. */
  readonly why: string;
  /** Thrown if no step works; that of the first `initialize` says most. */
  readonly failure?: GatewayError;
  /** Where a server may have named the revisions that it knows. */
  readonly text?: string;
  /** True when the process ended at the step. */
  readonly hasEnded?: boolean;
  /** True when an earlier request may have ended it, so that the step itself was not tried. */
  readonly isUntried?: boolean;
}

/** The order in which handshakes are tried with one server; see {@link createLadder}. */
export interface Ladder {
  /** The next step; undefined when there is none left. Counts as taken. */
  next(): Step | undefined;
  /** Notes that the step taken last has failed. */
  refused(failure: StepFailure): void;
  /**
   * Whether one more process may be started for the next step: once, when the process ended at a request that is not
   * the one by which it could be reached before. Any other end is a crash.
   */
  mayStartAgain(): boolean;
  /** Whether `server/discover` is still to come. */
  readonly mayProbe: boolean;
  /** Whether a refusal has named a revision to try next. */
  readonly hasNames: boolean;
  /** What to throw when there is no next step. */
  failure(): GatewayError;
}

/** What a ladder begins with. */
export interface LadderOptions {
  readonly server: string;
  readonly knownEras: readonly Era[] | undefined;
  readonly knownHandshake?: Handshake | undefined;
  readonly events: Pick<ConnectionEvents, "onHandshakeStep">;
  /** False for a transport that only the old revisions have. */
  readonly mayProbe?: boolean;
}

/** Enough for every revision; a server that refuses all of them is not asked on. */
const mostRequests = 5;

/**
 * Revision and capabilities go down together: members that an old parser does not know are dropped with their revision.
 * The last resort when nothing was refused for its revision: the newest one with less.
 */
const downwards: readonly Rung[] = Object.freeze([
  firstRung,
  { revision: "2025-06-18", declares: "known" },
  { revision: "2025-03-26", declares: "known" },
  { revision: "2024-11-05", declares: "nothing" },
  { revision: firstRung.revision, declares: "nothing" },
]);

/**
 * Decides for every transport the next attempt: `server/discover`; `initialize` with all that can be bridged; with the
 * revisions that a refusal names; with older ones and what those knew; with nothing declared. A server that was legacy
 * is first asked as it was last time. At most five requests, and one process more than one.
 */
export function createLadder(options: LadderOptions): Ladder {
  const { server, knownEras, knownHandshake, events } = options;
  const wasLegacy = knownEras !== undefined && knownEras.length > 0 && !knownEras.includes("modern");
  const taken: Step[] = [];
  const named: LegacyRevision[] = [];
  let first: GatewayError | undefined;
  let requests = 0;
  let hasEnded = false;
  let hasStartedAgain = false;

  function hasTried(rung: Rung): boolean {
    return taken.some((step) => step.kind === "initialize" && isSameRung(step.rung, rung));
  }

  function mayProbe(): boolean {
    return options.mayProbe !== false && taken.every(({ kind }) => kind !== "probe");
  }

  function nextRung(): Rung | undefined {
    const fresh = named.filter((revision) => !taken.some((step) => "rung" in step && step.rung.revision === revision));
    return [...fresh, ...named]
      .flatMap(rungsOf)
      .concat(downwards)
      .find((rung) => !hasTried(rung));
  }

  function choose(): Step | undefined {
    if (requests >= mostRequests) return undefined;
    if (requests === 0 && wasLegacy) return { kind: "initialize", rung: knownHandshake?.rung ?? firstRung };
    // A server that names revisions of the old kind is none of the new one.
    if (mayProbe() && named.length === 0) return { kind: "probe" };
    const rung = nextRung();
    return rung === undefined ? undefined : { kind: "initialize", rung };
  }

  return {
    next() {
      const step = choose();
      if (step !== undefined) {
        taken.push(step);
        requests += 1;
      }
      hasEnded = false;
      return step;
    },
    refused({ why, failure, text = "", hasEnded: ended = false, isUntried = false }) {
      const step = taken.at(-1);
      if (step === undefined) return;
      hasEnded = ended && (step.kind === "probe" || requests > 1);
      if (isUntried) taken.pop();
      if (step.kind === "initialize") first ??= failure;
      // A refusal that repeats what was asked for does not say that the server knows it.
      const asked = step.kind === "initialize" ? step.rung.revision : undefined;
      for (const revision of revisionsIn(text))
        if (revision !== asked && !named.includes(revision)) named.push(revision);
      events.onHandshakeStep?.({
        step: toStepText(step),
        why: why.slice(0, longestWhy),
        hasEnded: ended,
      } satisfies FailedStep);
    },
    mayStartAgain() {
      if (!hasEnded || hasStartedAgain || requests >= mostRequests) return false;
      hasStartedAgain = true;
      return true;
    },
    get mayProbe() {
      return mayProbe() && named.length === 0;
    },
    get hasNames() {
      return named.length > 0;
    },
    failure: () => first ?? new GatewayError("UPSTREAM_PROTOCOL", `${server} answered no handshake`),
  };
}

const longestWhy = 300;

/** The legacy revisions that a text names, newest first. */
function revisionsIn(text: string): readonly LegacyRevision[] {
  return legacyRevisions.filter((revision) => text.includes(revision));
}

/** How to ask for a revision that a refusal named. */
function rungsOf(revision: LegacyRevision): readonly Rung[] {
  return [
    { revision, declares: "known" },
    { revision, declares: "nothing" },
  ];
}

function isSameRung(one: Rung, other: Rung): boolean {
  return one.revision === other.revision && one.declares === other.declares;
}

function toStepText(step: Step): string {
  if (step.kind === "probe") return "server/discover";
  const { revision, declares } = step.rung;
  return `initialize ${revision}, capabilities: ${declares}`;
}

/** The memory of a connection made by `rung`: none where the first rung was enough. */
export function toHandshake(rung: Rung, serverInfo: JsonObject, before: Handshake | undefined): Handshake | undefined {
  const version = typeof serverInfo["version"] === "string" ? serverInfo["version"] : undefined;
  if (isSameRung(rung, firstRung)) return undefined;
  const isOfOther = before?.rung !== undefined && isSameRung(before.rung, rung) && before.version !== version;
  return isOfOther ? undefined : { rung, version };
}

/** Reads what was kept; undefined for anything else. */
export function parseHandshake(kept: unknown): Handshake | undefined {
  if (typeof kept !== "object" || kept === null) return undefined;
  const { rung, version } = kept as { readonly rung?: unknown; readonly version?: unknown };
  const { revision, declares } = (rung ?? {}) as { readonly revision?: unknown; readonly declares?: unknown };
  const known = legacyRevisions.find((one) => one === revision);
  if (known === undefined || (declares !== "all" && declares !== "known" && declares !== "nothing")) return undefined;
  return { rung: { revision: known, declares }, version: typeof version === "string" ? version : undefined };
}
