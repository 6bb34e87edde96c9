import type { ToolEntry, PromptEntry } from "../catalog/snapshot.ts";
import { headerParameters, mirroredValue, type HeaderParameter } from "../catalog/header-parameters.ts";
import type { Limits, ServerConfig } from "../config/config.ts";
import type { EventBus } from "../events/bus.ts";
import type { Instance } from "../instance/instance.ts";
import { mayUse } from "../policy/policy.ts";
import { asciiJson } from "../protocol/ascii-json.ts";
import type { SealedStates } from "../protocol/sealed-state.ts";
import type { CallArguments } from "../shared/call-arguments.ts";
import type { CallContext } from "../shared/call-context.ts";
import type { Clock } from "../shared/clock.ts";
import { GatewayError, toGatewayError } from "../shared/gateway-error.ts";
import type { InstanceId } from "../shared/ids.ts";
import type { JsonBytes, JsonObject } from "../shared/json-bytes.ts";
import { createSemaphore, type Semaphore } from "../shared/semaphore.ts";
import type { ParamMember, UpstreamRequest } from "../upstream/connection.ts";
import { parseErrorObject } from "../upstream/request-table.ts";
import { checkArguments } from "./arguments.ts";
import { settleQuestions, toInputRequired, withServerNamed, type InputRequired } from "./questions.ts";
import { createWaitingQuestions } from "./waiting-questions.ts";
import { checkResult, checkToolResult, type CheckedResult } from "./result-check.ts";
import type { Validators } from "./validation/validators.ts";

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
  /** Calls will come soon: gets ready what they need first. */
  expectCalls(): void;
  /** Calls that have not been answered yet. */
  readonly inFlight: number;
}

/** What came of it: the server's result or error, as bytes; a result's parsed form where it was parsed anyway. */
export type Outcome =
  | ({ readonly kind: "result" } & CheckedResult)
  | { readonly kind: "error"; readonly error: JsonBytes };

export interface RoutingDeps {
  readonly instanceOf: (id: InstanceId) => Instance | undefined;
  readonly validators: Validators;
  readonly states: SealedStates;
  readonly events: EventBus;
  readonly clock: Clock;
  readonly limits: Limits;
}

const headerMismatch = -32020;

