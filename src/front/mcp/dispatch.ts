import { stringifyExact } from "../../wire/json/exact-json.ts";
import type { View, ViewServer } from "../../catalog/model/view.ts";
import { isForModel, renderFailure } from "../../catalog/exposure/failure.ts";
import type { Intent } from "../../catalog/exposure/intent.ts";
import { UnseenServer } from "../../catalog/exposure/unseen-server.ts";
import { withLossTold } from "../../catalog/exposure/restart-notice.ts";
import { renderResourceList } from "../../catalog/exposure/resource-list.ts";
import { asciiJson } from "../../wire/json/ascii-json.ts";
import { metaKeys, supportedRevisions } from "../../wire/mcp/revisions.ts";
import type { Outcome } from "../../engine/calls/relay.ts";
import type { Routing } from "../../engine/calls/routing.ts";
import { noArguments } from "../../kernel/call-arguments.ts";
import type { CallContext } from "../../kernel/call-context.ts";
import { failures } from "../../kernel/failures.ts";
import { GatewayError, toGatewayError } from "../../kernel/gateway-error.ts";
import { isJsonObject, toJsonBytes, type JsonBytes, type JsonObject } from "../../kernel/json-bytes.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { ParamMember } from "../../servers/upstream/connection.ts";
import { isErrorObject, parseErrorObject } from "../../servers/upstream/error-object.ts";
import { errorBody } from "./answer-channel.ts";
import type { Caller, ReplyBody } from "./caller.ts";
import { capabilitiesOf } from "./capabilities.ts";
import { clientProfileOf, type ProfileOf } from "./client-profile.ts";
import { discoverTools, type DiscoverDeps } from "./discover.ts";
import { toWireError } from "./wire-error.ts";
import type { ClientRequest } from "./message.ts";
import { createParamHeaderCheck } from "./param-headers.ts";
import type { PageBook } from "./pages.ts";
import { createTaskBook } from "./task-book.ts";
import { ownResultText, prefixed, toResultText, type WireText } from "./result-text.ts";

export interface DispatchDeps extends DiscoverDeps {
  readonly routing: Routing;
  /** Loads a namespace for the principal; the result of its list_tools. */
  readonly listNamespace: (
    principal: Principal,
    intent: Extract<Intent, { kind: "list-namespace" }>,
    signal: AbortSignal,
  ) => Promise<JsonObject>;
  readonly onBareName: (principal: Principal, intent: Extract<Intent, { kind: "call" }>) => void;
  readonly pages: PageBook;
  readonly profileOf: ProfileOf;
  readonly gateways: () => readonly string[];
  readonly serverInfo: { readonly name: string; readonly version: string; readonly title: string };
}

/** What every method needs to answer. */
interface Work {
  readonly request: ClientRequest;
  readonly caller: Caller;
  readonly view: View;
  readonly context: CallContext;
  /** A server that it is about was never seen, and has been waited for. */
  readonly hasWoken?: true;
}

export type Dispatch = (request: ClientRequest, caller: Caller, context: CallContext) => Promise<ReplyBody>;

const discoverTtlMs = 300_000;

/**
 * Answers one request of either era: the methods that need nothing but a view and the rooms below. Sessions, subscriptions and
 * everything else that lives longer than a request are handled before it comes here. Never rejects.
 */
