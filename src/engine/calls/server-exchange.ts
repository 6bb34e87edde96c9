import { heldPrompt, heldTool } from "../../catalog/exposure/text/tool-lookup.ts";
import type { View } from "../../catalog/model/view.ts";
import { toCallArguments, type CallContext } from "../../kernel/call/call-context.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { MirrorArguments, MirroredHeaders } from "./arguments/mirrored-headers.ts";
import type { ServerConfig } from "../../config/config.ts";
import type { ClientPresence } from "../../kernel/client-presence.ts";
import { failures } from "../../kernel/failures/failures.ts";
import { GatewayError, toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { JsonBytes } from "../../kernel/text/json-bytes.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { Connection, ParamMember, UpstreamRequest } from "../../servers/upstream/connection.ts";
import type { TraceSource } from "../../kernel/runtime/tracing.ts";
import { asciiJson } from "../../wire/json/ascii-json.ts";
import { parseErrorObject } from "../../wire/mcp/error-object.ts";
import { withServerNamed } from "./questions/questions.ts";
import type { ServerAnswer, ServerCall } from "./server-call.ts";
import { setTimeout as sleep } from "node:timers/promises";
import type { WaitingQuestions } from "./questions/waiting-questions.ts";

/**
 * Reads the tool of a call from the lists in force: its mirrored parameters may have changed since the call began, or
 * its name was not known then. The gateway does this because not every client can mirror parameters: no legacy client
 * can.
 */
export function createMirrorAgain(viewOf: (principal: Principal) => View, mirror: MirrorArguments): MirrorAgain {
  return ({ instance, target, params, context }) => {
    const server = viewOf(context.principal).servers.find((candidate) => candidate.instance === instance.id);
    const tool = server?.catalog?.tools.find(({ upstreamName }) => upstreamName === target.nameHeader);
    if (tool === undefined) return undefined;
    const given = params.find(([key]) => key === "arguments")?.[1];
    return mirror(tool, toCallArguments(typeof given === "string" ? Buffer.from(given, "latin1") : given));
  };
}

/**
 * Throws DEFINITION_HELD where the lists that a server was just started with define differently what the call names,
 * and a person has to look at it.
 */
export function createHeldCheck(viewOf: (principal: Principal) => View): (call: ServerCall) => void {
  return ({ instance, target: { method, nameHeader = "" }, context }) => {
    const server = viewOf(context.principal).servers.find((candidate) => candidate.instance === instance.id);
    if (server === undefined) return;
    const tool =
      method === "tools/call" ? server.held?.find(({ upstreamName }) => upstreamName === nameHeader) : undefined;
    const failure =
      tool !== undefined
        ? heldTool(server, tool)
        : method === "prompts/get"
          ? heldPrompt(server, nameHeader)
          : undefined;
    if (failure !== undefined) throw failure;
  };
}

export interface ExchangeDeps {
  readonly clock: Pick<Clock, "monotonic">;
  readonly waitingQuestions: WaitingQuestions;
  readonly presenceOf: (context: CallContext) => ClientPresence;
  readonly mirrorAgain: MirrorAgain;
  /** Asked of a call that had to wait for the start of its server. */
  readonly requireFree: (call: ServerCall) => void;
  /** Undefined while traces are off. */
  readonly traces?: TraceSource | undefined;
}

/** What a call is to mirror by the lists that were just fetched; undefined where these do not name its tool. */
type MirrorAgain = (call: ServerCall) => MirroredHeaders | undefined;

/** What becomes of a checked answer. The call is an argument so that no call needs a closure of its own. */
export type Conclude = (answer: ServerAnswer, call: ServerCall) => ServerAnswer | Promise<ServerAnswer>;

/**
 * Sends a call with these parameters (a later round has more than the call itself), checks the result, and gives the
 * answer to `conclude`. A request that never reached the server, or may be repeated, is sent a second time
 * (docs/design.md, "execute_mcp_tool"). Rejects with GatewayErrors.
 */
export type ServerExchange = (
  call: ServerCall,
  params: readonly ParamMember[],
  conclude: Conclude,
) => Promise<ServerAnswer>;

export function createServerExchange(deps: ExchangeDeps): ServerExchange {
  const { clock, waitingQuestions, presenceOf, requireFree, traces } = deps;
  return async (call, params, conclude) => {
    const { instance, target, context } = call;
    let sent = false;
    const begunMs = clock.monotonic();
    let request = toRequest(waitingQuestions, call, params, () => {
      sent = true;
    });
    let answer: ServerAnswer;
    for (let tries = 1; ; tries += 1) {
      try {
        const acquired = instance.acquire(context.signal, context.principal.id);
        const starts = acquired instanceof Promise;
        noteStage(call, starts);
        const connection = starts ? await startOf(waitTraced(traces, call, acquired), context, clock) : acquired;
        if (starts) {
          noteStage(call, false);
          requireFree(call);
        }
        if (connection.far?.node !== context.node) context.node = connection.far?.node;
        const reply = await connection.request(request);
        if (instance.server.stateful) instance.users.note(presenceOf(context));
        if (reply.kind === "result") {
          const checked = target.check(reply.result);
          const result = checked instanceof Promise ? await checked : checked;
          if (result.verdict?.oddity !== undefined) noteOddity(call, result.verdict.oddity);
          answer = { kind: "result", result };
        } else answer = reply;
        if (answer.kind === "result" || !target.refetch || tries > 1) break;
        if (parseErrorObject(answer.error).code !== failures.HEADER_MISMATCH.rpc) break;
        await instance.refresh(context.signal);
        const headers = deps.mirrorAgain(call);
        if (headers !== undefined) request = { ...request, headers };
      } catch (error) {
        if (!(error instanceof GatewayError) || error.code === "DEFINITION_HELD") throw error;
        // A request that failed may have changed the server's state before it did.
        if (sent && instance.server.stateful) instance.users.note(presenceOf(context));
        if (error.code === "INSTANCE_MOVED" && (await isPlacedAnew(error, context, clock.monotonic() - begunMs))) {
          tries -= 1;
          continue;
        }
        const told = instance.noteFailure(error);
        if (tries > 1 || !mayRetry(call, error, sent)) throw told;
      }
    }
    return conclude(answer, call);
  };
}

/** What the client is told when it has to wait for long. */
function noteStage({ instance, context: { stage } }: ServerCall, isStarting: boolean): void {
  if (stage === undefined) return;
  stage.server = instance.server.slug;
  stage.isStarting = isStarting;
}

function noteOddity({ instance, target }: ServerCall, oddity: string): void {
  instance.oddities.note("results.odd", `${target.nameHeader ?? target.method} (${oddity})`);
}

/** Waits for a server that has to be started first, and counts how long that takes. */
async function startOf(
  acquired: Promise<Connection>,
  context: CallContext,
  clock: Pick<Clock, "monotonic">,
): Promise<Connection> {
  const since = clock.monotonic();
  try {
    return await acquired;
  } finally {
    context.waitedMs += clock.monotonic() - since;
  }
}

function toRequest(
  waitingQuestions: WaitingQuestions,
  { instance, target, context }: ServerCall,
  params: readonly ParamMember[],
  onSent: () => void,
): UpstreamRequest {
  const { server } = instance;
  return {
    method: target.method,
    params,
    meta: context.meta,
    era: context.client.era,
    clientCapabilities: context.client.capabilities,
    logLevel: context.logLevel,
    signal: context.signal,
    timeoutMs: server.callTimeoutMs,
    maxTimeoutMs: server.maxCallTimeoutMs,
    onProgress: context.onProgress,
    onLog: context.onLog,
    replies: context.replies,
    client: context.connected?.id,
    ask:
      context.ask === undefined
        ? undefined
        : async (question, signal) =>
            await waitingQuestions.ask(
              instance.id,
              context,
              context.transparent === true ? question : { ...question, params: namedParams(question, server) },
              signal,
            ),
    headers: target.headers.length === 0 ? undefined : target.headers,
    passedHeaders: context.paramHeaders,
    nameHeader: target.nameHeader,
    onSent,
  };
}

function namedParams(
  question: { readonly method: string; readonly params: JsonBytes },
  { slug }: ServerConfig,
): JsonBytes {
  if (question.method !== "elicitation/create") return question.params;
  const named = withServerNamed(
    { method: question.method, params: JSON.parse(question.params.toString("utf8")) as unknown },
    slug,
  ) as { params: unknown };
  return Buffer.from(asciiJson(named.params), "latin1");
}

function mayRetry({ instance, target, context }: ServerCall, error: GatewayError, sent: boolean): boolean {
  if (!instance.server.retry || context.signal.aborted) return false;
  return retriedCodes.has(error.code) && (!sent || target.repeatable);
}

const retriedCodes: ReadonlySet<string> = new Set(["UPSTREAM_CLOSED", "CONNECT_FAILED", "OUTCOME_UNKNOWN"]);

/** A server that moves to another node is somewhere again within a second or two. */
const movingMs = 10_000;
const againMs = 25;

/** Waits a little before a call that did not reach its server looks again for where that is. */
async function isPlacedAnew(error: GatewayError, { signal }: CallContext, sinceMs: number): Promise<boolean> {
  if (sinceMs > movingMs || signal.aborted) return false;
  await sleep(againMs);
  if (signal.aborted) throw error;
  return true;
}

/**
 * Waits for a server that is starting, with a span in the call's trace that has a link to the start. To be called only
 * when there is something to wait for.
 */
async function waitTraced(
  traces: TraceSource | undefined,
  { instance, context }: ServerCall,
  starting: Promise<Connection>,
): Promise<Connection> {
  if (traces?.current === undefined) return await starting;
  const { slug } = instance.server;
  const span = traces.current.begin({
    name: `wait for ${slug}`,
    kind: "internal",
    parent: context.meta,
    attributes: { "toolyard.server": slug },
  });
  try {
    const connection = await starting;
    if (connection.startSpan !== undefined) span.linkTo(connection.startSpan);
    span.end();
    return connection;
  } catch (error) {
    span.end(toGatewayError(error).code);
    throw error;
  }
}
