import { isIP } from "node:net";
import type { Config, Installed, ServerConfig } from "../../config/config.ts";
import type { PolicyRule } from "../../config/rows/rule-rows.ts";
import { buildTemplateServer } from "../../config/people/personal.ts";
import { hasProcess } from "../../config/entry/transports.ts";
import { parseTierFields, pathKey, type TierField } from "../../config/people/tier-fields.ts";
import type { TieredServer } from "../../config/people/tiers.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { ServerSlug } from "../../kernel/ids.ts";
import type { InstallationRow } from "../../store/install-rows.ts";
import type { InstallIndex } from "./install-index.ts";

/** What can be set for one installation beside its values. */
export interface InstallationSettings {
  readonly requestLogging?: ServerConfig["requestLogging"] | undefined;
  /** The only tools that are offered, of those that the template offers. */
  readonly allow?: readonly string[] | undefined;
  /** Tools that are not offered. */
  readonly deny?: readonly string[] | undefined;
}

/** What the configuration file's servers are called among the templates. */
export const filePrefix = "file:";

export interface TieredServersDeps {
  readonly book: Pick<InstallIndex, "installations" | "templates">;
  readonly config: () => Config;
  /** Where relative paths of templates start. */
  readonly directory: () => string;
  readonly teamSlug: (teamId: string) => string | undefined;
  /** Rules of the team about calls; undefined or empty where it has none. */
  readonly teamRules: (teamId: string) => readonly PolicyRule[] | undefined;
}

/** Templates that are kept ready. Beyond it they are made again. */
const mostKept = 1_000;

/** Servers as they were installed, made of their templates when they are first asked for. */
export function createTieredServers({ book, config, directory, teamSlug, teamRules }: TieredServersDeps) {
  const tieredOf = new Map<string, TieredServer>();
  /** By id and version: thousands of installations are of a few templates. */
  const templates = new Map<string, Omit<TieredServer, "locks">>();

  function tiered(id: string): TieredServer | undefined {
    const known = tieredOf.get(id);
    if (known !== undefined) return known;
    const row = book.installations.get(id);
    const made = row && build(row);
    if (made !== undefined) tieredOf.set(id, made);
    return made;
  }

  function build(row: InstallationRow): TieredServer | undefined {
    const team = teamSlug(row.teamId);
    const template = templateOf(row.templateId);
    if (team === undefined || template === undefined) return undefined;
    const written = book.templates.get(row.templateId);
    const about = {
      ...{ id: row.id, team },
      ...(written === undefined || written.teamId === null || written.byAdmin ? {} : { isOfTeam: true }),
    };
    const server = withInstallation(template.server, row, { installed: about, rules: teamRules(row.teamId) });
    return { server, fields: template.fields, locks: JSON.parse(row.locks) as string[] };
  }

  function inherited(): NonNullable<Config["inherited"]> {
    const found = config().inherited;
    if (found === undefined) throw new GatewayError("INTERNAL", "the configuration was made by hand");
    return found;
  }

  function templateOf(id: string): Omit<TieredServer, "locks"> | undefined {
    if (id.startsWith(filePrefix)) {
      const server = config().servers.find(({ key }) => key === id.slice(filePrefix.length));
      return server && { server, fields: fieldsOfFile(server) };
    }
    const row = book.templates.get(id);
    const known = row && templates.get(`${id}@${row.version}`);
    if (known !== undefined) return known;
    if (row === undefined) return undefined;
    const written: unknown = JSON.parse(row.fields);
    const about = { inherited: inherited(), directory: directory(), fields: written };
    const built = buildTemplateServer(row.slug, JSON.parse(row.entry), about);
    if (built === undefined) return undefined;
    const server = row.teamId === null || row.byAdmin ? built.server : withinReach(built.server);
    const fields = parseTierFields(written, server.transport.kind);
    const made = { server, fields };
    if (templates.size >= mostKept) templates.clear();
    templates.set(`${id}@${row.version}`, made);
    return made;
  }

  return {
    of: tiered,
    forget: (id: string) => tieredOf.delete(id),
    forgetAll(): void {
      tieredOf.clear();
      templates.clear();
    },
  };
}

/**
 * What a team wrote itself leads into the public Internet, wherever its name leads when a connection is made (fault
 * 104). Numbers of this machine and of private networks are never a team's: they are in templates from before it was
 * kept who had written them.
 */
function withinReach(server: ServerConfig): ServerConfig {
  const { transport } = server;
  if (hasProcess(transport) || !URL.canParse(transport.url)) return server;
  const { hostname } = new URL(transport.url);
  const isName = isIP(hostname.replace(/^\[|\]$/g, "")) === 0 && hostname !== "localhost";
  return isName ? { ...server, transport: { ...transport, isPublicOnly: true } } : server;
}

/** A server of the configuration file takes what it requires and what its entry names beside that, and nothing else. */
export function fieldsOfFile({
  required,
  optional,
}: Pick<ServerConfig, "required" | "optional">): readonly TierField[] {
  const known = new Set<string>();
  const toFields = (paths: readonly string[], about: Pick<TierField, "tier" | "required">): readonly TierField[] =>
    paths.flatMap((path) => {
      if (known.has(pathKey(path))) return [];
      known.add(pathKey(path));
      return { path, type: path === "args" ? "string" : "secret", locked: false, visible: true, ...about };
    });
  return [
    ...toFields(required.team, { tier: "team", required: true }),
    ...toFields(required.user, { tier: "user", required: true }),
    // Whatever a person may give, the team may, too: so that the person's comes first.
    ...toFields(optional.user, { tier: "user", required: false }),
    ...toFields(optional.team, { tier: "team", required: false }),
  ];
}

interface OfTeam {
  readonly installed: Installed;
  readonly rules: readonly PolicyRule[] | undefined;
}

function withInstallation(template: ServerConfig, row: InstallationRow, { installed, rules }: OfTeam): ServerConfig {
  const { requestLogging, allow, deny = [] } = JSON.parse(row.settings) as InstallationSettings;
  const { tools } = template;
  const isNamed = template.namespace === template.slug;
  return Object.freeze({
    ...template,
    slug: row.slug as ServerSlug,
    key: row.slug,
    displayName: row.name,
    namespace: isNamed ? row.slug : template.namespace,
    scope: row.scope === "shared" || row.scope === "client" ? row.scope : "user",
    requestLogging: requestLogging ?? template.requestLogging,
    disabledReason: row.enabled ? template.disabledReason : "switched off by the team",
    tools: {
      ...tools,
      ...(allow === undefined ? {} : { within: [...(tools.within ?? []), allow] }),
      deny: [...tools.deny, ...deny],
      ...(rules === undefined || rules.length === 0 ? {} : { rules }),
    },
    installed,
  });
}
