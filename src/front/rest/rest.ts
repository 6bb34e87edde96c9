import type { RestHandler } from "../http-server.ts";
import { createRestApp } from "./app.ts";
import { createTextCache } from "./cached-text.ts";
import type { RestDeps } from "./deps.ts";
import { addDocumentation } from "./documentation.ts";
import { addExecuteRoutes } from "./routes-execute.ts";
import { addInstanceRoutes } from "./routes-instances.ts";
import { addNamespaceRoutes } from "./routes-namespaces.ts";
import { addSystemRoutes } from "./routes-system.ts";
import { addToolRoutes } from "./routes-tools.ts";

/** The REST API, ready to be handed requests (DESIGN.md section 8). Never listens itself. */
export async function createRest(deps: RestDeps): Promise<RestHandler> {
  const app = createRestApp(deps);
  const cache = createTextCache();
  await addDocumentation(app, deps.version);
  addNamespaceRoutes(app, deps, cache);
  addExecuteRoutes(app, deps);
  addToolRoutes(app, deps, cache);
  addInstanceRoutes(app, deps, cache);
  addSystemRoutes(app, deps);
  await app.ready();
  return (request, response) => app.routing(request, response);
}
