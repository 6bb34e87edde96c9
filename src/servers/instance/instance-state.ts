import type { ServerConfig } from "../../config/config.ts";
import type { AboutInstallation } from "../../kernel/events/event.ts";
import type { InstanceId, PrincipalId } from "../../kernel/ids.ts";
import { firstState, transition, type InstanceEvent, type InstanceState } from "./state.ts";
import { stepOf, toReason, toStatus } from "./state-status.ts";
import type { InstanceDeps } from "./instance-deps.ts";
import { createOddities, type Oddities } from "./oddities.ts";
import { createWaiters, type Waiters } from "./waiters.ts";

/** The identity of an instance, its current configuration, and its state, which is changed nowhere else. */
export interface Life {
  readonly id: InstanceId;
  readonly owner: PrincipalId | null;
  readonly server: ServerConfig;
  readonly state: InstanceState;
  /** Applies a configuration that differs only in settings that do not reach the server. */
  reconfigure(next: ServerConfig): void;
  /** Changes the state, and reports the change to log, events and views. */
  apply(event: InstanceEvent): void;
  /** Resolves when the instance is no longer starting; rejects when the signal aborts. */
  settled(signal: AbortSignal): Promise<void>;
  /** The fields with which every event about the instance begins. */
  about(): AboutInstallation;
  /** What its server does that was mended, for the author of that server. */
  readonly oddities: Oddities;
}

/** What the life of an instance begins with. */
export interface LifeOptions {
  readonly id: InstanceId;
  readonly owner: PrincipalId | null;
  readonly server: ServerConfig;
  readonly missing: readonly string[];
  /** Where to enter the missing values. */
  readonly advice?: string | undefined;
  /** Undefined for an instance that is not the copy of another. */
  readonly installation?: InstanceId | undefined;
  /** The owner's team. */
  readonly team?: string | undefined;
  /** The lines of stderr that are logged with a failure. */
  readonly stderr: () => readonly string[];
}

type Deps = Pick<InstanceDeps, "clock" | "log" | "events" | "onChange">;

/** A life in the state that configuration and person allow at first. */
export function createLife({ id, owner, missing, advice, team, stderr, ...given }: LifeOptions, deps: Deps): Life {
  const { installation = (given.server.installed?.id ?? id) as InstanceId } = given;
  let { server } = given;
  let state: InstanceState = firstState(server.disabledReason, missing, advice);
  /** Made when somebody first waits: most instances are never started. */
  let settling: Waiters<undefined> | undefined;

  function about(): AboutInstallation {
    const atMs = deps.clock.now();
    return { atMs, instance: id, server: server.slug, installation, principal: owner ?? undefined, team };
  }

  function apply(event: InstanceEvent): void {
    const before = state;
    state = transition(before, event, deps.clock.monotonic());
    if (state === before) return;
    tell(before, event.kind);
    if (state.kind !== "starting") settling?.resolveAll(undefined);
    deps.onChange();
  }

  function tell(before: InstanceState, operation: string): void {
    const from = toStatus(before);
    const to = toStatus(state);
    if (from === to) return;
    const reason = toReason(state) || operation;
    const fields = { component: "instance", server: server.slug, instance: id, operation };
    const line = `${id}: ${from} -> ${to}${reason === "" ? "" : `: ${reason}`}`;
    if (state.kind === "failed") deps.log.warn({ ...fields, stderr: stderr() }, line);
    else deps.log.info(fields, line);
    deps.events.emit({ type: "mcp.server.status_changed", ...about(), from, to, reason, step: stepOf(state) });
  }

  return {
    id,
    owner,
    get server() {
      return server;
    },
    get state() {
      return state;
    },
    reconfigure(next) {
      server = next;
      deps.onChange();
    },
    apply,
    async settled(signal) {
      if (state.kind === "starting") await (settling ??= createWaiters()).wait(signal);
    },
    about,
    oddities: createOddities(() => server.slug, deps.log),
  };
}
