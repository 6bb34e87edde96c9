import * as z from "zod";
import { teamAdmin, teamReading } from "../../engine/policy/rights.ts";
import { abortAfter } from "../../kernel/runtime/abort.ts";
import { GatewayError, toGatewayError } from "../../kernel/failures/gateway-error.ts";
import { instanceStatuses } from "../../kernel/status-words.ts";
import { nextStep, nextSteps } from "../../records/server-standing.ts";
import type { Instance } from "../../servers/instance/instance.ts";
import type { InstallationRow } from "../../store/install-rows.ts";
import { installRequest, type InstallRequest } from "./install-request.ts";
import { actionTimeoutMs } from "../servers/own-instance.ts";
import { senderOf } from "../request/people-request.ts";
import { answers, executing } from "../responses.ts";
import { installationParams } from "./installation-operations.ts";
import * as schemas from "../schemas.ts";
import { operation, type Operation, type OperationRequest } from "../operation.ts";
import type { Services } from "../services.ts";

const tag = "Servers of teams";

const standing = z.object({
  id: z.string(),
  member: schemas.nullableText,
  status: z.enum(instanceStatuses),
  dormant: z.boolean().describe("Whether a call starts it."),
  reason: z.string(),
  step: z.enum(nextSteps).nullable().describe("What to do about it."),
});
const instanceList = z.object({ instances: z.array(standing) }).meta({ id: "InstallationInstances" });
const problem = schemas.nullableText.describe("Why it did not work; null where it did.");
const refreshed = z.object({ instances: z.array(standing.extend({ problem })) }).meta({ id: "RefreshedInstances" });
const tested = standing
  .extend({ ok: z.boolean(), problem, hint: z.string(), tools: z.int().describe("How many tools it offers.") })
  .meta({ id: "TestedInstallation" });

/** So many servers are asked for their lists at once: a team may have hundreds of processes. */
const atOnce = 8;

const listInstances = operation({
  route: "GET /api/teams/{team}/installations/{installation}/instances",
  params: installationParams,
  // Members may ask, too: each sees their own instances, and an admin of the team everybody's.
  right: teamReading,
  id: "listInstallationInstances",
  tag,
  summary: "Which instances of a server there are: one's own, and for admins of the team everybody's",
  responses: answers(instanceList, "Those that somebody has used since the gateway started.", [404]),
  run(services, request) {
    const { team, installation } = request.params;
    const { installs, teamId, actor } = installRequest(services, request, team);
    const { id } = installs.changes.find(teamId, installation);
    const isManaged = actor.isAdmin || (actor.membership?.teamId === teamId && actor.membership.role !== "member");
    const seen = installs
      .instancesOf(id)
      .filter(({ owner }) => isManaged || owner === null || owner === request.principal.id);
    return { instances: seen.map((instance) => toStanding(services, instance)) };
  },
});

const refreshInstances = operation({
  route: "POST /api/teams/{team}/installations/{installation}/refresh",
  params: installationParams,
  right: teamAdmin,
  id: "refreshInstallation",
  tag,
  summary: "Have every instance of a server that runs read its lists again",
  description: "What does not run reads them when it starts.",
  responses: answers(refreshed, "Each of them, with what came of it.", executing),
  async run(services, request) {
    const { row, installs } = await order(services, request, "server.refresh");
    const signal = abortAfter(actionTimeoutMs);
    const running = installs.instancesOf(row.id).filter(({ connection }) => connection !== undefined);
    const problems = await eachOf(running, async (instance) => await instance.refresh(signal));
    const instances = running.map((instance, at) => {
      const failure = problems[at];
      return {
        ...toStanding(services, instance),
        problem: failure === undefined ? null : services.redact(failure.message),
      };
    });
    return { instances };
  },
});

/** What went wrong with each; undefined where nothing did. */
async function eachOf(
  instances: readonly Instance[],
  work: (instance: Instance) => Promise<void>,
): Promise<readonly (GatewayError | undefined)[]> {
  const problems: (GatewayError | undefined)[] = [];
  const left = instances.entries();
  async function workOff(): Promise<void> {
    for (const [at, instance] of left)
      problems[at] = await work(instance).then(
        () => undefined,
        (error: unknown) => toGatewayError(error),
      );
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, instances.length) }, workOff));
  return problems;
}

const testInstallation = operation({
  route: "POST /api/teams/{team}/installations/{installation}/test",
  params: installationParams,
  right: teamAdmin,
  id: "testInstallation",
  tag,
  summary: "Try a server of a team, with one's own values",
  description:
    "Starts the caller's instance, or the one that the team shares, where it does not run, also after it " +
    "failed too often, and has it list what it offers; three at once for a team, and thirty a minute. That it " +
    "does not work is an answer, and no failure.",
  responses: answers(tested, "Whether it works, and what to do where it does not.", [404, 409, 415, 429]),
  async run(services, request) {
    using _turn = services.trials.take(installRequest(services, request, request.params.team).teamId);
    const { row, installs } = await order(services, request, "server.test");
    const { principal } = request;
    const instance = testable(services, request, { row, installs });
    const signal = abortAfter(actionTimeoutMs);
    const [failure] = await eachOf([instance], async () => {
      if (isDown(instance)) await instance.restart(signal, principal.id);
      else await instance.acquire(signal, principal.id);
      await instance.refresh(signal);
      await instance.settled(signal);
    });
    const answer = {
      ...toStanding(services, instance),
      ok: failure === undefined,
      problem: failure === undefined ? null : services.redact(failure.message),
      hint: failure?.hint ?? "",
      tools: services.viewOf(principal).servers.find((known) => known.instance === instance.id)?.tools.length ?? 0,
    };
    return answer;
  },
});

/** Whether only a new start helps. One that is under way is waited for: others may wait for the same. */
function isDown({ state }: Pick<Instance, "state">): boolean {
  return ["backoff", "offline", "error", "needs-login", "failed", "stopped"].includes(state.kind);
}

/** Throws INSTALLATION_CONFLICT for an admin of the gateway who is not in the team: it runs for its members. */
function testable(
  services: Services,
  { principal }: Pick<OperationRequest, "principal">,
  { row, installs }: Pick<Ordered, "row" | "installs">,
): Instance {
  const own = services.instancesOf(principal).find(({ server }) => server.installed?.id === row.id);
  const found = own ?? installs.instancesOf(row.id).find(({ owner }) => owner === null);
  if (found !== undefined) return found;
  throw new GatewayError("INSTALLATION_CONFLICT", "it runs for each member of the team, and you are none", {
    hint: "An admin of the team can test it.",
  });
}

interface Ordered extends InstallRequest {
  readonly row: InstallationRow;
}

/** The installation that a path names, after the audit has who asked for what. */
async function order(
  services: Services,
  request: OperationRequest<z.output<typeof installationParams>>,
  action: string,
): Promise<Ordered> {
  const { team, installation } = request.params;
  const found = installRequest(services, request, team);
  const row = found.installs.changes.find(found.teamId, installation);
  const { id: actor, via, ip } = senderOf(request);
  const detail = { installation: row.id };
  await services.audit.order({ actor, via, ip, team, action, object: row.slug, detail });
  return { ...found, row };
}

function toStanding(services: Services, instance: Instance): z.output<typeof standing> {
  const { status, dormant, reason } = instance.statusView();
  const step = nextStep(instance)?.step ?? null;
  return { id: instance.id, member: instance.owner, status, dormant, reason: services.redact(reason), step };
}

/** Instances of what a team installed: how they stand, and whether they work. */
export const installationCheckOperations: readonly Operation[] = [listInstances, refreshInstances, testInstallation];
