import { usingServers } from "../../../engine/policy/rights.ts";
import * as z from "zod";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import { answers, executing } from "../../../operations/responses.ts";
import { route, type Route } from "../route.ts";
import * as schemas from "../../../operations/schemas.ts";

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
