import type {
  InstallationRow,
  InstallRows,
  InstallWrites,
  PersonalRow,
  SecretRow,
  TemplateRow,
} from "../../store/install-rows.ts";

/** Whose a secret is: of the team, of an installation, or of a member in an installation. */
export type SecretOwner = Pick<SecretRow, "teamId" | "installationId" | "membershipId">;

/** The subject of a change, for those who run the installed servers. */
export interface Touched {
  /** Every team whose servers are others now. */
  readonly teams: ReadonlySet<string>;
  /** Installations, and whose instances of them: undefined for everybody's. */
  readonly installations: readonly { readonly id: string; readonly membershipId: string | undefined }[];
}

/**
 * All servers of teams, in memory, by what they are looked up with. A change costs as much as it touches, however many
 * installations there are.
 */
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
  const templates = new Map<string, TemplateRow>();
  const installations = new Map<string, InstallationRow>();
  const byTeam = new Map<string, Map<string, InstallationRow>>();
  /** By member, then by installation. */
  const personal = new Map<string, Map<string, PersonalRow>>();
  const secrets = createSecretIndex();

  function removeInstallation(id: string): void {
    const row = installations.get(id);
    if (row === undefined) return;
    installations.delete(id);
    byTeam.get(row.teamId)?.delete(row.slug);
    for (const own of personal.values()) own.delete(id);
    secrets.removeWhere(row.teamId, ({ installationId }) => installationId === id);
  }

  return {
    templates,
    installations,
    ofTeam: (teamId) => [...(byTeam.get(teamId)?.values() ?? none)],
    installed: (teamId, slug) => byTeam.get(teamId)?.get(slug),
    personal: (installationId, membershipId) => personal.get(membershipId)?.get(installationId),
    secretsOf: secrets.of,
    secretsOfTeam: secrets.ofTeam,
    *membersWithValues() {
      yield* personal.keys();
      yield* secrets.members();
    },
    apply(writes) {
      const touched = touchedBy(writes, { installations, byTeam, secrets });
      for (const id of writes.goneTemplates ?? []) templates.delete(id);
      for (const id of writes.goneInstallations ?? []) removeInstallation(id);
      for (const row of writes.gonePersonal ?? []) personal.get(row.membershipId)?.delete(row.installationId);
      for (const id of writes.goneSecrets ?? []) secrets.remove(id);
      for (const row of writes.templates ?? []) templates.set(row.id, row);
      for (const row of writes.installations ?? []) putInstallation(installations, byTeam, row);
      for (const row of writes.personal ?? []) {
        const own = personal.get(row.membershipId) ?? new Map<string, PersonalRow>();
        personal.set(row.membershipId, own.set(row.installationId, row));
      }
      for (const row of writes.secrets ?? []) secrets.put(row);
      return touched;
    },
    forgetMember(membershipId) {
      personal.delete(membershipId);
      secrets.removeMember(membershipId);
    },
    forgetTeam(teamId) {
      for (const { id } of [...(byTeam.get(teamId)?.values() ?? none)]) removeInstallation(id);
      byTeam.delete(teamId);
      secrets.removeWhere(teamId, () => true);
      for (const { id, teamId: owner } of [...templates.values()]) if (owner === teamId) templates.delete(id);
    },
    differenceTo(rows) {
      const kept = new Set([...rows.templates, ...rows.installations, ...rows.secrets].map(toId));
      const keptPersonal = new Set(rows.personal.map((row) => `${row.membershipId}\0${row.installationId}`));
      const isGone = (id: string): boolean => !kept.has(id);
      return {
        templates: rows.templates.filter((row) => templates.get(row.id)?.revision !== row.revision),
        installations: rows.installations.filter((row) => installations.get(row.id)?.revision !== row.revision),
        personal: rows.personal.filter((row) => isOther(personal.get(row.membershipId)?.get(row.installationId), row)),
        secrets: rows.secrets.filter((row) => secrets.get(row.id)?.sealed !== row.sealed),
        goneTemplates: [...templates.keys()].filter(isGone),
        goneInstallations: [...installations.keys()].filter(isGone),
        goneSecrets: [...secrets.ids()].filter(isGone),
        gonePersonal: [...personal.values()]
          .flatMap((own) => [...own.values()])
          .filter((row) => !keptPersonal.has(`${row.membershipId}\0${row.installationId}`)),
      };
    },
    noteUse: secrets.noteUse,
  };
}

function putInstallation(
  installations: Map<string, InstallationRow>,
  byTeam: Map<string, Map<string, InstallationRow>>,
  row: InstallationRow,
): void {
  const before = installations.get(row.id);
  if (before !== undefined) byTeam.get(before.teamId)?.delete(before.slug);
  installations.set(row.id, row);
  const own = byTeam.get(row.teamId) ?? new Map<string, InstallationRow>();
  byTeam.set(row.teamId, own.set(row.slug, row));
}

