import { answerText, notificationText } from "../../wire/mcp/envelope.ts";
import { failureText } from "../../wire/mcp/failure-text.ts";
import { randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import type { Limits } from "../../config/config.ts";
import { eraOfRevision, modernRevision, newestLegacyRevision } from "../../wire/mcp/revisions.ts";
import type { ConnectedClient } from "../../kernel/call-context.ts";
import { GatewayError, toGatewayError } from "../../kernel/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";
import { createLineSplitter } from "../../servers/upstream/line-splitter.ts";
import { createPresence, programOf } from "../../kernel/client-presence.ts";
import type { AnswerChannel } from "./answer-channel.ts";
import type { Caller } from "./caller.ts";
import type { Endpoint } from "./endpoint.ts";
import type { McpHttpDeps } from "./http.ts";
import { readClientMessage, type ClientMessage, type ClientRequest } from "../../wire/mcp/client-message.ts";
import { joinText } from "./result-text.ts";
import { checkEnvelope, claimedRevision } from "./modern.ts";
import { track, untrack, type Session } from "./session.ts";
import { toWireError } from "./wire-error.ts";

export interface StdioFrontOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly endpoint: Endpoint;
  readonly principal: Principal;
  readonly parts: McpHttpDeps;
  readonly limits: Limits;
}

/**
 * MCP on a pair of streams, both eras (2026-07-28 and 2025-11-25, transports, stdio). Resolves when the client has
 * closed its end and its requests are answered (`printf … | toolyard stdio`), or a few seconds later, or when nobody
 * reads any more.
 */
