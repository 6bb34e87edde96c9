import type { Config, ServerConfig } from "../../config/config.ts";
import type { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import { randomId } from "../../kernel/text/random-id.ts";
import type { MemberIndex } from "../../people/directory/books/member-index.ts";
import { createInstallIndex, type InstallIndex, type Touched } from "../../people/installations/install-index.ts";
import { createInstallChanges, type InstallChanges } from "../../people/installations/install-changes.ts";
import { createInstallQueue } from "../../people/installations/install-queue.ts";
import { createInstalledServers, type InstalledServers } from "../../people/installations/installed-servers.ts";
import { createSecretChanges, type SecretChanges } from "../../people/installations/secret-changes.ts";
import { createTemplateCatalog, type TemplateCatalog } from "../../people/installations/template-catalog.ts";
import { createVault, type Vault } from "../../people/installations/vault.ts";
import { seal, unseal } from "../../store/files/safe/sealing.ts";
import type { KeyRing } from "../../store/store.ts";
import type { InstallStore } from "../../store/record-store.ts";

/** Servers of teams, read and ready. */
export interface TeamInstalls {
  readonly book: Omit<InstallIndex, "apply">;
  readonly servers: InstalledServers;
  readonly templates: TemplateCatalog;
  readonly changes: InstallChanges;
  readonly secrets: SecretChanges;
  /** Why secrets cannot be opened although another gateway of the same database can. */
  keyProblem(): GatewayError | undefined;
  /** A person who is no member any more has no values. */
  forgetMembers(isMember: (id: string) => boolean): void;
  /** The same for a team: its instances end. */
  forgetTeam(id: string): void;
  /** The rules of a team changed: its servers follow them. */
  followRules(teamId: string): void;
  close(): Promise<void>;
}

export interface TeamInstallsDeps {
  readonly store: InstallStore;
  readonly people: Pick<MemberIndex, "teams">;
  readonly config: () => Config;
  readonly keyRing: (mayCreate: boolean) => Promise<KeyRing>;
  /** Where relative paths of templates start. */
  readonly directory: () => string;
  readonly clock: Clock;
  readonly isName: (text: string) => boolean;
  /** The page where a member gives values of their own. */
  readonly valuesPage: (server: ServerConfig, membershipId: string) => string;
  readonly log: Log;
  /** Whether other gateways write to the same database. */
  readonly isShared: boolean;
  /** Called when a change is on the disk: resolves when what runs follows it. */
  readonly onTouched: (touched: Touched) => Promise<void>;
}

/** Uses are written together. Those of the last seconds are lost when the process is killed. */
const usesMs = 5_000;

/** Reads what teams installed. Rejects with STORE_UNAVAILABLE where it cannot be read. */
export async function openTeamInstalls(deps: TeamInstallsDeps): Promise<TeamInstalls> {
  const { store, people, config, clock, log } = deps;
  const now = clock.now;
  const book = createInstallIndex();
  const vault = createVault({ sealing: { seal, unseal }, openRing: deps.keyRing, newId: randomId, now });
  const teamSlug = (id: string): string | undefined => people.teams.get(id)?.slug;
  const common = {
    book,
    vault,
    config,
    directory: deps.directory,
    teamSlug,
    teamRules: (id: string) => people.teams.get(id)?.rules,
    limitsOf: (id: string) => people.teams.get(id)?.limits ?? {},
    newId: randomId,
    now,
    isName: deps.isName,
    valuesPage: deps.valuesPage,
  };
  const servers = createInstalledServers(common);
  const keys = createKeyWatch(vault, deps);
  const { onTouched } = deps;
  const follow = createFollowing({ book, servers, onTouched, log });
  const queue = createInstallQueue({
    ...{ store, book, vault, servers, clock, onTouched, onFollowed: keys.look },
    onBehind: (error) =>
      log.warn({ component: "people", err: error }, "servers that another gateway changed cannot be read: tried again"),
  });
  const { carryOut } = queue;
  const templates = createTemplateCatalog({ ...common, carryOut, servers });
  const forSecrets = { ...common, carryOut, teamIds: () => people.teams.keys() };
  const secrets = createSecretChanges(forSecrets);

  const rows = await store.read();
  vault.apply(rows);
  book.apply(rows);
  await keys.look();
  if (keys.problem === undefined && (await secrets.resume()))
    log.info({ component: "people" }, "a rotation of the key that was interrupted is finished");
  let cancel = clock.after(usesMs, noteUses);

  async function writeUses(): Promise<void> {
    const uses = servers.takeUses();
    if (uses.length === 0) return;
    await store
      .use(uses)
      .catch((error: unknown) => log.warn({ component: "people", err: error }, "uses of secrets are not noted"));
  }

  function noteUses(): void {
    void writeUses();
    cancel = clock.after(usesMs, noteUses);
  }

  return {
    book,
    servers,
    templates,
    secrets,
    keyProblem: () => (deps.isShared ? keys.problem : undefined),
    changes: createInstallChanges({ ...forSecrets, catalog: templates }),
    forgetMembers(isMember) {
      for (const id of new Set(book.membersWithValues())) if (!isMember(id)) book.forgetMember(id);
    },
    forgetTeam: (id) => follow(id, () => book.forgetTeam(id)),
    followRules: (id) => follow(id, () => undefined),
    async close() {
      cancel();
      queue.stop();
      await writeUses();
    },
  };
}

interface FollowingParts extends Pick<TeamInstallsDeps, "onTouched" | "log"> {
  readonly book: Pick<InstallIndex, "ofTeam">;
  readonly servers: Pick<InstalledServers, "forget">;
}

/** What runs of a team follows a change of it. */
function createFollowing({ book, servers, onTouched, log }: FollowingParts) {
  return (teamId: string, change: () => void): void => {
    const own = book.ofTeam(teamId).map(({ id }) => id);
    change();
    servers.forget(own, [teamId]);
    const installations = own.map((id) => ({ id, membershipId: undefined }));
    onTouched({ teams: new Set([teamId]), installations }).catch((error: unknown) =>
      log.error({ component: "people", err: error }, "servers of a team do not follow it"),
    );
  };
}

const outdated =
  "keys of teams are encrypted under another key than this gateway has: it goes on with what is open, and has to be started again with that key";

/** Notices when the keys of teams need another key than the gateway has, and says so once. */
function createKeyWatch(vault: Pick<Vault, "unlock" | "isOutdated">, { log }: Pick<TeamInstallsDeps, "log">) {
  let problem: GatewayError | undefined;
  let said = "";

  return {
    get problem() {
      return problem;
    },
    async look(): Promise<void> {
      problem = await vault.unlock();
      const quiet = vault.isOutdated ? outdated : "";
      const text = problem === undefined ? quiet : `secrets of teams cannot be opened: ${problem.message}`;
      if (text !== "" && text !== said) log.error({ component: "people", hint: problem?.hint }, text);
      if (text === "" && said !== "") log.info({ component: "people" }, "secrets of teams can be opened again");
      said = text;
    },
  };
}
