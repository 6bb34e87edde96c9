import * as z from "zod";
import type { Instance } from "../../servers/instance/instance.ts";
import type { Services } from "../services.ts";
import { auditName, type Principal } from "../../kernel/principal.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { settingNow } from "../../kernel/text/number-text.ts";
import { abortAfter } from "../../kernel/runtime/abort.ts";
import { usingServers, ownCredentials, reading } from "../../engine/policy/rights.ts";
import {
  actionTimeoutMs,
  describeInstance,
  endpointOf,
  endpointSchema,
  findInstance,
  findOwnInstance,
  instanceSchema,
} from "./own-instance.ts";
import { toIso } from "../request/people-request.ts";
import { answers, executing } from "../responses.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation, type OperationRequest } from "../operation.ts";
import { cached } from "../reply.ts";

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

export const listInstances = operation({
  route: "GET /api/instances",
  right: reading,
  id: "listInstances",
  tag,
  summary: "All instances",
  responses: answers(instanceList, "The instances that the caller may use.", [304]),
  run(services, request) {
    const instances = services
      .instancesOf(request.principal)
      .map((instance) => describeInstance(instance, request, services));
    return cached({ instances });
  },
});

export const showInstance = operation({
  route: "GET /api/instances/{id}",
  right: reading,
  params,
  id: "showInstance",
  tag,
  summary: "One instance",
  responses: answers(instanceDetails, "The instance.", [304, 404]),
  run(services, request) {
    const instance = findInstance(services, request.principal, request.params.id);
    const stderr = instance.stderr.map(services.redact);
    const oddities = instance.oddities.sentences().map(services.redact);
    return cached({ ...describeInstance(instance, request, services), stderr, oddities });
  },
});

interface Action<Name extends string = string> {
  readonly name: Name;
  readonly summary: string;
  /** Finds the instance. Actions that stop what others use need a stricter check. */
  readonly find: (services: Services, principal: Principal, id: string) => Instance;
  readonly run: (services: Services, instance: Instance, request: ActionRequest) => Promise<void>;
}

type ActionRequest = Pick<OperationRequest, "principal" | "signal">;

/** Beside what the server itself may take to start: its turn, and the end of the process before. */
const restartGraceMs = 600_000;

/** It continues when the client leaves, because others may wait for the same. */
async function restartInstance(services: Services, instance: Instance, { principal }: ActionRequest): Promise<void> {
  const { runnerStartMs } = services.settings().instances;
  const limitMs = runnerStartMs + restartGraceMs;
  const limit = abortAfter(limitMs);
  const elsewhere = async (): Promise<void> => await services.orderElsewhere?.("restart", instance, limitMs);
  try {
    const isFar = instance.connection?.far !== undefined;
    if (isFar) await elsewhere();
    await instance.restart(limit, principal.id);
    // Where somebody had stopped it, it is to be in use again.
    if (!isFar) await elsewhere();
  } catch (error) {
    if (!limit.aborted) throw error;
    throw new GatewayError("START_TIMEOUT", `it did not come up within ${limitMs / 1_000} s`, {
      hint: `Look at its last output, or raise ${settingNow("instances.runnerStartMs", runnerStartMs)}.`,
    });
  }
}

const actions = {
  restart: {
    name: "restart",
    summary: "Stop and start it again",
    find: findOwnInstance,
    run: restartInstance,
  },
  stop: {
    name: "stop",
    summary: "Stop it until somebody starts it",
    find: findOwnInstance,
    async run(services, instance) {
      await services.orderElsewhere?.("stop", instance, actionTimeoutMs);
      await instance.stop();
    },
  },
  refresh: {
    name: "refresh",
    summary: "Read its lists again",
    find: findInstance,
    run: async (_services, instance) => await instance.refresh(abortAfter(actionTimeoutMs)),
  },
} as const satisfies Readonly<Record<string, Action>>;

function runAction<Name extends string>({ name, summary, find, run }: Action<Name>) {
  return operation({
    route: `POST /api/instances/{id}/${name as Name}`,
    right: usingServers,
    params,
    id: `${name}Instance`,
    tag,
    summary,
    responses: answers(instanceSchema, "The instance as it stands then.", executing),
    async run(services, request) {
      const { principal, via } = request;
      const instance = find(services, principal, request.params.id);
      const who = { actor: auditName(principal), team: principal.team, via };
      await services.audit.order({ ...who, action: `server.${name}`, object: instance.id });
      await run(services, instance, request);
      return describeInstance(instance, request, services);
    },
  });
}

export const restartOne = runAction(actions.restart);

const tokenPath = "/api/instances/{id}/token";

const listTokens = operation({
  route: `GET ${tokenPath}`,
  right: ownCredentials,
  params,
  id: "listInstanceTokens",
  tag,
  summary: "Your tokens for the instance",
  responses: answers(tokenList, "Oldest first, without themselves.", [404]),
  async run(services, { principal, params: { id } }) {
    const instance = findInstance(services, principal, id);
    const known = await services.instanceTokens.list(instance.id, principal.id);
    return {
      tokens: known.map(({ id: token, createdAtMs, isGood }) => {
        return { id: token, created: toIso(createdAtMs), valid: isGood };
      }),
    };
  },
});

const issueToken = operation({
  route: `POST ${tokenPath}`,
  right: ownCredentials,
  params,
  id: "issueInstanceToken",
  tag,
  summary: "A token for the instance's endpoint",
  description:
    "Shown only in this answer. It gives access to this instance and nothing else, in the name of the caller.",
  responses: answers(instanceToken, "The token.", [404]),
  async run(services, request) {
    const instance = findInstance(services, request.principal, request.params.id);
    const token = await services.instanceTokens.issue(instance.id, request.principal.id);
    const issued = { token, instance: instance.id, ...endpointOf(instance, request) };
    return issued;
  },
});

const revokeTokens = operation({
  route: `DELETE ${tokenPath}`,
  right: ownCredentials,
  params,
  id: "revokeInstanceTokens",
  tag,
  summary: "Revoke your tokens for the instance",
  responses: answers(revokedTokens, "How many there were.", [404]),
  async run(services, { principal, params: { id } }) {
    const instance = findInstance(services, principal, id);
    return { revoked: await services.instanceTokens.revoke(instance.id, principal.id) };
  },
});

/** The instances of the principal, and credentials for `/i/{instance}/mcp`. */
export const instanceOperations: readonly Operation[] = [
  listInstances,
  showInstance,
  restartOne,
  runAction(actions.stop),
  runAction(actions.refresh),
  listTokens,
  issueToken,
  revokeTokens,
];
