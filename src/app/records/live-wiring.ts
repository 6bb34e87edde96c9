import type { FollowHere } from "../../cluster/peers/node-watch.ts";
import { estimateTokens } from "../../catalog/exposure/text/token-estimate.ts";
import { isOffered, type Policy } from "../../engine/policy/decide.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { publishedTypes, type PublishedEvent } from "../../kernel/events/published-events.ts";
import type { EventBus } from "../../kernel/events/event-bus.ts";
import type { MessageTap, TapPeer } from "../../kernel/events/message-tap.ts";
import type { View } from "../../catalog/model/view.ts";
import type { ToolDefinition } from "../../kernel/call/definitions.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import type { JsonObject } from "../../kernel/text/json-bytes.ts";
import type { DiscoveredTool } from "../../kernel/events/event.ts";
import { openOnce, type LoadLate } from "../../kernel/runtime/late-module.ts";
import { localPrincipal, type Principal } from "../../kernel/principal.ts";
import type { Directory } from "../../people/directory/directory.ts";
import type { EventFacts } from "../../records/events/event-json.ts";
import type { FollowElsewhere, LiveEvents } from "../../records/events/live-events.ts";
import type { MessageWatch } from "../../records/events/message-watch.ts";
import type { LateCluster } from "../servers/servers-wing.ts";
import type { Redaction } from "../../records/redaction/redaction.ts";
import type { Fleet } from "../../servers/instance/fleet/fleet.ts";
import { stringifyExact } from "../../wire/json/exact-json.ts";

/** The live stream of events, loaded when somebody reads it for the first time. */
export interface Live extends Disposable {
  readonly load: () => Promise<LiveEvents>;
  /** Ends the readers for whose principal the predicate holds. */
  endWhere(gone: (principal: Principal) => boolean): void;
}

export interface LiveDeps {
  readonly events: EventBus;
  readonly clock: Clock;
  readonly loadLate: LoadLate;
  readonly facts: EventFacts;
  readonly cluster: Pick<LateCluster, "watch" | "onWatched"> | undefined;
}

export function createLive({ events, clock, loadLate, facts, cluster }: LiveDeps): Live {
  let loaded: LiveEvents | undefined;
  let isOver = false;

  async function load(): Promise<LiveEvents> {
    const [{ createLiveEvents }, { createEventToJson }] = await loadLate(
      "the stream of events",
      async () =>
        await Promise.all([
          import("../../records/events/live-events.ts"),
          import("../../records/events/event-json.ts"),
        ]),
    );
    const elsewhere = cluster && followNodes(cluster);
    loaded = createLiveEvents({ events, clock, toJson: createEventToJson(facts), elsewhere });
    if (isOver) loaded[Symbol.dispose]();
    return loaded;
  }

  const loadOnce = openOnce(load);
  cluster?.onWatched((...told) => relayOf(loadOnce, ...told));
  return {
    load: loadOnce,
    endWhere: (gone) => loaded?.endWhere(gone),
    [Symbol.dispose]() {
      isOver = true;
      loaded?.[Symbol.dispose]();
    },
  };
}

