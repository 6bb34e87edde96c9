import type {
  InstallationRow,
  InstallRows,
  InstallWrites,
  PersonalRow,
  SecretRow,
  TemplateRow,
} from "../../store/install-rows.ts";
import { createRowTable } from "../changes/row-table.ts";

/** Whose a secret is: of the team, of an installation, or of a member in an installation. */
export type SecretOwner = Pick<SecretRow, "teamId" | "installationId" | "membershipId">;

/** The subject of a change, for those who run the installed servers. */
export interface Touched {
  /** Every team whose servers are others now. */
  readonly teams: ReadonlySet<string>;
  /** Installations, and whose instances of them: undefined for everybody's. */
  readonly installations: readonly { readonly id: string; readonly membershipId: string | undefined }[];
}

/** All servers of teams, in memory, by what they are looked up with. */
export interface InstallIndex {
  readonly templates: ReadonlyMap<string, TemplateRow>;
  readonly installations: ReadonlyMap<string, InstallationRow>;
  ofTeam(teamId: string): readonly InstallationRow[];
  installed(teamId: string, slug: string): InstallationRow | undefined;
  /** What one member set for an installation, or for `file:` and a server of the configuration file. */
  personal(installationId: string, membershipId: string): PersonalRow | undefined;
  secretsOf(owner: SecretOwner): readonly SecretRow[];
  secretsOfTeam(teamId: string): readonly SecretRow[];
  /** Memberships with values or secrets of their own. */
  membersWithValues(): Iterable<string>;
  apply(writes: InstallWrites): Touched;
  /** A member was removed; in the database everything of theirs was removed with them. */
  forgetMember(membershipId: string): void;
  forgetTeam(teamId: string): void;
  /** What has to be applied to become `rows`, but for the keys of teams. */
  differenceTo(rows: InstallRows): InstallWrites;
  noteUse(secretId: string, usedAtMs: number): void;
}

const none: readonly never[] = [];

export function createInstallIndex(): InstallIndex {
  const tables = createTables();
  const { templates, installations, ofTeam, personal, secrets, secretsOfTeam } = tables;

  function removeInstallation(id: string): void {
    const row = installations.remove(id);
    if (row === undefined) return;
    for (const own of tables.personalOf.of(id)) personal.remove(personalKey(own));
    for (const secret of secretsOfTeam(row.teamId)) if (secret.installationId === id) secrets.remove(secret.id);
  }

  return {
    templates: templates.rows,
    installations: installations.rows,
    ofTeam,
    installed: (teamId, slug) => tables.installed(slugKey({ teamId, slug })),
    personal: (installationId, membershipId) => personal.rows.get(personalKey({ installationId, membershipId })),
    secretsOf: (owner) => tables.secretsOf(ownerKey(owner)),
    secretsOfTeam,
    *membersWithValues() {
      yield* tables.personalBy.values();
      yield* tables.secretsBy.values();
    },
    apply(writes) {
      const touched = touchedBy(writes, tables);
      for (const id of writes.goneTemplates ?? []) templates.remove(id);
      for (const id of writes.goneInstallations ?? []) removeInstallation(id);
      for (const place of writes.gonePersonal ?? []) personal.remove(personalKey(place));
      for (const id of writes.goneSecrets ?? []) secrets.remove(id);
      for (const row of writes.templates ?? []) templates.put(row);
      for (const row of writes.installations ?? []) installations.put(row);
      for (const row of writes.personal ?? []) personal.put(row);
      for (const row of writes.secrets ?? []) secrets.put(row);
      return touched;
    },
    forgetMember(membershipId) {
      for (const row of tables.personalBy.of(membershipId)) personal.remove(personalKey(row));
      for (const { id } of tables.secretsBy.of(membershipId)) secrets.remove(id);
    },
    forgetTeam(teamId) {
      for (const { id } of ofTeam(teamId)) removeInstallation(id);
      for (const { id } of secretsOfTeam(teamId)) secrets.remove(id);
      for (const { id } of tables.templatesOf(teamId)) templates.remove(id);
    },
    differenceTo: (rows) => ({
      templates: rows.templates.filter((row) => templates.rows.get(row.id)?.revision !== row.revision),
      installations: rows.installations.filter((row) => installations.rows.get(row.id)?.revision !== row.revision),
      personal: rows.personal.filter((row) => isOther(personal.rows.get(personalKey(row)), row)),
      secrets: rows.secrets.filter((row) => secrets.rows.get(row.id)?.sealed !== row.sealed),
      goneTemplates: templates.missing(rows.templates.map(toId)),
      goneInstallations: installations.missing(rows.installations.map(toId)),
      goneSecrets: secrets.missing(rows.secrets.map(toId)),
      gonePersonal: personal.missing(rows.personal.map(personalKey)).flatMap((key) => personal.rows.get(key) ?? none),
    }),
    noteUse(id, usedAtMs) {
      const row = secrets.rows.get(id);
      if (row !== undefined) secrets.put({ ...row, usedAtMs });
    },
  };
}

