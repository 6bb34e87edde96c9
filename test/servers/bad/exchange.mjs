// One request and what is said about it. Tools get one of these and may break any rule with it.

import { randomUUID } from "node:crypto";
import { memberText } from "./raw-json.mjs";

/**
 * How a transport carries what belongs to one request.
 * @typedef {object} Wire
 * @property {"stdio" | "http" | "sse"} kind
 * @property {(text: string, eol?: string) => Buffer} frame the bytes of one message
 * @property {(bytes: Buffer) => Promise<void>} write to stdout, or to the (event stream) answer of the POST
 * @property {(text: string, status: number) => void} finish writes the last message, and ends the answer
 * @property {() => void} end ends the answer without another message
 * @property {AbortSignal} gone fires when the client has given the request up
 * @property {import("node:http").IncomingHttpHeaders} [headers]
 * @property {import("node:http").ServerResponse} [response] for tools that misuse HTTP itself
 * @property {Session} session
 */

/**
 * A legacy session, a connection, or the one process on stdio. `isLegacy` once it was initialized: only then is it told
 * of changes without having asked.
 * @typedef {{ id: string, memory: Map<string, unknown>, isLegacy?: boolean, push: (text: string) => void, end: () =>
 *   void }} Session
 */

const versionKey = "io.modelcontextprotocol/protocolVersion";
const serverInfoKey = "io.modelcontextprotocol/serverInfo";

// Modern errors that are not HTTP 200 (2026-07-28, Streamable HTTP, "Server Validation").
const modernStatuses = { [-32601]: 404, [-32020]: 400, [-32021]: 400, [-32022]: 400 };

/** @param {any} message */
export const eraOf = (message) => (message.params?._meta?.[versionKey] === undefined ? "legacy" : "modern");
/** @param {any} message */
export const versionOf = (message) => message.params?._meta?.[versionKey];

/**
 * @param {{ text: string, message: any, wire: Wire, server: import("./server.mjs").BadServer }} input
 */
export function createExchange({ text, message, wire, server }) {
  // A server that knows only the legacy era takes modern requests for legacy ones with odd metadata.
  const era = server.options.era === "legacy" ? "legacy" : eraOf(message);
  const { id, params = {} } = message;
  const idText = JSON.stringify(id);

  const exchange = {
    id,
    era,
    wire,
    server,
    params,
    /** The arguments as bytes of the client, not as JavaScript understood them. */
    argumentsText: memberText(text, ["params", "arguments"]) ?? "{}",
    args: params.arguments ?? {},

    /** A message before the answer: on HTTP it makes the answer an event stream. */
    send: (messageText) => wire.write(wire.frame(messageText)),
    notify: (method, notificationParams) =>
      exchange.send(JSON.stringify({ jsonrpc: "2.0", method, params: notificationParams })),

    /** The text of an answer to this request, with the id given as text if another one is wanted. */
    answerText: (result, otherId = idText) => `{"jsonrpc":"2.0","id":${otherId},"result":${dress(result)}}`,
    answer: (result) => exchange.finish(exchange.answerText(result)),
    answerWith: (...content) => exchange.answer({ content }),
    say: (value) =>
      exchange.answerWith({
        type: "text",
        text: typeof value === "string" ? value : JSON.stringify(value),
      }),
    fail(code, reason, data, status) {
      const error = { code, message: reason, ...(data !== undefined && { data }) };
      const usual = era === "modern" ? (modernStatuses[code] ?? 200) : 200;
      exchange.finish(`{"jsonrpc":"2.0","id":${idText},"error":${JSON.stringify(error)}}`, status ?? usual);
    },
    finish(messageText, status = 200) {
      server.inFlight.delete(exchange);
      wire.finish(messageText, status);
    },
    end() {
      server.inFlight.delete(exchange);
      wire.end();
    },

    /** Sends a request to the client and resolves to its whole answer, in whatever era: modern forbids it. */
    ask(method, askParams) {
      const askId = `ask-${randomUUID()}`;
      const answered = new Promise((resolve) => server.questions.set(askId, resolve));
      void exchange.send(JSON.stringify({ jsonrpc: "2.0", id: askId, method, params: askParams }));
      return answered;
    },
  };

  // What the modern era asks of every result. A result given as text is dressed without being parsed.
  function dress(result) {
    if (era === "legacy") return typeof result === "string" ? result : JSON.stringify(result);
    if (typeof result === "string")
      return result === "{}" ? '{"resultType":"complete"}' : result.replace("{", '{"resultType":"complete",');
    const _meta = { [serverInfoKey]: server.info, ...result._meta };
    return JSON.stringify({ resultType: "complete", ...result, _meta });
  }

  return exchange;
}
