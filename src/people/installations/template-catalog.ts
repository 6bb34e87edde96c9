import type { Config, ServerConfig } from "../../config/config.ts";
import { buildTemplateServer } from "../../config/people/personal.ts";
import { parseTierFields } from "../../config/people/tier-fields.ts";
import type { TieredServer } from "../../config/people/tiers.ts";
import { hasProcess } from "../../config/entry/transports.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import { createAddressRules, isLoopbackHost } from "../../servers/logins/protocol/addresses.ts";
import type { InstallationRow, TemplateRow, InstallWrites } from "../../store/install-rows.ts";
import type { InstalledServers } from "./installed-servers.ts";
import { fieldsOfFile, filePrefix } from "./tiered-servers.ts";
import type { InstallIndex } from "./install-index.ts";
import { requireRevision, type CarryOut, type InstallPlan } from "./install-queue.ts";
import { requireRight, type Actor } from "./install-rights.ts";

/** Something that a team can install. */
export interface Template {
  /** With `file:` for a server of the configuration file. */
  readonly id: string;
  readonly slug: string;
  readonly source: "own" | "registry" | "file";
  readonly version: number;
  /** What a change of it says that it was read as; 0 for a server of the configuration file. */
  readonly revision: number;
  /** The scope of an installation that names none. */
  readonly scope: string;
  readonly tiered: Omit<TieredServer, "locks">;
}

export interface WrittenTemplate {
  readonly slug: string;
  /** Null for one of all teams. */
  readonly teamId: string | null;
  readonly source: TemplateRow["source"];
  /** As in `mcpServers`. */
  readonly entry: object;
  /** A list of `TierField`. */
  readonly fields: unknown;
}

/** Templates: those of the database, and the servers of the configuration file. */
export interface TemplateCatalog {
  /** What a team can install. */
  list(teamId: string | undefined): readonly Template[];
  /**
   * By id or slug; a team's own goes before one of all teams, and that before the configuration file's. With
   * `anyTeam`, also one of another team, by its id alone: names may be the same. Throws TEMPLATE_UNKNOWN.
   */
  find(teamId: string | undefined, name: string, anyTeam?: boolean): Template;
  /** The server of the configuration file with this key or slug. */
  fileServer(name: string): TieredServer | undefined;
  tieredOf(row: InstallationRow): TieredServer;
  add(actor: Actor, given: WrittenTemplate): Promise<TemplateRow>;
  /** Everything that was installed from it follows at once. */
  change(actor: Actor, id: string, patch: TemplatePatch): Promise<TemplateRow>;
  remove(actor: Actor, id: string): Promise<void>;
}

export interface TemplatePatch extends Partial<Pick<WrittenTemplate, "entry" | "fields">> {
  readonly revision?: number | undefined;
}

export interface TemplateCatalogDeps {
  readonly book: InstallIndex;
  readonly carryOut: CarryOut;
  readonly config: () => Config;
  readonly directory: () => string;
  readonly servers: Pick<InstalledServers, "tiered">;
  readonly teamSlug: (teamId: string) => string | undefined;
  readonly isName: (text: string) => boolean;
  readonly newId: (prefix: string) => string;
  readonly now: () => number;
}

const nothingForgotten: ForgottenValues = Object.freeze({ writes: {}, detail: {} });
/** Of one team, or of all. */
const mostTemplates = 1_000;
const largestEntry = 65_536;
/** These read files of this machine, or lead traffic elsewhere: those who run the gateway decide that. */
const ownerFields = ["proxy", "tls", "roots", "envFile", "urls", "replicas"] as const;

export function createTemplateCatalog(deps: TemplateCatalogDeps): TemplateCatalog {
  const { book, config, servers } = deps;
  const build = createBuild(deps);

  function fromRow({ id, slug, source, version, revision, entry, fields }: TemplateRow): Template {
    const tiered = build({ slug, entry: JSON.parse(entry) as object, fields: JSON.parse(fields) as unknown });
    return { id, slug, source, version, revision, scope: scopeOf(tiered.server), tiered };
  }

  function fromFile(server: ServerConfig): Template {
    const tiered = { server, fields: fieldsOfFile(server) };
    const about = { id: filePrefix + server.key, slug: server.slug as string, source: "file" as const, version: 1 };
    return { ...about, revision: 0, scope: scopeOf(server), tiered };
  }

  function rowsFor(teamId: string | undefined): readonly TemplateRow[] {
    const all = [...book.templates.values()];
    return [...all.filter((row) => row.teamId === teamId), ...all.filter((row) => row.teamId === null)];
  }

  function inFile(name: string): ServerConfig | undefined {
    const plain = name.startsWith(filePrefix) ? name.slice(filePrefix.length) : name;
    const { servers: written } = config();
    const isNamed = ({ slug }: ServerConfig): boolean => slug.toLowerCase() === plain.toLowerCase();
    // Somebody's key may be another one's name.
    return written.find(({ key }) => key === plain) ?? written.find(isNamed);
  }

  return {
    list: (teamId) => [...rowsFor(teamId).map(fromRow), ...config().servers.map(fromFile)],
    find(teamId, name, anyTeam = false) {
      const row = rowsFor(teamId).find(({ id, slug }) => id === name || slug === name);
      const found = row ?? (anyTeam ? book.templates.get(name) : undefined);
      if (found !== undefined) return fromRow(found);
      const server = inFile(name);
      if (server !== undefined) return fromFile(server);
      throw unknown();
    },
    fileServer(name) {
      const server = inFile(name);
      return server && { server, fields: fieldsOfFile(server), locks: [] };
    },
    tieredOf(row) {
      const tiered = servers.tiered(row.id);
      if (tiered === undefined) throw unknown();
      return tiered;
    },
    ...createTemplateChanges(deps, build),
  };
}

