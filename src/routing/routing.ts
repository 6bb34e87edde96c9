import type { ToolEntry, PromptEntry } from "../catalog/snapshot.ts";
import { headerParameters, type HeaderParameter } from "../catalog/header-parameters.ts";
import type { Limits, ServerConfig } from "../config/config.ts";
import type { EventBus } from "../events/bus.ts";
import type { Instance } from "../instance/instance.ts";
import { mayUse } from "../policy/policy.ts";
import { asciiJson } from "../protocol/ascii-json.ts";
import type { SealedStates } from "../protocol/sealed-state.ts";
import type { CallContext } from "../shared/call-context.ts";
import type { Clock } from "../shared/clock.ts";
import { GatewayError } from "../shared/gateway-error.ts";
import type { InstanceId } from "../shared/ids.ts";
import type { JsonBytes, JsonObject } from "../shared/json-bytes.ts";
import { createSemaphore, type Semaphore } from "../shared/semaphore.ts";
import type { ParamMember, UpstreamRequest } from "../upstream/connection.ts";
import { parseErrorObject } from "../upstream/request-table.ts";
import { checkArguments, type ArgumentCheck } from "./arguments.ts";
import { settleQuestions, toInputRequired, withServerNamed } from "./questions.ts";
import { checkResult, checkToolResult, type CheckedResult } from "./result-check.ts";
import type { Validators } from "./validation/validators.ts";

/** Executes what exposures resolve: calls, reads, prompts, completions. Every failure of ours is thrown as a GatewayError. */
export interface Routing {
  callTool(tool: ToolEntry, given: JsonBytes | undefined, context: CallContext): Promise<Outcome>;
  readResource(instance: InstanceId, uri: string, context: CallContext): Promise<Outcome>;
  getPrompt(prompt: PromptEntry, given: JsonBytes | undefined, context: CallContext): Promise<Outcome>;
  complete(instance: InstanceId, params: readonly ParamMember[], context: CallContext): Promise<Outcome>;
  /** Any other request, passed to one server as it is. */
  forward(instance: InstanceId, method: string, params: readonly ParamMember[], context: CallContext): Promise<Outcome>;
  /** Calls that have not been answered yet. */
  readonly inFlight: number;
}

