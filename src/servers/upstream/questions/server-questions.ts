import { rpcCodes, errorObjectText, failureAnswer } from "../../../wire/mcp/error-object.ts";
import { answerText, writeNotification } from "../../../wire/mcp/envelope.ts";
import { asciiJson } from "../../../wire/json/ascii-json.ts";
import type { Answer, Question } from "../../../kernel/call/call-context.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { isJsonObject, parseJsonObject, type JsonBytes, type JsonObject } from "../../../kernel/text/json-bytes.ts";
import { withoutNullMembers } from "../../../wire/mcp/shapes/null-members.ts";
import { withoutOwnNamesIn } from "../../../wire/mcp/shapes/own-names.ts";
import { isDeclared } from "../declared-capabilities.ts";
import type { ConnectionEvents, RootsSource } from "../connection.ts";
import type { Elicitations } from "./elicitations.ts";
import type { WaitingRequest } from "../waiting-requests.ts";
import { abortReason } from "../../../kernel/runtime/abort.ts";

/** Requests that a server sends: pings, and questions for the client whose call is in progress. */
export interface ServerQuestions {
  /** Sends the answer when there is one. Never rejects. */
  answer(id: unknown, method: string, params: JsonBytes, stream: number | undefined): Promise<void>;
  /** Call when the server withdraws a question. */
  withdraw(id: unknown): void;
}

/** What answering a server's requests needs from the connection. */
export interface ServerQuestionsDeps {
  readonly server: string;
  readonly events: ConnectionEvents;
  /** The connection's own roots, which do not depend on the call. */
  readonly roots: RootsSource | undefined;
  readonly send: (text: string, stream: number | undefined) => void;
  /** What was declared to the server; undefined for servers that must not send requests (modern era, fault 84). */
  readonly declared: () => JsonObject | undefined;
  /** The call that a question belongs to; undefined when that is not clear. */
  readonly ownerOf: (stream: number | undefined) => WaitingRequest | undefined;
  readonly inFlight: () => number;
  readonly elicitations: Elicitations;
  /**
   * Runs `ask` with the call's deadline suspended, because time in which a person is asked does not count as silence
   * of the server.
   */
  readonly withClockStopped: (owner: WaitingRequest, ask: () => Promise<Answer>) => Promise<Answer>;
}

/** A question may hold pictures for a model. What clients send has the same limit by default. */
const mostQuestionBytes = 4_194_304;

/** Answers the requests of one connection. */
export function createServerQuestions(deps: ServerQuestionsDeps): ServerQuestions {
  const open = createOpenQuestions(deps.server);

  async function answer(id: unknown, method: string, params: JsonBytes, stream: number | undefined): Promise<void> {
    if (typeof id !== "string" && typeof id !== "number") {
      deps.events.onOddity("request-refused", `${method} with an id that is neither string nor number`);
      return;
    }
    const idText = asciiJson(id);
    if (method === "ping") {
      deps.send(answerText(idText, '"result":{}'), stream);
      return;
    }
    const given =
      params.length > mostQuestionBytes
        ? refuseLarge(deps, method, params)
        : await askOwner(id, method, withoutOwnNamesIn(withoutNullMembers(params), "_meta"), stream);
    if (!open.close(id)) return;
    const body =
      given.kind === "result"
        ? `"result":${given.result.toString("latin1")}`
        : `"error":${given.error.toString("latin1")}`;
    deps.send(answerText(idText, body), stream);
  }

  async function askOwner(
    id: string | number,
    method: string,
    params: JsonBytes,
    stream: number | undefined,
  ): Promise<Answer> {
    if (!isQuestion(method)) return refusal(rpcCodes.methodNotFound, `the gateway does not answer ${method}`);
    const declared = deps.declared();
    if (declared === undefined) {
      deps.events.onOddity("request-refused", `${method} is not allowed in revision 2026-07-28`);
      return refusal(rpcCodes.invalidRequest, `${method} must be sent as an input_required result in this revision`);
    }
    if (method === "roots/list") return await answerRoots(id, params);
    if (!isDeclared(declared, method, modeOf(params))) {
      deps.events.onOddity("request-refused", `${method}, which was not declared to the server`);
      return refusal(rpcCodes.methodNotFound, `${method} was not declared to this server`);
    }
    const owner = deps.ownerOf(stream);
    if (owner === undefined) {
      const inFlight = deps.inFlight();
      deps.events.onOddity("request-refused", `${method} with ${inFlight} calls in flight`);
      const message = `${inFlight} calls are in flight and the request does not say which one it belongs to`;
      return failureAnswer(new GatewayError("QUESTION_AMBIGUOUS", message));
    }
    const { ask } = owner.request;
    if (ask === undefined) return refusal(rpcCodes.methodNotFound, `the client cannot answer ${method}`);
    if (method === "elicitation/create") deps.elicitations.noteQuestion(owner, params);
    const signal = open.open(id, owner.request.signal);
    return await deps.withClockStopped(owner, async () => {
      try {
        return await ask({ method, params, onProgress: progressTo(deps, params, stream) }, signal);
      } catch (error) {
        // The call that it belongs to has ended, so no one is left to answer.
        if (signal.aborted && method === "elicitation/create") return { kind: "result", result: cancelled };
        return refusal(rpcCodes.internalError, error instanceof Error ? error.message : "the client did not answer");
      }
    });
  }

  async function answerRoots(id: string | number, params: JsonBytes): Promise<Answer> {
    if (deps.roots === undefined || deps.declared()?.["roots"] === undefined) {
      deps.events.onOddity("roots-refused", "roots/list, although no roots were declared to the server");
      return refusal(rpcCodes.methodNotFound, "no roots were declared: this server does not run for a single client");
    }
    // The question belongs to no call: it ends with its answer, or when the server withdraws it.
    return await deps.roots.answer(params, open.open(id, new AbortController().signal));
  }

  return { answer, withdraw: open.withdraw };
}

