import { flag, integer, integerOrNull, table, text, textOrNull, word, type RowOf } from "./state-table.ts";

/**
 * Servers of teams as they are kept, with their values and secrets: declared once, for those who change them and those
 * who keep them. Plain values only, because they travel to a worker thread as JSON. Times are wall clock, in ms;
 * `revision` grows with every change of a row, so that no one overwrites what they have not seen.
 */

export const installTables = {
  /** A server that teams can install. */
  template: table({
    /** `tp_` and 26 letters and digits. */
    id: text,
    /** The team that made it and is the only one that sees it; null for one of all teams. */
    teamId: textOrNull,
    slug: text,
    source: word<"own" | "registry">(),
    transport: text,
    /** JSON: an entry as in `mcpServers` of the configuration. */
    entry: text,
    /** JSON: a list of `TierField`. */
    fields: text,
    version: integer,
    revision: integer,
    /** Whether an admin of the gateway wrote the entry: otherwise a name in it must lead into the public Internet. */
    byAdmin: flag,
    changedBy: text,
    createdAtMs: integer,
  }),
  /** A template in a team. */
  installation: table({
    /** `i_` and 26 letters and digits. */
    id: text,
    teamId: text,
    /** The id of a template, or `file:` and the key of a server of the configuration file. */
    templateId: text,
    /** That of the template when it was installed. */
    templateVersion: integer,
    slug: text,
    name: text,
    scope: text,
    /** JSON: `TierValues` of the team. */
    config: text,
    /** JSON: a list of paths that only the team and the template decide. */
    locks: text,
    /** JSON: `InstallationSettings`. */
    settings: text,
    enabled: flag,
    revision: integer,
    changedBy: text,
    createdAtMs: integer,
  }),
  /** What one member set for an installation. */
  personal_config: table({
    installationId: text,
    membershipId: text,
    /** JSON: `TierValues` of the person. */
    config: text,
    revision: integer,
  }),
  /** A sealed value. The owner is the team, an installation of it, or a member in an installation. */
  secret: table({
    /** `s_` and 26 letters and digits. */
    id: text,
    teamId: text,
    installationId: textOrNull,
    membershipId: textOrNull,
    /** The name of a team's secret, otherwise the path of a field. */
    field: text,
    /** Base64. */
    sealed: text,
    keyId: text,
    /** Grows with every new value: an old one does not open in the place of a new one. */
    version: integer,
    createdAtMs: integer,
    updatedAtMs: integer,
    /** The beginning of the hour in which it last reached a server; null for never. */
    usedAtMs: integerOrNull,
  }),
  /** A team's key, wrapped. */
  data_key: table({
    /** `k_` and 26 letters and digits. */
    id: text,
    teamId: text,
    /** Base64. */
    wrapped: text,
    /** The id of the wrapping key. */
    kek: text,
    createdAtMs: integer,
  }),
};

type Tables = typeof installTables;
export type TemplateRow = RowOf<Tables["template"]>;
export type InstallationRow = RowOf<Tables["installation"]>;
export type PersonalRow = RowOf<Tables["personal_config"]>;
export type SecretRow = RowOf<Tables["secret"]>;
export type DataKeyRow = RowOf<Tables["data_key"]>;

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
