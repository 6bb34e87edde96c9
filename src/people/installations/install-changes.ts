import type { TieredServer } from "../../config/people/tiers.ts";
import { hasProcess } from "../../config/entry/transports.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { InstallationRow, InstallWrites } from "../../store/install-rows.ts";
import { filePrefix, type InstallationSettings } from "./tiered-servers.ts";
import { shownAddress } from "./install-view.ts";
import { requireRevision, type InstallPlan } from "./install-queue.ts";
import { requireRight, type Actor } from "./install-rights.ts";
import { planSecret, type SecretChangesDeps } from "./secret-changes.ts";
import type { TemplateCatalog } from "./template-catalog.ts";
import { requireRoom, type TeamRoom } from "./team-quota.ts";
import { planValues, type ValueTarget, type WrittenPlan } from "./value-plan.ts";

export interface NewInstallation {
  /** The id or slug of a template, or `file:` and the key of a server of the configuration file. */
  readonly template: string;
  /** Default: the template's. */
  readonly slug?: string | undefined;
  readonly name?: string | undefined;
  readonly scope?: string | undefined;
  /** Of the team, by path. */
  readonly values?: WrittenValues | undefined;
  readonly locks?: readonly string[] | undefined;
  readonly settings?: InstallationSettings | undefined;
}

/** A member that is left out stays as it is. */
export interface InstallationPatch {
  readonly name?: string | undefined;
  readonly scope?: string | undefined;
  readonly enabled?: boolean | undefined;
  readonly locks?: readonly string[] | undefined;
  readonly settings?: InstallationSettings | undefined;
  /** The one that was read; the change is refused when there is a newer one. */
  readonly revision?: number | undefined;
}

/** By path; null takes a value away. */
export type WrittenValues = Readonly<Record<string, string | readonly string[] | null>>;

/** What can be done with the servers of a team. Each resolves when it is on the disk, with its entry in the audit. */
export interface InstallChanges {
  install(actor: Actor, teamId: string, given: NewInstallation): Promise<InstallationRow>;
  change(actor: Actor, teamId: string, name: string, patch: InstallationPatch): Promise<InstallationRow>;
  uninstall(actor: Actor, teamId: string, name: string): Promise<void>;
  /** By id or slug. Throws INSTALLATION_UNKNOWN. */
  find(teamId: string, name: string): InstallationRow;
  /** The same for values of a person's own, which servers of the configuration file take, too. */
  forMember(teamId: string, name: string): MemberTarget;
  /** Values of the team. */
  setTeamValues(actor: Actor, teamId: string, name: string, given: GivenValues): Promise<void>;
  /** Values of the person who asks; also for servers of the configuration file. */
  setOwnValues(actor: Actor, name: string, given: GivenValues): Promise<void>;
}

/** What a member can give values for. */
export interface MemberTarget {
  /** With `file:` for a server of the configuration file. */
  readonly id: string;
  readonly slug: string;
  readonly tiered: TieredServer;
}

export interface GivenValues {
  readonly values: WrittenValues;
  /** Whatever is set and not named goes. */
  readonly isWhole?: boolean | undefined;
  /** Of the installation, or of one's own values. */
  readonly revision?: number | undefined;
  /** Where the person who gives them saw that they go; null for a program. Refused when the server leads elsewhere. */
  readonly address?: string | null | undefined;
}

export interface InstallChangesDeps extends SecretChangesDeps, Pick<TeamRoom, "limitsOf"> {
  readonly catalog: TemplateCatalog;
  readonly isName: (text: string) => boolean;
}

const scopes: readonly string[] = ["user", "shared", "client"];

export function createInstallChanges(deps: InstallChangesDeps): InstallChanges {
  const { carryOut, teamSlug } = deps;
  const found = createFinding(deps);
  const { find } = found;

  return {
    ...found,
    ...createValueChanges(deps, found),
    async install(actor, teamId, given) {
      requireRight(actor, "manage", teamId);
      return await carryOut(actor, async () => await planInstall(deps, actor, teamId, given));
    },
    async change(actor, teamId, name, patch) {
      requireRight(actor, "manage", teamId);
      return await carryOut(actor, () => {
        const before = find(teamId, name);
        requireRevision(before.revision, patch.revision);
        const row: InstallationRow = {
          ...before,
          name: patch.name === undefined ? before.name : toText(patch.name),
          scope: patch.scope === undefined ? before.scope : toScope(patch.scope),
          enabled: patch.enabled ?? before.enabled,
          locks: patch.locks === undefined ? before.locks : toLocks(patch.locks),
          settings: patch.settings === undefined ? before.settings : toSettings(patch.settings),
          revision: before.revision + 1,
          changedBy: actor.id,
        };
        const detail = { installation: row.id, fields: Object.keys(patch).filter((field) => field !== "revision") };
        const about = { action: "server.change", object: row.slug, team: teamSlug(teamId), detail };
        return { writes: { installations: [row] }, ...about, result: row };
      });
    },
    async uninstall(actor, teamId, name) {
      requireRight(actor, "manage", teamId);
      await carryOut(actor, (): InstallPlan<void> => {
        const { id, slug } = find(teamId, name);
        const about = { action: "server.uninstall", object: slug, team: teamSlug(teamId), result: undefined };
        return { writes: { goneInstallations: [id] }, ...about, detail: { installation: id } };
      });
    },
  };
}

