import type { Principal } from "../../src/kernel/principal.ts";
import { flatExposure } from "../../src/catalog/exposure/meta/flat.ts";
import { createNotifier } from "../../src/front/mcp/streams/notifier.ts";
import type { LegacyDeps } from "../../src/front/mcp/sessions/legacy.ts";
import type { Endpoint } from "../../src/front/mcp/endpoint/endpoint.ts";
import type { OwnInstances } from "../../src/front/mcp/own-instances.ts";
import { createSessionStore } from "../../src/front/mcp/sessions/session-store.ts";
import { createEventBus, type EventBus } from "../../src/kernel/events/event-bus.ts";
import { GatewayError } from "../../src/kernel/failures/gateway-error.ts";
import type { InstanceId } from "../../src/kernel/ids.ts";
import { readClientMessage, type ClientRequest } from "../../src/wire/mcp/client-message.ts";
import { sampleInstance } from "../sample-catalog.ts";
import { sampleView } from "../sample-view.ts";
import { createManualClock } from "./manual-clock.ts";

/** What sessions and subscriptions work with, in front of two servers that only note what they are told. */
export interface LegacyFront {
  readonly deps: LegacyDeps;
  readonly endpoint: Endpoint;
  readonly events: EventBus;
  /** What was done upstream, in order. */
  readonly done: string[];
}

/**
 * Server `files` has the instance `files`, and each client its own instance of `own`. The resource `missing` of both
 * cannot be subscribed to.
 */
export function createLegacyFront(): LegacyFront {
  const view = sampleView([sampleInstance("files", [{ name: "read" }], "Files."), sampleInstance("own", [])]);
  const viewOf = (): typeof view => view;
  const events = createEventBus((error) => {
    throw error;
  });
  const done: string[] = [];
  const ownId = (id: InstanceId): InstanceId => (id === "own" ? ("own of the client" as InstanceId) : id);
  const ownInstances: OwnInstances = {
    enter(id) {
      done.push(`enter ${ownId(id)}`);
      return { id: ownId(id), leave: () => void done.push(`leave ${ownId(id)}`) };
    },
    idFor: ownId,
    seenAs: (id) => id,
    heardAs: (id) => id,
  };
  const deps: LegacyDeps = {
    viewOf,
    ownInstances,
    sessions: createSessionStore({ sessions: 2, sessionIdleMs: 1_000 }, createManualClock()),
    notifier: createNotifier(events, viewOf, ownInstances, () => false),
    subscriptions: {
      async subscribe(id, uri) {
        if (uri === "missing") throw new GatewayError("RESOURCE_UNKNOWN", "the server has no such resource");
        done.push(`subscribe ${id} ${uri}`);
        return () => void done.push(`release ${id} ${uri}`);
      },
      size: 0,
    },
    logLevels: {
      async set(_holder, instances, level) {
        done.push(`level ${level} of ${instances.join(", ")}`);
      },
      drop: () => void done.push("drop level"),
    },
    routing: { notify: (instance, method) => void done.push(`${method} to ${instance}`) },
    serverInfo: { name: "toolyard", version: "1" },
    gateways: () => ["this gateway"],
    profileOf: () => undefined,
    ofClient: (principal: Principal) => principal,
    sealed: () => undefined,
    tellNodes: () => undefined,
  };
  return { deps, endpoint: { path: "/mcp/flat", exposure: flatExposure }, events, done };
}

export function clientRequest(method: string, params: object = {}, id: string | number = 1): ClientRequest {
  return readClientMessage(Buffer.from(JSON.stringify({ jsonrpc: "2.0", id, method, params })), 64) as ClientRequest;
}