/** What other nodes tell, as events whose text says where they happened. */
function followNodes({ watch }: Pick<LateCluster, "watch">): FollowElsewhere {
  return (onEvent, onLost) =>
    watch({
      onLost,
      onEvent({ node, about, whole, metadata }) {
        const event = toEvent(about);
        // The text of an event is one line with one object.
        if (event === undefined || ![whole, metadata].every((text) => /^\{".*\}$/.test(text))) return;
        const from = `{"node":${JSON.stringify(node)},`;
        onEvent({ event, textFor: (share) => from + (share === "whole" ? whole : metadata).slice(1) });
      },
    });
}

/** What decides who may see an event, and who wants to. */
const aboutMembers = ["server", "instance", "installation", "principal", "team", "approver"] as const;

/** `none` are those that it has without a value: an event without a person is not one of the gateway. */
function toAbout(event: PublishedEvent): JsonObject {
  const members = aboutMembers.filter((name) => name in event).map((name) => [name, event[name as never]] as const);
  const none = members.filter(([, value]) => value === undefined).map(([name]) => name);
  return { type: event.type, atMs: event.atMs, ...Object.fromEntries(members), none };
}

/** Undefined for one that this version does not know. */
function toEvent({ none, ...about }: JsonObject): PublishedEvent | undefined {
  if (!publishedTypes.includes(about["type"] as PublishedEvent["type"]) || !Array.isArray(none)) return undefined;
  const missing = aboutMembers.filter((name) => none.includes(name)).map((name) => [name, undefined]);
  return { ...about, ...Object.fromEntries(missing) } as unknown as PublishedEvent;
}

/** Tells another node what happens here, from when the code for that is loaded. */
function relayOf(load: () => Promise<LiveEvents>, ...[onEvent, onLost]: Parameters<FollowHere>): () => void {
  let isOver = false;
  let leave = (): void => void (isOver = true);
  void load().then(
    (live) => {
      if (isOver) return;
      leave = live.relay((shared) => {
        const [whole, metadata] = [shared.textFor("whole"), shared.textFor("metadata")];
        onEvent({ about: toAbout(shared.event), whole, metadata });
      }, onLost);
    },
    () => undefined,
  );
  return () => leave();
}

export interface MessagesDeps {
  readonly tap: MessageTap;
  readonly clock: Clock;
  readonly loadLate: LoadLate;
  readonly redaction: Pick<Redaction, "json">;
  readonly directory: Pick<Directory, "byId">;
  readonly viewOf: (principal: Principal) => View;
  readonly definitionOf: (instance: InstanceId, tool: string) => ToolDefinition | undefined;
}

/** Messages as they pass, loaded when somebody looks at them for the first time. */
export function createMessages(deps: MessagesDeps): () => Promise<MessageWatch> {
  const { tap, clock, redaction } = deps;
  return openOnce(async () => {
    const { createMessageWatch } = await deps.loadLate(
      "the stream of messages",
      async () => await import("../../records/events/message-watch.ts"),
    );
    const redact = (text: string, peer: TapPeer): string => redaction.json(text, schemaOf(deps, text, peer));
    return createMessageWatch({ tap, clock, redact });
  });
}

const toolNames = /"(?:name|tool_path)"\s*:\s*"([^"\\]{1,200})"/g;
const mostNames = 4;

/**
 * The schemas of tools that a message may be a call of: they say which arguments are secret. Any tool whose name ends
 * so is taken for it, because to hide too much does no harm.
 */
function schemaOf(deps: MessagesDeps, text: string, peer: TapPeer): JsonObject | undefined {
  if (!text.includes('"tools/call"')) return undefined;
  const names = [...text.matchAll(toolNames)].slice(0, mostNames).map(([, name = ""]) => name);
  const owner = peer.side === "client" ? deps.directory.byId(peer.principal) : undefined;
  const tools = owner === undefined ? [] : deps.viewOf(owner).names.tools;
  const schemas = names.flatMap((name) =>
    peer.side === "server"
      ? [deps.definitionOf(peer.instance, name)?.inputSchema]
      : tools.filter((tool) => name.endsWith(tool.upstreamName)).map(({ definition }) => definition.inputSchema),
  );
  return { anyOf: schemas.slice(0, mostSchemas) };
}

const mostSchemas = 100;

export interface EventFactsDeps {
  readonly fleet: Fleet;
  readonly policy: () => Policy;
  readonly directory: Directory;
  readonly redact: (text: string) => string;
  /** What a tool's definition costs a model. */
  readonly countTokens?: (tool: DiscoveredTool) => number;
}

/** What events as text say beyond the events themselves. */
export function createEventFacts({
  fleet,
  policy,
  directory,
  redact,
  countTokens = estimateDefinition,
}: EventFactsDeps): EventFacts {
  return {
    installationOf: (instance) => fleet.get(instance)?.about().installation ?? instance,
    teamOf: (principal) => directory.byId(principal)?.team ?? undefined,
    isShown(instance, tool) {
      const server = fleet.get(instance)?.server;
      return server === undefined || isOffered(tool, { server, policy: policy(), principal: localPrincipal });
    },
    countTokens,
    redact,
  };
}

function estimateDefinition({ definition }: DiscoveredTool): number {
  return estimateTokens(stringifyExact(definition));
}