type Build = ReturnType<typeof createBuild>;

function createBuild({ config, directory }: Pick<TemplateCatalogDeps, "config" | "directory">) {
  return function build({ slug, entry, fields }: Pick<WrittenTemplate, "slug" | "entry" | "fields">) {
    const { inherited } = config();
    if (inherited === undefined) throw new GatewayError("INTERNAL", "the configuration was made by hand");
    const built = buildTemplateServer(slug, entry, { inherited, directory: directory(), fields });
    const problems = built?.problems ?? ["it is no entry"];
    const reason = built?.server.disabledReason ?? problems[0];
    if (built === undefined || reason !== undefined)
      throw new GatewayError("VALUE_REFUSED", `the entry cannot be used: ${String(reason).slice(0, 500)}`);
    return { server: built.server, fields: parseTierFields(fields, built.server.transport.kind) };
  };
}

type TemplateChanges = Pick<TemplateCatalog, "add" | "change" | "remove">;

function createTemplateChanges(deps: TemplateCatalogDeps, build: Build): TemplateChanges {
  const { book, carryOut } = deps;

  function rowOf(actor: Actor, id: string): TemplateRow {
    const row = book.templates.get(id);
    const isSeen =
      row !== undefined && (row.teamId === null || actor.isAdmin || row.teamId === actor.membership?.teamId);
    if (isSeen) return row;
    if (id.startsWith(filePrefix)) throw new GatewayError("CONFIG_FROM_FILE", "it stands in the configuration file");
    throw unknown();
  }

  function teamOf(teamId: string | null): string | undefined {
    return teamId === null ? undefined : deps.teamSlug(teamId);
  }

  return {
    async add(actor, given) {
      const { slug, teamId, source, entry, fields } = given;
      const tiered = build(given);
      requireMaker(actor, teamId, tiered, entry);
      return await carryOut(actor, () => {
        checkNew(deps, given);
        const texts = {
          entry: JSON.stringify(entry),
          fields: JSON.stringify(fields),
          transport: tiered.server.transport.kind,
        };
        const about = { id: deps.newId("tp_"), teamId, slug, source, byAdmin: actor.isAdmin, ...texts };
        const row = { ...about, version: 1, revision: 1, changedBy: actor.id, createdAtMs: deps.now() };
        return {
          writes: { templates: [row] },
          action: "template.add",
          object: slug,
          team: teamOf(teamId),
          result: row,
        };
      });
    },
    async change(actor, id, { entry, fields, revision }) {
      return await carryOut(actor, () => {
        const before = rowOf(actor, id);
        const next = {
          slug: before.slug,
          entry: entry ?? JSON.parse(before.entry),
          fields: fields ?? JSON.parse(before.fields),
        };
        const tiered = build(next as WrittenTemplate);
        requireMaker(actor, before.teamId, tiered, next.entry as object);
        requireRevision(before.revision, revision);
        const texts = { entry: JSON.stringify(next.entry), fields: JSON.stringify(next.fields), changedBy: actor.id };
        const counts = { version: before.version + 1, revision: before.revision + 1 };
        // An author who leaves the entry as it is has written no address.
        const byAdmin = actor.isAdmin || (before.byAdmin && texts.entry === before.entry);
        const row = { ...before, ...texts, ...counts, byAdmin, transport: tiered.server.transport.kind };
        // The admins of a team never see what its members gave: leading it elsewhere is no way to get it, either.
        const isForgotten =
          !actor.isAdmin && texts.entry !== before.entry && addressOf(deps, before) !== addressOf(deps, row);
        const { writes, detail } = isForgotten ? withoutMemberValues(book, id) : nothingForgotten;
        const about = { action: "template.change", object: before.slug, team: teamOf(before.teamId), detail };
        return { writes: { templates: [row], ...writes }, ...about, result: row };
      });
    },
    async remove(actor, id) {
      await carryOut(actor, (): InstallPlan<void> => {
        const row = rowOf(actor, id);
        requireRight(actor, row.teamId === null ? "operate" : "template", row.teamId);
        const used = [...book.installations.values()].filter(({ templateId }) => templateId === id).length;
        if (used > 0)
          throw new GatewayError("INSTALLATION_CONFLICT", `${row.slug} is installed ${used} times`, {
            hint: "Uninstall these first.",
          });
        const about = { action: "template.remove", object: row.slug, team: teamOf(row.teamId), result: undefined };
        return { writes: { goneTemplates: [id] }, ...about };
      });
    },
  };
}

