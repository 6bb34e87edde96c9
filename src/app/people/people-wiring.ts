import type { Config } from "../../config/config.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { isServerSlug, type PrincipalId } from "../../kernel/ids.ts";
import { GatewayError, toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { LoadLate } from "../../kernel/runtime/late-module.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import { createPendingDirectory } from "../../people/directory/books/pending-directory.ts";
import { isScope, isTokenScope } from "../../engine/policy/scopes.ts";
import { createConfigDirectory } from "../../people/directory/config-directory.ts";
import type { Directory } from "../../people/directory/directory.ts";
import { createAuthenticator, type Authenticator, type Doors } from "../../people/identity/authenticator.ts";
import { createLookUp, type LookUp } from "../../people/identity/look-ups.ts";
import { type InstanceTokens, createInstanceTokens } from "../../people/identity/instance-tokens.ts";
import { createPresence, type PresenceKeeper } from "../../people/identity/session-validity.ts";
import { type PublicUrl, requestPath } from "../../front/http/public-url.ts";
import type { RecordStore } from "../../store/record-store.ts";
import type { SharedItems } from "../../store/shared.ts";
import type { GatewayStore, InstanceTokenStore } from "../../store/store.ts";
import type { SecretSources } from "../../records/redaction/redaction.ts";
import { installedId, type Owners } from "../../servers/instance/fleet/desired-instances.ts";
import type { TeamPeople, TeamPeopleDeps } from "./team-people.ts";
import type { GatewayAudit } from "../records/audit-wing.ts";
import { reaches } from "../../people/identity/audience.ts";
import { sessionHashOf } from "../../people/identity/session-cookie.ts";

/** The people who may use the gateway. Only this file knows where they come from. */
export interface GatewayPeople {
  readonly directory: Directory;
  readonly authenticator: Authenticator;
  /** Those of single instances. */
  readonly instanceTokens: InstanceTokens;
  readonly presence: PresenceKeeper;
  /** The same people as those for whom servers run, with what their teams installed. */
  readonly owners: Owners;
  /** Undefined where the people come from the configuration alone. */
  readonly team: TeamSeat | undefined;
  /** A team as it is told apart from others, also from one of the same name later; undefined for people without one. */
  teamOf(id: PrincipalId): string | undefined;
  /** Why a load balancer should look for another gateway, where several share the people. */
  unready(): string | undefined;
  /** Whom a token with this hash (hex) belongs to now. */
  byToken(hash: string, signal: AbortSignal): Promise<Principal | undefined>;
  /** The person with this id; undefined when there is no such person. */
  personOf(id: string, signal: AbortSignal): Promise<Principal | undefined>;
  /** Applies a changed configuration, if people come from there. */
  follow(config: Config): void;
}

/** Where the people of the database will be. */
export interface TeamSeat {
  /** Reads them, once; before that no one is known. Rejects with STORE_UNAVAILABLE where that fails. */
  open(store: () => Promise<RecordStore>, follow: TeamFollowers): Promise<void>;
  /** Undefined until they are read. */
  people(): TeamPeople | undefined;
  close(): Promise<void>;
}

/** What has to follow changes of teams. */
export type TeamFollowers = Pick<TeamPeopleDeps, "onServers" | "onGone">;

export interface PeopleDeps {
  /** The keys of the vault, and tokens for single instances. */
  readonly kept: Pick<GatewayStore, "keyRing" | "tokens" | "sharedTokens">;
  /** What gateways of one database share; undefined without one. */
  readonly sharedItems: (() => Promise<SharedItems>) | undefined;
  /** Is given the values of people and teams. */
  readonly secrets: SecretSources;
  readonly config: () => Config;
  /** Replaces the people of the configuration, who then have no access. */
  readonly directory?: Directory | undefined;
  readonly publicUrl: PublicUrl;
  readonly loadLate: LoadLate;
  readonly clock: Clock;
  /** Told of logins that were refused. */
  readonly deny: GatewayAudit["deny"];
  readonly log: Log;
}

export function createPeople(deps: PeopleDeps): GatewayPeople {
  const { config, directory: given, log } = deps;
  const own = given === undefined ? createConfigDirectory(config()) : undefined;
  const coming = own !== undefined && config().settings.team ? createPendingDirectory() : undefined;
  const directory = coming ?? given ?? (own as Directory);
  const lookUp = createLookUp(directory, (error) =>
    log.error({ component: "people", operation: "look-up", err: error }, "the directory of people failed"),
  );
  const instanceTokens = createGatewayInstanceTokens({
    ...{ store: deps.kept.tokens, directory, lookUp, clock: deps.clock },
    openShared: openerOfTokens(deps, directory),
    inUrl: () => config().settings.auth.allowTokenInUrl,
  });
  const team = coming === undefined || own === undefined ? undefined : createTeamSeat(deps, own, coming);
  deps.secrets.add(() => team?.people()?.installs.servers.secrets() ?? directory.secrets());
  return {
    directory,
    owners: team === undefined ? directory : createOwners(directory, team.people),
    authenticator: createAuthenticator(directory, lookUp, createDoors(directory, deps.publicUrl)),
    instanceTokens,
    presence: createPresence(directory, instanceTokens),
    team,
    teamOf: (id) => team?.people()?.directory.book.members.get(id)?.row.teamId ?? directory.byId(id)?.team ?? undefined,
    unready() {
      const problem = directory.refusal?.() ?? team?.people()?.installs.keyProblem();
      return problem === undefined ? undefined : `${problem.message}. ${problem.hint}`;
    },
    byToken: async (hash, signal) => directory.byToken(hash) ?? (await directory.elsewhere?.byToken(hash, signal)),
    personOf: async (id, signal) =>
      directory.byId(id as PrincipalId) ?? (await directory.elsewhere?.byId(id as PrincipalId, signal)),
    follow(next) {
      own?.follow(next);
      team?.people()?.installs.servers.forgetAll();
    },
  };
}

/** Undefined where no other gateway has them. */
function openerOfTokens({ sharedItems, kept }: PeopleDeps, { byId }: Directory) {
  const teamOf = (principal: PrincipalId): string | null => byId(principal)?.team ?? null;
  return sharedItems && (async () => await kept.sharedTokens({ items: await sharedItems(), teamOf }));
}

/** The page where a person logs in for an instance, and gives values of their own. */
export function connectPage(publicUrl: PublicUrl, instance: string): string {
  return `${publicUrl(undefined)}/connect/${encodeURIComponent(instance)}`;
}

type Coming = ReturnType<typeof createPendingDirectory>;

function createTeamSeat(
  { config, clock, log, loadLate, kept, deny, publicUrl }: PeopleDeps,
  beside: Directory,
  coming: Coming,
): TeamSeat {
  let opening: Promise<void> | undefined;
  let people: TeamPeople | undefined;

  async function open(store: () => Promise<RecordStore>, followers: TeamFollowers): Promise<void> {
    try {
      const { openTeamPeople } = await loadLate(
        "the people of the database",
        async () => await import("./team-people.ts"),
      );
      const opened = await store();
      people = await openTeamPeople({
        ...followers,
        store: opened,
        deny,
        keyRing: kept.keyRing,
        directory: () => config().identity?.directory ?? "/",
        beside,
        config,
        clock,
        isName: isServerSlug,
        valuesPage: (server, membership) => connectPage(publicUrl, installedId(server, membership as PrincipalId)),
        isScope,
        isTokenScope,
        loadLate,
        log,
      });
      coming.arrive(people.directory);
    } catch (error) {
      const { message, hint } = toGatewayError(error);
      const failure = new GatewayError("STORE_UNAVAILABLE", `the people cannot be read: ${message}`, {
        ...(hint === undefined ? {} : { hint }),
        cause: error,
      });
      coming.fail(failure);
      throw failure;
    }
  }

  return {
    open: async (store, followers) => await (opening ??= open(store, followers)),
    people: () => people,
    close: async () => await people?.close(),
  };
}

/** The people for whom instances are made: those of the directory, with what their teams installed. */
function createOwners(directory: Directory, team: () => TeamPeople | undefined): Owners {
  return {
    byId: directory.byId,
    // For processes, what they stand on is what may be lost.
    credentialsOf: directory.tiesOf ?? directory.credentialsOf,
    valuesFor(owner, slug) {
      const values = directory.valuesFor(owner, slug);
      const own = team()?.ownValues(owner, slug);
      return own === undefined ? values : { ...values, user: own };
    },
    serversOf: (owner) => team()?.serversOf(owner) ?? [],
    installedFor: (installation, owner) => team()?.installs.servers.runnable(installation, owner),
  };
}

/** Tokens for single instances, stored in the gateway's own folder. */
function createGatewayInstanceTokens(deps: {
  readonly store: InstanceTokenStore;
  readonly openShared: Parameters<typeof createInstanceTokens>[0]["openShared"];
  readonly inUrl: () => boolean;
  readonly directory: Directory;
  readonly lookUp: LookUp;
  readonly clock: Pick<Clock, "now">;
}): InstanceTokens {
  const tokens = createInstanceTokens({
    store: deps.store,
    openShared: deps.openShared,
    now: deps.clock.now,
    inUrl: deps.inUrl,
    directory: deps.directory,
    lookUp: deps.lookUp,
  });
  return {
    ...tokens,
    issue: async (instance, principal) =>
      await tokens.issue(instance, principal).catch((error: unknown) => {
        throw new GatewayError("DATA_DIR_UNWRITABLE", "the token cannot be stored, and is therefore not issued", {
          cause: error,
        });
      }),
  };
}

/** How a request is let in beside its token: for which resource, and with which browser. */
function createDoors(directory: Directory, publicUrl: PublicUrl): Doors {
  return {
    isMeantFor: (audience, request) => reaches(audience, publicUrl(request), requestPath(request.url ?? "/")),
    bySession(request) {
      // For REST alone: what a page of ours asks. MCP wants a token.
      if (directory.bySession === undefined || !isRestPath(requestPath(request.url ?? "/"))) return undefined;
      const site = request.headers["sec-fetch-site"];
      if (site !== undefined && site !== "same-origin" && site !== "none") return undefined;
      const hash = sessionHashOf(request, publicUrl(request).startsWith("https:"));
      const team = request.headers["x-toolyard-team"];
      return hash === undefined ? undefined : directory.bySession(hash, typeof team === "string" ? team : undefined);
    },
  };
}

function isRestPath(path: string): boolean {
  return path.startsWith("/api/") || path.startsWith("/execute/");
}
