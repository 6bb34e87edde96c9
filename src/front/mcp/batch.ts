import type { Limits } from "../../config/config.ts";
import { scanElements } from "../../wire/json/json-scan.ts";
import { toGatewayError } from "../../kernel/gateway-error.ts";
import type { Admission } from "../http/admission.ts";
import { answerText } from "../../wire/mcp/envelope.ts";
import { failureText } from "../../wire/mcp/failure-text.ts";
import type { Caller } from "./caller.ts";
import type { LegacyRequests } from "./legacy.ts";
import { MessageError, readClientMessage } from "../../wire/mcp/client-message.ts";
import { joinText } from "./result-text.ts";
import type { RequestRunner } from "./request-run.ts";

/** Messages of one batch (fault 4). */
const mostMessages = 100;

/** A batch of revision 2025-03-26: every request is answered, in one array; undefined when there was none. */
export function answerBatch(
  body: Buffer,
  caller: Caller,
  deps: {
    readonly runner: RequestRunner;
    readonly legacy: LegacyRequests;
    readonly limits: Limits;
    readonly admission: Admission;
  },
  done: (reply: string | undefined) => void,
): void {
  const parts = scanElements(body, 0, body.length, deps.limits.jsonDepth, mostMessages);
  if (parts.length === 0) throw new MessageError("REQUEST_INVALID", "the batch is empty");
  if (parts.length > mostMessages)
    throw new MessageError("REQUEST_INVALID", `the batch holds more than ${mostMessages} messages`);
  if (!closesBehind(body, parts.at(-1)?.end ?? 0)) throw new MessageError("PARSE_ERROR", "something follows the batch");
  const answers = parts.map(async (part) => await answerOne(body.subarray(part.start, part.end), caller, deps));
  void Promise.all(answers).then((texts) => {
    const replies = texts.filter((text) => text !== undefined);
    done(replies.length === 0 ? undefined : `[${replies.join(",")}]`);
  });
}

/** Whether nothing but the closing bracket follows: the parts are parsed one by one, what is behind them by nobody. */
function closesBehind(body: Buffer, end: number): boolean {
  return body.toString("latin1", end).trim() === "]";
}

async function answerOne(
  bytes: Buffer,
  caller: Caller,
  deps: {
    readonly runner: RequestRunner;
    readonly legacy: LegacyRequests;
    readonly limits: Limits;
    readonly admission: Admission;
  },
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
    const channel = { send: () => false };
    const leave = deps.admission.admit(caller.principal);
    const reply = await (
      deps.legacy.answer(message, caller, channel, controller.signal) ??
      deps.runner.run(message, caller, channel, controller.signal)
    ).finally(leave);
    return answerText(message.idText, joinText(reply.body));
  } catch (error) {
    return failureText(toGatewayError(error), idText);
  }
}
