import type { IncomingMessage } from "node:http";
import type { View } from "../../catalog/model/view.ts";
import type { Settings } from "../../config/config.ts";
import type { Log } from "../../kernel/log.ts";
import type { PublicUrl } from "../http/public-url.ts";
import type { Metrics } from "../../records/metrics.ts";
import type { Instance } from "../../servers/instance/instance.ts";
import type { NamespaceLoads } from "../../engine/namespaces/namespace-loads.ts";
import type { Routing } from "../../engine/calls/routing.ts";
import type { Performer } from "../../engine/perform/perform.ts";
import type { GatewayError } from "../../kernel/gateway-error.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import type { JsonObject } from "../../kernel/json-bytes.ts";
import type { Principal } from "../../kernel/principal.ts";

/** What the REST API is made of: the same parts as MCP. */
export interface RestDeps {
  readonly version: string;
  readonly settings: () => Settings;
  /** Those that hold for bodies, over MCP and here alike: both are read at the start. */
  readonly bodyLimits: Pick<Settings["limits"], "requestBodyBytes" | "jsonDepth">;
  /** Throws, or rejects with, UNAUTHORIZED. */
  readonly authenticate: (request: IncomingMessage) => Principal | Promise<Principal>;
  /** Whether nobody needs a credential: then everybody is the one local principal. */
  readonly isOpen: () => boolean;
  readonly publicUrl: PublicUrl;
  /** Counts a principal's requests. Returns what ends this one. Throws RATE_LIMITED. */
  readonly admit: (principal: Principal) => () => void;
  /**
   * Keeps a call among those that end when its principal goes: then it is aborted with the reason. Returns what ends
   * this one.
   */
  readonly track: (principal: Principal, controller: AbortController) => () => void;
  /** What is kept on disk of the principal's own servers is read at his first request; undefined once it is. */
  readonly adopting: (principal: Principal) => Promise<void> | undefined;
  readonly viewOf: (principal: Principal) => View;
  readonly routing: Pick<Routing, "wake">;
  readonly performer: Performer;
  readonly loads: Pick<NamespaceLoads, "stats">;
  /** The principal's own instances, and those that all share. */
  readonly instancesOf: (principal: Principal) => readonly Instance[];
  readonly issueToken: (instance: InstanceId, principal: Principal) => Promise<string>;
  /** Takes back the principal's tokens of the instance and ends what they opened. */
  readonly revokeTokens: (instance: InstanceId, principal: Principal) => Promise<number>;
  readonly metrics: Metrics;
  /** For `/api/status/debug`. */
  readonly debugFacts: () => JsonObject;
  /** Takes every secret out of a text that a server wrote. */
  readonly redact: (text: string) => string;
  readonly reportFailure: (failure: GatewayError, operation: string) => void;
  readonly log: Log;
}