type Finding = Pick<InstallChanges, "find" | "forMember">;

function createFinding({ book, catalog }: Pick<InstallChangesDeps, "book" | "catalog">): Finding {
  function find(teamId: string, name: string): InstallationRow {
    const byId = book.installations.get(name);
    const found = byId?.teamId === teamId ? byId : book.installed(teamId, name);
    if (found !== undefined) return found;
    if (catalog.fileServer(name) !== undefined)
      throw new GatewayError("CONFIG_FROM_FILE", `${name} stands in the configuration file`);
    throw new GatewayError("INSTALLATION_UNKNOWN", "there is no such server in your team");
  }

  /** What a member can give values for: an installation, or a server of the configuration file. */
  function forMember(teamId: string, name: string): MemberTarget {
    const file = book.installed(teamId, name) === undefined ? catalog.fileServer(name) : undefined;
    if (file === undefined) {
      const row = find(teamId, name);
      return { id: row.id, slug: row.slug, tiered: catalog.tieredOf(row) };
    }
    return { id: filePrefix + file.server.key, slug: file.server.slug as string, tiered: file };
  }

  return { find, forMember };
}

function checkSlug({ book, catalog, isName }: InstallChangesDeps, teamId: string, slug: string): void {
  if (!isName(slug) || slug !== slug.toLowerCase())
    throw new GatewayError(
      "VALUE_REFUSED",
      "a server's name has lower-case letters, digits, dots, dashes and underscores",
    );
  if (catalog.fileServer(slug) !== undefined)
    throw new GatewayError("CONFIG_FROM_FILE", `${slug} stands in the configuration file`, {
      hint: "Everybody has that one. Install yours under another name.",
    });
  if (book.installed(teamId, slug) !== undefined)
    throw new GatewayError("INSTALLATION_CONFLICT", `the team has a server ${slug} already`);
}

async function planInstall(
  deps: InstallChangesDeps,
  actor: Actor,
  teamId: string,
  given: NewInstallation,
): Promise<InstallPlan<InstallationRow>> {
  const { catalog, newId, now, teamSlug } = deps;
  const template = catalog.find(teamId, given.template);
  const slug = given.slug ?? template.slug;
  checkSlug(deps, teamId, slug);
  requireRoom(deps, teamId, template);
  const row: InstallationRow = {
    ...{ id: newId("i_"), teamId, templateId: template.id, templateVersion: template.version, slug },
    name: toText(given.name ?? slug),
    scope: toScope(given.scope ?? template.scope),
    ...{ config: "{}", locks: toLocks(given.locks ?? []), settings: toSettings(given.settings ?? {}) },
    ...{ enabled: true, revision: 1, changedBy: actor.id, createdAtMs: now() },
  };
  const about = { action: "server.install", object: slug, team: teamSlug(teamId), result: row };
  const detail = { installation: row.id, template: template.id };
  if (given.values === undefined) return { writes: { installations: [row] }, ...about, detail };
  const target: ValueTarget = {
    tier: "team",
    owner: ownerOf(row),
    tiered: { ...template.tiered, locks: [] },
    config: "{}",
  };
  const { config, writes } = await planRows(deps, target, { values: given.values });
  const configured = { ...row, config };
  return { writes: { ...writes, installations: [configured] }, ...about, detail, result: configured };
}

async function planRows(
  deps: InstallChangesDeps,
  target: ValueTarget,
  given: WrittenPlan,
): Promise<{ config: string; writes: InstallWrites; paths: readonly string[] }> {
  const { config, secrets, goneSecrets, paths } = planValues(target, given, deps.book.secretsOf(target.owner));
  const { owner } = target;
  const sealed = await Promise.all(
    secrets.map(async ({ field, text }) => await planSecret(deps, { owner, field, text })),
  );
  // All of them come with the same key, where the team had none.
  const { dataKeys = [] } = sealed[0] ?? {};
  return { config, writes: { secrets: sealed.flatMap((made) => made.secrets ?? []), dataKeys, goneSecrets }, paths };
}

