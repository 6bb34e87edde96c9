import * as z from "zod";
import type { Instance } from "../../servers/instance/instance.ts";
import type { Principal } from "../../kernel/principal.ts";
import { abortAfter } from "../../kernel/runtime/abort.ts";
import { cachedAnswer, jsonAnswer } from "./answer.ts";
import { toCachedText } from "./cached-text.ts";
import { usingServers, ownCredentials, reading } from "../../engine/policy/rights.ts";
import type { RestDeps } from "./deps.ts";
import {
  actionTimeoutMs,
  describeInstance,
  endpointOf,
  endpointSchema,
  findInstance,
  findOwnInstance,
  instanceSchema,
} from "./own-instance.ts";
import { noStore, toIso } from "./people-request.ts";
import { answers, executing } from "./responses.ts";
import { route, type Route } from "./route.ts";
import * as schemas from "./schemas.ts";

const tag = "Servers and instances";
const params = z.object({ id: schemas.name });

const instanceList = z.object({ instances: z.array(instanceSchema) }).meta({ id: "InstanceList" });

const instanceDetails = instanceSchema
  .extend({
    stderr: z.array(z.string()).describe("The last lines that its process wrote to stderr."),
    oddities: schemas.oddities,
  })
  .meta({ id: "InstanceDetails" });

const instanceToken = z
  .object({
    token: z.string().describe("Shown only now."),
    instance: z.string(),
    ...endpointSchema,
  })
  .meta({ id: "InstanceToken" });

const tokenList = z
  .object({
    tokens: z.array(
      z.object({
        id: z.string().describe("Tells it from others. The token itself is kept nowhere."),
        created: z.iso.datetime(),
        valid: z.boolean().describe("False after the credential that it was made with was taken away."),
      }),
    ),
  })
  .meta({ id: "InstanceTokenList" });

const revokedTokens = z.object({ revoked: z.int() }).meta({ id: "RevokedTokens" });

/** The instances of the principal, and credentials for `/i/{instance}/mcp`. */
export function createInstanceRoutes(deps: RestDeps): readonly Route[] {
  return [
    listInstances(deps),
    showInstance(deps),
    ...actions.map((action) => runAction(deps, action)),
    listTokens(deps),
    issueToken(deps),
    revokeTokens(deps),
  ];
}

function listInstances(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/instances",
    right: reading,
    operation: {
      id: "listInstances",
      tag,
      summary: "All instances",
      responses: answers(instanceList, "The instances that the caller may use.", [304]),
    },
    handle(request) {
      const instances = deps
        .instancesOf(request.principal)
        .map((instance) => describeInstance(instance, request, deps));
      return cachedAnswer(toCachedText({ instances }));
    },
  });
}

function showInstance(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/instances/{id}",
    right: reading,
    params,
    operation: {
      id: "showInstance",
      tag,
      summary: "One instance",
      responses: answers(instanceDetails, "The instance.", [304, 404]),
    },
    handle(request) {
      const instance = findInstance(deps, request.principal, request.params.id);
      const stderr = instance.stderr.map(deps.redact);
      const oddities = instance.oddities.sentences().map(deps.redact);
      return cachedAnswer(toCachedText({ ...describeInstance(instance, request, deps), stderr, oddities }));
    },
  });
}

interface Action {
  readonly name: string;
  readonly summary: string;
  /** Finds the instance. Actions that stop what others use need a stricter check. */
  readonly find: typeof findInstance;
  readonly run: (instance: Instance, signal: AbortSignal, by: Principal) => Promise<void>;
}

const actions: readonly Action[] = [
  {
    name: "restart",
    summary: "Stop and start it again",
    find: findOwnInstance,
    run: async (instance, signal, by) => await instance.restart(signal, by.id),
  },
  {
    name: "stop",
    summary: "Stop it until somebody starts it",
    find: findOwnInstance,
    run: async (instance) => await instance.stop(),
  },
  {
    name: "refresh",
    summary: "Read its lists again",
    find: findInstance,
    run: async (instance, signal) => await instance.refresh(signal),
  },
];

function runAction(deps: RestDeps, { name, summary, find, run }: Action): Route {
  return route({
    method: "POST",
    path: `/api/instances/{id}/${name}`,
    right: usingServers,
    params,
    operation: {
      id: `${name}Instance`,
      tag,
      summary,
      responses: answers(instanceSchema, "The instance as it stands then.", executing),
    },
    async handle(request) {
      const { principal } = request;
      const instance = find(deps, principal, request.params.id);
      const { id: actor, team } = principal;
      await deps.audit.order({ actor, team, via: "rest", action: `server.${name}`, object: instance.id });
      await run(instance, abortAfter(actionTimeoutMs), principal);
      return jsonAnswer(describeInstance(instance, request, deps));
    },
  });
}

const tokenPath = "/api/instances/{id}/token";

function listTokens(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: tokenPath,
    right: ownCredentials,
    params,
    operation: {
      id: "listInstanceTokens",
      tag,
      summary: "Your tokens for the instance",
      responses: answers(tokenList, "Oldest first, without themselves.", [404]),
    },
    handle({ principal, params: { id } }) {
      const instance = findInstance(deps, principal, id);
      const tokens = deps
        .tokensOf(instance.id, principal)
        .map(({ id: token, createdAtMs, isGood }) => ({ id: token, created: toIso(createdAtMs), valid: isGood }));
      return jsonAnswer({ tokens }, noStore);
    },
  });
}

function issueToken(deps: RestDeps): Route {
  return route({
    method: "POST",
    path: tokenPath,
    right: ownCredentials,
    params,
    operation: {
      id: "issueInstanceToken",
      tag,
      summary: "A token for the instance's endpoint",
      description:
        "Shown only in this answer. It gives access to this instance and nothing else, in the name of the caller.",
      responses: answers(instanceToken, "The token.", [404]),
    },
    async handle(request) {
      const instance = findInstance(deps, request.principal, request.params.id);
      const token = await deps.issueToken(instance.id, request.principal);
      const issued = { token, instance: instance.id, ...endpointOf(instance, request, deps) };
      return jsonAnswer(issued, { "Cache-Control": "no-store" });
    },
  });
}

function revokeTokens(deps: RestDeps): Route {
  return route({
    method: "DELETE",
    path: tokenPath,
    right: ownCredentials,
    params,
    operation: {
      id: "revokeInstanceTokens",
      tag,
      summary: "Revoke your tokens for the instance",
      responses: answers(revokedTokens, "How many there were.", [404]),
    },
    async handle({ principal, params: { id } }) {
      const instance = findInstance(deps, principal, id);
      return jsonAnswer({ revoked: await deps.revokeTokens(instance.id, principal) });
    },
  });
}
