import type { Front } from "../call/call-context.ts";
import type { Approver } from "../call/tool-effects.ts";
import type { ToolDefinition } from "../call/definitions.ts";
import type { InstanceId, PrincipalId, ServerSlug } from "../ids.ts";
import type { JsonObject } from "../text/json-bytes.ts";
import type { InstanceStatus } from "../status-words.ts";

/** A call that waits for a yes, or a remembered yes. */
interface AboutApproval extends AboutInstance {
  readonly principal: PrincipalId;
  readonly id: string;
  /** The tool's path. */
  readonly tool: string;
  readonly client: string;
  /** Who may decide: the person, an admin of the person's team, or an admin of the gateway. */
  readonly approver: Approver;
  /** Of the person who asks. */
  readonly team?: string | undefined;
}

/**
 * Every event that the gateway emits, as one closed union. Names that begin with `mcp.` are API and do not change. No
 * event contains a secret.
 */
export type GatewayEvent =
  | (AboutInstallation & {
      readonly type: "mcp.server.status_changed";
      readonly from: InstanceStatus;
      readonly to: InstanceStatus;
      readonly reason: string;
      /** Of one that is off now: what has to be done before it runs again. */
      readonly step?: "enable" | "correct" | "start" | undefined;
    })
  | (AboutInstallation & {
      readonly type: "mcp.server.started";
      readonly pid: number | undefined;
      readonly durationMs: number;
      /** Whose call or order it was started for; undefined where the gateway needed it itself. */
      readonly by: PrincipalId | undefined;
    })
  | (AboutInstallation & {
      readonly type: "mcp.server.crashed";
      readonly exitCode: number | null;
      readonly signal: string | null;
      readonly crashes: number;
      readonly stderr: readonly string[];
    })
  | (AboutInstallation & { readonly type: "mcp.server.restarted"; readonly reason: string })
  | (AboutInstallation & { readonly type: "mcp.server.dormant"; readonly idleMs: number })
  | (AboutInstallation & {
      readonly type: "mcp.server.respawned";
      readonly durationMs: number;
      readonly by: PrincipalId | undefined;
    })
  | (AboutInstallation & {
      readonly type: "mcp.server.breaker";
      /** Of which process or address. */
      readonly replica: string;
      readonly state: "closed" | "open" | "half-open";
      /** The end of a sentence about it. */
      readonly reason: string;
    })
  | (AboutInstallation & { readonly type: "mcp.server.permanently_failed"; readonly reason: string })
  | (AboutInstallation & { readonly type: "mcp.server.logs"; readonly level: string; readonly line: string })
  | (AboutInstance & {
      readonly type: "mcp.request.logs";
      readonly principal: PrincipalId;
      readonly team: string | null;
      /** Which way it came in. */
      readonly via: Front;
      /** What the client calls itself; undefined when it does not say. Untrusted, at most 64 characters. */
      readonly client: string | undefined;
      readonly method: string;
      /** As the server knows it. */
      readonly name: string;
      /** As clients know it: the path of a tool (`server:tool`), the server's URI of a resource, else `name`. */
      readonly path: string;
      /** The call itself, without `waitMs`. */
      readonly durationMs: number;
      /** Waiting for the server's start and for a person's answers. */
      readonly waitMs: number;
      readonly argumentBytes: number;
      /** Of what the client is given, after a cut; 0 when it was given none. */
      readonly resultBytes: number;
      /** Tokens that the result's budget kept back; 0 when nothing was cut. An estimate. */
      readonly cutTokens: number;
      /** The number of the server's JSON-RPC error; undefined when it gave none. */
      readonly serverCode: number | undefined;
      /**
       * `ok`, `tool_error` (isError), `error` (the server's JSON-RPC error), or the code of the gateway's own
       * failure.
       */
      readonly outcome: string;
      /** The node of the cluster that runs the instance, where that is another one. */
      readonly node?: string | undefined;
      /** Of the trace that the request belongs to, 32 hex digits; undefined while traces are off. */
      readonly traceId?: string | undefined;
    })
  | (AboutInstallation & {
      readonly type: "mcp.tools.discovered";
      /** As in the catalog; sinks that write the event out add counts, schemas and tokens. */
      readonly tools: readonly DiscoveredTool[];
      readonly resources: number;
      readonly prompts: number;
      readonly durationMs: number;
      /** What people call the installation. */
      readonly installationName: string;
    })
  | (AboutInstallation & {
      readonly type: "catalog.item_skipped";
      readonly kind: string;
      readonly name: string;
      readonly reason: string;
    })
  | (AboutInstallation & {
      readonly type: "catalog.changed";
      readonly kinds: readonly ("tools" | "resources" | "prompts")[];
    })
  /** The server announced a change of these lists, but they turned out to be the same as before. */
  | (AboutInstallation & {
      readonly type: "catalog.announced";
      readonly kinds: readonly ("tools" | "resources" | "prompts")[];
    })
  /** The server lost its session, with everything it had been told in it, and is now in a new one. */
  | (AboutInstallation & { readonly type: "server.session_replaced" })
  | (AboutInstallation & { readonly type: "resource.updated"; readonly uri: string })
  /**
   * A notification that belongs to no call and that the gateway does not use itself. It is passed on to the server's
   * clients, or to the one that it concerns (`ConnectedClient.id`), and never recorded.
   */
  | (AboutInstallation & {
      readonly type: "server.notification";
      readonly method: string;
      readonly params: JsonObject;
      readonly client?: string | undefined;
    })
  | (AboutInstallation & { readonly type: "upstream.oddity"; readonly kind: string; readonly detail: string })
  | (AboutInstallation & { readonly type: "result.schema_mismatch"; readonly tool: string; readonly reason: string })
  | (AboutNamespace & {
      readonly type: "namespace.loaded";
      readonly tools: number;
      readonly durationMs: number;
      readonly why: "asked" | "preload";
    })
  | (AboutNamespace & { readonly type: "namespace.used" })
  | (AboutNamespace & { readonly type: "namespace.evicted"; readonly why: "idle" | "room" | "gone" })
  | (AboutNamespace & { readonly type: "namespace.load_failed"; readonly code: string })
  | {
      readonly type: "tool.bare_name";
      readonly atMs: number;
      readonly principal: PrincipalId;
      readonly path: string;
      readonly migrated: boolean;
    }
  | {
      readonly type: "search.done";
      readonly atMs: number;
      readonly principal: PrincipalId;
      /** What the client calls itself. */
      readonly client?: string | undefined;
      /** Path of the tool that came first. */
      readonly first?: string | undefined;
      readonly engine: string;
      readonly results: number;
      readonly durationMs: number;
    }
  /** A call waits for a person's yes; somebody has decided; the time is over; a remembered yes was taken back. */
  | (AboutApproval & {
      readonly type: "approval.requested" | "approval.decided" | "approval.expired" | "approval.revoked";
      /** What was decided: `no`, or for how long the yes counts. */
      readonly verdict?: string | undefined;
      readonly by: string;
      /** `client`, or the way in which the decision came. */
      readonly through: string;
      /** Where a person decides, if the gateway has an address. */
      readonly page?: string | undefined;
    })
  /** Another gateway of the same database changed something of it. */
  | (AboutApproval & { readonly type: "approvals.changed" })
  /** A request of a client that reached no server was recorded, a search among them. For those who follow records. */
  | { readonly type: "call.recorded"; readonly atMs: number }
  /** Definitions of tools changed and are in use, or wait for a person; or a person decided about them. */
  | (AboutInstallation & {
      readonly type: "definition.changed" | "definition.held" | "definition.decided";
      /** The server's own names; the first twenty. */
      readonly tools: readonly string[];
      /** Reasons against them, and things noticed. */
      readonly reasons?: readonly string[] | undefined;
      /** What was decided: `approve`, `block`. */
      readonly verdict?: string | undefined;
      readonly by: string;
      /** `gateway`, or the way in which the decision came. */
      readonly through: string;
      /** Where a person decides, if the gateway has an address. */
      readonly page?: string | undefined;
    })
  /** A confined process wanted to reach a host that it may not. */
  | (AboutInstallation & {
      readonly type: "sandbox.denied";
      readonly host: string;
      /** Undefined where only the host's address was asked for. */
      readonly port: number | undefined;
      readonly why: string;
    })
  | {
      readonly type: "config.changed";
      readonly atMs: number;
      readonly file: string;
      readonly added: number;
      readonly changed: number;
      readonly removed: number;
    }
  | { readonly type: "config.refused"; readonly atMs: number; readonly file: string; readonly reason: string }
  | { readonly type: "config.mended"; readonly atMs: number; readonly file: string }
  /** A request without a valid credential. At most ten in a second are reported one by one. */
  | {
      readonly type: "auth.denied";
      readonly atMs: number;
      readonly address: string;
      readonly method: string;
      readonly path: string;
      /** How many were refused since the event before and have none of their own. */
      readonly more: number;
    }
  /** Somebody has logged in at a server, and the login is in use from now on. */
  | (AboutInstallation & { readonly type: "auth.login" })
  | (AboutInstallation & { readonly type: "auth.token.issued"; readonly principal: PrincipalId })
  | (AboutInstallation & {
      readonly type: "auth.token.revoked";
      readonly principal: PrincipalId;
      /** How many tokens there were. */
      readonly tokens: number;
    })
  | { readonly type: "gateway.listening"; readonly atMs: number; readonly address: string }
  /** What became of a node of the cluster, as the node sees it that tells it. */
  | {
      readonly type: "node.joined" | "node.draining" | "node.left" | "node.fenced" | "node.silent";
      readonly atMs: number;
      readonly node: string;
      /** Where other nodes reach it. */
      readonly address: string;
      readonly version: string;
    }
  /** A node runs an instance that another one ran. */
  | (AboutInstallation & {
      readonly type: "instance.moved";
      readonly node: string;
      /** Undefined where that node handed it over. */
      readonly from: string | undefined;
      /** `lapsed`: the other node's lease had run out. */
      readonly why: "handed over" | "dead" | "lapsed";
      /** For how long the call that needed it waited; undefined where it could not be opened there. */
      readonly gapMs: number | undefined;
    })
  | { readonly type: "gateway.stopping"; readonly atMs: number; readonly reason: string };

interface AboutInstance {
  /** Wall-clock ms. */
  readonly atMs: number;
  readonly instance: InstanceId;
  readonly server: ServerSlug;
}

/** The fields with which every event about an instance begins. */
export interface AboutInstallation extends AboutInstance {
  /**
   * Of a server that a team installed, the installation's id; otherwise the instance that a person has of the server.
   * That of a single client is a copy with an id of its own.
   */
  readonly installation: InstanceId;
  /** The owner of a personal instance; undefined for a shared one. */
  readonly principal: PrincipalId | undefined;
  /** The owner's team, or the one that installed a shared server; undefined for servers that all share. */
  readonly team: string | undefined;
}

/** Concerns one namespace in the set that is loaded for a principal. */
interface AboutNamespace extends AboutInstallation {
  readonly principal: PrincipalId;
  readonly namespace: string;
}

/** A tool as it was found on a server. */
export interface DiscoveredTool {
  readonly path: string;
  /** The server's own name for it, which rules of the configuration use. */
  readonly upstreamName: string;
  readonly definition: ToolDefinition;
}

/** The events of one type. */
export type EventOf<Type extends GatewayEvent["type"]> = Extract<GatewayEvent, { type: Type }>;