/** Undefined for a program, and for what an earlier version took. */
function addressOf(deps: TemplateCatalogDeps, { slug, entry, fields }: TemplateRow): string | undefined {
  const { inherited } = deps.config();
  const about = inherited && { inherited, directory: deps.directory(), fields: JSON.parse(fields) as unknown };
  const built = about && buildTemplateServer(slug, JSON.parse(entry), about);
  return built === undefined || hasProcess(built.server.transport) ? undefined : built.server.transport.url;
}

function checkNew({ book, isName }: TemplateCatalogDeps, { slug, teamId, entry }: WrittenTemplate): void {
  if (!isName(slug) || slug !== slug.toLowerCase())
    throw new GatewayError(
      "VALUE_REFUSED",
      "a template's name has lower-case letters, digits, dots, dashes and underscores",
    );
  const own = [...book.templates.values()].filter((row) => row.teamId === teamId);
  if (own.some((row) => row.slug === slug))
    throw new GatewayError("INSTALLATION_CONFLICT", `there is a template ${slug} already`);
  if (own.length >= mostTemplates || JSON.stringify(entry).length > largestEntry)
    throw new GatewayError("VALUE_REFUSED", "there are too many templates, or this one is too large");
}

/** Programs are chosen by those who run the gateway, in whatever way a template comes (fault 91). */
function requireMaker(
  actor: Actor,
  teamId: string | null,
  { server }: { readonly server: ServerConfig },
  entry: object,
) {
  requireRight(actor, teamId === null ? "operate" : "template", teamId);
  const { transport } = server;
  if (hasProcess(transport)) return requireRight(actor, "operate", null);
  if (actor.isAdmin) return;
  const forbidden = ownerFields.find((field) => Object.hasOwn(entry, field));
  if (forbidden !== undefined) throw new GatewayError("FORBIDDEN", `only an admin of the gateway may set ${forbidden}`);
  requirePublic(new URL(transport.url).hostname);
}

/** Every resolver has these lead to this machine (RFC 6761, section 6.3). */
const namesOfThisMachine = /(?:^|\.)localhost\.?$/;

/** In a team, everybody has their own process unless somebody says otherwise. */
function scopeOf({ scope }: ServerConfig): string {
  return scope === "client" ? "client" : "user";
}

/** A server that a team chooses is sent to from within the gateway's network. Numbers that lead there are refused. */
function requirePublic(hostname: string): void {
  if (!isLoopbackHost(hostname) && !namesOfThisMachine.test(hostname)) {
    try {
      return createAddressRules("public").checkHost(hostname);
    } catch {
      // Refused below, in words for a template.
    }
  }
  throw new GatewayError(
    "FORBIDDEN",
    `only an admin of the gateway may make a template for ${hostname.slice(0, 100)}`,
    {
      hint: "It is an address of this machine or of a private network.",
    },
  );
}

function unknown(): GatewayError {
  return new GatewayError("TEMPLATE_UNKNOWN", "there is no such template for your team");
}

/** The values of members that are taken away, and the entry of the audit about it. */
interface ForgottenValues {
  readonly writes: Pick<InstallWrites, "gonePersonal" | "goneSecrets">;
  /** How many people gave something, and for which fields: never what. Empty where none did. */
  readonly detail: { readonly forgotten?: { readonly members: number; readonly fields: readonly string[] } };
}

/** So many fields are named in one entry of the audit. */
const mostFields = 50;

/**
 * What takes away whatever members gave of their own for servers of a template, secrets too: for one that leads
 * elsewhere from now on, where no member agreed to have it sent. As a login, it is for the address that it was given
 * for.
 */
function withoutMemberValues(
  book: Pick<InstallIndex, "installations" | "membersWithValues" | "personal" | "secretsOfTeam">,
  templateId: string,
): ForgottenValues {
  const installed = [...book.installations.values()].filter((row) => row.templateId === templateId);
  const members = [...new Set(book.membersWithValues())];
  const personal = installed.flatMap(({ id }) => members.flatMap((member) => book.personal(id, member) ?? []));
  const secrets = installed.flatMap(({ id, teamId }) =>
    book
      .secretsOfTeam(teamId)
      .filter(({ installationId, membershipId }) => installationId === id && membershipId !== null),
  );
  const givers = new Set([...personal, ...secrets].map(({ membershipId }) => membershipId));
  const fields = new Set([
    ...personal.flatMap(({ config }) => Object.keys(JSON.parse(config) as object)),
    ...secrets.map(({ field }) => field),
  ]);
  return {
    writes: {
      gonePersonal: personal.map(({ installationId, membershipId }) => ({ installationId, membershipId })),
      goneSecrets: secrets.map(({ id }) => id),
    },
    detail:
      fields.size === 0 ? {} : { forgotten: { members: givers.size, fields: [...fields].sort().slice(0, mostFields) } },
  };
}
