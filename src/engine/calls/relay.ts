import type { ServerConfig } from "../../config/config.ts";
import type { SealedStates } from "../../wire/mcp/sealed-state.ts";
import type { ClientInstances } from "../../servers/instance/fleet/client-instances.ts";
import type { ParamMember } from "../../servers/upstream/connection.ts";
import { settleQuestions } from "./questions/questions.ts";
import { answersOf, unwrapState, withRootsOf } from "./subscriptions/roots.ts";
import type { ServerAnswer, ServerCall } from "./server-call.ts";
import { createServerExchange, type ExchangeDeps } from "./server-exchange.ts";
import type { Users } from "../../servers/instance/users.ts";
import type { CallContext } from "../../kernel/call/call-context.ts";
import type { ClientPresence } from "../../kernel/client-presence.ts";
import { createSemaphore, type Semaphore } from "../../kernel/runtime/semaphore.ts";
import type { Instance } from "../../servers/instance/instance.ts";

export interface RelayDeps extends ExchangeDeps {
  readonly states: SealedStates;
  readonly clients: Pick<ClientInstances, "enter">;
}

/**
 * Sends a call, and brings the server's questions to the client, until there is an answer. Throws or rejects with
 * GatewayErrors.
 */
export type Relay = (call: ServerCall) => Promise<ServerAnswer>;

export function createRelay(deps: RelayDeps): Relay {
  const inTurn = createInteractiveTurns();
  const exchange = createServerExchange(deps);

  /** A server of scope `client` answers with the client's own instance. */
  async function forClient(call: ServerCall): Promise<ServerAnswer> {
    const { context } = call;
    const { instance, leave } = deps.clients.enter(call.instance, context);
    try {
      const outcome = await converse({ ...call, instance });
      // The caller looks at the users of the base instance, which did not answer the call.
      return instance.server.stateful ? withLoss(outcome, instance.users, context, deps.presenceOf) : outcome;
    } finally {
      leave();
    }
  }

  function converse(call: ServerCall): Promise<ServerAnswer> {
    const { server } = call.instance;
    const context = withRootsOf(server, call.context);
    if (context === call.context) return exchangeIn(server, call);
    return exchangeIn(server, { ...call, context }).finally(() => {
      call.context.waitedMs += context.waitedMs;
      if (context.node !== call.context.node) call.context.node = context.node;
    });
  }

  function exchangeIn(server: ServerConfig, call: ServerCall): Promise<ServerAnswer> {
    return server.interactive ? inTurn(call.instance, call.context.signal, () => begin(call)) : begin(call);
  }

  function begin(call: ServerCall): Promise<ServerAnswer> {
    const params = withAnswers(call);
    return params instanceof Promise
      ? params.then((opened) => exchange(call, opened, settle))
      : exchange(call, params, settle);
  }

  /** A modern client's second round: its answers, and the state that was sealed for it. */
  function withAnswers({
    target,
    params,
    context,
  }: ServerCall): readonly ParamMember[] | Promise<readonly ParamMember[]> {
    const { requestState } = context;
    const inputResponses = answersOf(context);
    if (requestState === undefined)
      return inputResponses === undefined ? params : [...params, ["inputResponses", inputResponses]];
    const state = deps.states.open(requestState, { principal: context.principal.id, request: target.binding() });
    const toParams = (opened: string): readonly ParamMember[] => [
      ...params,
      ...unwrapState(opened, inputResponses, context.ownRoots),
    ];
    return state instanceof Promise ? state.then(toParams) : toParams(state);
  }

  /** A modern server's `input_required` goes to the client, and its answers back, until the call is complete. */
  function settle(answer: ServerAnswer, call: ServerCall): ServerAnswer | Promise<ServerAnswer> {
    return answer.kind === "result" && answer.result.isQuestion ? settleAll(answer, call) : answer;
  }

  async function settleAll(asked: ServerAnswer, call: ServerCall): Promise<ServerAnswer> {
    const { instance, target, params, context } = call;
    const round = {
      server: instance.server.slug,
      context,
      states: deps.states,
      binding: target.binding(),
      roots: context.ownRoots,
      takesRoots: instance.server.scope === "client",
    };
    const settled = await settleQuestions(
      asked,
      round,
      async (extra) => await exchange(call, [...params, ...extra], asItIs),
    );
    return settled.kind === "error" ? settled : { kind: "result", result: await target.check(settled.result.bytes) };
  }

  return (call) => (call.instance.server.scope === "client" ? forClient(call) : converse(call));
}

/** Questions in the answers of later rounds are left to the loop in `settleQuestions`. */
function asItIs(answer: ServerAnswer): ServerAnswer {
  return answer;
}

/**
 * Adds the reason why the server lost its state for this client. The reason is given once, and only with an answer that
 * has room for it: an error has none, and a question is not the end of the call. In both cases the next result carries
 * it.
 */
export function withLoss(
  answer: ServerAnswer,
  users: Users,
  context: CallContext,
  presenceOf: (context: CallContext) => ClientPresence,
): ServerAnswer {
  if (answer.kind === "error" || context.signal.aborted || answer.result.isQuestion) return answer;
  const loss = users.takeLoss(presenceOf(context));
  return loss === undefined ? answer : { ...answer, loss };
}

/** Rejects with the signal's reason when it aborts before the turn has come. */
export type RunInTurn = (
  instance: Instance,
  signal: AbortSignal,
  run: () => Promise<ServerAnswer>,
) => Promise<ServerAnswer>;

/** Calls of an `interactive` server run one after the other, so that its questions belong to exactly one of them. */
function createInteractiveTurns(): RunInTurn {
  const turns = new WeakMap<Instance, Semaphore>();

  return async (instance, signal, run) => {
    let turn = turns.get(instance);
    if (turn === undefined) turns.set(instance, (turn = createSemaphore(1)));
    const release = await turn.acquire(signal);
    try {
      return await run();
    } finally {
      release();
    }
  };
}
