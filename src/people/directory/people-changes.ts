import { createChangeQueue, type ChangeActor, type ChangeQueueDeps, type Plan } from "./change-queue.ts";
import { createPeopleLookup, type PeopleLookupDeps, type PlanFacts } from "./people-lookup.ts";
import { signIn } from "./plans/identity-plans.ts";
import { acceptInvite, addInvite, readInvite, removeInvite, type OpenInvite } from "./plans/invite-plans.ts";
import {
  addMember,
  changeMember,
  removeMember,
  setOwner,
  addTeam,
  changeTeam,
  removeTeam,
} from "./plans/team-plans.ts";
import { addToken, addUser, changeUser, removeUser, resetUser, revokeToken } from "./plans/user-plans.ts";

/** What can be done with people: each plan is a change of this name. */
const plans = {
  ...{ addUser, changeUser, removeUser, resetUser, addToken, revokeToken },
  ...{ addTeam, changeTeam, removeTeam, addMember, changeMember, removeMember, setOwner },
  ...{ addInvite, removeInvite, acceptInvite, signIn },
};
type Plans = typeof plans;
type Change<Planning> = Planning extends (facts: PlanFacts, ...given: infer Given) => Plan<infer Result>
  ? (...given: Given) => Promise<Result>
  : never;

/**
 * What can be done with people, by somebody. Each resolves when it is on the disk together with its entry in the audit,
 * and in force. Rejects with PERSON_UNKNOWN, PEOPLE_CONFLICT, FORBIDDEN, REVISION_MISMATCH, and as the store does.
 * Whether somebody may manage users and tokens at all is decided where the request comes in; who manages whom in a
 * team, that no one changes their own role, and that an admin is left, is decided here, with the facts when the change
 * has its turn.
 */
export type PeopleChanges = { readonly [Name in keyof Plans]: Change<Plans[Name]> } & {
  /** The offer that an invitation's secret opens. Throws PERSON_UNKNOWN. */
  readonly readInvite: (secret: string) => OpenInvite;
};

export function createPeopleChanges(deps: ChangeQueueDeps & PeopleLookupDeps): (by: ChangeActor) => PeopleChanges {
  const carryOut = createChangeQueue(deps);
  const lookup = createPeopleLookup(deps);

  return (by) => {
    const facts: PlanFacts = { ...lookup, by };
    const changes = Object.entries(plans).map(([name, plan]) => {
      const planned = plan as (facts: PlanFacts, ...given: unknown[]) => Plan<unknown>;
      return [name, async (...given: unknown[]) => await carryOut(by, () => planned(facts, ...given))];
    });
    const all = Object.fromEntries(changes) as Omit<PeopleChanges, "readInvite">;
    return {
      ...all,
      async signIn(given) {
        const { writes, result } = signIn(facts, given);
        const isNothing = Object.keys(writes).length === 0 && given.spentSetup === undefined;
        return isNothing ? result : await all.signIn(given);
      },
      readInvite: (secret) => readInvite(facts, secret),
    };
  };
}