export function createDispatch(deps: DispatchDeps): Dispatch {
  const serverInfoText = asciiJson(deps.serverInfo);
  const checkParamHeaders = createParamHeaderCheck();
  const tasks = createTaskBook();

  function answer(work: Work): Answered | Promise<Answered> {
    const { request, caller } = work;
    switch (request.method) {
      case "tools/call":
        return callTool(work);
      case "tools/list":
        return list(work, "tools");
      case "resources/list":
        return list(work, "resources");
      case "resources/templates/list":
        return list(work, "resourceTemplates");
      case "prompts/list":
        return list(work, "prompts");
      case "resources/read":
        return execute(work, resolve(work, { method: "resources/read", uri: requireText(request, "uri") }));
      case "prompts/get":
        return execute(
          work,
          resolve(work, {
            method: "prompts/get",
            name: requireText(request, "name"),
            arguments: request.paramBytes("arguments"),
          }),
        );
      case "completion/complete":
        return execute(work, resolve(work, { method: "completion/complete", ref: requireObject(request, "ref") }));
      case "server/discover":
        return caller.client.era === "modern" ? discoverServer(work) : unknownMethod(work);
      case "ping":
        return caller.client.era === "legacy" ? "{}" : unknownMethod(work);
      default:
        return unknownOrForwarded(work);
    }
  }

  function list(work: Work, kind: "tools" | "resources" | "resourceTemplates" | "prompts"): string {
    const { caller, request } = work;
    const client = clientProfileOf(request, caller, deps.profileOf);
    const page = deps.pages.page(work.view, caller.endpoint.exposure, {
      kind,
      cursor: request.params["cursor"],
      client,
    });
    if (caller.client.era === "legacy") return `{${page.body}}`;
    return `{"resultType":"complete",${page.body},${page.hints},"_meta":{"io.modelcontextprotocol/serverInfo":${serverInfoText}}}`;
  }

  function resolve(work: Work, request: Parameters<Caller["endpoint"]["exposure"]["resolve"]>[1]): Intent {
    return work.caller.endpoint.exposure.resolve(work.view, request);
  }

  function callTool(work: Work): Answered | Promise<Answered> {
    const { request } = work;
    const bytes = request.paramBytes("arguments");
    const value = request.params["arguments"];
    if (bytes !== undefined && !isJsonObject(value))
      throw new GatewayError("PARAMS_INVALID", "arguments must be an object");
    const given = bytes === undefined ? noArguments : { bytes, value };
    const asked = { method: "tools/call", name: requireText(request, "name"), arguments: given } as const;
    let intent: Intent;
    try {
      intent = resolve(work, asked);
    } catch (error) {
      if (error instanceof UnseenServer && work.hasWoken !== true) return callWoken(work, error.instance);
      throw error;
    }
    const { headers } = work.caller;
    // Called by its own name: through execute_mcp_tool nothing of its arguments is in a header.
    if (headers !== undefined && intent.kind === "call" && intent.arguments.value === given.value)
      checkParamHeaders(intent.tool, given.value, headers);
    return intent.kind === "call" ? callFound(work, intent) : execute(work, intent);
  }

  async function callWoken(work: Work, instance: InstanceId): Promise<Answered> {
    await deps.routing.wake(instance, work.context.signal);
    return await callTool({ ...work, view: deps.viewOf(work.caller.principal), hasWoken: true });
  }

  /** The hot path: no more promises than it needs. */
  function callFound(work: Work, intent: Extract<Intent, { kind: "call" }>): Promise<Answered> {
    return deps.routing.callTool(intent.tool, intent.arguments, work.context).then((outcome) => {
      deps.discovery.noteCall(work.caller.principal, intent.tool);
      if (outcome.kind === "result") tasks.note(work.caller.principal, intent.tool.instance, outcome.parsed);
      if (intent.bareName !== undefined) deps.onBareName(work.caller.principal, intent);
      return finish(work, intent, outcome, "");
    });
  }

  async function execute(work: Work, intent: Intent): Promise<Answered> {
    const { context, caller, view } = work;
    switch (intent.kind) {
      case "discover": {
        const text = await discoverTools(deps, caller.principal, intent.request, context.signal);
        return own(work, { content: [{ type: "text", text }] });
      }
      case "list-resources":
        return own(work, { content: [{ type: "text", text: stringifyExact(renderResourceList(view, intent)) }] });
      case "list-namespace":
        return own(work, await deps.listNamespace(caller.principal, intent, context.signal));
      case "answer":
        return own(work, intent.result);
      case "call":
        return await callFound(work, intent);
      case "read":
        return finish(
          work,
          intent,
          await deps.routing.readResource(intent.server.instance, intent.uri, context),
          '"ttlMs":0,"cacheScope":"private"',
        );
      case "prompt":
        return finish(work, intent, await deps.routing.getPrompt(intent.prompt, intent.arguments, context), "");
      case "complete":
        return finish(
          work,
          intent,
          await deps.routing.complete(intent.server.instance, withRef(work.request, intent.ref), context),
          "",
        );
      case "forward":
        return finish(
          work,
          intent,
          await deps.routing.forward(intent.server.instance, work.request.method, allParams(work.request), context),
          "",
        );
    }
  }

  function own(work: Work, result: JsonObject): string {
    return ownResultText(result, work.caller.client.era, serverInfoText);
  }

  function finish(work: Work, intent: Intent, outcome: Outcome, hints: string): Answered {
    if (outcome.kind === "error") return outcome;
    const asked = outcome.parsed?.["resultType"] === "input_required";
    const rendered = asked
      ? outcome.result
      : work.caller.endpoint.exposure.render(work.view, intent, outcome.result, outcome.parsed);
    const forModel = !work.caller.endpoint.exposure.isTransparent;
    const told =
      outcome.loss === undefined ? rendered : withLossTold(rendered, { reason: outcome.loss, intent, forModel });
    const parsed = told === outcome.result ? outcome.parsed : undefined;
    return toResultText(told, parsed, work.caller.client.era, serverInfoText, asked ? "" : hints);
  }

  function discoverServer(work: Work): string {
    const { exposure } = work.caller.endpoint;
    const instructions = exposure.instructions(work.view);
    const result = {
      supportedVersions: supportedRevisions,
      capabilities: capabilitiesOf(exposure, work.view),
      ...(instructions === "" ? {} : { instructions }),
      ttlMs: discoverTtlMs,
      cacheScope: "private",
    };
    return ownResultText(result, work.caller.client.era, serverInfoText, {
      [metaKeys.gateways]: deps.gateways(),
    });
  }

  async function unknownOrForwarded(work: Work): Promise<Answered> {
    const { exposure } = work.caller.endpoint;
    const server = exposure.transparent(work.view) ?? ownerOfTask(work);
    if (server === undefined) return unknownMethod(work);
    return finish(
      work,
      { kind: "forward", server },
      await deps.routing.forward(server.instance, work.request.method, allParams(work.request), work.context),
      "",
    );
  }

  /** The server that gave out the task that the request is about. Throws PARAMS_INVALID for a task that nobody gave this principal. */
  function ownerOfTask({ request, caller, view }: Work): ViewServer | undefined {
    if (!request.method.startsWith("tasks/") || typeof request.params["taskId"] !== "string") return undefined;
    const instance = tasks.find(caller.principal, request.params["taskId"]);
    const server = view.servers.find((candidate) => candidate.instance === instance);
    if (server === undefined) throw new GatewayError("PARAMS_INVALID", "there is no such task");
    return server;
  }

  function toReply(work: Work, answered: Answered): ReplyBody {
    try {
      return isError(answered)
        ? relayError(answered.error, work.caller)
        : { body: prefixed('"result":', answered), status: 200 };
    } catch (error) {
      return toFailure(work, work.view, error);
    }
  }

  function toFailure(
    { request, caller }: Pick<Work, "request" | "caller">,
    view: View | undefined,
    error: unknown,
  ): ReplyBody {
    const failure = toGatewayError(error);
    // It will be called again, as soon as it can be: what checks its arguments can start in the meantime.
    if (failure.code === "SERVER_STARTING") deps.routing.expectCalls();
    if (request.method !== "tools/call" || !isForModel(failure))
      return toWireError(failure, caller.client.era, request.method);
    return {
      body: `"result":${ownResultText(renderFailure(failure, view), caller.client.era, serverInfoText)}`,
      status: 200,
    };
  }

  return (request, caller, context) => {
    let view: View | undefined;
    try {
      view = deps.viewOf(caller.principal);
      const work = { request, caller, context, view };
      const answering = answer(work);
      if (!(answering instanceof Promise)) return Promise.resolve(toReply(work, answering));
      return answering.then(
        (answered) => toReply(work, answered),
        (error: unknown) => toFailure(work, work.view, error),
      );
    } catch (error) {
      return Promise.resolve(toFailure({ request, caller }, view, error));
    }
  };
}