function refuseLarge({ events }: Pick<ServerQuestionsDeps, "events">, method: string, { length }: JsonBytes): Answer {
  const problem = `${method} has ${length} bytes of params; the most are ${mostQuestionBytes}`;
  events.onOddity("request-refused", problem);
  return refusal(rpcCodes.invalidParams, problem);
}

/** Passes the client's progress on a question to the server, with the token that the server gave. */
function progressTo(
  { send }: Pick<ServerQuestionsDeps, "send">,
  params: JsonBytes,
  stream: number | undefined,
): Question["onProgress"] {
  const token = progressTokenOf(params);
  if (token === undefined) return undefined;
  return (progress) => send(writeNotification("notifications/progress", { ...progress, progressToken: token }), stream);
}

/** The progress token of a question, if it has one. */
function progressTokenOf(params: JsonBytes): string | number | undefined {
  if (!params.includes('"progressToken"')) return undefined;
  const meta = parseJsonObject(params)?.["_meta"];
  const token = isJsonObject(meta) ? meta["progressToken"] : undefined;
  return typeof token === "string" || typeof token === "number" ? token : undefined;
}

/** The mode of an elicitation; a form unless it says otherwise (2025-11-25, elicitation). */
function modeOf(params: JsonBytes): unknown {
  return params.includes('"mode"') ? parseJsonObject(params)?.["mode"] : undefined;
}

function isQuestion(method: string): method is Question["method"] {
  return method === "elicitation/create" || method === "sampling/createMessage" || method === "roots/list";
}

const cancelled: JsonBytes = Buffer.from('{"action":"cancel"}');

function refusal(code: number, message: string): Answer {
  return { kind: "error", error: Buffer.from(errorObjectText({ code, message }), "latin1") };
}

/**
 * Questions of one server that are waiting for an answer, by the server's own ids. A server may withdraw a question
 * (2025-11-25, cancellation).
 */
export interface OpenQuestions {
  /**
   * Returns the signal for a question. It aborts with the signal of its call, or when the server withdraws the
   * question.
   */
  open(id: string | number, ofCall: AbortSignal): AbortSignal;
  /**
   * Call when the question has been answered. Returns true unless the server has withdrawn it; then it must not get
   * the answer.
   */
  close(id: string | number): boolean;
  /** Call when the server withdraws a question. */
  withdraw(id: unknown): void;
}

interface OpenQuestion {
  readonly controller: AbortController;
  isWithdrawn: boolean;
  leave(): void;
}

/** No questions yet. `server` is the slug that messages name. */
export function createOpenQuestions(server: string): OpenQuestions {
  const open = new Map<unknown, OpenQuestion>();
  return {
    open(id, ofCall) {
      const controller = new AbortController();
      const end = () => controller.abort(abortReason(ofCall));
      ofCall.addEventListener("abort", end, { once: true });
      open.set(id, { controller, isWithdrawn: false, leave: () => ofCall.removeEventListener("abort", end) });
      return controller.signal;
    },
    close(id) {
      const question = open.get(id);
      open.delete(id);
      question?.leave();
      return question?.isWithdrawn !== true;
    },
    withdraw(id) {
      const question = open.get(id);
      if (question === undefined) return;
      question.isWithdrawn = true;
      question.controller.abort(new GatewayError("CALL_CANCELLED", `${server} withdrew its question`));
    },
  };
}
