import type { Writable } from "node:stream";
import type { ClientRequest } from "../../../wire/mcp/client-message.ts";
import { answerText, notificationText } from "../../../wire/mcp/envelope.ts";
import type { AnswerChannel } from "../streams/answer-channel.ts";
import { joinText } from "../answers/result-text.ts";

/** Sends one message to a client over stdio. */
export type SendLine = (message: string) => void;

/** Bytes that may wait for a client that reads slowly: two of the largest results. */
const mostWaitingBytes = 64 * 1024 * 1024;

/**
 * Writes each message as one line (2026-07-28, transports, stdio). `onFull` runs when more waits for the client than
 * it may: a client that does not read must not fill the gateway's memory.
 */
export function createLineWriter(output: Writable, onFull: () => void): SendLine {
  return (message) => {
    if (output.writableLength > mostWaitingBytes) onFull();
    output.write(`${toOneLine(message)}\n`, "latin1");
  };
}

/** Servers may lay out their JSON over lines. Between its tokens a space is as good; within strings there is none. */
function toOneLine(message: string): string {
  return message.includes("\n") || message.includes("\r") ? message.replace(/[\r\n]+/g, " ") : message;
}

/** The way back for one request over stdio. */
export function createLineChannel(idText: string, send: SendLine): AnswerChannel {
  let finished = false;
  return {
    send(message) {
      if (finished) return false;
      send(message);
      return true;
    },
    finish(body) {
      if (finished) return;
      finished = true;
      send(answerText(idText, joinText(body)));
    },
  };
}

/**
 * The same for a subscription. Over HTTP its end closes the stream; here there is none to close, so that the client is
 * told with a cancellation as well (2026-07-28, patterns/cancellation).
 */
export function createSubscriptionChannel(
  { idText }: ClientRequest,
  cancelled: AbortSignal,
  send: SendLine,
): AnswerChannel {
  const channel = createLineChannel(idText, send);
  return {
    send: channel.send,
    finish(body) {
      // A client that cancelled it is sent nothing more about it.
      if (cancelled.aborted) return;
      channel.finish(body);
      send(notificationText("notifications/cancelled", `{"requestId":${idText}}`));
    },
  };
}
