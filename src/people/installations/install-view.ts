import { pathKey, type TierField, type TierValues } from "../../config/people/tier-fields.ts";
import { mayGive, type MissingValue, type TieredServer } from "../../config/people/tiers.ts";
import { hasProcess } from "../../config/entry/transports.ts";
import type { InstallationRow } from "../../store/install-rows.ts";
import type { InstallIndex } from "./install-index.ts";
import { mayManage, type Actor } from "./install-rights.ts";
import type { InstalledServers } from "./installed-servers.ts";

/** An installation as somebody sees it. */
export interface InstallationView {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly source: "file" | "db";
  readonly template: string;
  readonly transport: string;
  readonly scope: string;
  readonly enabled: boolean;
  readonly locks: readonly string[];
  readonly settings: unknown;
  readonly revision: number;
  /** The values that the asker has to give; for those who manage the team, those that the team has to give as well. */
  readonly missing: readonly MissingValue[];
}

/** One field with who gives it and its present value. A secret's value is never there. */
export interface FieldView {
  readonly path: string;
  readonly tier: string;
  readonly type: string;
  readonly required: boolean;
  /** Whether this tier may give it now. */
  readonly editable: boolean;
  readonly description: string | null;
  readonly choices: readonly string[] | null;
  readonly set: boolean;
  /** Null for secrets, and for a field without a value. */
  readonly value: string | readonly string[] | null;
  readonly updatedAtMs: number | null;
}

export interface ValuesView {
  readonly fields: readonly FieldView[];
  readonly revision: number;
  /** Where values go: the origin of the server's URL; null for a program. */
  readonly address: string | null;
}

export interface ViewParts {
  readonly book: Omit<InstallIndex, "apply">;
  readonly servers: Pick<InstalledServers, "tiered" | "merged">;
}

export function viewInstallation({ servers }: ViewParts, row: InstallationRow, actor: Actor): InstallationView {
  const { id, slug, name, templateId, scope, enabled, revision, teamId } = row;
  const tiered = servers.tiered(id);
  const isManaged = mayManage(actor, teamId);
  const missing = servers.merged(id, actor.membership?.teamId === teamId ? actor.membership.id : null)?.missing ?? [];
  return {
    ...{ id, slug, name, source: "db", template: templateId, scope, enabled, revision },
    transport: tiered?.server.transport.kind ?? "unknown",
    locks: JSON.parse(row.locks) as string[],
    settings: isManaged ? (JSON.parse(row.settings) as unknown) : {},
    missing: missing.map((value) => toWhom(value, row, tiered)).filter(({ tier }) => isManaged || tier === "user"),
  };
}

/** Somebody who is no member has no values of their own: what each member gives is not for the team to give. */
function toWhom(missing: MissingValue, { scope }: InstallationRow, tiered: TieredServer | undefined): MissingValue {
  const isOwn = scope !== "shared" && tiered !== undefined && mayGive(tiered, "user", missing.path);
  return isOwn && missing.tier === "team" ? { ...missing, tier: "user" } : missing;
}

/** The values of the team. Members see neither locked or hidden ones, nor any value of a secret. */
export function viewTeamValues(parts: ViewParts, row: InstallationRow, actor: Actor): ValuesView {
  const tiered = parts.servers.tiered(row.id);
  const owner = { teamId: row.teamId, installationId: row.id, membershipId: null };
  const isManaged = mayManage(actor, row.teamId);
  const fields = toFields(parts, { tiered, tier: "team", config: row.config, owner });
  const shown = fields.filter(({ path }) => isManaged || isShown(tiered, path));
  return { revision: row.revision, address: shownAddress(tiered), fields: shown };
}

/** What one member set: for that member alone. */
export function viewOwnValues(parts: ViewParts, tiered: TieredServer, given: OwnValues): ValuesView {
  const { installationId, membershipId, teamId } = given;
  const row = parts.book.personal(installationId, membershipId);
  const owner = { teamId, installationId, membershipId };
  const fields = toFields(parts, { tiered, tier: "user", config: row?.config ?? "{}", owner });
  const shown = fields.filter(({ path, set }) => set || isShown(tiered, path));
  return { revision: row?.revision ?? 0, address: shownAddress(tiered), fields: shown };
}

/** Without path and query, which may hold what not everybody is to see. Null for a program. */
export function shownAddress(tiered: Pick<TieredServer, "server"> | undefined): string | null {
  const transport = tiered?.server.transport;
  const url = transport === undefined || hasProcess(transport) ? "" : transport.url;
  return URL.canParse(url) ? new URL(url).origin : null;
}

export interface OwnValues {
  readonly installationId: string;
  readonly membershipId: string;
  readonly teamId: string;
}

/** Which fields a member has set, and none of the values: for those who manage the team. */
export function viewWhatMemberSet(parts: ViewParts, given: OwnValues): readonly string[] {
  const { installationId, membershipId, teamId } = given;
  const config = parts.book.personal(installationId, membershipId)?.config ?? "{}";
  const secrets = parts.book.secretsOf({ teamId, installationId, membershipId });
  return [...Object.keys(JSON.parse(config) as object), ...secrets.map(({ field }) => field)].sort();
}

function isShown(tiered: TieredServer | undefined, path: string): boolean {
  const field = tiered?.fields.find((known) => pathKey(known.path) === pathKey(path));
  const isLocked = tiered?.locks.some((lock) => pathKey(lock) === pathKey(path)) === true;
  return field === undefined || (field.visible && !field.locked && !isLocked);
}

interface Source {
  readonly tiered: TieredServer | undefined;
  readonly tier: "team" | "user";
  readonly config: string;
  readonly owner: Parameters<InstallIndex["secretsOf"]>[0];
}

function toFields({ book }: ViewParts, { tiered, tier, config, owner }: Source): readonly FieldView[] {
  if (tiered === undefined) return [];
  const values = JSON.parse(config) as TierValues;
  const secrets = new Map(book.secretsOf(owner).map((row) => [pathKey(row.field), row]));
  const free = (path: string): TierField => ({
    ...{ path, tier: "user", type: "string", required: false, locked: false, visible: true },
  });
  const known = new Set(tiered.fields.map(({ path }) => pathKey(path)));
  const others = [...Object.keys(values), ...book.secretsOf(owner).map(({ field }) => field)].filter(
    (path) => !known.has(pathKey(path)),
  );
  return [...tiered.fields, ...others.map(free)].map((field) => {
    const at = Object.keys(values).find((path) => pathKey(path) === pathKey(field.path));
    const secret = secrets.get(pathKey(field.path));
    return {
      ...{ path: field.path, tier: field.tier, required: field.required },
      type: secret === undefined ? field.type : "secret",
      editable: mayGive(tiered, tier, field.path),
      description: field.description ?? null,
      choices: field.enum ?? null,
      set: at !== undefined || secret !== undefined,
      value: at === undefined ? null : (values[at] ?? null),
      updatedAtMs: secret?.updatedAtMs ?? null,
    };
  });
}