export function createRouting(deps: RoutingDeps): Routing {
  const turns = new Map<InstanceId, Semaphore>();
  const waitingQuestions = createWaitingQuestions({
    limitMs: deps.limits.parkedMs,
    mostPerInstance: deps.limits.parkedCalls,
    clock: deps.clock,
  });
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
        return outcome;
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
    const answering = exchange(instance, toToolTarget(tool, instance.server, checked), params, context);
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
      headers: server.transport.kind === "stdio" ? noHeaders : headersOf(tool, given.value),
      repeatable: isRepeatable(tool),
      binding: () => `tools/call ${tool.path} ${given.bytes?.toString("latin1") ?? ""}`,
      refetch: server.transport.kind !== "stdio",
      check: (result) =>
        checkToolResult(tool.path, result, limits, server.strictResults && tool.definition.outputSchema !== undefined),
    };
  }

  /** What is sent to one server, and how its answer is looked at. */
  interface Target {
    readonly method: string;
    readonly nameHeader: string | undefined;
    readonly headers: readonly (readonly [string, string])[];
    /** Whether it may be sent again after it may have run. */
    readonly repeatable: boolean;
    /** What a sealed state is bound to. */
    readonly binding: () => string;
    /** On a header mismatch the lists are fetched again and the request is sent once more. */
    readonly refetch: boolean;
    readonly check: (result: JsonBytes) => CheckedResult;
  }

  /** Sends, and brings the server's questions to the client, until there is an answer. */
  function exchange(
    instance: Instance,
    target: Target,
    params: readonly ParamMember[],
    context: CallContext,
  ): Promise<Outcome> {
    if (instance.server.interactive) return inTurn(instance, target, params, context);
    return attempt(instance, target, withAnswers(params, target, context), context, (outcome) =>
      conclude(outcome, instance, target, params, context),
    );
  }

  /** Calls of an `interactive` server run one after the other, so that its questions belong to exactly one of them. */
  async function inTurn(
    instance: Instance,
    target: Target,
    params: readonly ParamMember[],
    context: CallContext,
  ): Promise<Outcome> {
    const release = await takeTurn(instance, context.signal);
    try {
      return await attempt(instance, target, withAnswers(params, target, context), context, (outcome) =>
        conclude(outcome, instance, target, params, context),
      );
    } finally {
      release();
    }
  }

  /** A modern server's `input_required` goes to the client, and its answers back, until the call is complete. */
  function conclude(
    outcome: Outcome,
    instance: Instance,
    target: Target,
    params: readonly ParamMember[],
    context: CallContext,
  ): Outcome | Promise<Outcome> {
    const asked = outcome.kind === "result" ? toInputRequired(outcome.parsed) : undefined;
    return asked === undefined || outcome.kind === "error"
      ? outcome
      : settle(outcome.result, asked, instance, target, params, context);
  }

  async function settle(
    result: JsonBytes,
    asked: InputRequired,
    instance: Instance,
    target: Target,
    params: readonly ParamMember[],
    context: CallContext,
  ): Promise<Outcome> {
    const round = { server: instance.server.slug, context, states: deps.states, binding: target.binding() };
    const reply = await settleQuestions({ kind: "result", result }, asked, round, async (extra) => {
      const next = await attempt(instance, target, [...params, ...extra], context, (outcome) => outcome);
      return next.kind === "result"
        ? { reply: { kind: "result", result: next.result }, parsed: next.parsed }
        : { reply: next, parsed: undefined };
    });
    return reply.kind === "error" ? reply : toOutcome(target.check(reply.result));
  }

  /** A modern client's second round: its answers, and the state that was sealed for it. */
  function withAnswers(params: readonly ParamMember[], target: Target, context: CallContext): readonly ParamMember[] {
    if (context.inputResponses === undefined && context.requestState === undefined) return params;
    const extra: ParamMember[] = [];
    if (context.inputResponses !== undefined) extra.push(["inputResponses", context.inputResponses]);
    if (context.requestState !== undefined)
      extra.push([
        "requestState",
        asciiJson(
          deps.states.open(context.requestState, { principal: context.principal.id, request: target.binding() }),
        ),
      ]);
    return [...params, ...extra];
  }

  /** One request; sent once more when it never reached the server, or may be repeated (DESIGN.md section 4). */
  async function attempt(
    instance: Instance,
    target: Target,
    params: readonly ParamMember[],
    context: CallContext,
    then: (outcome: Outcome) => Outcome | Promise<Outcome>,
  ): Promise<Outcome> {
    let sent = false;
    const request = toRequest(instance, target, params, context, () => {
      sent = true;
    });
    let outcome: Outcome;
    for (let tries = 1; ; tries += 1) {
      try {
        const acquired = instance.acquire(context.signal);
        const connection = acquired instanceof Promise ? await acquired : acquired;
        const reply = await connection.request(request);
        outcome = reply.kind === "result" ? toOutcome(target.check(reply.result)) : reply;
        if (outcome.kind === "result" || !target.refetch || tries > 1) break;
        if (parseErrorObject(outcome.error).code !== headerMismatch) break;
        await instance.refresh(context.signal);
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        instance.noteFailure(error);
        if (tries > 1 || !mayRetry(instance.server, error, sent, target, context)) throw error;
      }
    }
    return then(outcome);
  }

  function toRequest(
    instance: Instance,
    target: Target,
    params: readonly ParamMember[],
    context: CallContext,
    onSent: () => void,
  ): UpstreamRequest {
    const { ask } = context;
    const { server } = instance;
    return {
      method: target.method,
      params,
      meta: context.meta,
      era: context.client.era,
      clientCapabilities: context.client.capabilities,
      logLevel: context.logLevel,
      signal: context.signal,
      timeoutMs: server.callTimeoutMs,
      maxTimeoutMs: server.maxCallTimeoutMs,
      onProgress: context.onProgress,
      onLog: context.onLog,
      replies: context.replies,
      ask:
        ask === undefined
          ? undefined
          : async (question, signal) =>
              await waitingQuestions.ask(
                instance.id,
                context,
                context.transparent === true ? question : { ...question, params: namedParams(question, server.slug) },
                signal,
              ),
      headers: target.headers.length === 0 ? undefined : target.headers,
      nameHeader: target.nameHeader,
      onSent,
    };
  }

  async function takeTurn(instance: Instance, signal: AbortSignal): Promise<() => void> {
    let turn = turns.get(instance.id);
    if (turn === undefined) turns.set(instance.id, (turn = createSemaphore(1)));
    return await turn.acquire(signal);
  }

  function headersOf(tool: ToolEntry, value: unknown): readonly (readonly [string, string])[] {
    let parameters = mirrored.get(tool);
    if (parameters === undefined) mirrored.set(tool, (parameters = headerParameters(tool.definition.inputSchema)));
    return parameters.flatMap((parameter) => {
      const found = mirroredValue(parameter.path, value);
      return found === undefined ? [] : [[parameter.name, String(found)] as const];
    });
  }

  async function checkStructured(
    tool: ToolEntry,
    instance: Instance,
    parsed: JsonObject | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const schema = tool.definition.outputSchema;
    if (
      schema === undefined ||
      parsed === undefined ||
      parsed["structuredContent"] === undefined ||
      parsed["isError"] === true
    )
      return;
    const key = `${tool.hash}.output`;
    const verdict =
      deps.validators.lookup(key) ??
      (instance.server.strictResults ? await deps.validators.prepare(key, schema, signal) : prepareLater(key, schema));
    if (verdict === "unvalidated" || verdict === undefined) return;
    const problem = verdict.check(parsed["structuredContent"]);
    if (problem === undefined) return;
    deps.events.emit({
      type: "result.schema_mismatch",
      atMs: deps.clock.now(),
      instance: tool.instance,
      server: tool.server,
      tool: tool.path,
      reason: problem.message,
    });
    if (instance.server.strictResults)
      throw new GatewayError(
        "UPSTREAM_PROTOCOL",
        `the result of ${tool.path} does not fit its outputSchema: ${problem.message}`,
      );
  }

  /** A mismatch is only recorded: the first result must not wait for its schema to be compiled. */
  function prepareLater(key: string, schema: JsonObject): undefined {
    deps.validators.prepare(key, schema, AbortSignal.timeout(10_000)).catch(() => undefined);
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
      const outcome = await exchange(instance, target, params, context);
      record(instance, method, name, startedMs, context, outcome.kind === "error" ? "error" : "ok");
      return outcome;
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

function namedParams(question: { readonly method: string; readonly params: JsonBytes }, server: string): JsonBytes {
  if (question.method !== "elicitation/create") return question.params;
  const named = withServerNamed(
    { method: question.method, params: JSON.parse(question.params.toString("utf8")) as unknown },
    server,
  ) as { params: unknown };
  return Buffer.from(asciiJson(named.params), "latin1");
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

function mayRetry(
  server: ServerConfig,
  error: GatewayError,
  sent: boolean,
  target: { readonly repeatable: boolean },
  context: CallContext,
): boolean {
  if (!server.retry || context.signal.aborted) return false;
  return (error.code === "UPSTREAM_CLOSED" || error.code === "CONNECT_FAILED") && (!sent || target.repeatable);
}

function toOutcome(checked: CheckedResult): Outcome {
  return { kind: "result", result: checked.result, parsed: checked.parsed };
}

const noHeaders: readonly (readonly [string, string])[] = Object.freeze([]);

/** What servers send may nest deeper than what clients send, but not so deep that JSON.stringify could fail. */
const upstreamDepth = 1_000;

function outcomeWord(outcome: Outcome): string {
  if (outcome.kind === "error") return "error";
  return outcome.parsed?.["isError"] === true ? "tool_error" : "ok";
}
