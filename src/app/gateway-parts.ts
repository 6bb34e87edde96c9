import type { CurrentCatalog } from "../catalog/model/current.ts";
import type { Config } from "../config/config.ts";
import { isOffered, type Policy } from "../engine/policy/decide.ts";
import { toDashboardLink, createLoginCodes } from "../people/identity/login-codes.ts";
import type { InstanceId, PrincipalId } from "../kernel/ids.ts";
import { localPrincipal, type Principal } from "../kernel/principal.ts";
import type { Clock } from "../kernel/runtime/clock.ts";
import type { Log } from "../kernel/runtime/log.ts";
import type { InstanceTokens } from "../people/identity/instance-tokens.ts";
import type { Fleet, InstalledChanges } from "../servers/instance/fleet/fleet.ts";
import type { Instance } from "../servers/instance/instance.ts";
import { openKeptSearches } from "./records/personal-wiring.ts";
import type { GatewayDeps } from "./gateway-deps.ts";
import { buildWings, type Wings } from "./gateway-wings.ts";
import { abortAfter, untilAborted } from "../kernel/runtime/abort.ts";
import { GatewayError } from "../kernel/failures/gateway-error.ts";
import { watchAccess } from "./people/watched-access.ts";
import { createStanding } from "./records/status-wiring.ts";
import { createRootsHint } from "./servers/roots-hint.ts";
import type { GatewayLogins } from "./servers/server-logins.ts";
import { warnOfToolNames } from "./servers/tool-names.ts";

/**
 * Every part of a running gateway: its wings, and what takes several of them. For `app` alone: it is not passed on.
 * Operations are given those that have the names of `Services`.
 */
export type GatewayParts = ReturnType<typeof buildParts>;

/** Builds a gateway, in order; it is stopped in the reverse of it. */
export function buildParts(first: Config, deps: GatewayDeps) {
  const { version, log, clock, environment } = deps;
  let current = first;
  let isApplied = false;
  let isServing = false;
  let sharing: Promise<void> | undefined;
  const config = (): Config => current;
  const owner: Principal = Object.freeze({ ...localPrincipal, via: "owner" as const });
  const wings = buildWings(config, deps);
  const { events, catalog, servers, engine, people, mcp, records } = wings;
  const { fleet, logins } = servers;
  const access = watchAccess({ ...wings, fleet, clock });
  const loginCodes = createLoginCodes(clock);
  warnOfToolNames({ fleet, catalogOf: catalog.get, events, log });
  const tick = (): void => {
    fleet.tick();
    mcp.tick();
  };
  const cancelTicks = everySoOften(clock, () => current.settings.instances.idleCheckMs, tick);
  const followed = followPeople(wings, log);
  // Who owns what may be among the changes that are lost.
  if (servers.cluster !== undefined) records.onLoss(servers.cluster.noteLoss);

  function forgetInstances(owner: PrincipalId, instances: readonly InstanceId[]): void {
    forgetPerson({ ...access, logins }, owner, instances).catch((error: unknown) =>
      log.error({ component: "people", err: error }, "the data of a person who left could not be removed"),
    );
  }

  async function followServers(changes: InstalledChanges): Promise<void> {
    await fleet.follow(changes);
    mcp.followViews();
  }

  /** Ends everything: servers get as long as they are configured to, but no longer than until the signal aborts. */
  async function stop(signal: AbortSignal): Promise<void> {
    cancelTicks();
    followed.stop();
    await stopInOrder(wings, signal);
  }

  /** Brings everything in line with a configuration; the first call starts what has to be started. */
  async function apply(next: Config): Promise<void> {
    wings.audit.applied(isApplied ? current : undefined, next);
    isApplied = true;
    current = next;
    await wings.tracing?.ready;
    wings.webhooks.follow(next);
    // Before anything is started: an instance that waits for it would run into its deadline.
    await servers.cluster?.start();
    await (sharing ??= share(next, wings));
    await people.team?.open(records.opened, { onServers: followServers, onGone: forgetInstances });
    people.follow(next);
    engine.namespaces.warnOfCollisions(next);
    followed.endForeign();
    const report = await fleet.reconcile(next);
    if (servers.cluster === undefined) isServing = true;
    // A node that took calls before it knows the tools of its servers would say that there are none.
    else if (!isServing) void untilListed(fleet).then(() => (isServing = true));
    events.emit({ type: "config.changed", atMs: clock.now(), file: next.file ?? "", ...report });
    // The one person of a local gateway is known before anybody calls; others find theirs loading at their first
    // request.
    const local = people.directory.byId(localPrincipal.id);
    if (local !== undefined) void engine.namespaces.loads.preload(local);
  }

  return {
    ...wings,
    ...engine,
    ...people,
    ...access,
    ...{ version, log, clock, environment, config, owner, fleet, logins, apply, stop },
    /** It listens before it has what it needs from other gateways: who asks then is sent elsewhere. */
    unready: () => people.unready() ?? (isServing ? undefined : "it is starting"),
    /** Tokens of logins in use, and values of people that stand elsewhere than in the configuration. */
    secrets: wings.secrets.all,
    ...createStanding({ ...wings, version, clock, config }),
    loginCodes,
    /** The path and fragment of a link that logs a browser in at the dashboard: once, within five minutes. */
    dashboardLink: () => toDashboardLink(loginCodes.make()),
    keptSearches: openKeptSearches({ records, clock }, wings.kept),
    settled: fleet.settled,
    /** How many tools of an instance its configuration lets anybody see. */
    toolCount: createToolCount({ fleet, catalog, principal: owner, policy: () => current.settings.policy }),
    rootsHint: createRootsHint({ fleet, events, log }),
    get waitingStarts() {
      return servers.waitingStarts;
    },
    letServersStart() {
      servers.letStart();
      records.open();
    },
    [Symbol.asyncDispose]: async () => await stop(new AbortController().signal),
  };
}