function createValueChanges(
  deps: InstallChangesDeps,
  { find, forMember }: Finding,
): Pick<InstallChanges, "setTeamValues" | "setOwnValues"> {
  const { book, carryOut, catalog, teamSlug } = deps;
  return {
    async setTeamValues(actor, teamId, name, { revision, address, ...given }) {
      requireRight(actor, "manage", teamId);
      await carryOut(actor, async () => {
        const row = find(teamId, name);
        requireRevision(row.revision, revision);
        const tiered = catalog.tieredOf(row);
        if (address !== undefined && address !== shownAddress(tiered)) throw ledElsewhere();
        const { config, writes, paths } = await planRows(
          deps,
          { tier: "team", owner: ownerOf(row), tiered, config: row.config },
          given,
        );
        const changed = { ...row, config, revision: row.revision + 1, changedBy: actor.id };
        const about = { action: "server.config.team", object: row.slug, team: teamSlug(teamId), result: undefined };
        return { writes: { ...writes, installations: [changed] }, ...about, detail: toDetail(paths) };
      });
    },
    async setOwnValues(actor, name, { revision, address, ...given }) {
      const { membership } = actor;
      if (membership === undefined)
        throw new GatewayError("INSTALLATION_UNKNOWN", "there is no person whose values these would be");
      const { id: membershipId, teamId } = membership;
      const seen = addressOf(forMember(teamId, name).tiered);
      await carryOut(actor, async () => {
        const { id, slug, tiered } = forMember(teamId, name);
        // Between asking and its turn somebody may have led the server elsewhere, also at another gateway: what was
        // given before is forgotten then, and this is no different.
        if (addressOf(tiered) !== seen) throw ledElsewhere();
        // As may have happened since a form was opened: what had no value before has no revision that tells of it.
        if (address !== undefined && address !== shownAddress(tiered)) throw ledElsewhere();
        const before = book.personal(id, membershipId);
        requireRevision(before?.revision ?? 0, revision);
        const owner = { teamId, installationId: id, membershipId };
        const { config, writes, paths } = await planRows(
          deps,
          { tier: "user", owner, tiered, config: before?.config ?? "{}" },
          given,
        );
        const row = { installationId: id, membershipId, config, revision: (before?.revision ?? 0) + 1 };
        const about = { action: "server.config.me", object: slug, team: teamSlug(teamId), result: undefined };
        return { writes: { ...writes, personal: [row] }, ...about, detail: toDetail(paths) };
      });
    },
  };
}

function ledElsewhere(): GatewayError {
  return new GatewayError("REVISION_MISMATCH", "the server leads to another address now", {
    hint: "Look where it leads, and give the value again if you agree.",
  });
}

/** Undefined for a program. */
function addressOf({ server: { transport } }: TieredServer): string | undefined {
  return hasProcess(transport) ? undefined : transport.url;
}

/** So many paths are written into one entry of the audit, which is read on a screen. */
const mostPaths = 50;

function toDetail(paths: readonly string[]): Readonly<Record<string, unknown>> {
  const more = paths.length - mostPaths;
  return more > 0 ? { paths: paths.slice(0, mostPaths), more } : { paths };
}

function ownerOf({ id, teamId }: InstallationRow): ValueTarget["owner"] {
  return { teamId, installationId: id, membershipId: null };
}

function toText(text: string): string {
  const plain = text.trim();
  if (plain !== "" && plain.length <= 200 && !/\p{Cc}/u.test(plain)) return plain;
  throw new GatewayError("VALUE_REFUSED", "a name has 1 to 200 characters, without control characters");
}

function toScope(scope: string): string {
  if (scopes.includes(scope)) return scope;
  throw new GatewayError("VALUE_REFUSED", `a scope is one of ${scopes.join(", ")}`);
}

function toLocks(locks: readonly string[]): string {
  if (locks.length <= 100 && locks.every((lock) => typeof lock === "string" && lock.length <= 250))
    return JSON.stringify([...new Set(locks)]);
  throw new GatewayError("VALUE_REFUSED", "locks are at most 100 paths");
}

function toSettings({ requestLogging, allow, deny }: InstallationSettings): string {
  const lists = [allow, deny].filter((list) => list !== undefined);
  if (lists.some((list) => list.length > 1_000 || list.some((name) => name.length > 200)))
    throw new GatewayError("VALUE_REFUSED", "a list of tools has at most 1,000 names");
  return JSON.stringify({ requestLogging, allow, deny });
}
