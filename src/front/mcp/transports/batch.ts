import { abortReason } from "../../../kernel/runtime/abort.ts";
import type { Limits } from "../../../config/config.ts";
import { scanElements } from "../../../wire/json/json-scan.ts";
import { toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import { slices } from "../../../kernel/runtime/slices.ts";
import type { Admission } from "../../http/guards/admission.ts";
import { answerText } from "../../../wire/mcp/envelope.ts";
import { failureText } from "../../../wire/mcp/error-object.ts";
import type { Caller } from "../caller.ts";
import type { LegacyRequests } from "../sessions/legacy.ts";
import type { LongWaits, PatientReplies } from "../endpoint/long-waits.ts";
import { MessageError, readClientMessage, requireJson } from "../../../wire/mcp/client-message.ts";
import { joinText } from "../answers/result-text.ts";
import type { RequestRunner } from "../endpoint/request-run.ts";
import { trackController, type RunningRequests } from "../running/running-requests.ts";

export interface BatchDeps {
  readonly runner: RequestRunner;
  readonly waits: LongWaits;
  readonly legacy: LegacyRequests;
  readonly limits: Limits;
  readonly admission: Admission;
  readonly running: RunningRequests;
}

/** Messages of one batch (fault 4). */
const mostMessages = 100;
/** The only revision that has batches. */
const batchRevision = "2025-03-26";

/** Of all batches: one turn of the event loop has one slice of them. */

/**
 * Resolves to the answers to every request of a batch, as one array; undefined when the batch had no request. Messages
 * before the answers go by `replies`. Throws REQUEST_INVALID when the client's revision has no batches, or the batch
 * has no messages or too many of them; PARSE_ERROR.
 */
export function answerBatch(
  body: Buffer,
  caller: Caller,
  deps: BatchDeps,
  replies: PatientReplies,
): Promise<string | undefined> {
  if (caller.client.revision !== batchRevision) {
    // What breaks off behind its bracket is no batch of any revision.
    requireJson(body, deps.limits.jsonDepth);
    throw new MessageError("REQUEST_INVALID", `a batch of messages exists only in revision ${batchRevision}`);
  }
  const elements = scanElements(body, 0, body.length, deps.limits.jsonDepth, mostMessages);
  if (elements.length === 0) throw new MessageError("REQUEST_INVALID", "the batch is empty");
  if (elements.length > mostMessages)
    throw new MessageError("REQUEST_INVALID", `the batch holds more than ${mostMessages} messages`);
  if (!closesBehind(body, elements.at(-1)?.end ?? 0))
    throw new MessageError("PARSE_ERROR", "something follows the batch");
  // A hundred searches would hold everybody up if all of them began in one turn.
  return slices.run(begin()).then(async (answers) => {
    const told = (await Promise.all(answers)).filter((text) => text !== undefined);
    return told.length === 0 ? undefined : `[${told.join(",")}]`;
  });

  function* begin(): Generator<undefined, readonly Promise<string | undefined>[]> {
    const answers: Promise<string | undefined>[] = [];
    for (const { start, end } of elements) {
      answers.push(answerOne(body.subarray(start, end), caller, deps, replies));
      yield;
    }
    return answers;
  }
}

/** Whether nothing but the closing bracket follows: only the elements are parsed, so that nothing else would notice. */
function closesBehind(body: Buffer, end: number): boolean {
  return body.toString("latin1", end).trim() === "]";
}

async function answerOne(
  bytes: Buffer,
  caller: Caller,
  deps: BatchDeps,
  replies: PatientReplies,
): Promise<string | undefined> {
  let idText: string | undefined;
  try {
    const message = readClientMessage(bytes, deps.limits.jsonDepth);
    if (message.kind === "request") idText = message.idText;
    else {
      deps.legacy.receive(message, caller.session);
      return undefined;
    }
    if (message.method === "initialize")
      throw new MessageError("REQUEST_INVALID", "initialize must not be part of a batch", message.idText);
    const controller = new AbortController();
    const leave = deps.admission.admit(caller.principal);
    const wait = deps.waits.begin(replies, message.params);
    const untrack = trackController(deps.running, caller.principal, controller);
    try {
      const reply = await (deps.legacy.answer(message, caller, controller.signal) ??
        deps.runner.run(message, caller, wait, controller.signal));
      // A client that has lost its right meanwhile gets that failure, and not the request's result.
      if (controller.signal.aborted) throw abortReason(controller.signal);
      return answerText(message.idText, joinText(reply.body));
    } finally {
      deps.waits.end(wait);
      untrack();
      leave();
    }
  } catch (error) {
    return failureText(toGatewayError(error), idText);
  }
}
