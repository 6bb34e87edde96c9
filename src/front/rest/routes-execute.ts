import type { FastifyReply } from "fastify";
import { z } from "zod";
import type { View } from "../../catalog/view.ts";
import type { Intent } from "../../exposure/intent.ts";
import { renderFailure } from "../../exposure/failure.ts";
import { renderShared } from "../../exposure/meta.ts";
import { GatewayError, toGatewayError } from "../../shared/gateway-error.ts";
import { isJsonObject } from "../../shared/json-bytes.ts";
import type { Principal } from "../../shared/principal.ts";
import type { RestApp } from "./app.ts";
import { abortedWith } from "./client-gone.ts";
import type { RestDeps } from "./deps.ts";
import { openEventStream, type EventStream } from "./event-stream.ts";
import { readExecution, restContext, toExecuteAnswer } from "./execute.ts";
import { sendJson } from "./json-answer.ts";
import { answers, executing } from "./responses.ts";
import * as schemas from "./schemas.ts";

type CallIntent = Extract<Intent, { kind: "call" }>;

/** Bare names were there before namespaces were; the date of the first version that had both (RFC 9745). */
const deprecatedSince = "@1767225600";

/** Any tool by any of the five spellings, with the arguments as the body. */
export function addExecuteRoutes(app: RestApp, deps: RestDeps): void {
  app.post(
    "/execute/:name",
    {
      config: { rawBody: true },
      schema: {
        tags: ["Execute"],
        summary: "Call a tool",
        description: "The name in any spelling: `server:tool`, `server-tool`, `namespace__tool`, `namespace.tool`, or bare with X-App-Context or `_app_context`. With `Accept: text/event-stream` progress comes as events, then the answer as event `result`.",
        params: z.object({ name: schemas.name }),
        headers: z.object({ "x-app-context": z.string().max(1_000).optional().describe("The app that a bare name belongs to.") }),
        body: schemas.executeBody,
        response: answers(schemas.executeAnswer, "What the tool answered, also when the tool itself failed.", executing),
      },
    },
    async (request, reply) => {
      const { principal } = request;
      const view = deps.viewOf(principal);
      const body: unknown = request.body;
      const intent = readExecution(view, request.params.name, request.headers["x-app-context"], Buffer.isBuffer(body) ? body : undefined, deps.settings().limits.jsonDepth);
      if (intent.warning !== undefined) reply.header("Deprecation", deprecatedSince);
      await run({ deps, principal, view, intent, reply, ...readAccept(request.headers.accept, reply) });
    },
  );
}

interface Execution {
  readonly deps: RestDeps;
  readonly principal: Principal;
  readonly view: View;
  readonly intent: CallIntent;
  readonly reply: FastifyReply;
  readonly stream: EventStream | undefined;
  /** Whether the client takes JSON beside it: then a call that said nothing on its way is answered plainly. */
  readonly acceptsJson: boolean;
}

async function run(execution: Execution): Promise<void> {
  const { deps, principal, view, intent, reply, stream } = execution;
  const leave = deps.admit(principal);
  const controller = new AbortController();
  const untrack = deps.track(principal, controller);
  try {
    const signal = abortedWith(reply.raw, controller);
    const listen = stream === undefined ? {} : { onProgress: (params: object) => stream.send("progress", params), onLog: (params: object) => stream.send("log", params) };
    const outcome = await deps.routing.callTool(intent.tool, intent.arguments, restContext(principal, signal, listen));
    deps.discovery.noteCall(principal, intent.tool);
    if (intent.bareName !== undefined) deps.onBareName(principal, intent);
    const { warning: _said, migrated: _named, ...plain } = intent;
    const shown = outcome.kind === "error" ? outcome : { ...outcome, result: renderShared(view, { ...plain, warning: undefined }, outcome.result, outcome.parsed) };
    answer(execution, toExecuteAnswer(intent, shown));
  } catch (error) {
    const failure = withSignature(toGatewayError(error), view);
    if (stream?.isOpen !== true) throw failure;
    stream.fail(failure);
  } finally {
    untrack();
    leave();
  }
}

function answer({ reply, stream, acceptsJson }: Execution, body: Buffer): void {
  if (stream !== undefined && (stream.isOpen || !acceptsJson)) stream.end("result", body);
  else sendJson(reply, body);
}

/** What a program's author needs to mend the arguments. */
function withSignature(failure: GatewayError, view: View): GatewayError {
  if (failure.code !== "ARGUMENTS_INVALID") return failure;
  const content = renderFailure(failure, view)["content"];
  const [block] = Array.isArray(content) ? (content as unknown[]) : [];
  const text = isJsonObject(block) ? block["text"] : undefined;
  const { signature } = typeof text === "string" ? (JSON.parse(text) as { signature?: string }) : {};
  return signature === undefined ? failure : new GatewayError(failure.code, failure.message, { data: { ...failure.data, signature }, hint: failure.hint, cause: failure.cause });
}

function readAccept(accept: string | undefined, reply: FastifyReply): Pick<Execution, "stream" | "acceptsJson"> {
  const ranges = (accept ?? "").split(",").map((range) => range.trim().toLowerCase());
  const takes = (type: string): boolean => ranges.some((range) => range.split(";", 1)[0]?.trim() === type && !/;\s*q=0(\.0*)?$/.test(range));
  const acceptsJson = takes("application/json") || takes("application/*") || takes("*/*");
  return takes("text/event-stream") ? { stream: openEventStream(reply), acceptsJson } : { stream: undefined, acceptsJson: true };
}