/** Other nodes serve meanwhile; servers that take longer than most do hold up no upgrade. */
const listedWithinMs = 15_000;

/** Resolves when no server whose tools are unknown is starting any more, or some time later. */
async function untilListed(fleet: Fleet): Promise<void> {
  const limit = abortAfter(listedWithinMs);
  const unknown = fleet.all().filter(({ id }) => fleet.catalogOf(id) === undefined);
  await Promise.all(unknown.map(async (instance) => await instance.settled(limit)));
}

/** Gateways of one database and one key take over what others of them gave out. */
async function share({ settings }: Config, { kept, common, records, mcp }: Wings): Promise<void> {
  if (settings.database === undefined || !records.isOn) return;
  try {
    const [secrets, { claims }] = await Promise.all([kept.secrets(), records.opened()]);
    common.open({ secrets, claims });
  } catch {
    // The store of records cannot be opened, or not with this key: it has said so, and nothing is shared.
    return;
  }
  await mcp.shareSessions();
}

/** What waits to be written is a few batches; a disk that takes longer is ill. */
const recordsDeadlineMs = 3_000;

/** From the top down: first the parts that take requests, last those that perform them. */
async function stopInOrder(
  { servers, engine, mcp, metrics, records, live, webhooks, usage, tracing, people }: Wings,
  signal: AbortSignal,
): Promise<void> {
  mcp.endWhere(
    () => true,
    () => new GatewayError("DRAINING", "the gateway is stopping"),
  );
  live[Symbol.dispose]();
  await engine.stopNamespaces();
  metrics[Symbol.dispose]();
  // Other nodes go on with what runs here.
  await servers.cluster?.drain(signal);
  // When patience ends, the guardian kills the remaining processes.
  await untilAborted(Promise.resolve(servers.fleet[Symbol.asyncDispose]()), signal).catch(() => undefined);
  await usage.stop();
  await people.team?.close();
  await records.close(recordsDeadlineMs);
  await Promise.all([servers[Symbol.asyncDispose](), engine.stopResults(), webhooks.stop(signal)]);
  if (tracing !== undefined) await untilAborted(tracing.close(), signal).catch(() => undefined);
}

/** What people have opened, and what runs for them, ends with their rights. */
function followPeople({ people, servers: { fleet }, mcp, live, engine }: Wings, log: Log) {
  const { directory, presence } = people;

  /** Ends what people have opened who are not the same any more. */
  function endForeign(): void {
    presence.noteLoss();
    mcp.endWhere(presence.isGone, presence.refusal);
    live.endWhere(presence.isGone);
    engine.followApprovals();
  }

  const stops = [
    directory.onChange(() => {
      endForeign();
      fleet
        .followPeople()
        .catch((error: unknown) =>
          log.error({ component: "people", err: error }, "what runs could not be brought in line with changed people"),
        );
    }),
    people.instanceTokens.onRevoked(endForeign),
    // Streams end with the token that they were opened with.
    directory.onExpiry?.(() => {
      const isOver = (principal: Principal): boolean => directory.isOver?.(principal) === true;
      mcp.endStreamsWhere(isOver);
      live.endWhere(isOver);
    }),
  ];
  return { endForeign, stop: () => stops.forEach((end) => end?.()) };
}

/** Nothing stays of a person who has left: logins and tokens of the instances that they had. */
async function forgetPerson(
  { logins, instanceTokens }: { readonly logins: GatewayLogins; readonly instanceTokens: InstanceTokens },
  owner: PrincipalId,
  instances: readonly InstanceId[],
): Promise<void> {
  await Promise.all([logins.forget(instances), ...instances.map(async (id) => await instanceTokens.revoke(id, owner))]);
}

interface CountedTools {
  readonly fleet: Fleet;
  readonly catalog: Pick<CurrentCatalog, "get">;
  readonly principal: Principal;
  readonly policy: () => Policy;
}

function createToolCount({ fleet, catalog, principal, policy }: CountedTools) {
  return ({ id, server }: Pick<Instance, "id" | "server">): number =>
    (catalog.get(fleet.clients.baseOf(id) ?? id)?.tools ?? []).filter(
      (tool) => tool.held === undefined && isOffered(tool, { server, principal, policy: policy() }),
    ).length;
}

function everySoOften(clock: Clock, intervalMs: () => number, run: () => void): () => void {
  let cancel: () => void;
  const again = (): void => {
    cancel = clock.after(intervalMs(), () => {
      run();
      again();
    });
  };
  again();
  return () => cancel();
}
