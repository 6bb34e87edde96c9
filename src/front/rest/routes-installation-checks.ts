import * as z from "zod";
import { teamAdmin, teamReading } from "../../engine/policy/rights.ts";
import { abortAfter } from "../../kernel/runtime/abort.ts";
import { GatewayError, toGatewayError } from "../../kernel/failures/gateway-error.ts";
import { instanceStatuses } from "../../kernel/status.ts";
import { nextStep, nextSteps } from "../../records/server-standing.ts";
import type { Instance } from "../../servers/instance/instance.ts";
import type { InstallationRow } from "../../store/install-rows.ts";
import { jsonAnswer } from "./answer.ts";
import type { RestDeps } from "./deps.ts";
import { installRequest, type InstallRequest } from "./install-request.ts";
import { actionTimeoutMs } from "./own-instance.ts";
import { noStore, senderOf } from "./people-request.ts";
import { answers, executing } from "./responses.ts";
import { route, type RestRequest, type Route } from "./route.ts";
import { installationParams } from "./routes-installations.ts";
import * as schemas from "./schemas.ts";
import type { TrialTurns } from "./trial-turns.ts";

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

/** Instances of what a team installed: how they stand, and whether they work. */
export function createInstallationCheckRoutes(deps: RestDeps, turns: TrialTurns): readonly Route[] {
  return [listInstances(deps), refreshInstances(deps), testInstallation(deps, turns)];
}

function listInstances(deps: RestDeps): Route {
  return route({
    method: "GET",
    path: "/api/teams/{team}/installations/{installation}/instances",
    params: installationParams,
    // Whoever runs a team's server sees that it is theirs alone, and an admin that it is somebody's.
    right: teamReading,
    operation: {
      id: "listInstallationInstances",
      tag,
      summary: "Which instances of a server there are: one's own, and for admins of the team everybody's",
      responses: answers(instanceList, "Those that somebody has used since the gateway started.", [404]),
    },
    handle(request) {
      const { team, installation } = request.params;
      const { installs, teamId, actor } = installRequest(deps, request, team);
      const { id } = installs.changes.find(teamId, installation);
      const isManaged = actor.isAdmin || (actor.membership?.teamId === teamId && actor.membership.role !== "member");
      const seen = installs
        .instancesOf(id)
        .filter(({ owner }) => isManaged || owner === null || owner === request.principal.id);
      return jsonAnswer({ instances: seen.map((instance) => toStanding(deps, instance)) }, noStore);
    },
  });
}

function refreshInstances(deps: RestDeps): Route {
  return route({
    method: "POST",
    path: "/api/teams/{team}/installations/{installation}/refresh",
    params: installationParams,
    right: teamAdmin,
    operation: {
      id: "refreshInstallation",
      tag,
      summary: "Have every instance of a server that runs read its lists again",
      description: "What does not run reads them when it starts.",
      responses: answers(refreshed, "Each of them, with what came of it.", executing),
    },
    async handle(request) {
      const { row, installs } = await order(deps, request, "server.refresh");
      const signal = abortAfter(actionTimeoutMs);
      const running = installs.instancesOf(row.id).filter(({ connection }) => connection !== undefined);
      const problems = await eachOf(running, async (instance) => await instance.refresh(signal));
      const instances = running.map((instance, at) => {
        const failure = problems[at];
        return { ...toStanding(deps, instance), problem: failure === undefined ? null : deps.redact(failure.message) };
      });
      return jsonAnswer({ instances }, noStore);
    },
  });
}

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

function testInstallation(deps: RestDeps, turns: TrialTurns): Route {
  return route({
    method: "POST",
    path: "/api/teams/{team}/installations/{installation}/test",
    params: installationParams,
    right: teamAdmin,
    operation: {
      id: "testInstallation",
      tag,
      summary: "Try a server of a team, with one's own values",
      description:
        "Starts the instance of whoever asks, or the one that the team shares, where it does not run, also after it " +
        "failed too often, and has it list what it offers; three at once for a team, and thirty a minute. That it does not work is an answer, and no failure.",
      responses: answers(tested, "Whether it works, and what to do where it does not.", [404, 409, 415, 429]),
    },
    async handle(request) {
      using _turn = turns.take(installRequest(deps, request, request.params.team).teamId);
      const { row, installs } = await order(deps, request, "server.test");
      const { principal } = request;
      const instance = testable(deps, request, { row, installs });
      const signal = abortAfter(actionTimeoutMs);
      const [failure] = await eachOf([instance], async () => {
        if (isDown(instance)) await instance.restart(signal, principal.id);
        else await instance.acquire(signal, principal.id);
        await instance.refresh(signal);
        await instance.settled(signal);
      });
      const answer = {
        ...toStanding(deps, instance),
        ok: failure === undefined,
        problem: failure === undefined ? null : deps.redact(failure.message),
        hint: failure?.hint ?? "",
        tools: deps.viewOf(principal).servers.find((known) => known.instance === instance.id)?.tools.length ?? 0,
      };
      return jsonAnswer(answer, noStore);
    },
  });
}

/** Whether only a new start helps. One that is under way is waited for: others may wait for the same. */
function isDown({ state }: Pick<Instance, "state">): boolean {
  return ["backoff", "offline", "error", "needs-login", "failed", "stopped"].includes(state.kind);
}

/** Throws INSTALLATION_CONFLICT for an admin of the gateway who is not in the team: it runs for its members. */
function testable(
  deps: RestDeps,
  { principal }: Pick<RestRequest, "principal">,
  { row, installs }: Pick<Ordered, "row" | "installs">,
): Instance {
  const own = deps.instancesOf(principal).find(({ server }) => server.installed?.id === row.id);
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
  deps: RestDeps,
  request: RestRequest<z.output<typeof installationParams>>,
  action: string,
): Promise<Ordered> {
  const { team, installation } = request.params;
  const found = installRequest(deps, request, team);
  const row = found.installs.changes.find(found.teamId, installation);
  const { id: actor, via, ip } = senderOf(request);
  const detail = { installation: row.id };
  await deps.audit.order({ actor, via, ip, team, action, object: row.slug, detail });
  return { ...found, row };
}

function toStanding(deps: RestDeps, instance: Instance): z.output<typeof standing> {
  const { status, dormant, reason } = instance.statusView();
  const step = nextStep(instance)?.step ?? null;
  return { id: instance.id, member: instance.owner, status, dormant, reason: deps.redact(reason), step };
}