/** What came of it: the server's result or error, as bytes; a result's parsed form where it was parsed anyway. */
export type Outcome = ({ readonly kind: "result" } & CheckedResult) | { readonly kind: "error"; readonly error: JsonBytes };

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
  const mirrored = new WeakMap<ToolEntry, readonly HeaderParameter[]>();
  const argumentCheck: ArgumentCheck = { validators: deps.validators };
  let inFlight = 0;

  async function callTool(tool: ToolEntry, given: JsonBytes | undefined, context: CallContext): Promise<Outcome> {
    const startedMs = deps.clock.monotonic();
    const instance = instanceFor(tool.instance, tool.server);
    inFlight += 1;
    try {
      const outcome = await runCall(tool, instance, given, context);
      record(instance, "tools/call", tool.upstreamName, startedMs, context, outcomeWord(outcome));
      return outcome;
    } catch (error) {
      record(instance, "tools/call", tool.upstreamName, startedMs, context, error instanceof GatewayError ? error.code : "INTERNAL");
      throw error;
    } finally {
      inFlight -= 1;
    }
  }

  async function runCall(tool: ToolEntry, instance: Instance, given: JsonBytes | undefined, context: CallContext): Promise<Outcome> {
    const { server } = instance;
    if (!mayUse(context.principal, { rules: server.tools, tool: tool.upstreamName })) throw new GatewayError("POLICY_DENIED", `${tool.path} is not allowed by the configuration`);
    const checking = checkArguments(argumentCheck, tool, given, context.signal);
    const checked = checking instanceof Promise ? await checking : checking;
    const params: ParamMember[] = [["name", Buffer.from(asciiJson(tool.upstreamName), "latin1")]];
    if (checked.bytes !== undefined) params.push(["arguments", checked.bytes]);
    const target: Target = {
      what: tool.path,
      method: "tools/call",
      nameHeader: tool.upstreamName,
      headers: () => headersOf(tool, checked.value),
      repeatable: isRepeatable(tool),
      binding: `tools/call ${tool.path} ${given?.toString("latin1") ?? ""}`,
      refetch: true,
      check: (result) => checkToolResult(tool.path, result, resultLimits(deps.limits), server.strictResults && tool.definition.outputSchema !== undefined),
    };
    const outcome = await withTurn(instance, context.signal, async () => await exchange(instance, target, params, context));
    if (outcome.kind === "result" && tool.definition.outputSchema !== undefined) await checkStructured(tool, instance, outcome.parsed, context.signal);
    return outcome;
  }

  interface Target {
    readonly what: string;
    readonly method: string;
    readonly nameHeader: string | undefined;
    readonly headers: () => readonly (readonly [string, string])[];
    /** Whether it may be sent again after it may have run. */
    readonly repeatable: boolean;
    readonly binding: string;
    /** On a header mismatch the lists are fetched again and the request is sent once more. */
    readonly refetch: boolean;
    readonly check: (result: JsonBytes) => CheckedResult;
  }

  async function exchange(instance: Instance, target: Target, params: readonly ParamMember[], context: CallContext): Promise<Outcome> {
    const allParams = withAnswers(params, target, context);
    const outcome = await sendWithRetry(instance, target, allParams, context);
    const asked = outcome.kind === "result" ? toInputRequired(outcome.parsed) : undefined;
    if (asked === undefined || outcome.kind === "error") return outcome;
    const round = { server: instance.server.slug, context, states: deps.states, binding: target.binding };
    const reply = await settleQuestions({ kind: "result", result: outcome.result }, asked, round, async (extra) => {
      const next = await sendWithRetry(instance, target, [...params, ...extra], context);
      return next.kind === "result" ? { reply: { kind: "result", result: next.result }, parsed: next.parsed } : { reply: next, parsed: undefined };
    });
    return reply.kind === "error" ? reply : { kind: "result", ...target.check(reply.result) };
  }

  /** A modern client's second round: its answers, and the state that was sealed for it. */
  function withAnswers(params: readonly ParamMember[], target: Target, context: CallContext): readonly ParamMember[] {
    if (context.inputResponses === undefined && context.requestState === undefined) return params;
    const extra: ParamMember[] = [];
    if (context.inputResponses !== undefined) extra.push(["inputResponses", context.inputResponses]);
    if (context.requestState !== undefined) {
      const state = deps.states.open(context.requestState, { principal: context.principal.id, request: target.binding });
      extra.push(["requestState", Buffer.from(asciiJson(state), "latin1")]);
    }
    return [...params, ...extra];
  }

  async function sendWithRetry(instance: Instance, target: Target, params: readonly ParamMember[], context: CallContext): Promise<Outcome> {
    let sent = false;
    const onSent = (): void => {
      sent = true;
    };
    try {
      return await send(instance, target, params, context, onSent);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      instance.noteFailure(error);
      const again = instance.server.retry && !context.signal.aborted && (error.code === "UPSTREAM_CLOSED" || error.code === "CONNECT_FAILED") && (!sent || target.repeatable);
      if (!again) throw error;
      return await send(instance, target, params, context, onSent);
    }
  }

  async function send(instance: Instance, target: Target, params: readonly ParamMember[], context: CallContext, onSent: () => void): Promise<Outcome> {
    const acquired = instance.acquire(context.signal);
    const connection = acquired instanceof Promise ? await acquired : acquired;
    const reply = await connection.request(toRequest(instance.server, target, params, context, onSent));
    if (reply.kind === "result") return { kind: "result", ...target.check(reply.result) };
    if (!target.refetch || parseErrorObject(reply.error).code !== headerMismatch) return reply;
    await instance.refresh(context.signal);
    const second = await connection.request(toRequest(instance.server, target, params, context, onSent));
    return second.kind === "result" ? { kind: "result", ...target.check(second.result) } : second;
  }

  function toRequest(server: ServerConfig, target: Target, params: readonly ParamMember[], context: CallContext, onSent: () => void): UpstreamRequest {
    const headers = server.transport.kind === "stdio" ? undefined : target.headers();
    const { ask } = context;
    return {
      method: target.method,
      params,
      ...(context.meta === undefined ? undefined : { meta: context.meta }),
      era: context.client.era,
      clientCapabilities: context.client.capabilities,
      ...(context.logLevel === undefined ? undefined : { logLevel: context.logLevel }),
      signal: context.signal,
      timeoutMs: server.callTimeoutMs,
      maxTimeoutMs: server.maxCallTimeoutMs,
      ...(context.onProgress === undefined ? undefined : { onProgress: context.onProgress }),
      ...(context.onLog === undefined ? undefined : { onLog: context.onLog }),
      ...(ask === undefined ? undefined : { ask: async (question, signal) => await ask({ ...question, params: namedParams(question, server.slug) }, signal) }),
      ...(headers === undefined || headers.length === 0 ? undefined : { headers }),
      ...(target.nameHeader === undefined ? undefined : { nameHeader: target.nameHeader }),
      onSent,
    };
  }

  /** Calls of an `interactive` server run one after the other, so that its questions belong to exactly one of them. */
  async function withTurn<T>(instance: Instance, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
    if (!instance.server.interactive) return await run();
    let turn = turns.get(instance.id);
    if (turn === undefined) turns.set(instance.id, (turn = createSemaphore(1)));
    const release = await turn.acquire(signal);
    try {
      return await run();
    } finally {
      release();
    }
  }

  function headersOf(tool: ToolEntry, value: unknown): readonly (readonly [string, string])[] {
    let parameters = mirrored.get(tool);
    if (parameters === undefined) mirrored.set(tool, (parameters = headerParameters(tool.definition.inputSchema)));
    return parameters.flatMap((parameter) => {
      const found = parameter.path.reduce<unknown>((at, key) => (typeof at === "object" && at !== null && Object.hasOwn(at, key) ? (at as JsonObject)[key] : undefined), value);
      return found === undefined || found === null || typeof found === "object" ? [] : [[parameter.name, String(found)] as const];
    });
  }

  async function checkStructured(tool: ToolEntry, instance: Instance, parsed: JsonObject | undefined, signal: AbortSignal): Promise<void> {
    const schema = tool.definition.outputSchema;
    if (schema === undefined || parsed === undefined || parsed["structuredContent"] === undefined || parsed["isError"] === true) return;
    const key = `${tool.hash}.output`;
    const verdict = deps.validators.lookup(key) ?? (instance.server.strictResults ? await deps.validators.prepare(key, schema, signal) : prepareLater(key, schema));
    if (verdict === "unvalidated" || verdict === undefined) return;
    const problem = verdict.check(parsed["structuredContent"]);
    if (problem === undefined) return;
    deps.events.emit({ type: "result.schema_mismatch", atMs: deps.clock.now(), instance: tool.instance, server: tool.server, tool: tool.path, reason: problem.message });
    if (instance.server.strictResults) throw new GatewayError("UPSTREAM_PROTOCOL", `the result of ${tool.path} does not fit its outputSchema: ${problem.message}`);
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

  async function forwardPlain(id: InstanceId, method: string, nameHeader: string | undefined, params: readonly ParamMember[], context: CallContext, name: string): Promise<Outcome> {
    const instance = instanceFor(id, name);
    const target: Target = {
      what: name,
      method,
      nameHeader,
      headers: () => [],
      repeatable: true,
      binding: `${method} ${name}`,
      refetch: false,
      check: (result) => checkResult(name, result, resultLimits(deps.limits)),
    };
    const startedMs = deps.clock.monotonic();
    try {
      const outcome = await withTurn(instance, context.signal, async () => await exchange(instance, target, params, context));
      record(instance, method, name, startedMs, context, outcome.kind === "error" ? "error" : "ok");
      return outcome;
    } catch (error) {
      record(instance, method, name, startedMs, context, error instanceof GatewayError ? error.code : "INTERNAL");
      throw error;
    }
  }

  function record(instance: Instance, method: string, name: string, startedMs: number, context: CallContext, outcome: string): void {
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
    readResource: async (instance, uri, context) => await forwardPlain(instance, "resources/read", uri, [["uri", Buffer.from(asciiJson(uri), "latin1")]], context, uri),
    async getPrompt(prompt, given, context) {
      const { name } = prompt.definition;
      const params: ParamMember[] = [["name", Buffer.from(asciiJson(name), "latin1")]];
      if (given !== undefined) params.push(["arguments", given]);
      return await forwardPlain(prompt.instance, "prompts/get", name, params, context, name);
    },
    complete: async (instance, params, context) => await forwardPlain(instance, "completion/complete", undefined, params, context, "completion"),
    forward: async (instance, method, params, context) => await forwardPlain(instance, method, undefined, params, context, method),
  };
}

function namedParams(question: { readonly method: string; readonly params: JsonBytes }, server: string): JsonBytes {
  if (question.method !== "elicitation/create") return question.params;
  const named = withServerNamed({ method: question.method, params: JSON.parse(question.params.toString("utf8")) as unknown }, server) as { params: unknown };
  return Buffer.from(asciiJson(named.params), "latin1");
}

function isRepeatable(tool: ToolEntry): boolean {
  const annotations = tool.definition.annotations;
  return annotations?.readOnlyHint === true || annotations?.idempotentHint === true;
}

function resultLimits(limits: Limits): { resultBytes: number; contentBlocks: number; depth: number } {
  return { resultBytes: limits.resultBytes, contentBlocks: limits.contentBlocks, depth: upstreamDepth };
}

/** What servers send may nest deeper than what clients send, but not so deep that JSON.stringify could fail. */
const upstreamDepth = 1_000;

function outcomeWord(outcome: Outcome): string {
  if (outcome.kind === "error") return "error";
  return outcome.parsed?.["isError"] === true ? "tool_error" : "ok";
}
