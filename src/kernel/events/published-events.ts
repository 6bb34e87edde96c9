import type { EventOf, GatewayEvent } from "./event.ts";

/**
 * The types of events that leave the gateway: by the live stream, by webhooks, in the event log. A server's
 * notification is passed on to its clients only, and a record that was made wakes those who read records.
 */
export type PublishedType = Exclude<GatewayEvent["type"], "server.notification" | "call.recorded">;
export type PublishedEvent = EventOf<PublishedType>;

/** What each of them says: the table of docs/events.md. Names that begin with `mcp.` are API and do not change. */
export const publishedEvents: Readonly<Record<PublishedType, string>> = Object.freeze({
  "mcp.server.status_changed": "an instance has another status",
  "mcp.server.started": "a server was started, or connected to",
  "mcp.server.crashed": "a server's process has ended unexpectedly",
  "mcp.server.restarted": "a server is started again, because it crashed or because somebody asked for it",
  "mcp.server.dormant": "a server was stopped because it was idle; the next call starts it",
  "mcp.server.respawned": "a dormant server was started again",
  "mcp.server.permanently_failed": "a server crashed so often that it is not started any more",
  "mcp.server.breaker": "a server's calls fail so often that it gets none for a while, or it is tried again",
  "mcp.server.logs": "a server wrote a line to stderr, or sent a log message",
  "mcp.request.logs": "a request to a server was answered",
  "mcp.tools.discovered": "the lists of a server were read",
  "catalog.item_skipped": "a tool, resource, prompt or skill of a server cannot be used",
  "catalog.changed": "what a server offers has changed",
  "catalog.announced": "a server announced a change, but its lists are the same",
  "server.session_replaced": "a server lost its session and is in a new one",
  "resource.updated": "a resource that somebody subscribed to has changed",
  "upstream.oddity": "a server deviates from the protocol",
  "result.schema_mismatch": "a result does not fit its tool's output schema",
  "namespace.loaded": "a namespace was loaded for somebody",
  "namespace.used": "a namespace that is loaded was used",
  "namespace.evicted": "a namespace is no longer loaded",
  "namespace.load_failed": "a namespace could not be loaded",
  "tool.bare_name": "a tool was called by its bare name, which is deprecated",
  "search.done": "a search for tools was answered",
  "approval.requested": "a call waits for a person's yes",
  "approval.decided": "a person said yes or no to a call",
  "approval.expired": "a call waited for a yes, and no one decided in time",
  "approval.revoked": "a remembered yes was taken back",
  "approvals.changed": "another gateway of the same database changed a call that waits, or a remembered yes",
  "definition.changed": "definitions of tools changed, and are in use",
  "definition.held": "definitions of tools wait for a person",
  "definition.decided": "a person decided about definitions of tools",
  "sandbox.denied": "a server in a sandbox wanted to reach a host that it may not; ten a minute at most",
  "config.changed": "a configuration is in force, that of the start included",
  "config.refused": "a changed configuration file is not valid; the old one stays in force",
  "config.mended": "a configuration file that was refused can be used again",
  "auth.denied": "a request had no valid credential",
  "auth.login": "somebody has logged in at a server, and the login is used",
  "auth.token.issued": "a token for one instance was made",
  "auth.token.revoked": "somebody's tokens for one instance were taken back",
  "node.joined": "a node of the cluster takes part: it is new, or was drained and is ready again",
  "node.draining": "a node hands over what it runs",
  "node.left": "a node has ended, or was found dead",
  "node.fenced": "this node has lost its lease, and has ended what it ran",
  "node.silent": "nothing was heard of a node for as long as its lease was",
  "instance.moved": "a node runs an instance that another one ran",
  "gateway.listening": "the gateway accepts requests",
  "gateway.stopping": "the gateway is stopping",
});

export const publishedTypes = Object.keys(publishedEvents) as readonly PublishedType[];

/**
 * The types that a pattern means: one of them, or all with a beginning, as in `mcp.server.*`. None when it means
 * nothing.
 */
export function typesMatching(pattern: string): readonly PublishedType[] {
  if (!pattern.endsWith("*")) return publishedTypes.filter((type) => type === pattern);
  const beginning = pattern.slice(0, -1);
  return publishedTypes.filter((type) => type.startsWith(beginning));
}

/** Whether one of the patterns means the type. Without patterns, every type is meant. */
export function createTypeFilter(patterns: readonly string[] | undefined): (type: PublishedType) => boolean {
  if (patterns === undefined) return () => true;
  const wanted = new Set(patterns.flatMap(typesMatching));
  return (type) => wanted.has(type);
}
