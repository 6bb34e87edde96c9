import type { View, ViewServer } from "../../../catalog/model/view.ts";
import { isForModel, renderFailure } from "../../../catalog/exposure/text/failure.ts";
import { callsTool, isMetaTool } from "../../../catalog/exposure/meta/meta-tools.ts";
import type { ListKind, PinnedTools } from "../../../catalog/exposure/exposure.ts";
import type { Intent } from "../../../catalog/exposure/intent.ts";
import { UnseenServer } from "../../../catalog/exposure/text/tool-lookup.ts";
import type { Listing } from "../../../catalog/model/names/names.ts";
import type { LazyNames } from "../../../catalog/model/names/lazy-names.ts";
import type { Pins } from "../../../catalog/discovery/pins.ts";
import { offersSkills } from "../../../catalog/model/skill-extension.ts";
import { asciiJson } from "../../../wire/json/ascii-json.ts";
import { metaKeys, supportedRevisions } from "../../../wire/mcp/revisions.ts";
import type { Routing } from "../../../engine/calls/routing.ts";
import { requireScope } from "../../../engine/policy/scopes.ts";
import type { Performer } from "../../../engine/perform/perform.ts";
import { type CallContext, noteStarting } from "../../../kernel/call/call-context.ts";
import { GatewayError, toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { InstanceId } from "../../../kernel/ids.ts";
import { isJsonObject } from "../../../kernel/text/json-bytes.ts";
import type { Principal } from "../../../kernel/principal.ts";
import type { FindingMeter } from "../../../records/usage/finding.ts";
import type { Caller, ReplyBody } from "../caller.ts";
import { capabilitiesOf, clientProfileOf, type ProfileOf } from "./client-profile.ts";
import {
  readComplete,
  readPromptsGet,
  readResourcesRead,
  readToolsCall,
  toIntent,
  toSkillIntent,
  type ClientRequestWork,
} from "./exposure-request.ts";
import { encodeOutcome, toReplyBody, type Answered, type EncodeParts } from "../answers/outcome-text.ts";
import { toWireError } from "../answers/wire-error.ts";
import type { ClientRequest } from "../../../wire/mcp/client-message.ts";
import { createParamHeaderCheck, type CheckParamHeaders } from "../param-headers.ts";
import { createPinnedFor, type PinnedFor } from "./pinned-list.ts";
import { isStart, type PageBook } from "../streams/pages.ts";
import { ownResultText } from "../answers/result-text.ts";

export interface DispatchDeps {
  readonly viewOf: (principal: Principal) => View;
  readonly performer: Performer;
  readonly namesInTurns: LazyNames;
  readonly routing: Pick<Routing, "wake">;
  readonly finding: FindingMeter;
  /** Tokens that one answer of discover_mcp_tools may take. */
  readonly maxTokens: number;
  readonly pages: PageBook;
  readonly pins: Pick<Pins, "of">;
  readonly profileOf: ProfileOf;
  readonly gateways: () => readonly string[];
  readonly serverInfo: { readonly name: string; readonly version: string; readonly title: string };
}

/** What every method has to answer with. */
interface Parts extends DispatchDeps, EncodeParts {
  readonly checkParamHeaders: CheckParamHeaders;
  readonly pinnedFor: PinnedFor;
}

interface Work extends ClientRequestWork {
  /** A server that it is about was never seen, and has been waited for. */
  readonly hasWoken?: true;
}

export type Dispatch = (request: ClientRequest, caller: Caller, context: CallContext) => Promise<ReplyBody>;

const discoverTtlMs = 300_000;

/**
 * Answers one request of either era: what it means is looked up, `perform` does it, and the outcome is written as the
 * client reads it. Sessions, subscriptions and everything else that lives longer than a request are handled before it
 * comes here. Never rejects.
 */
export function createDispatch(deps: DispatchDeps): Dispatch {
  const parts: Parts = {
    ...deps,
    serverInfoText: asciiJson(deps.serverInfo),
    clientOf: (caller) => clientProfileOf(caller, deps.profileOf),
    checkParamHeaders: createParamHeaderCheck(),
    pinnedFor: createPinnedFor(deps),
  };

  function toReply(work: Work, answered: Answered): ReplyBody {
    try {
      return toReplyBody(answered, work);
    } catch (error) {
      return toFailure(parts, work, error);
    }
  }

  return (request, caller, context) => {
    let view: View | undefined;
    try {
      view = deps.viewOf(context.principal);
      const work: Work = { request, caller, context, view };
      const making = makeNames(parts, work);
      const answering = making === undefined ? answer(parts, work) : making.then(() => answer(parts, work));
      if (!(answering instanceof Promise)) return Promise.resolve(toReply(work, answering));
      return answering.then(
        (answered) => toReply(work, answered),
        (error: unknown) => toFailure(parts, work, error),
      );
    } catch (error) {
      return Promise.resolve(toFailure(parts, { request, caller, view }, error));
    }
  };
}

/** Names of tools, where the servers' tools are listed, or one is looked up by its name. */
function makeNames({ namesInTurns }: Parts, { request, caller, view }: Work): Promise<void> | undefined {
  const { spelling, showsDefinitions, isTransparent } = caller.endpoint.exposure;
  if (isTransparent) return undefined;
  if (request.method === "tools/call") return namesInTurns(view, spelling, calledName(request, spelling));
  return request.method === "tools/list" && showsDefinitions === true ? namesInTurns(view, spelling) : undefined;
}

/**
 * The name of a server's tool in a call, in whatever spelling. A call in a namespace may be one for its list, which is
 * told from others only when names are made: those of its own list have to do.
 */
function calledName({ params }: ClientRequest, listing: Listing | undefined): string | undefined {
  const { name, arguments: given } = params;
  if (listing === "namespaced" || typeof name !== "string") return undefined;
  if (!isMetaTool(name)) return name;
  const path = callsTool(name) && isJsonObject(given) ? given["tool_path"] : undefined;
  return typeof path === "string" ? path : undefined;
}

function answer(parts: Parts, work: Work): Answered | Promise<Answered> {
  const { request, caller } = work;
  switch (request.method) {
    case "tools/call":
      return withPinned(parts, work, callTool);
    case "tools/list":
      return withPinned(parts, work, listTools);
    case "resources/list":
      return list(parts, work, "resources");
    case "resources/templates/list":
      return list(parts, work, "resourceTemplates");
    case "prompts/list":
      return list(parts, work, "prompts");
    case "resources/read":
      return carryOut(parts, work, toIntent(work, readResourcesRead(request)));
    case "prompts/get":
      return carryOut(parts, work, toIntent(work, readPromptsGet(request)));
    case "completion/complete":
      return carryOut(parts, work, toIntent(work, readComplete(request)));
    case "skills/list":
      return sharesSkills(work) ? list(parts, work, "skills") : forward(parts, work);
    case "skills/get":
    case "resources/directory/read":
      return sharesSkills(work) ? carryOut(parts, work, toSkillIntent(work)) : forward(parts, work);
    case "server/discover":
      return caller.client.era === "modern" ? discoverServer(parts, work) : unknownMethod(work);
    case "ping":
      return caller.client.era === "legacy" ? "{}" : unknownMethod(work);
    default:
      return forward(parts, work);
  }
}

/** The hot path has none of its own: where nothing is pinned, or its name is one of ours, nothing is waited for. */
function withPinned<T>(
  parts: Parts,
  work: Work,
  run: (parts: Parts, work: Work, pinned: PinnedTools | undefined) => T | Promise<T>,
): T | Promise<T> {
  const pinned = parts.pinnedFor(work);
  return pinned instanceof Promise ? pinned.then((known) => run(parts, work, known)) : run(parts, work, pinned);
}

/** Whether skills of several servers are shown together here (SEP-2640). */
function sharesSkills({ caller, view }: Work): boolean {
  return !caller.endpoint.exposure.isTransparent && view.servers.some(({ catalog }) => offersSkills(catalog));
}

/** The hot path: no more promises than it needs. */
function carryOut(parts: Parts, work: Work, intent: Intent): Promise<Answered> {
  return parts.performer.perform(intent, work).then((outcome) => encodeOutcome(parts, work, intent, outcome));
}

function callTool(parts: Parts, work: Work, pinned: PinnedTools | undefined): Promise<Answered> {
  const asked = readToolsCall(work.request);
  let intent: Intent;
  try {
    intent = toIntent(work, asked, pinned);
  } catch (error) {
    if (!(error instanceof UnseenServer) || work.hasWoken === true) {
      parts.performer.refused(work, wantedName(work), error);
      throw error;
    }
    // No server is started for a principal that may not call it.
    requireScope(work.context.principal, "mcp:tools:execute");
    return callWoken(parts, work, pinned, error.instance);
  }
  const { headers, endpoint } = work.caller;
  // Called by its own name: through one of our tools nothing of its arguments is in a header.
  if (headers !== undefined && intent.kind === "call" && intent.arguments.value === asked.arguments.value)
    parts.checkParamHeaders(intent.tool, asked.arguments.value, headers);
  if (intent.kind === "call" && callsTool(asked.name) && endpoint.exposure.toolsByClient === true)
    parts.finding.wrapped(work.context, intent.tool);
  return carryOut(parts, work, intent);
}

async function callWoken(
  parts: Parts,
  work: Work,
  pinned: PinnedTools | undefined,
  instance: InstanceId,
): Promise<Answered> {
  const { principal, signal, stage } = work.context;
  const { servers } = work.view;
  noteStarting(
    stage,
    servers.filter((server) => server.instance === instance).map(({ slug }) => slug),
  );
  try {
    await parts.routing.wake(instance, signal);
  } catch (error) {
    parts.performer.refused(work, wantedName(work), error);
    throw error;
  }
  const view = parts.viewOf(principal);
  const woken: Work = { ...work, view, hasWoken: true };
  await makeNames(parts, woken);
  return await callTool(parts, woken, pinned);
}

/** As the client named it. */
function wantedName({ request }: Work): string {
  return calledName(request, undefined) ?? String(request.params["name"]);
}

function listTools(parts: Parts, work: Work, pinned: PinnedTools | undefined): string {
  const { caller, context, request, view } = work;
  const { exposure } = caller.endpoint;
  const client = parts.clientOf(caller);
  if (isStart(request.params["cursor"])) parts.finding.listed(context, { view, exposure, client, pinned });
  return list(parts, work, "tools", { pinned, client });
}

/** `ofTools` are facts of a list of tools that were looked up already. */
function list(
  parts: Parts,
  work: Work,
  kind: ListKind,
  ofTools?: { readonly client: ReturnType<Parts["clientOf"]>; readonly pinned: PinnedTools | undefined },
): string {
  const { caller, request } = work;
  const { exposure } = caller.endpoint;
  const page = parts.pages.page(work.view, exposure, {
    kind,
    cursor: request.params["cursor"],
    client: ofTools === undefined ? parts.clientOf(caller) : ofTools.client,
    era: caller.client.era,
    told: caller.session?.told,
    pinned: ofTools?.pinned,
  });
  if (caller.client.era === "legacy") return `{${page.body}}`;
  return `{"resultType":"complete",${page.body},${page.hints},"_meta":{"io.modelcontextprotocol/serverInfo":${parts.serverInfoText}}}`;
}

function discoverServer(parts: Parts, work: Work): string {
  const { exposure } = work.caller.endpoint;
  const instructions = exposure.instructions(work.view);
  const result = {
    supportedVersions: supportedRevisions,
    capabilities: capabilitiesOf(exposure, work.view),
    ...(instructions === "" ? {} : { instructions }),
    ttlMs: discoverTtlMs,
    cacheScope: "private",
  };
  return ownResultText(result, work.caller.client.era, parts.serverInfoText, {
    [metaKeys.gateways]: parts.gateways(),
  });
}

/**
 * A method unknown here goes to the one server of a transparent exposure, or to the one that handed out the task that
 * it is about.
 */
function forward(parts: Parts, work: Work): Promise<Answered> {
  const { request, context, caller, view } = work;
  const server = caller.endpoint.exposure.transparent(view);
  if (server !== undefined) return carryOut(parts, work, { kind: "forward", server });
  const toOwner = (): Promise<Answered> => {
    const owner = ownerOfTask(parts, work);
    return owner === undefined ? unknownMethod(work) : carryOut(parts, work, { kind: "forward", server: owner });
  };
  const isTask = request.method.startsWith("tasks/");
  const seeking = isTask ? parts.performer.seekTasks(context.principal, [request.params["taskId"]]) : undefined;
  return seeking === undefined ? toOwner() : seeking.then(toOwner);
}

/**
 * The server that gave out the task that the request is about. Throws PARAMS_INVALID for a task that was not given to
 * this principal.
 */
function ownerOfTask({ performer }: Parts, { request, context, view }: Work): ViewServer | undefined {
  const { taskId } = request.params;
  if (!request.method.startsWith("tasks/") || typeof taskId !== "string") return undefined;
  const instance = performer.ownerOfTask(context.principal, taskId);
  const server = view.servers.find((candidate) => candidate.instance === instance);
  if (server === undefined) throw new GatewayError("PARAMS_INVALID", "there is no such task");
  return server;
}

function toFailure(
  parts: Parts,
  { request, caller, view }: Pick<Work, "request" | "caller"> & { readonly view: View | undefined },
  error: unknown,
): ReplyBody {
  const failure = toGatewayError(error);
  if (request.method !== "tools/call" || !isForModel(failure))
    return toWireError(failure, caller.client.era, request.method);
  return {
    body: `"result":${ownResultText(renderFailure(failure, view), caller.client.era, parts.serverInfoText)}`,
    status: 200,
  };
}

function unknownMethod(work: Work): never {
  throw new GatewayError("METHOD_UNKNOWN", `there is no method ${JSON.stringify(work.request.method.slice(0, 100))}`);
}
