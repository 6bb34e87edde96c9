import { asciiJson } from "../../wire/json/ascii-json.ts";
import type { SealedStates } from "../../wire/mcp/sealed-state.ts";
import type { CallContext } from "../../kernel/call-context.ts";
import type { ClientPresence } from "../../kernel/client-presence.ts";
import { failures } from "../../kernel/failures.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import type { ClientInstances } from "../../servers/instance/client-instances.ts";
import type { Instance } from "../../servers/instance/instance.ts";
import type { ServerConfig } from "../../config/config.ts";
import type { JsonBytes } from "../../kernel/json-bytes.ts";
import { createSemaphore, type Semaphore } from "../../kernel/semaphore.ts";
import type { ParamMember, UpstreamRequest } from "../../servers/upstream/connection.ts";
import { parseErrorObject } from "../../wire/mcp/error-object.ts";
import { withLoss } from "./loss.ts";
import { answersOf, unwrapState, withRootsOf } from "./roots.ts";
import { settleQuestions, withServerNamed } from "./questions.ts";
import type { ServerAnswer } from "./server-answer.ts";
import type { ResultBytes } from "../../wire/mcp/result-bytes.ts";
import type { WaitingQuestions } from "./waiting-questions.ts";

/** What is sent to one server, and how its answer is looked at. */
export interface Target {
  readonly method: string;
  readonly nameHeader: string | undefined;
  readonly headers: readonly (readonly [string, string])[];
  /** Whether it may be sent again after it may have run. */
  readonly repeatable: boolean;
  /** What a sealed state is bound to. */
  readonly binding: () => string;
  /** On a header mismatch the lists are fetched again and the request is sent once more. */
  readonly refetch: boolean;
  readonly check: (result: JsonBytes) => ResultBytes | Promise<ResultBytes>;
}

export interface RelayDeps {
  readonly states: SealedStates;
  readonly waitingQuestions: WaitingQuestions;
  readonly presenceOf: (context: CallContext) => ClientPresence;
  readonly clients: Pick<ClientInstances, "enter">;
}

/** Sends, and brings the server's questions to the client, until there is an answer. Throws GatewayErrors. */
export type Relay = (
  instance: Instance,
  target: Target,
  params: readonly ParamMember[],
  context: CallContext,
) => Promise<ServerAnswer>;