function isOther(known: PersonalRow | undefined, { revision, config }: PersonalRow): boolean {
  return known?.revision !== revision || known.config !== config;
}

interface Indexes {
  readonly installations: ReadonlyMap<string, InstallationRow>;
  readonly byTeam: ReadonlyMap<string, ReadonlyMap<string, InstallationRow>>;
  readonly secrets: Pick<ReturnType<typeof createSecretIndex>, "get">;
}

/** What a change is about, looked up before it is made. */
function touchedBy(writes: InstallWrites, { installations, byTeam, secrets }: Indexes): Touched {
  const teams = new Set<string>();
  const touched: { id: string; membershipId: string | undefined }[] = [];
  const touch = (id: string, membershipId?: string): void => {
    const row = installations.get(id);
    if (row !== undefined) teams.add(row.teamId);
    touched.push({ id, membershipId });
  };
  const renewed = new Set([...(writes.templates ?? []).map(toId), ...(writes.goneTemplates ?? [])]);
  if (renewed.size > 0) for (const { id, templateId } of installations.values()) if (renewed.has(templateId)) touch(id);
  for (const id of writes.goneInstallations ?? []) touch(id);
  for (const { id, teamId } of writes.installations ?? []) {
    teams.add(teamId);
    touch(id);
  }
  for (const row of [...(writes.personal ?? []), ...(writes.gonePersonal ?? [])])
    touch(row.installationId, row.membershipId);
  const changed = (writes.goneSecrets ?? []).flatMap((id) => secrets.get(id) ?? none);
  for (const { teamId, installationId, membershipId } of [...changed, ...(writes.secrets ?? [])]) {
    if (installationId !== null) touch(installationId, membershipId ?? undefined);
    // Any of them may name it.
    else for (const { id } of byTeam.get(teamId)?.values() ?? none) touch(id);
  }
  return { teams, installations: touched };
}

/** Secrets by id, by whose they are, and by team. */
function createSecretIndex() {
  const byId = new Map<string, SecretRow>();
  const byOwner = new Map<string, Map<string, SecretRow>>();
  const byTeam = new Map<string, Set<string>>();
  const byMember = new Map<string, Set<string>>();

  function remove(id: string): void {
    const row = byId.get(id);
    if (row === undefined) return;
    byId.delete(id);
    removeFrom(byOwner, ownerKey(row), id);
    removeFrom(byTeam, row.teamId, id);
    if (row.membershipId !== null) removeFrom(byMember, row.membershipId, id);
  }

  return {
    get: (id: string) => byId.get(id),
    ids: () => byId.keys(),
    members: () => byMember.keys(),
    of: (owner: SecretOwner): readonly SecretRow[] => [...(byOwner.get(ownerKey(owner))?.values() ?? none)],
    ofTeam: (teamId: string): readonly SecretRow[] =>
      [...(byTeam.get(teamId) ?? none)].flatMap((id) => byId.get(id) ?? none),
    put(row: SecretRow): void {
      byId.set(row.id, row);
      const key = ownerKey(row);
      byOwner.set(key, (byOwner.get(key) ?? new Map<string, SecretRow>()).set(row.id, row));
      byTeam.set(row.teamId, (byTeam.get(row.teamId) ?? new Set()).add(row.id));
      if (row.membershipId !== null)
        byMember.set(row.membershipId, (byMember.get(row.membershipId) ?? new Set()).add(row.id));
    },
    remove,
    removeMember(membershipId: string): void {
      for (const id of [...(byMember.get(membershipId) ?? none)]) remove(id);
    },
    removeWhere(teamId: string, isGone: (row: SecretRow) => boolean): void {
      for (const id of [...(byTeam.get(teamId) ?? none)]) {
        const row = byId.get(id);
        if (row !== undefined && isGone(row)) remove(id);
      }
    },
    noteUse(id: string, usedAtMs: number): void {
      const row = byId.get(id);
      if (row === undefined) return;
      const used = { ...row, usedAtMs };
      byId.set(id, used);
      byOwner.get(ownerKey(row))?.set(id, used);
    },
  };
}

function removeFrom(
  index: Map<string, { delete(id: string): boolean; readonly size: number }>,
  key: string,
  id: string,
) {
  const ids = index.get(key);
  ids?.delete(id);
  if (ids?.size === 0) index.delete(key);
}

function ownerKey({ teamId, installationId, membershipId }: SecretOwner): string {
  return [teamId, installationId ?? "", membershipId ?? ""].join("\0");
}

function toId({ id }: { readonly id: string }): string {
  return id;
}
