import { deepestJson, firstWaitMs } from "../../kernel/limits.ts";
import type { ToolEntry, PromptEntry } from "../../catalog/model/snapshot.ts";
import type { View } from "../../catalog/model/view.ts";
import { traitsOf } from "../../config/entry/transports.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { Limits } from "../../config/config.ts";
import type { EventBus } from "../../kernel/events/event-bus.ts";
import type { ClientInstances } from "../../servers/instance/fleet/client-instances.ts";
import type { Instance } from "../../servers/instance/instance.ts";
import { asciiJson } from "../../wire/json/ascii-json.ts";
import { createLateTextSearch } from "../../wire/json/text-search.ts";
import type { SealedStates } from "../../wire/mcp/sealed-state.ts";
import { abortAfter } from "../../kernel/runtime/abort.ts";
import type { CallArguments, CallContext } from "../../kernel/call/call-context.ts";
import type { ClientPresence } from "../../kernel/client-presence.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import type { JsonBytes, JsonObject } from "../../kernel/text/json-bytes.ts";
import type { TraceSource } from "../../kernel/runtime/tracing.ts";
import type { ParamMember } from "../../servers/upstream/connection.ts";
import { createHeldCheck, createMirrorAgain } from "./server-exchange.ts";
import { createMirrorArguments } from "./arguments/mirrored-headers.ts";
import { createRelay, withLoss } from "./relay.ts";
import { createWaitingQuestions } from "./questions/waiting-questions.ts";
import { checkResult, createStructuredCheck } from "./results/result-check.ts";
import type { ServerAnswer, Target } from "./server-call.ts";
import { createToolCalls } from "./tool-call.ts";
import type { Validators } from "../validation/validators.ts";

/**
 * Sends requests to servers: calls, reads, prompts, completions. Every failure of the gateway is a GatewayError, thrown
 * or as a rejection. The stages around it (`engine/perform`) decide who may send a request and record it.
 */
export interface Routing {
  callTool(instance: InstanceId, tool: ToolEntry, given: CallArguments, context: CallContext): Promise<ServerAnswer>;
  readResource(instance: InstanceId, uri: string, context: CallContext): Promise<ServerAnswer>;
  getPrompt(
    instance: InstanceId,
    prompt: PromptEntry,
    given: JsonBytes | undefined,
    context: CallContext,
  ): Promise<ServerAnswer>;
  complete(instance: InstanceId, params: readonly ParamMember[], context: CallContext): Promise<ServerAnswer>;
  /** Any other request, passed on to one server unchanged. */
  forward(
    instance: InstanceId,
    method: string,
    params: readonly ParamMember[],
    context: CallContext,
  ): Promise<ServerAnswer>;
  /** Passes a client's notification on to a server that is up. Dropped when the server is down. */
  notify(instance: InstanceId, method: string, params: JsonObject): void;
  /**
   * For a call to a server whose tools were never seen. Waits briefly for a server that is starting, and tries to
   * start one that is down, as any call does. Throws what that attempt throws.
   */
  wake(instance: InstanceId, signal: AbortSignal): Promise<void>;
}

export interface RoutingDeps {
  readonly viewOf: (principal: Principal) => View;
  readonly instanceOf: (id: InstanceId) => Instance | undefined;
  readonly clients: Pick<ClientInstances, "enter">;
  readonly validators: Validators;
  readonly states: SealedStates;
  /** Identifies who a request comes from, for servers that hold state. */
  readonly presenceOf: (context: CallContext) => ClientPresence;
  readonly events: EventBus;
  readonly clock: Clock;
  readonly limits: Limits;
  /** Undefined while traces are off. */
  readonly traces?: TraceSource | undefined;
}

