import type { Limits } from "../../config/config.ts";
import { scanElements } from "../../protocol/json-scan.ts";
import { GatewayError, toGatewayError } from "../../shared/gateway-error.ts";
import { errorBody } from "./answer-channel.ts";
import type { Caller } from "./caller.ts";
import type { LegacyRequests } from "./legacy.ts";
import { MessageError, readClientMessage } from "./message.ts";
import type { RequestRunner } from "./request-run.ts";

/** Messages of one batch (FAULTS.md 4). */
const mostMessages = 100;

/** A batch of revision 2025-03-26: every request is answered, in one array; undefined when there was none. */
export function answerBatch(
  body: Buffer,
  caller: Caller,
  deps: { readonly runner: RequestRunner; readonly legacy: LegacyRequests; readonly limits: Limits },
  done: (reply: string | undefined) => void,
): void {
  const parts = scanElements(body, 0, body.length, deps.limits.jsonDepth, mostMessages);
  if (parts.length === 0) throw new MessageError("REQUEST_INVALID", "the batch is empty");
  if (parts.length > mostMessages) throw new MessageError("REQUEST_INVALID", `the batch holds more than ${mostMessages} messages`);
  const answers = parts.map(async (part) => await answerOne(body.subarray(part.start, part.end), caller, deps));
  void Promise.all(answers).then((texts) => {
    const replies = texts.filter((text) => text !== undefined);
    done(replies.length === 0 ? undefined : `[${replies.join(",")}]`);
  });
}

async function answerOne(bytes: Buffer, caller: Caller, deps: { readonly runner: RequestRunner; readonly legacy: LegacyRequests; readonly limits: Limits }): Promise<string | undefined> {
  try {
    const message = readClientMessage(bytes, deps.limits.jsonDepth);
    if (message.kind !== "request") {
      deps.legacy.receive(message, caller.session);
      return undefined;
    }
    if (message.method === "initialize") throw new MessageError("REQUEST_INVALID", "initialize must not be part of a batch", message.idText);
    const controller = new AbortController();
    const channel = { send: () => false };
    const reply = await (deps.legacy.answer(message, caller, channel, controller.signal) ?? deps.runner.run(message, caller, channel, controller.signal));
    return `{"jsonrpc":"2.0","id":${message.idText},${reply.body}}`;
  } catch (error) {
    const failure: GatewayError = toGatewayError(error);
    return `{"jsonrpc":"2.0","id":${failure instanceof MessageError ? failure.idText : "null"},${errorBody({ code: failure.row.rpc, message: failure.message })}}`;
  }
}