export async function serveStdio(options: StdioFrontOptions): Promise<void> {
  const { parts, principal, endpoint } = options;
  let session: Session | undefined;
  const presence = createPresence(programOf(principal, "streams", undefined), parts.clock.monotonic());
  const ended = new AbortController();
  /** Of a client that does not initialize: it can be asked on its calls alone. */
  const connected: ConnectedClient = { id: randomUUID(), ended: ended.signal, presence };
  /** Requests in flight without a session, by their id: for notifications/cancelled. */
  const running = new Map<string | number, AbortController>();
  /** Requests that will be answered; subscriptions are not. */
  let working = 0;
  let onQuiet = (): void => undefined;

  function send(message: string): void {
    // A client that does not read must not fill our memory: it is left.
    if (options.output.writableLength > mostWaitingBytes) options.input.destroy(new Error("the client does not read"));
    options.output.write(
      `${message.includes("\n") || message.includes("\r") ? message.replace(/[\r\n]+/g, " ") : message}\n`,
      "latin1",
    );
  }

  function receive(line: Buffer): void {
    try {
      const message = readClientMessage(line, options.limits.jsonDepth);
      if (message.kind === "request") answer(message);
      else {
        if (message.kind === "notification" && message.method === "notifications/cancelled") cancelModern(message);
        parts.legacy.receive(message, session);
      }
    } catch (error) {
      send(failureText(toGatewayError(error)));
    }
  }

  function cancelModern(message: Extract<ClientMessage, { kind: "notification" }>): void {
    running
      .get(message.params["requestId"] as string | number)
      ?.abort(new GatewayError("CALL_CANCELLED", "the client cancelled the request"));
  }

  function answer(message: ClientRequest): void {
    const claimed = claimedRevision(message.params);
    const isModern = typeof claimed === "string" && eraOfRevision(claimed) === "modern";
    if (!isModern && message.method === "initialize") {
      if (session !== undefined) parts.sessions.end(session, "initialized again");
      const made = parts.legacy.initialize(message, principal, endpoint, true);
      session = made.session;
      session?.attachLine(send);
      send(answerText(message.idText, joinText(made.reply.body)));
      return;
    }
    const controller = new AbortController();
    const channel = createLineChannel(message.idText, send);
    const own = session;
    if (isModern || own === undefined) running.set(message.id, controller);
    else track(own, message.id, controller);
    const done = (): void => {
      if (running.get(message.id) === controller) running.delete(message.id);
      if (own !== undefined) untrack(own, message.id, controller);
    };
    void run(message, isModern, channel, controller).finally(done);
  }

  async function run(
    message: ClientRequest,
    isModern: boolean,
    channel: AnswerChannel,
    controller: AbortController,
  ): Promise<void> {
    try {
      const capabilities = isModern ? checkEnvelope(message, undefined) : (session?.capabilities ?? {});
      const client = isModern
        ? { era: "modern" as const, revision: modernRevision, capabilities }
        : { era: "legacy" as const, revision: session?.revision ?? newestLegacyRevision, capabilities };
      const caller: Caller = isModern
        ? { principal, endpoint, client, session: undefined, connected }
        : { principal, endpoint, client, session };
      if (isModern && message.method === "subscriptions/listen") {
        parts.listen.open(message, caller, (onGone) => {
          controller.signal.addEventListener("abort", onGone, { once: true });
          return withTeardown(channel, message, controller.signal, send);
        });
        await new Promise<void>((resolve) =>
          controller.signal.addEventListener("abort", () => resolve(), { once: true }),
        );
        return;
      }
      const leave = parts.admission.admit(principal);
      working += 1;
      try {
        const special = isModern ? undefined : parts.legacy.answer(message, caller, channel, controller.signal);
        const reply = await (special ?? parts.runner.run(message, caller, channel, controller.signal));
        // A cancelled request gets no answer (2025-11-25, cancellation).
        if (!controller.signal.aborted) channel.finish(reply.body);
      } finally {
        leave();
        working -= 1;
        if (working === 0) onQuiet();
      }
    } catch (error) {
      channel.finish(toWireError(toGatewayError(error), isModern ? "modern" : "legacy", message.method).body);
    }
  }

  await parts.startupWait(endpoint, principal);
  await new Promise<void>((resolve) => {
    const tooLong = (): void => {
      const limit = options.limits.requestBodyBytes;
      send(failureText(new GatewayError("BODY_TOO_LARGE", `a line is longer than ${limit} bytes`)));
      resolve();
    };
    const splitter = createLineSplitter(options.limits.requestBodyBytes, receive, tooLong);
    options.input.on("data", (chunk: Buffer) => splitter(chunk));
    let hasEnded = false;
    options.input.on("end", () => {
      hasEnded = true;
      if (working === 0) resolve();
      onQuiet = resolve;
      setTimeout(resolve, lingerMs).unref();
    });
    options.input.on("error", () => resolve());
    // Destroyed by ourselves (a signal): then there is neither end nor error.
    options.input.on("close", () => hasEnded || resolve());
    for (const event of ["error", "close"] as const) options.output.on(event, () => resolve());
  });
  presence.state = "gone";
  // Stopped by ourselves, perhaps: a client that still reads is told.
  parts.listen.endWhere((who) => who.id === principal.id);
  for (const controller of running.values())
    controller.abort(new GatewayError("CALL_CANCELLED", "the client has gone"));
  if (session !== undefined) parts.sessions.end(session, "the client has gone");
  ended.abort(new GatewayError("CALL_CANCELLED", "the client has gone"));
}

/**
 * Where there is no stream to close, a subscription that ends is also cancelled (2026-07-28, patterns/cancellation).
 */
function withTeardown(
  channel: AnswerChannel,
  { idText }: ClientRequest,
  cancelled: AbortSignal,
  send: (message: string) => void,
): AnswerChannel {
  return {
    ...channel,
    finish(body) {
      // Cancelled by the client itself: then it gets no further message.
      if (cancelled.aborted) return;
      channel.finish(body);
      send(notificationText("notifications/cancelled", `{"requestId":${idText}}`));
    },
  };
}

function createLineChannel(idText: string, send: (message: string) => void): AnswerChannel {
  let finished = false;
  return {
    gone: false,
    streaming: true,
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
 * A client that has closed its end may want what it asked for; most have gone, and end us with a signal after two
 * seconds.
 */
const lingerMs = 5_000;

/** Two of the largest results. */
const mostWaitingBytes = 64 * 1024 * 1024;
