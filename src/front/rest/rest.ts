import type { RestHandler } from "../http/http-server.ts";
import { createRestApp } from "./app.ts";
import { createTextCache } from "./cached-text.ts";
import type { RestDeps } from "./deps.ts";
import { addDocumentation } from "./documentation.ts";
import { createExecuteHandler } from "./execute-handler.ts";
import { describeExecute } from "./routes-execute.ts";
import { addInstanceRoutes, addTokenRoutes } from "./routes-instances.ts";
import { addNamespaceRoutes } from "./routes-namespaces.ts";
import { addResourceRoutes } from "./routes-resources.ts";
import { addServerRoutes } from "./routes-servers.ts";
import { addSystemRoutes } from "./routes-system.ts";
import { addToolRoutes } from "./routes-tools.ts";

/** The REST API, ready to be handed requests (docs/exposures/rest.md). Never listens itself. */
export async function createRest(deps: RestDeps): Promise<RestHandler> {
  const app = createRestApp(deps);
  const cache = createTextCache();
  await addDocumentation(app, deps.version);
  addNamespaceRoutes(app, deps, cache);
  describeExecute(app);
  addToolRoutes(app, deps, cache);
  addResourceRoutes(app, deps);
  addServerRoutes(app, deps, cache);
  addInstanceRoutes(app, deps);
  addTokenRoutes(app, deps);
  addSystemRoutes(app, deps);
  await app.ready();
  const execute = createExecuteHandler(deps);
  return (request, response) => {
    if (!execute(request, response)) app.routing(request, response);
  };
}