function createTables() {
  const templates = createRowTable<TemplateRow>(toId);
  const installations = createRowTable<InstallationRow>(toId);
  const personal = createRowTable<PersonalRow>(personalKey);
  const secrets = createRowTable<SecretRow>(toId);
  return {
    ...{ templates, installations, personal, secrets },
    templatesOf: templates.grouped(({ teamId }) => teamId).of,
    ofTeam: installations.grouped(({ teamId }) => teamId).of,
    installed: installations.unique(slugKey),
    personalOf: personal.grouped(({ installationId }) => installationId),
    /** By member, as the other. */
    personalBy: personal.grouped(({ membershipId }) => membershipId),
    secretsBy: secrets.grouped(({ membershipId }) => membershipId),
    secretsOf: secrets.grouped(ownerKey).of,
    secretsOfTeam: secrets.grouped(({ teamId }) => teamId).of,
  };
}

function isOther(known: PersonalRow | undefined, { revision, config }: PersonalRow): boolean {
  return known?.revision !== revision || known.config !== config;
}

/** What a change is about, looked up before it is made. */
function touchedBy(
  writes: InstallWrites,
  { installations, ofTeam, secrets }: ReturnType<typeof createTables>,
): Touched {
  const teams = new Set<string>();
  const touched: { id: string; membershipId: string | undefined }[] = [];
  const touch = (id: string, membershipId?: string): void => {
    const row = installations.rows.get(id);
    if (row !== undefined) teams.add(row.teamId);
    touched.push({ id, membershipId });
  };
  const renewed = new Set([...(writes.templates ?? []).map(toId), ...(writes.goneTemplates ?? [])]);
  if (renewed.size > 0)
    for (const { id, templateId } of installations.rows.values()) if (renewed.has(templateId)) touch(id);
  for (const id of writes.goneInstallations ?? []) touch(id);
  for (const { id, teamId } of writes.installations ?? []) {
    teams.add(teamId);
    touch(id);
  }
  for (const row of [...(writes.personal ?? []), ...(writes.gonePersonal ?? [])])
    touch(row.installationId, row.membershipId);
  const changed = (writes.goneSecrets ?? []).flatMap((id) => secrets.rows.get(id) ?? none);
  for (const { teamId, installationId, membershipId } of [...changed, ...(writes.secrets ?? [])]) {
    if (installationId !== null) touch(installationId, membershipId ?? undefined);
    // Any of them may name it.
    else for (const { id } of ofTeam(teamId)) touch(id);
  }
  return { teams, installations: touched };
}

function slugKey({ teamId, slug }: Pick<InstallationRow, "teamId" | "slug">): string {
  return `${teamId}\0${slug}`;
}

function personalKey({ installationId, membershipId }: Pick<PersonalRow, "installationId" | "membershipId">): string {
  return `${membershipId}\0${installationId}`;
}

function ownerKey({ teamId, installationId, membershipId }: SecretOwner): string {
  return [teamId, installationId ?? "", membershipId ?? ""].join("\0");
}

function toId({ id }: { readonly id: string }): string {
  return id;
}
