import type { IncomingMessage, ServerResponse } from "node:http";
import { UnseenServer } from "../../../catalog/exposure/text/tool-lookup.ts";
import { GatewayError, toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import { traceContextOf, withTraceContext } from "../../../kernel/runtime/tracing.ts";
import type { Principal } from "../../../kernel/principal.ts";
import { readBody } from "../../http/body.ts";
import { requireScope } from "../../../engine/policy/scopes.ts";
import { challengeOf } from "../../http/challenge.ts";
import { corsHeaders } from "../../http/guards/origin.ts";
import { refuseWithProblem } from "../../http/problem.ts";
import { whenFound } from "../../http/when-found.ts";
import { isFromDashboard } from "../../web/session-request.ts";
import type { RestDeps } from "../route.ts";
import { openEventStream } from "../streams/event-response.ts";
import {
  readExecution,
  readExecutionBody,
  type ExecutionBody,
  type NamedTool,
} from "../../../operations/tools/execute.ts";
import { createExecutionRun, type Execution } from "./execution-run.ts";
import { restContext } from "../../../operations/request/tracked.ts";
import type { RestQuestions } from "../../../operations/tools/asked-questions.ts";

/** Handles `POST /execute/{name}`; false for every other request. */
export type ExecuteHandler = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Bare names were there before namespaces were; the date of the first version that had both (RFC 9745). */
const deprecatedSince = "@1767225600";
/** Any tool by any of the five spellings. A name is one segment: what it holds besides is percent-encoded. */
const executePath = /^(?:https?:\/\/[^/?#]*)?\/execute\/([^/?#]{1,12000})\/?(?:\?|$)/i;

/** A request whose sender is known, before its body is. */
interface Incoming extends NamedTool {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly headers: Record<string, string>;
  readonly principal: Principal;
}

/** The one route that is a hot path: no framework is on the way of a call, as over MCP. */
export function createExecuteHandler(deps: RestDeps, questions: RestQuestions): ExecuteHandler {
  const run = createExecutionRun(deps, questions);

  return (request, response) => {
    const segment = request.method === "POST" ? executePath.exec(request.url ?? "")?.[1] : undefined;
    if (segment === undefined) return false;
    const headers: Record<string, string> =
      request.headers.origin === undefined
        ? { "X-Content-Type-Options": "nosniff" }
        : { ...corsHeaders(request), "X-Content-Type-Options": "nosniff" };
    const fail = (error: unknown): void => refuse(deps, { request, response, headers }, toGatewayError(error));
    try {
      const name = decodeName(segment);
      const appHeader = appContext(request);
      const found = deps.authenticate(request);
      if (!(found instanceof Promise)) receive({ request, response, headers, principal: found, name, appHeader }, fail);
      else {
        const enter = (principal: Principal): void =>
          receive({ request, response, headers, principal, name, appHeader }, fail);
        whenFound({ found, response, enter, refuse: fail });
      }
    } catch (error) {
      fail(error);
    }
    return true;
  };

  /** Throws SCOPE_INSUFFICIENT, before anything is read or looked up. */
  function receive(incoming: Incoming, fail: (error: unknown) => void): void {
    requireScope(incoming.principal, "mcp:tools:execute");
    const since = deps.presence.losses;
    const { id, user } = incoming.principal;
    const limits = { bytes: deps.bodyLimits.requestBodyBytes, room: deps.bodyRoom };
    readBody(incoming.request, limits, user ?? id, (error, body) => {
      if (error !== undefined) fail(error);
      else execute(incoming, body, since).catch(fail);
    });
  }

  async function execute(incoming: Incoming, body: Buffer, since: number): Promise<void> {
    const { request, response, headers, principal } = incoming;
    const adopting = deps.fleet.adopting(principal);
    if (adopting !== undefined) await adopting;
    deps.presence.require(principal, since);
    const { view, intent } = await resolve(incoming, body).catch((error: unknown) => {
      const context = restContext(incoming.principal, new AbortController().signal);
      deps.performer.refused({ context, view: deps.viewOf(principal) }, incoming.name, error);
      throw error;
    });
    // Its server may have been waited for.
    deps.presence.require(principal, since);
    if (intent.warning !== undefined) headers["Deprecation"] = deprecatedSince;
    const accepts = readAccept(request.headers.accept);
    const stream = accepts.stream ? openEventStream(response, headers) : undefined;
    const trace = traceContextOf(request.headers);
    const meta = trace === undefined ? undefined : withTraceContext(undefined, trace);
    const elicitation = request.headers["toolyard-elicitation"];
    const isTrial = isFromDashboard(request);
    const answering = { response, headers, stream, acceptsJson: accepts.json };
    await run({ principal, view, intent, ...answering, meta, elicitation, isTrial });
  }

  async function resolve(incoming: Incoming, bytes: Buffer): Promise<Pick<Execution, "view" | "intent">> {
    const parsed = await readExecutionBody(bytes, deps.bodyLimits.jsonDepth);
    try {
      const making = deps.namesInTurns(deps.viewOf(incoming.principal), undefined, incoming.name);
      if (making !== undefined) await making;
      return read(incoming, parsed);
    } catch (error) {
      if (!(error instanceof UnseenServer)) throw error;
      const gone = new AbortController();
      incoming.response.once("close", () =>
        gone.abort(new GatewayError("CALL_CANCELLED", "the client closed the request")),
      );
      await deps.routing.wake(error.instance, gone.signal);
      await deps.namesInTurns(deps.viewOf(incoming.principal), undefined, incoming.name);
      return read(incoming, parsed);
    }
  }

  function read(incoming: Incoming, body: ExecutionBody | undefined): Pick<Execution, "view" | "intent"> {
    const view = deps.viewOf(incoming.principal);
    return { view, intent: readExecution(view, incoming, body) };
  }
}

function refuse(
  deps: RestDeps,
  { request, response, headers }: Pick<Incoming, "request" | "response" | "headers">,
  failure: GatewayError,
): void {
  if (failure.code === "INTERNAL") deps.reportFailure(failure, "POST /execute");
  const challenge = challengeOf(failure, () => deps.publicUrl(request), "");
  if (challenge !== undefined) headers["WWW-Authenticate"] = challenge;
  refuseWithProblem(response, failure, headers);
  // The rest of a body that was not read must not be taken for the next request.
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

/** Read liberally: who says nothing gets JSON; events only for those who name them. */
function readAccept(accept: string | undefined): { readonly json: boolean; readonly stream: boolean } {
  if (accept === undefined || !accept.includes("text/event-stream")) return { json: true, stream: false };
  const ranges = accept.split(",").map((range) => range.trim().toLowerCase());
  const takes = (type: string): boolean =>
    ranges.some((range) => range.split(";", 1)[0]?.trim() === type && !/;\s*q=0(\.0*)?$/.test(range));
  const stream = takes("text/event-stream");
  return { stream, json: !stream || takes("application/json") || takes("application/*") || takes("*/*") };
}