/** The text of a result, or a server's error to be relayed. */
type Answered = WireText | ServerError;
type ServerError = Extract<Outcome, { kind: "error" }>;

function isError(answered: Answered): answered is ServerError {
  return typeof answered === "object" && "kind" in answered;
}

/**
 * A server's error, unchanged but for what concerns only our hop to it, and for codes that this revision must not see
 * (docs/design.md, "Errors").
 */
function relayError(error: JsonBytes, caller: Caller): ReplyBody {
  const parsed = parseErrorObject(error);
  const { era } = caller.client;
  if (parsed.code === -32020 || parsed.code === -32022) {
    return {
      body: errorBody({
        ...parsed,
        code: failures.UPSTREAM_PROTOCOL.rpc,
        message: `the server refused what the gateway sent: ${parsed.message}`,
      }),
      status: 200,
    };
  }
  if (parsed.code === failures.CAPABILITY_MISSING.rpc && era === "legacy")
    return { body: errorBody({ ...parsed, code: failures.CLIENT_CANNOT_ANSWER.rpc }), status: 200 };
  if ((parsed.code === -32002 || parsed.code === -32042) && era === "modern")
    return { body: errorBody({ ...parsed, code: -32602 }), status: 200 };
  return {
    body: isErrorObject(error) ? `"error":${error.toString("latin1")}` : errorBody(parsed),
    status: era === "modern" ? (relayedStatus[parsed.code] ?? 200) : 200,
  };
}