export function createRelay(deps: RelayDeps): Relay {
  const turns = new WeakMap<Instance, Semaphore>();

  function relay(
    instance: Instance,
    target: Target,
    params: readonly ParamMember[],
    context: CallContext,
  ): Promise<ServerAnswer> {
    return instance.server.scope === "client"
      ? forClient(instance, target, params, context)
      : exchangeWith(instance, target, params, withRootsOf(instance.server, context));
  }

  /** A server of scope `client` answers with the client's own instance. */
  async function forClient(
    base: Instance,
    target: Target,
    params: readonly ParamMember[],
    context: CallContext,
  ): Promise<ServerAnswer> {
    const { instance, leave } = deps.clients.enter(base, context);
    try {
      const outcome = await exchangeWith(instance, target, params, withRootsOf(instance.server, context));
      // Whoever sent the call here looks at the users of the base, which did not answer it.
      return instance.server.stateful ? withLoss(outcome, instance.users, context, deps.presenceOf) : outcome;
    } finally {
      leave();
    }
  }

  function exchangeWith(
    instance: Instance,
    target: Target,
    params: readonly ParamMember[],
    context: CallContext,
  ): Promise<ServerAnswer> {
    return instance.server.interactive
      ? inTurn(instance, () => converse(instance, target, params, context), context.signal)
      : converse(instance, target, params, context);
  }

  function converse(
    instance: Instance,
    target: Target,
    params: readonly ParamMember[],
    context: CallContext,
  ): Promise<ServerAnswer> {
    return attempt(instance, target, withAnswers(params, target, context), context, (answer) =>
      conclude(answer, instance, target, params, context),
    );
  }

  /** Calls of an `interactive` server run one after the other, so that its questions belong to exactly one of them. */
  async function inTurn(
    instance: Instance,
    run: () => Promise<ServerAnswer>,
    signal: AbortSignal,
  ): Promise<ServerAnswer> {
    let turn = turns.get(instance);
    if (turn === undefined) turns.set(instance, (turn = createSemaphore(1)));
    const release = await turn.acquire(signal);
    try {
      return await run();
    } finally {
      release();
    }
  }

  /** A modern server's `input_required` goes to the client, and its answers back, until the call is complete. */
  function conclude(
    answer: ServerAnswer,
    instance: Instance,
    target: Target,
    params: readonly ParamMember[],
    context: CallContext,
  ): ServerAnswer | Promise<ServerAnswer> {
    return answer.kind === "result" && answer.result.isQuestion
      ? settle(answer, instance, target, params, context)
      : answer;
  }

  async function settle(
    asked: ServerAnswer,
    instance: Instance,
    target: Target,
    params: readonly ParamMember[],
    context: CallContext,
  ): Promise<ServerAnswer> {
    const round = {
      server: instance.server.slug,
      context,
      states: deps.states,
      binding: target.binding(),
      roots: context.ownRoots,
    };
    const settled = await settleQuestions(
      asked,
      round,
      async (extra) => await attempt(instance, target, [...params, ...extra], context, (answer) => answer),
    );
    return settled.kind === "error" ? settled : { kind: "result", result: await target.check(settled.result.bytes) };
  }

  /** A modern client's second round: its answers, and the state that was sealed for it. */
  function withAnswers(params: readonly ParamMember[], target: Target, context: CallContext): readonly ParamMember[] {
    const { requestState } = context;
    const inputResponses = answersOf(context);
    if (requestState === undefined)
      return inputResponses === undefined ? params : [...params, ["inputResponses", inputResponses]];
    const state = deps.states.open(requestState, { principal: context.principal.id, request: target.binding() });
    return [...params, ...unwrapState(state, inputResponses, context.ownRoots)];
  }

  /**
   * One request; sent once more when it never reached the server, or may be repeated
   * (docs/design.md, "execute_mcp_tool").
   */
  async function attempt(
    instance: Instance,
    target: Target,
    params: readonly ParamMember[],
    context: CallContext,
    then: (answer: ServerAnswer) => ServerAnswer | Promise<ServerAnswer>,
  ): Promise<ServerAnswer> {
    let sent = false;
    const request = toRequest(instance, target, params, context, () => {
      sent = true;
    });
    let answer: ServerAnswer;
    for (let tries = 1; ; tries += 1) {
      try {
        const acquired = instance.acquire(context.signal);
        const connection = acquired instanceof Promise ? await acquired : acquired;
        const reply = await connection.request(request);
        if (instance.server.stateful) instance.users.note(deps.presenceOf(context));
        if (reply.kind === "result") {
          const checked = target.check(reply.result);
          answer = { kind: "result", result: checked instanceof Promise ? await checked : checked };
        } else answer = reply;
        if (answer.kind === "result" || !target.refetch || tries > 1) break;
        if (parseErrorObject(answer.error).code !== failures.HEADER_MISMATCH.rpc) break;
        await instance.refresh(context.signal);
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        // What it did before it failed may have left something there.
        if (sent && instance.server.stateful) instance.users.note(deps.presenceOf(context));
        instance.noteFailure(error);
        if (tries > 1 || !mayRetry(instance.server, error, sent, target, context)) throw error;
      }
    }
    return then(answer);
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
              await deps.waitingQuestions.ask(
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

  return relay;
}

function namedParams(question: { readonly method: string; readonly params: JsonBytes }, server: string): JsonBytes {
  if (question.method !== "elicitation/create") return question.params;
  const named = withServerNamed(
    { method: question.method, params: JSON.parse(question.params.toString("utf8")) as unknown },
    server,
  ) as { params: unknown };
  return Buffer.from(asciiJson(named.params), "latin1");
}

function mayRetry(
  server: ServerConfig,
  error: GatewayError,
  sent: boolean,
  target: Target,
  context: CallContext,
): boolean {
  if (!server.retry || context.signal.aborted) return false;
  return (error.code === "UPSTREAM_CLOSED" || error.code === "CONNECT_FAILED") && (!sent || target.repeatable);
}
