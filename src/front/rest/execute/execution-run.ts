import type { ServerResponse } from "node:http";
import { renderFailure } from "../../../catalog/exposure/text/failure.ts";
import type { Intent } from "../../../catalog/exposure/intent.ts";
import type { View } from "../../../catalog/model/view.ts";
import { createAbortPool } from "../../../kernel/runtime/abort.ts";
import type { CallContext } from "../../../kernel/call/call-context.ts";
import { GatewayError, toGatewayError } from "../../../kernel/failures/gateway-error.ts";
import { isJsonObject } from "../../../kernel/text/json-bytes.ts";
import type { Principal } from "../../../kernel/principal.ts";
import { type RestDeps, route, type Route } from "../route.ts";
import type { EventStream } from "../streams/event-response.ts";
import { restContext } from "../../../operations/request/tracked.ts";
import { askedBy, toExecuteAnswer } from "../../../operations/tools/execute.ts";
import type { RestQuestions } from "../../../operations/tools/asked-questions.ts";
import { usingServers } from "../../../engine/policy/rights.ts";
import * as z from "zod";
import { answers, executing } from "../../../operations/responses.ts";
import * as schemas from "../../../operations/schemas.ts";

/** A call that was understood, and where its answer goes. */
export interface Execution {
  readonly principal: Principal;
  readonly view: View;
  readonly intent: Extract<Intent, { kind: "call" }>;
  readonly response: ServerResponse;
  readonly headers: Record<string, string>;
  readonly stream: EventStream | undefined;
  /** Whether a person tries the tool in the dashboard. */
  readonly isTrial: boolean;
  /** What its headers say of its trace. */
  readonly meta: CallContext["meta"];
  /** `Toolyard-Elicitation`: the modes of questions that its client answers. */
  readonly elicitation: string | readonly string[] | undefined;
  /** Whether the client takes JSON beside it: then a call that said nothing on its way is answered plainly. */
  readonly acceptsJson: boolean;
}

/** Controllers that wait for the next call. */
const idleControllers = 256;

/**
 * Admits a call, makes it and answers it; it ends when its client goes. Rejects with GatewayErrors as long as nothing
 * was answered; a failure after that is an event of its stream.
 */
export function createExecutionRun(deps: RestDeps, questions: RestQuestions): (execution: Execution) => Promise<void> {
  const controllers = createAbortPool(idleControllers);

  return async (execution) => {
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
      const plain = restContext(principal, controller.signal, {
        ...listen,
        meta: execution.meta,
        isTrial: execution.isTrial,
      });
      const capabilities = stream === undefined ? undefined : askedBy(execution.elicitation);
      const context =
        stream === undefined || capabilities === undefined
          ? plain
          : { ...plain, client: { ...plain.client, capabilities }, ask: questions.asker(principal, stream) };
      const outcome = await deps.performer.perform(intent, { context, view });
      answer(execution, toExecuteAnswer(view, intent, outcome));
    } catch (error) {
      // A call that was ended from here says why: its credential is no longer valid, or the gateway stops.
      const reason: unknown = controller.signal.aborted ? controller.signal.reason : undefined;
      const failure = withSignature(reason instanceof GatewayError ? reason : toGatewayError(error), view);
      if (stream?.isOpen !== true) throw failure;
      stream.fail(failure);
    } finally {
      isWorking = false;
      untrack();
      leave();
      controllers.give(controller);
    }
  };
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

const executeBody = schemas.json.describe(
  "The tool's arguments. `_app_context` names the app of a bare name, and is removed from the arguments unless " +
    "the tool's schema has it.",
);

const executeAnswer = z
  .object({
    success: z.boolean().describe("False when the tool failed."),
    tool_path: z.string(),
    result: schemas.json.optional().describe("The tool's result as its server wrote it."),
    error: schemas.json.optional().describe("The server's JSON-RPC error, in place of a result."),
    warning: z.string().optional(),
    migrated: z
      .object({ from: z.string(), to: z.string() })
      .optional()
      .describe("With autoMigration: the tool path that a bare name stands for."),
  })
  .meta({ id: "ExecuteAnswer" });

/** Describes in the OpenAPI document the routes that `execute-handler.ts` serves before the router is asked. */
export function describeExecute(): readonly Route[] {
  return [
    route({
      method: "POST",
      path: "/execute/{name}",
      right: usingServers,
      params: z.object({ name: schemas.name }),
      operation: {
        id: "executeTool",
        tag: "Execute",
        summary: "Call a tool",
        description:
          "The name in any spelling: `server:tool`, `server-tool`, `namespace__tool`, `namespace.tool`, or bare " +
          "with X-App-Context or `_app_context`. With `Accept: text/event-stream` progress comes as events " +
          "`progress` and `log`, then the answer as `result`, or the failure as `error`. With " +
          "`Toolyard-Elicitation` as well, what the server asks comes as events `question`.",
        headers: z.object({
          "x-app-context": z.string().optional().describe("The app that a bare name belongs to."),
          "toolyard-elicitation": z
            .string()
            .optional()
            .describe("The questions that the client answers at `/api/questions/{id}`: `form`, `url`, or both."),
        }),
        body: executeBody,
        responses: answers(executeAnswer, "What the tool answered, also when the tool itself failed.", executing),
      },
      handle() {
        throw new GatewayError("ROUTE_UNKNOWN", "there is nothing at this path");
      },
    }),
  ];
}
