import type { ToolEntry, PromptEntry } from "../../catalog/model/snapshot.ts";
import { headerParameters, type HeaderParameter } from "../../catalog/model/header-parameters.ts";
import type { Limits, ServerConfig } from "../../config/config.ts";
import type { EventBus } from "../../kernel/event-bus.ts";
import type { ClientInstances } from "../../servers/instance/client-instances.ts";
import type { Instance } from "../../servers/instance/instance.ts";
import { mayUse } from "../policy/policy.ts";
import { asciiJson } from "../../wire/json/ascii-json.ts";
import type { SealedStates } from "../../wire/mcp/sealed-state.ts";
import { abortAfter } from "../../kernel/abort.ts";
import type { CallArguments } from "../../kernel/call-arguments.ts";
import type { CallContext } from "../../kernel/call-context.ts";
import type { ClientPresence } from "../../kernel/client-presence.ts";
import type { Clock } from "../../kernel/clock.ts";
import { GatewayError, toGatewayError } from "../../kernel/gateway-error.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import type { JsonBytes, JsonObject } from "../../kernel/json-bytes.ts";
import type { ParamMember } from "../../servers/upstream/connection.ts";
import { checkArguments } from "./arguments.ts";
import { createRelay, type Outcome, type Target } from "./relay.ts";
import { headerValue } from "./mirrored-argument.ts";
import { withLoss } from "./loss.ts";
import { createWaitingQuestions } from "./waiting-questions.ts";
import { checkResult, checkToolResult } from "./result-check.ts";
import { createStructuredCheck } from "./structured-check.ts";
import type { Validators } from "../validation/validators.ts";

/** Executes what exposures resolve: calls, reads, prompts, completions. Every failure of ours is thrown as a GatewayError. */
export interface Routing {
  callTool(tool: ToolEntry, given: CallArguments, context: CallContext): Promise<Outcome>;
  readResource(instance: InstanceId, uri: string, context: CallContext): Promise<Outcome>;
  getPrompt(prompt: PromptEntry, given: JsonBytes | undefined, context: CallContext): Promise<Outcome>;
  complete(instance: InstanceId, params: readonly ParamMember[], context: CallContext): Promise<Outcome>;
  /** Any other request, passed to one server as it is. */
  forward(instance: InstanceId, method: string, params: readonly ParamMember[], context: CallContext): Promise<Outcome>;
  /** Hands a notification of a client to a server that is up; to one that is not, there is nothing to say. */
  notify(instance: InstanceId, method: string, params: JsonObject): void;
  /**
   * For a call of a server whose tools were never seen. One that is coming up is waited for, a little; one that is down is tried, as at any
   * call. Throws what the try throws.
   */
  wake(instance: InstanceId, signal: AbortSignal): Promise<void>;
  /** Calls will come soon: gets ready what they need first. */
  expectCalls(): void;
  /** Calls that have not been answered yet. */
  readonly inFlight: number;
}

export interface RoutingDeps {
  readonly instanceOf: (id: InstanceId) => Instance | undefined;
  readonly clients: Pick<ClientInstances, "enter">;
  readonly validators: Validators;
  readonly states: SealedStates;
  /** Who a request comes from, for servers that hold state. */
  readonly presenceOf: (context: CallContext) => ClientPresence;
  readonly events: EventBus;
  readonly clock: Clock;
  readonly limits: Limits;
}

