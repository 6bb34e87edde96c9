import type { InstallWrites } from "../../store/install-rows.ts";
import type { InstallBook } from "./install-book.ts";

/**
 * What takes away whatever members gave of their own for servers of a template, secrets too: for one that leads
 * elsewhere from now on, where nobody agreed to have it sent. As a login, it is for the address that it was given for.
 */
export function withoutMemberValues(
  book: Pick<InstallBook, "installations" | "membersWithValues" | "personal" | "secretsOfTeam">,
  templateId: string,
): Pick<InstallWrites, "gonePersonal" | "goneSecrets"> {
  const installed = [...book.installations.values()].filter((row) => row.templateId === templateId);
  const members = [...new Set(book.membersWithValues())];
  return {
    gonePersonal: installed.flatMap(({ id: installationId }) =>
      members
        .filter((membershipId) => book.personal(installationId, membershipId) !== undefined)
        .map((membershipId) => ({ installationId, membershipId })),
    ),
    goneSecrets: installed.flatMap(({ id, teamId }) =>
      book
        .secretsOfTeam(teamId)
        .filter(({ installationId, membershipId }) => installationId === id && membershipId !== null)
        .map((row) => row.id),
    ),
  };
}
