import type { Config } from "../../config/config.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import { openOnce, type LoadLate } from "../../kernel/runtime/late-module.ts";
import type { MemberIndex } from "../../people/directory/books/member-index.ts";
import type { TeamDirectoryOptions } from "../../people/directory/team-directory.ts";
import type { CheckForeignToken } from "../../people/identity/foreign-tokens.ts";
import type { AccessStore } from "../../store/access-store.ts";
import type { GatewayAudit } from "../records/audit-wing.ts";

export interface TeamForeignDeps {
  readonly config: () => Config;
  readonly store: Pick<AccessStore, "identity">;
  readonly book: () => Pick<MemberIndex, "membersOf">;
  readonly isScope: (text: string) => boolean;
  readonly deny: GatewayAudit["deny"];
  readonly loadLate: LoadLate;
  readonly clock: Clock;
}

/**
 * Checks tokens of the authorization servers of `auth.external`, with code that is loaded at the first of them.
 * Undefined where there are none.
 */
export function createTeamForeign(deps: TeamForeignDeps): TeamDirectoryOptions["foreign"] {
  const { config, store, book, isScope, deny, loadLate, clock } = deps;
  const rules = config().settings.auth.external;
  if (rules === undefined) return undefined;

  const load = openOnce(async (): Promise<CheckForeignToken> => {
    const { createForeignTokens } = await loadLate(
      "the check of tokens of another authorization server",
      async () => await import("../../people/identity/foreign-tokens.ts"),
    );
    return createForeignTokens({
      rules,
      base: () => config().settings.publicUrl ?? "",
      isScope,
      userOf: async (account) => (await store.identity(account))?.userId ?? undefined,
      membersOf: (userId) => book().membersOf(userId),
      onStranger: ({ issuer, subject, why }) =>
        deny({
          ...{ actor: "unknown", via: "jwt", action: "token.stranger", object: subject.slice(0, 100), ip: null },
          ...{ outcome: "denied", detail: { issuer, why } },
        }),
      clock,
    });
  });

  return async (token, signal) => {
    try {
      const check = await load();
      return await check(token, signal);
    } catch (error) {
      // It is no failure of the sender, and its text may hold addresses.
      throw new Error("the authorization server cannot be asked", { cause: error });
    }
  };
}
