/**
 * Servers of teams as they are kept, with their values and secrets: declared once, for those who change them and those
 * who keep them. Plain values only, because they travel to a worker thread as JSON. Times are wall clock, in ms;
 * `revision` grows with every change of a row, so that nobody overwrites what they have not seen.
 */

/** A server that teams can install. */
export interface TemplateRow {
  /** `tp_` and 26 letters and digits. */
  readonly id: string;
  /** The team that made it and is the only one that sees it; null for one of all teams. */
  readonly teamId: string | null;
  readonly slug: string;
  readonly source: "own" | "registry";
  readonly transport: string;
  /** JSON: an entry as in `mcpServers` of the configuration. */
  readonly entry: string;
  /** JSON: a list of `TierField`. */
  readonly fields: string;
  readonly version: number;
  readonly revision: number;
  /** Whether an admin of the gateway wrote the entry: otherwise a name in it must lead into the public Internet. */
  readonly byAdmin: boolean;
  readonly changedBy: string;
  readonly createdAtMs: number;
}

/** A template in a team. */
export interface InstallationRow {
  /** `i_` and 26 letters and digits. */
  readonly id: string;
  readonly teamId: string;
  /** The id of a template, or `file:` and the key of a server of the configuration file. */
  readonly templateId: string;
  /** That of the template when it was installed. */
  readonly templateVersion: number;
  readonly slug: string;
  readonly name: string;
  readonly scope: string;
  /** JSON: `TierValues` of the team. */
  readonly config: string;
  /** JSON: a list of paths that only the team and the template decide. */
  readonly locks: string;
  /** JSON: `InstallationSettings`. */
  readonly settings: string;
  readonly enabled: boolean;
  readonly revision: number;
  readonly changedBy: string;
  readonly createdAtMs: number;
}

/** What one member set for an installation. */
export interface PersonalRow {
  readonly installationId: string;
  readonly membershipId: string;
  /** JSON: `TierValues` of the person. */
  readonly config: string;
  readonly revision: number;
}

/** A sealed value. The owner is the team, an installation of it, or a member in an installation. */
export interface SecretRow {
  /** `s_` and 26 letters and digits. */
  readonly id: string;
  readonly teamId: string;
  readonly installationId: string | null;
  readonly membershipId: string | null;
  /** The name of a team's secret, otherwise the path of a field. */
  readonly field: string;
  /** Base64. */
  readonly sealed: string;
  readonly keyId: string;
  /** Grows with every new value: an old one does not open in the place of a new one. */
  readonly version: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** The beginning of the hour in which it last reached a server; null for never. */
  readonly usedAtMs: number | null;
}

/** A team's key, wrapped. */
export interface DataKeyRow {
  /** `k_` and 26 letters and digits. */
  readonly id: string;
  readonly teamId: string;
  /** Base64. */
  readonly wrapped: string;
  /** The id of the wrapping key. */
  readonly kek: string;
  readonly createdAtMs: number;
}

/** All of them. */
export interface InstallRows {
  readonly templates: readonly TemplateRow[];
  readonly installations: readonly InstallationRow[];
  readonly personal: readonly PersonalRow[];
  readonly secrets: readonly SecretRow[];
  readonly dataKeys: readonly DataKeyRow[];
}

/** One change: rows that are new or replace those with their key, and keys of those that are removed. */
export interface InstallWrites extends Partial<InstallRows> {
  readonly goneTemplates?: readonly string[];
  /** What members set for them has to be named, too: nothing in the database refers to them. */
  readonly goneInstallations?: readonly string[];
  readonly gonePersonal?: readonly Pick<PersonalRow, "installationId" | "membershipId">[];
  readonly goneSecrets?: readonly string[];
  readonly goneDataKeys?: readonly string[];
}

/** When a secret last reached a server. */
export interface SecretUse {
  readonly id: string;
  readonly usedAtMs: number;
}
