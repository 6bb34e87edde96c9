import type { InstallWrites } from "../../store/install-rows.ts";
import type { InstallIndex } from "./install-index.ts";

/** The values of members that are taken away, and the entry of the audit about it. */
export interface ForgottenValues {
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
export function withoutMemberValues(
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
