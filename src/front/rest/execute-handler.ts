import type { IncomingMessage, ServerResponse } from "node:http";
import type { View } from "../../catalog/model/view.ts";
import { renderFailure } from "../../catalog/exposure/failure.ts";
import type { Intent } from "../../catalog/exposure/intent.ts";
import { UnseenServer } from "../../catalog/exposure/unseen-server.ts";
import type { CallContext } from "../../kernel/call-context.ts";
import { createAbortPool } from "../../kernel/abort.ts";
import { GatewayError, toGatewayError } from "../../kernel/gateway-error.ts";
import { isJsonObject } from "../../kernel/json-bytes.ts";
import type { Principal } from "../../kernel/principal.ts";
import { readBody } from "../http/body.ts";
import { toChallenge } from "../http/challenge.ts";
import { corsHeaders } from "../http/cors.ts";
import { refuseWithProblem } from "../http/problem.ts";
import { whenFound } from "../http/when-found.ts";
import type { RestDeps } from "./deps.ts";
import { openEventStream, type EventStream } from "./event-response.ts";
import { readExecution, restContext, toExecuteAnswer } from "./execute.ts";

type CallIntent = Extract<Intent, { kind: "call" }>;

/** Handles `POST /execute/{name}`; false for every other request. */
export type ExecuteHandler = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Bare names were there before namespaces were; the date of the first version that had both (RFC 9745). */
const deprecatedSince = "@1767225600";
/** Any tool by any of the five spellings. A name is one segment: what it holds besides is percent-encoded. */
const executePath = /^(?:https?:\/\/[^/?#]*)?\/execute\/([^/?#]{1,12000})\/?(?:\?|$)/i;

interface Execution {
  readonly principal: Principal;
  readonly view: View;
  readonly intent: CallIntent;
  readonly response: ServerResponse;
  readonly headers: Record<string, string>;
  readonly stream: EventStream | undefined;
  /** Whether the client takes JSON beside it: then a call that said nothing on its way is answered plainly. */
  readonly acceptsJson: boolean;
}

/** Controllers that wait for the next call. */
const idleControllers = 256;

/** The one route that is a hot path: no framework stands on the way of a call, as over MCP. */
export function createExecuteHandler(deps: RestDeps): ExecuteHandler {
  const controllers = createAbortPool(idleControllers);

  return (request, response) => {
    const segment = request.method === "POST" ? executePath.exec(request.url ?? "")?.[1] : undefined;
    if (segment === undefined) return false;
    const headers: Record<string, string> =
      request.headers.origin === undefined
        ? { "X-Content-Type-Options": "nosniff" }
        : { ...corsHeaders(request), "X-Content-Type-Options": "nosniff" };
    const fail = (error: unknown): void => refuse(deps, request, response, toGatewayError(error), headers);
    try {
      const name = decodeName(segment);
      const found = deps.authenticate(request);
      if (!(found instanceof Promise)) receive({ request, response, headers, principal: found, name }, fail);
      else {
        const enter = (principal: Principal): void => receive({ request, response, headers, principal, name }, fail);
        whenFound({ found, response, enter, refuse: fail });
      }
    } catch (error) {
      fail(error);
    }
    return true;
  };

  interface Incoming {
    readonly request: IncomingMessage;
    readonly response: ServerResponse;
    readonly headers: Record<string, string>;
    readonly principal: Principal;
    readonly name: string;
  }

  function receive(incoming: Incoming, fail: (error: unknown) => void): void {
    readBody(incoming.request, { bytes: deps.settings().limits.requestBodyBytes }, (error, body) => {
      if (error !== undefined) fail(error);
      else execute(incoming, body).catch(fail);
    });
  }

  async function execute({ request, response, headers, principal, name }: Incoming, body: Buffer): Promise<void> {
    const adopting = deps.adopting(principal);
    if (adopting !== undefined) await adopting;
    const { view, intent } = await resolve({ request, response, headers, principal, name }, body);
    if (intent.warning !== undefined) headers["Deprecation"] = deprecatedSince;
    const accepts = readAccept(request.headers.accept);
    const stream = accepts.stream ? openEventStream(response, headers) : undefined;
    await run({ principal, view, intent, response, headers, stream, acceptsJson: accepts.json });
  }

  async function resolve(
    { request, response, principal, name }: Incoming,
    body: Buffer,
  ): Promise<Pick<Execution, "view" | "intent">> {
    const read = (): Pick<Execution, "view" | "intent"> => {
      const view = deps.viewOf(principal);
      return { view, intent: readExecution(view, name, appContext(request), body, deps.settings().limits.jsonDepth) };
    };
    try {
      return read();
    } catch (error) {
      if (!(error instanceof UnseenServer)) throw error;
      const gone = new AbortController();
      response.once("close", () => gone.abort(new GatewayError("CALL_CANCELLED", "the client closed the request")));
      await deps.routing.wake(error.instance, gone.signal);
      return read();
    }
  }

  async function run(execution: Execution): Promise<void> {
    const { principal, view, intent, response, stream } = execution;
    const leave = deps.admit(principal);
    const controller = controllers.take();
    const untrack = deps.track(principal, controller);
    let isWorking = true;
    response.on("close", () => {
      // Only as long as it works on this call: afterwards the controller is another's.
      if (isWorking) controller.abort(new GatewayError("CALL_CANCELLED", "the client closed the request"));
    });
    try {
      const listen = stream === undefined ? undefined : listenWith(stream);
      const context = restContext(principal, controller.signal, listen);
      const outcome = await deps.performer.perform(intent, { context, view });
      answer(execution, toExecuteAnswer(view, intent, outcome));
    } catch (error) {
      const failure = withSignature(toGatewayError(error), view);
      if (stream?.isOpen !== true) throw failure;
      stream.fail(failure);
    } finally {
      isWorking = false;
      untrack();
      leave();
      controllers.give(controller);
    }
  }
}

function refuse(
  deps: RestDeps,
  request: IncomingMessage,
  response: ServerResponse,
  failure: GatewayError,
  headers: Record<string, string>,
): void {
  if (failure.code === "INTERNAL") deps.reportFailure(failure, "POST /execute");
  if (failure.code === "UNAUTHORIZED") headers["WWW-Authenticate"] = toChallenge(deps.publicUrl(request), "");
  refuseWithProblem(response, failure, headers);
  // What is left of a body that nobody read must not be taken for the next request.
  request.resume();
}

function decodeName(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new GatewayError("REQUEST_INVALID", "the path is not valid percent-encoding", {
      hint: "Percent-encode every segment of the path.",
    });
  }
}

function appContext(request: IncomingMessage): string | undefined {
  const header = request.headers["x-app-context"];
  return Array.isArray(header) ? header.join(", ") : header;
}

function listenWith(stream: EventStream): Pick<CallContext, "onProgress" | "onLog"> {
  return { onProgress: (params) => stream.send("progress", params), onLog: (params) => stream.send("log", params) };
}

/** The body is the bytes as latin1: node:http sends head and body in one write then. */
function answer({ response, headers, stream, acceptsJson }: Execution, body: string): void {
  if (stream !== undefined && (stream.isOpen || !acceptsJson)) {
    stream.end("result", body);
    return;
  }
  if (response.destroyed) return;
  headers["Content-Type"] = "application/json; charset=utf-8";
  headers["Cache-Control"] = "no-store";
  headers["Content-Length"] = String(body.length);
  response.writeHead(200, headers);
  response.end(body, "latin1");
}

/** What a program's author needs to mend the arguments. */
function withSignature(failure: GatewayError, view: View): GatewayError {
  if (failure.code !== "ARGUMENTS_INVALID") return failure;
  const content = renderFailure(failure, view)["content"];
  const [block] = Array.isArray(content) ? (content as unknown[]) : [];
  const text = isJsonObject(block) ? block["text"] : undefined;
  const { signature } = typeof text === "string" ? (JSON.parse(text) as { signature?: string }) : {};
  return signature === undefined
    ? failure
    : new GatewayError(failure.code, failure.message, {
        data: { ...failure.data, signature },
        hint: failure.hint,
        cause: failure.cause,
      });
}

/** Read liberally: who says nothing gets JSON; events only for those who name them. */
function readAccept(accept: string | undefined): { readonly json: boolean; readonly stream: boolean } {
  if (accept === undefined || !accept.includes("text/event-stream")) return { json: true, stream: false };
  const ranges = accept.split(",").map((range) => range.trim().toLowerCase());
  const takes = (type: string): boolean =>
    ranges.some((range) => range.split(";", 1)[0]?.trim() === type && !/;\s*q=0(\.0*)?$/.test(range));
  const stream = takes("text/event-stream");
  return { stream, json: !stream || takes("application/json") || takes("application/*") || takes("*/*") };
}