export function createRouting(deps: RoutingDeps): Routing {
  const relay = createRelay({
    states: deps.states,
    presenceOf: deps.presenceOf,
    clients: deps.clients,
    waitingQuestions: createWaitingQuestions({
      limitMs: deps.limits.parkedMs,
      mostParked: deps.limits.parkedCalls,
      clock: deps.clock,
    }),
  });
  const checkStructured = createStructuredCheck(deps);
  const mirrored = new WeakMap<ToolEntry, readonly HeaderParameter[]>();
  const limits = {
    resultBytes: deps.limits.resultBytes,
    contentBlocks: deps.limits.contentBlocks,
    depth: upstreamDepth,
  };
  let inFlight = 0;

  /** No async function: this runs for every call, and each costs it a promise and a generator. */
  function callTool(tool: ToolEntry, given: CallArguments, context: CallContext): Promise<Outcome> {
    const startedMs = deps.clock.monotonic();
    let instance: Instance;
    let sending: Promise<Outcome>;
    try {
      instance = instanceFor(tool.instance, tool.server);
    } catch (error) {
      return Promise.reject(toGatewayError(error));
    }
    inFlight += 1;
    try {
      sending = checkAndSend(tool, instance, given, context);
    } catch (error) {
      sending = Promise.reject(toGatewayError(error));
    }
    const end = (outcome: string): void => {
      inFlight -= 1;
      record(instance, "tools/call", tool.upstreamName, startedMs, context, outcome);
    };
    return sending.then(
      (outcome) => {
        end(outcomeWord(outcome));
        return instance.server.stateful ? withLoss(outcome, instance.users, context, deps.presenceOf) : outcome;
      },
      (error: unknown) => {
        end(error instanceof GatewayError ? error.code : "INTERNAL");
        throw error;
      },
    );
  }

  function checkAndSend(
    tool: ToolEntry,
    instance: Instance,
    given: CallArguments,
    context: CallContext,
  ): Promise<Outcome> {
    if (!mayUse(context.principal, { rules: instance.server.tools, tool: tool.upstreamName }))
      throw new GatewayError("POLICY_DENIED", `${tool.path} is not allowed by the configuration`);
    // Where one server is shown as it is, it says itself what it does not take.
    const checking = checkArguments(
      context.transparent === true ? undefined : deps.validators,
      tool,
      given,
      context.signal,
    );
    return checking instanceof Promise
      ? checking.then((checked) => sendCall(tool, instance, checked, context))
      : sendCall(tool, instance, checking, context);
  }

  function sendCall(
    tool: ToolEntry,
    instance: Instance,
    checked: CallArguments,
    context: CallContext,
  ): Promise<Outcome> {
    const name = asciiJson(tool.upstreamName);
    const own: readonly ParamMember[] =
      checked.bytes === undefined
        ? [["name", name]]
        : [
            ["name", name],
            ["arguments", checked.bytes],
          ];
    const params = context.extraParams === undefined ? own : [...own, ...context.extraParams];
    const answering = relay(instance, toToolTarget(tool, instance.server, checked), params, context);
    if (tool.definition.outputSchema === undefined) return answering;
    return answering.then(async (outcome) => {
      if (outcome.kind === "result") await checkStructured(tool, instance, outcome.parsed, context.signal);
      return outcome;
    });
  }

  function toToolTarget(tool: ToolEntry, server: ServerConfig, given: CallArguments): Target {
    return {
      method: "tools/call",
      nameHeader: tool.upstreamName,
      headers: server.transport.kind === "stdio" ? noHeaders : headersOf(tool, given),
      repeatable: isRepeatable(tool),
      binding: () => `tools/call ${tool.path} ${given.bytes?.toString("latin1") ?? ""}`,
      refetch: server.transport.kind !== "stdio",
      check: (result) =>
        checkToolResult(tool.path, result, limits, server.strictResults && tool.definition.outputSchema !== undefined),
    };
  }

  function headersOf(tool: ToolEntry, given: CallArguments): readonly (readonly [string, string])[] {
    let parameters = mirrored.get(tool);
    if (parameters === undefined) mirrored.set(tool, (parameters = headerParameters(tool.definition.inputSchema)));
    return parameters.flatMap((parameter) => {
      const value = headerValue(parameter.path, given);
      return value === undefined ? [] : [[parameter.name, value] as const];
    });
  }

  function instanceFor(id: InstanceId, name: string): Instance {
    const instance = deps.instanceOf(id);
    if (instance === undefined) throw new GatewayError("SERVER_UNKNOWN", `${name} is no longer configured`);
    return instance;
  }

  async function forwardPlain(
    id: InstanceId,
    method: string,
    nameHeader: string | undefined,
    params: readonly ParamMember[],
    context: CallContext,
    name: string,
  ): Promise<Outcome> {
    const instance = instanceFor(id, name);
    const target: Target = {
      method,
      nameHeader,
      headers: noHeaders,
      repeatable: true,
      binding: () => `${method} ${name}`,
      refetch: false,
      check: (result) => checkResult(name, result, limits),
    };
    const startedMs = deps.clock.monotonic();
    try {
      const outcome = await relay(instance, target, params, context);
      record(instance, method, name, startedMs, context, outcome.kind === "error" ? "error" : "ok");
      return instance.server.stateful ? withLoss(outcome, instance.users, context, deps.presenceOf) : outcome;
    } catch (error) {
      record(instance, method, name, startedMs, context, error instanceof GatewayError ? error.code : "INTERNAL");
      throw error;
    }
  }

  function record(
    instance: Instance,
    method: string,
    name: string,
    startedMs: number,
    context: CallContext,
    outcome: string,
  ): void {
    deps.events.emit({
      type: "mcp.request.logs",
      atMs: deps.clock.now(),
      instance: instance.id,
      server: instance.server.slug,
      principal: context.principal.id,
      method,
      name,
      durationMs: deps.clock.monotonic() - startedMs,
      outcome,
    });
  }

  return {
    get inFlight() {
      return inFlight;
    },
    callTool,
    async wake(id, signal) {
      deps.validators.warm();
      const instance = instanceFor(id, id);
      const { state } = instance;
      const isFirstStart = state.kind === "new" || (state.kind === "starting" && state.down === undefined);
      if (!isFirstStart) await instance.acquire(signal);
      await instance.settled(isFirstStart ? abortAfter(firstCallWaitMs, signal) : signal);
    },
    expectCalls: deps.validators.warm,
    readResource: async (instance, uri, context) =>
      await forwardPlain(
        instance,
        "resources/read",
        uri,
        [["uri", asciiJson(uri)], ...(context.extraParams ?? [])],
        context,
        uri,
      ),
    async getPrompt(prompt, given, context) {
      const { name } = prompt.definition;
      const params: ParamMember[] = [["name", asciiJson(name)]];
      if (given !== undefined) params.push(["arguments", given]);
      if (context.extraParams !== undefined) params.push(...context.extraParams);
      return await forwardPlain(prompt.instance, "prompts/get", name, params, context, name);
    },
    complete: async (instance, params, context) =>
      await forwardPlain(instance, "completion/complete", undefined, params, context, "completion"),
    notify: (instance, method, params) =>
      void deps
        .instanceOf(instance)
        ?.connection?.notify(method, params)
        .catch(() => undefined),
    forward: async (instance, method, params, context) =>
      await forwardPlain(instance, method, nameOf(method, params), params, context, method),
  };
}

/** What Mcp-Name says of a request that nobody here looked into (2026-07-28, streamable-http, standard request headers). */
function nameOf(method: string, params: readonly ParamMember[]): string | undefined {
  if (method !== "tools/call" && method !== "prompts/get") return undefined;
  const bytes = params.find(([key]) => key === "name")?.[1];
  const name: unknown = bytes === undefined ? undefined : JSON.parse(bytes.toString("utf8"));
  return typeof name === "string" ? name : undefined;
}

function isRepeatable(tool: ToolEntry): boolean {
  const annotations = tool.definition.annotations;
  return annotations?.readOnlyHint === true || annotations?.idempotentHint === true;
}

/** As long as a first search waits (docs/design.md, "Starting"). */
const firstCallWaitMs = 2_000;

const noHeaders: readonly (readonly [string, string])[] = Object.freeze([]);

/** What servers send may nest deeper than what clients send, but not so deep that JSON.stringify could fail. */
const upstreamDepth = 1_000;

function outcomeWord(outcome: Outcome): string {
  if (outcome.kind === "error") return "error";
  return outcome.parsed?.["isError"] === true ? "tool_error" : "ok";
}