/** A server's own error codes that have an HTTP status of their own (2026-07-28, streamable-http). */
const relayedStatus: Readonly<Record<number, number>> = Object.freeze({
  [failures.CAPABILITY_MISSING.rpc]: failures.CAPABILITY_MISSING.http,
  [failures.METHOD_UNKNOWN.rpc]: failures.METHOD_UNKNOWN.http,
});

function unknownMethod(work: Work): never {
  throw new GatewayError("METHOD_UNKNOWN", `there is no method ${JSON.stringify(work.request.method.slice(0, 100))}`);
}

function requireText(request: ClientRequest, key: string): string {
  const value = request.params[key];
  if (typeof value !== "string")
    throw new GatewayError("PARAMS_INVALID", `${request.method} needs params.${key}, a string`);
  return value;
}

function requireObject(request: ClientRequest, key: string): JsonObject {
  const value = request.params[key];
  if (!isJsonObject(value))
    throw new GatewayError("PARAMS_INVALID", `${request.method} needs params.${key}, an object`);
  return value;
}

/** All members of the client's params but those that belong to this hop, as the client wrote them. */
function allParams(request: ClientRequest): ParamMember[] {
  return Object.keys(request.params).flatMap((key): ParamMember[] => {
    const bytes = hopParams.has(key) ? undefined : request.paramBytes(key);
    return bytes === undefined ? [] : [[key, bytes]];
  });
}

const hopParams: ReadonlySet<string> = new Set(["_meta", "inputResponses", "requestState"]);

function withRef(request: ClientRequest, ref: JsonObject): ParamMember[] {
  return allParams(request).map(([key, value]): ParamMember =>
    key === "ref" ? ["ref", toJsonBytes(ref)] : [key, value],
  );
}