/** Routing over the instances in `deps`. Nothing is sent until it is called. */
export function createRouting(deps: RoutingDeps): Routing {
  const waitingQuestions = createWaitingQuestions({
    limitMs: deps.limits.parkedMs,
    mostParked: deps.limits.parkedCalls,
    clock: deps.clock,
  });
  const mirror = createMirrorArguments();
  const again = { mirrorAgain: createMirrorAgain(deps.viewOf, mirror), requireFree: createHeldCheck(deps.viewOf) };
  const relay = createRelay({ ...deps, ...again, waitingQuestions });
  const { resultBytes, contentBlocks } = deps.limits;
  const limits = { resultBytes, contentBlocks, depth: deepestJson, textSearch: createLateTextSearch() };
  const send = createToolCalls({
    relay,
    validators: deps.validators,
    checkStructured: createStructuredCheck(deps.validators, deps.events),
    mirror,
    limits,
  });

  /** Adds a notice when a stateful server has lost what it held. */
  function tellingLoss(
    instance: Instance,
    answering: Promise<ServerAnswer>,
    context: CallContext,
  ): Promise<ServerAnswer> {
    if (!instance.server.stateful) return answering;
    return answering.then((answer) => withLoss(answer, instance.users, context, deps.presenceOf));
  }

  function passOn(id: InstanceId, request: PlainRequest, context: CallContext): Promise<ServerAnswer> {
    const { method, name } = request;
    const instance = instanceFor(deps, id, name);
    const target: Target = {
      method,
      nameHeader: request.nameHeader,
      headers: [],
      repeatable: true,
      binding: () => `${method} ${name}`,
      refetch: method === "tools/call" && traitsOf(instance.server.transport).mirrorsHeaders,
      check: (result) => checkResult({ what: name, method }, result, limits),
    };
    return tellingLoss(instance, relay({ instance, target, params: request.params, context }), context);
  }

  return {
    callTool(id, tool, given, context) {
      const instance = instanceFor(deps, id, tool.server);
      return tellingLoss(instance, send(tool, instance, given, context), context);
    },
    wake: async (id, signal) => await wake(deps, id, signal),
    readResource: (instance, uri, context) => passOn(instance, toRead(uri, context), context),
    getPrompt: (instance, prompt, given, context) => passOn(instance, toGetPrompt(prompt, given, context), context),
    complete: (instance, params, context) =>
      passOn(instance, { method: "completion/complete", nameHeader: undefined, params, name: "completion" }, context),
    notify: (instance, method, params) =>
      void deps
        .instanceOf(instance)
        ?.connection?.notify(method, params)
        .catch(() => undefined),
    forward: (instance, method, params, context) =>
      passOn(instance, { method, nameHeader: nameOf(method, params), params, name: method }, context),
  };
}

/** Any request other than a tool call. */
interface PlainRequest {
  readonly method: string;
  readonly nameHeader: string | undefined;
  readonly params: readonly ParamMember[];
  /** What the request is about, in the words of failure messages. */
  readonly name: string;
}

function toRead(uri: string, context: CallContext): PlainRequest {
  const params: ParamMember[] = [["uri", asciiJson(uri)], ...(context.extraParams ?? [])];
  return { method: "resources/read", nameHeader: uri, params, name: uri };
}

function toGetPrompt(prompt: PromptEntry, given: JsonBytes | undefined, context: CallContext): PlainRequest {
  const { name } = prompt.definition;
  const params: ParamMember[] = [["name", asciiJson(name)]];
  if (given !== undefined) params.push(["arguments", given]);
  if (context.extraParams !== undefined) params.push(...context.extraParams);
  return { method: "prompts/get", nameHeader: name, params, name };
}

function instanceFor(deps: Pick<RoutingDeps, "instanceOf">, id: InstanceId, name: string): Instance {
  const instance = deps.instanceOf(id);
  if (instance === undefined) throw new GatewayError("SERVER_UNKNOWN", `${name} is no longer configured`);
  return instance;
}

async function wake(deps: RoutingDeps, id: InstanceId, signal: AbortSignal): Promise<void> {
  const instance = instanceFor(deps, id, id);
  const { state } = instance;
  const isFirstStart = state.kind === "new" || (state.kind === "starting" && state.down === undefined);
  if (!isFirstStart) await instance.acquire(signal);
  await instance.settled(isFirstStart ? abortAfter(firstWaitMs, signal) : signal);
}

/**
 * Which member the Mcp-Name header repeats, of requests that the gateway does not interpret (2026-07-28,
 * streamable-http, standard
 * request headers; SEP-2663, routing headers).
 */
const namingMember: Readonly<Record<string, string>> = Object.freeze({
  "tools/call": "name",
  "prompts/get": "name",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
});

function nameOf(method: string, params: readonly ParamMember[]): string | undefined {
  const member = Object.hasOwn(namingMember, method) ? namingMember[method] : undefined;
  const bytes = member === undefined ? undefined : params.find(([key]) => key === member)?.[1];
  const name: unknown = bytes === undefined ? undefined : JSON.parse(bytes.toString("utf8"));
  return typeof name === "string" ? name : undefined;
}
