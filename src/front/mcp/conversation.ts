import { deepestJson } from "../../kernel/limits.ts";
import { openBrace } from "../../wire/json/characters.ts";
import { randomBytes } from "node:crypto";
import { asciiJson } from "../../wire/json/ascii-json.ts";
import { scanMembers } from "../../wire/json/json-scan.ts";
import { abortReason } from "../../kernel/abort.ts";
import type { Answer, CallContext, Question } from "../../kernel/call-context.ts";
import type { Clock } from "../../kernel/clock.ts";
import { GatewayError } from "../../kernel/gateway-error.ts";
import { settingNow } from "../../kernel/setting-now.ts";
import type { JsonBytes } from "../../kernel/json-bytes.ts";
import type { ReplyBody } from "./caller.ts";

/**
 * A call of a modern client to a legacy server that asks while it works (docs/design.md, "Questions"): the call stays
 * open upstream, parked, while the client is given `input_required` with a handle and comes back with the answers on
 * another request.
 */
export interface Conversation {
  readonly ask: NonNullable<CallContext["ask"]>;
  /**
   * How progress and logs reach the client: on the request that waits for the answer now, not on the one that began
   * it.
   */
  ways: Ways;
  /** Puts a question that was not answered to the client once more. */
  askAgain(key: string, waiting: WaitingQuestion): void;
  /** Ends the call: its client went away while nothing was parked. */
  cancel(reason: GatewayError): void;
  /** What the client is to be told next: the answer, or what is asked. */
  next(): Promise<Turn>;
}

export type Ways = Pick<CallContext, "onProgress" | "onLog" | "replies">;

export type Turn =
  | { readonly kind: "answer"; readonly reply: ReplyBody }
  | { readonly kind: "questions"; readonly handle: string; readonly inputRequests: string };

export interface Conversations {
  begin(binding: Binding, ways: Ways, run: RunConversation): Conversation;
  /** Whether a requestState is one of these handles, and not a server's own state. */
  isHandle(requestState: unknown): requestState is string;
  /**
   * The conversation that waits for these answers. Throws HANDLE_INVALID when it is another's, has expired or was
   * answered before.
   */
  resume(handle: string, binding: Binding, inputResponses: JsonBytes | undefined): Conversation;
  /** Ends those that wait for answers, and lets none wait from now on: nobody can come back to a gateway that stops. */
  end(why: () => GatewayError): void;
  readonly parked: number;
}

export type RunConversation = (conversation: Conversation, signal: AbortSignal) => Promise<ReplyBody>;

/** A handle is good only for who got it, on the same request. It is an address, not an authentication. */
export interface Binding {
  readonly principal: string;
  readonly request: string;
}

const handlePrefix = "typ1.";

interface WaitingQuestion {
  readonly question: Question;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

interface Parked {
  readonly binding: Binding;
  readonly questions: ReadonlyMap<string, WaitingQuestion>;
  readonly conversation: Conversation;
  readonly cancelTimer: () => void;
}

export function createConversations(options: {
  readonly parkedMs: number;
  readonly mostParked: number;
  readonly clock: Clock;
}): Conversations {
  const parkedCalls = new Map<string, Parked>();
  let ended: (() => GatewayError) | undefined;

  function begin(binding: Binding, ways: Ways, run: RunConversation): Conversation {
    const controller = new AbortController();
    let open = new Map<string, WaitingQuestion>();
    let lastKey = 0;
    let wake: (() => void) | undefined;
    let reply: ReplyBody | undefined;

    const conversation: Conversation = {
      ways,
      askAgain: (key, waiting) => void open.set(key, waiting),
      ask: async (question, signal) =>
        await new Promise<Answer>((resolve, reject) => {
          lastKey += 1;
          const key = question.key ?? `q${lastKey}`;
          const waiting = { question, resolve, reject };
          open.set(key, waiting);
          const takeBack = (): void => {
            if (open.get(key) === waiting) open.delete(key);
            reject(abortReason(signal));
          };
          signal.addEventListener("abort", takeBack, { once: true });
          // Questions of the same moment are asked together.
          setImmediate(() => wake?.());
        }),
      cancel: (reason) => controller.abort(reason),
      async next() {
        for (;;) {
          while (reply === undefined && open.size === 0) await new Promise<void>((resolve) => (wake = resolve));
          if (reply !== undefined) return { kind: "answer", reply };
          const questions = open;
          open = new Map();
          const turn = park(binding, questions, conversation, controller);
          if (turn !== undefined) return turn;
        }
      },
    };
    void run(conversation, controller.signal).then((done) => {
      reply = done;
      wake?.();
    });
    return conversation;
  }

  function park(
    binding: Binding,
    questions: Parked["questions"],
    conversation: Conversation,
    controller: AbortController,
  ): Turn | undefined {
    if (ended !== undefined || parkedCalls.size >= options.mostParked) {
      const error =
        ended?.() ?? new GatewayError("CLIENT_CANNOT_ANSWER", `${parkedCalls.size} calls wait for answers already`);
      for (const { reject } of questions.values()) reject(error);
      return undefined;
    }
    const handle = `${handlePrefix}${randomBytes(24).toString("base64url")}`;
    const cancelTimer = options.clock.after(options.parkedMs, () => {
      parkedCalls.delete(handle);
      controller.abort(
        new GatewayError("QUESTION_TIMEOUT", `nobody answered within ${options.parkedMs / 1_000} s`, {
          hint: `Call again and answer in time, or raise ${settingNow("limits.parkedMs", options.parkedMs)}.`,
        }),
      );
    });
    parkedCalls.set(handle, { binding, questions, conversation, cancelTimer });
    const requests = [...questions].map(
      ([key, { question }]) =>
        `${asciiJson(key)}:{"method":"${question.method}","params":${question.params.toString("latin1")}}`,
    );
    return { kind: "questions", handle, inputRequests: `{${requests.join(",")}}` };
  }

  return {
    begin,
    isHandle: (state): state is string => typeof state === "string" && state.startsWith(handlePrefix),
    resume(handle, binding, inputResponses) {
      const parked = parkedCalls.get(handle);
      if (
        parked === undefined ||
        parked.binding.principal !== binding.principal ||
        parked.binding.request !== binding.request
      ) {
        throw new GatewayError(
          "HANDLE_INVALID",
          "the requestState is not accepted: it has expired, was answered before, or belongs to another caller or request",
        );
      }
      const answers = readAnswers(inputResponses);
      parkedCalls.delete(handle);
      parked.cancelTimer();
      for (const [key, waiting] of parked.questions) {
        const answer = answers.get(key);
        // What was left out is asked again (2026-07-28, patterns/mrtr, error handling).
        if (answer === undefined) parked.conversation.askAgain(key, waiting);
        else waiting.resolve({ kind: "result", result: answer });
      }
      return parked.conversation;
    },
    end(why) {
      ended = why;
      for (const { cancelTimer, conversation } of parkedCalls.values()) {
        cancelTimer();
        conversation.cancel(why());
      }
      parkedCalls.clear();
    },
    get parked() {
      return parkedCalls.size;
    },
  };
}

function readAnswers(bytes: JsonBytes | undefined): ReadonlyMap<string, JsonBytes> {
  if (bytes === undefined || bytes[0] !== openBrace) return new Map();
  return new Map(
    scanMembers(bytes, 0, bytes.length, deepestJson).map((member) => [
      member.key,
      bytes.subarray(member.start, member.end),
    ]),
  );
}
