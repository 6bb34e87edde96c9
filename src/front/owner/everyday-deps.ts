import type { Pins } from "../../catalog/discovery/pins.ts";
import type { Discovery } from "../../catalog/discovery/discovery.ts";
import type { KeptSearches } from "../../catalog/discovery/kept-searches.ts";
import type { LazyNames } from "../../catalog/model/names/lazy-names.ts";
import type { View } from "../../catalog/model/view.ts";
import type { Routing } from "../../engine/calls/routing.ts";
import type { Performer } from "../../engine/perform/perform.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import type { Instance } from "../../servers/instance/instance.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { Usage } from "../../records/usage/usage-log.ts";

/** What everyday commands need: the same objects as MCP and REST. */
export interface EverydayDeps {
  /** The owner of the data directory. */
  readonly principal: Principal;
  readonly viewOf: (principal: Principal) => View;
  readonly namesInTurns: LazyNames;
  readonly performer: Pick<Performer, "perform">;
  readonly routing: Pick<Routing, "wake">;
  readonly discovery: Pick<Discovery, "phrasesOf">;
  readonly usage: Pick<Usage, "read">;
  readonly instanceOf: (instance: InstanceId) => Pick<Instance, "handshake" | "oddities"> | undefined;
  /** Removes secrets from what a server wrote. */
  readonly redact: (text: string) => string;
  readonly pins: Pick<Pins, "of">;
  /** Searches that the caller keeps as tests. */
  readonly keptSearches: (principal: Principal) => Promise<KeptSearches>;
  readonly clock: Pick<Clock, "now">;
  readonly adopting: (principal: Principal) => Promise<void> | undefined;
  /** Resolves when servers that were never seen before have come up, or the signal aborts. */
  readonly settled: (principal: Principal, signal: AbortSignal) => Promise<void>;
  /** Counts a request. Returns a function to call when it ends. Throws RATE_LIMITED. */
  readonly admit: (principal: Principal) => () => void;
  /** Registers a request so that it is ended with its principal's access. Returns a function to call when it ends. */
  readonly track: (principal: Principal, controller: AbortController) => () => void;
  /** The budget of a search's answer to a model. */
  readonly discoverTokens: () => number;
  /** How deep arguments may be nested. */
  readonly jsonDepth: number;
}
