import type { CallContext, ClientTraits } from "../../../kernel/call/call-context.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { canAnswer } from "../../../engine/calls/questions/questions.ts";
import type { Caller, ReplyBody } from "../caller.ts";
import type { RequestWays } from "./long-waits.ts";
import { toCallContext } from "./request-context.ts";
import type { Conversation } from "../running/conversation.ts";
import type { Dispatch } from "./dispatch.ts";
import type { ClientRequest } from "../../../wire/mcp/client-message.ts";
import type { ParkedConversations } from "../running/parked-conversations.ts";
import type { ParkedElsewhere } from "../running/parked-elsewhere.ts";
import { ownResultText } from "../answers/result-text.ts";

/** Methods that may be answered with `input_required` (2026-07-28, patterns/mrtr, supported requests). */
const mayAsk: ReadonlySet<string> = new Set(["tools/call", "prompts/get", "resources/read"]);

export interface RequestRunner {
  /** Runs one request to its answer. `signal` aborts when the client gives up; never rejects. */
  run(request: ClientRequest, caller: Caller, ways: RequestWays, signal: AbortSignal): Promise<ReplyBody>;
}

export interface ConversingRunner extends RequestRunner {
  /** What a conversation's client is told next. Rejects where it cannot be asked what came up. */
  nextTurn(conversation: Conversation, signal: AbortSignal): Promise<ReplyBody>;
}

export interface RequestRunnerDeps {
  readonly dispatch: Dispatch;
  readonly conversations: ParkedConversations;
  readonly serverInfoText: string;
  readonly failed: (error: unknown, caller: Caller, method: string) => ReplyBody;
  /** Conversations at other nodes; undefined where the gateway is alone. */
  readonly parkedElsewhere: () => ParkedElsewhere | undefined;
}

/** One request of either era, with the ways in which a server may ask its client something back. */
export function createRequestRunner(deps: RequestRunnerDeps): ConversingRunner {
  const { dispatch, conversations, serverInfoText, failed } = deps;

  async function runModern(
    request: ClientRequest,
    caller: Caller,
    ways: RequestWays,
    signal: AbortSignal,
  ): Promise<ReplyBody> {
    const binding = { principal: caller.principal, request: `${request.method}\n${bindingOf(request)}` };
    const { requestState } = request.params;
    const context = toCallContext(request, caller, ways, signal, undefined);
    if (!conversations.isHandle(requestState)) {
      const begun = conversations.begin(
        binding,
        context,
        async (conversation, ended) => await dispatch(request, caller, inConversation(context, conversation, ended)),
      );
      return await nextTurn(begun, signal);
    }
    const answers = request.paramBytes("inputResponses");
    const coming = { binding, answers, ways: context, signal };
    const elsewhere = deps.parkedElsewhere()?.resume(requestState, coming);
    if (elsewhere !== undefined) return await elsewhere;
    const resumed = conversations.resume(requestState, binding, answers);
    // The request that began the call knows its stage.
    ways.stage.server = resumed.ways.stage?.server;
    ways.stage.isStarting = resumed.ways.stage?.isStarting === true;
    resumed.ways = context;
    return await nextTurn(resumed, signal);
  }

  async function nextTurn(conversation: Conversation, signal: AbortSignal): Promise<ReplyBody> {
    const cancel = () => conversation.cancel(new GatewayError("CALL_CANCELLED", "the client closed the request"));
    if (signal.aborted) cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      const turn = await conversation.next();
      if (turn.kind === "answer") return turn.reply;
      if (turn.kind === "refused") throw turn.error;
      const result = ownResultText({}, "modern", serverInfoText)
        .replace('"resultType":"complete"', '"resultType":"input_required"')
        .slice(0, -1);
      return {
        body: `"result":${result},"inputRequests":${turn.inputRequests},"requestState":"${turn.handle}"}`,
        status: 200,
      };
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }

  return {
    nextTurn,
    run(request, caller, ways, signal) {
      if (caller.client.era === "legacy")
        return dispatch(request, caller, toCallContext(request, caller, ways, signal, legacyAsk(caller, ways)));
      // A client that declares nothing can be asked nothing: no conversation, and its calls cost no more than a
      // legacy one's.
      const converses =
        mayAsk.has(request.method) && (canBeAsked(caller) || request.params["requestState"] !== undefined);
      if (!converses) return dispatch(request, caller, toCallContext(request, caller, ways, signal, undefined));
      return runModern(request, caller, ways, signal).catch((error: unknown) => failed(error, caller, request.method));
    },
  };
}

/** The same call, told of by whichever request of the client waits for it. */
function inConversation(context: CallContext, conversation: Conversation, signal: AbortSignal): CallContext {
  const askOnce = guarded(conversation.ask, context.client);
  return {
    ...context,
    signal,
    // The client's later requests are judged where they would be told the question.
    ask: (question, asking) =>
      conversation.ways === context ? askOnce(question, asking) : conversation.ask(question, asking),
    onProgress: context.onProgress === undefined ? undefined : (params) => conversation.ways.onProgress?.(params),
    onLog: context.onLog === undefined ? undefined : (params) => conversation.ways.onLog?.(params),
    replies: { send: (message) => conversation.ways.replies?.send(message) === true },
  };
}

function canBeAsked(caller: Caller): boolean {
  const { capabilities } = caller.client;
  return (
    capabilities["elicitation"] !== undefined ||
    capabilities["sampling"] !== undefined ||
    capabilities["roots"] !== undefined
  );
}

function legacyAsk(caller: Caller, { replies }: RequestWays): CallContext["ask"] {
  const { session } = caller;
  if (session === undefined || !canBeAsked(caller)) return undefined;
  return guarded(
    async (question, signal) =>
      await session.questions.ask(
        question,
        (message) => replies.send(message),
        signal,
        () => replies.isHere?.() !== false,
      ),
    caller.client,
  );
}

/** No client is asked for a capability that it did not declare (2026-07-28, basic/patterns/mrtr). */
function guarded(ask: NonNullable<CallContext["ask"]>, client: ClientTraits): NonNullable<CallContext["ask"]> {
  return async (question, signal) => {
    const params = JSON.parse(question.params.toString("utf8")) as Record<string, unknown>;
    if (!canAnswer(client.capabilities, question.method, params)) {
      throw new GatewayError(
        "CLIENT_CANNOT_ANSWER",
        `the client did not declare that it can answer ${question.method}`,
      );
    }
    return await ask(question, signal);
  };
}

function bindingOf(request: ClientRequest): string {
  return ["name", "uri", "arguments"].map((key) => request.paramBytes(key)?.toString("latin1") ?? "").join("\n");
}
