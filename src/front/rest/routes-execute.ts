import { z } from "zod";
import { GatewayError } from "../../kernel/gateway-error.ts";
import type { RestApp } from "./app.ts";
import { answers, executing } from "./responses.ts";
import * as schemas from "./schemas.ts";

/** Says in the OpenAPI document what `execute-handler.ts` serves before the router is asked. */
export function describeExecute(app: RestApp): void {
  app.post(
    "/execute/:name",
    {
      schema: {
        tags: ["Execute"],
        summary: "Call a tool",
        description:
          "The name in any spelling: `server:tool`, `server-tool`, `namespace__tool`, `namespace.tool`, or bare with X-App-Context or `_app_context`. With `Accept: text/event-stream` progress comes as events `progress` and `log`, then the answer as `result`, or the failure as `error`.",
        params: z.object({ name: schemas.name }),
        headers: z.object({ "x-app-context": z.string().optional().describe("The app that a bare name belongs to.") }),
        body: schemas.executeBody,
        response: answers(
          schemas.executeAnswer,
          "What the tool answered, also when the tool itself failed.",
          executing,
        ),
      },
    },
    () => {
      throw new GatewayError("ROUTE_UNKNOWN", "there is nothing at this path");
    },
  );
}
