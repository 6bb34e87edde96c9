import { z } from "zod";
import type { Instance } from "../../servers/instance/instance.ts";
import { abortAfter } from "../../kernel/abort.ts";
import type { RestApp } from "./app.ts";
import { sendCached, toCachedText } from "./cached-text.ts";
import type { RestDeps } from "./deps.ts";
import { actionTimeoutMs, describeInstance, endpointOf, findInstance, findOwnInstance } from "./own-instance.ts";
import { answers, executing } from "./responses.ts";
import * as schemas from "./schemas.ts";

const tags = ["Servers and instances"];
const params = z.object({ id: schemas.name });

/** What runs for whoever asks. */
export function addInstanceRoutes(app: RestApp, deps: RestDeps): void {
  const listed = answers(schemas.instanceList, "Instances of whoever asks.", [304]);
  app.get("/api/instances", { schema: { tags, summary: "All instances", response: listed } }, (request, reply) => {
    const view = deps.viewOf(request.principal);
    const instances = deps.instancesOf(request.principal).map((instance) => describeInstance(instance, view, deps));
    sendCached(request, reply, toCachedText({ instances }));
  });

  const shown = answers(schemas.instanceDetails, "The instance.", [304, 404]);
  app.get(
    "/api/instances/:id",
    { schema: { tags, summary: "One instance", params, response: shown } },
    (request, reply) => {
      const instance = findInstance(deps, request.principal, request.params.id);
      const stderr = instance.stderr.map(deps.redact);
      sendCached(
        request,
        reply,
        toCachedText({ ...describeInstance(instance, deps.viewOf(request.principal), deps), stderr }),
      );
    },
  );

  for (const action of actions) addAction(app, deps, action);
}

interface Action {
  readonly name: string;
  readonly summary: string;
  /** Those that stop what others use are not for everybody. */
  readonly find: typeof findInstance;
  readonly run: (instance: Instance, signal: AbortSignal) => Promise<void>;
}

const actions: readonly Action[] = [
  {
    name: "restart",
    summary: "Stop and start it again",
    find: findOwnInstance,
    run: async (instance, signal) => await instance.restart(signal),
  },
  {
    name: "stop",
    summary: "Stop it until somebody starts it",
    find: findOwnInstance,
    run: async (instance) => await instance.stop(),
  },
  {
    name: "refresh",
    summary: "List what it offers again",
    find: findInstance,
    run: async (instance, signal) => await instance.refresh(signal),
  },
];

function addAction(app: RestApp, deps: RestDeps, { name, summary, find, run }: Action): void {
  const response = answers(schemas.instance, "The instance as it stands then.", executing);
  app.post(
    `/api/instances/:id/${name}`,
    { schema: { tags, summary, params, response } },
    async ({ principal, params: { id } }) => {
      const instance = find(deps, principal, id);
      await run(instance, abortAfter(actionTimeoutMs));
      return describeInstance(instance, deps.viewOf(principal), deps);
    },
  );
}

/** Credentials for `/i/{instance}/mcp`. */
export function addTokenRoutes(app: RestApp, deps: RestDeps): void {
  const url = "/api/instances/:id/token";
  const description = "Shown only in this answer. It reaches this instance and nothing else, as whoever asked for it.";
  const made = answers(schemas.instanceToken, "The token.", [404]);
  app.post(
    url,
    { schema: { tags, summary: "A token for the instance's endpoint", description, params, response: made } },
    async (request, reply) => {
      const instance = findInstance(deps, request.principal, request.params.id);
      reply.header("Cache-Control", "no-store");
      return {
        token: await deps.issueToken(instance.id, request.principal),
        instance: instance.id,
        endpoint: endpointOf(instance),
      };
    },
  );

  const revoked = answers(schemas.revokedTokens, "How many there were.", [404]);
  app.delete(
    url,
    { schema: { tags, summary: "Take back your tokens for the instance", params, response: revoked } },
    async (request) => {
      const instance = findInstance(deps, request.principal, request.params.id);
      return { revoked: await deps.revokeTokens(instance.id, request.principal) };
    },
  );
}
