import type { MembershipRow, TeamRole } from "../../store/people-rows.ts";
import { createChangeQueue, type ChangeActor, type ChangeQueueDeps } from "./change-queue.ts";
import {
  createInvitePlans,
  type InviteAnswer,
  type Joined,
  type MadeInvite,
  type NewInvite,
  type OpenInvite,
} from "./plans/invite-plans.ts";
import { createIdentityPlans, type SignedIn, type SignIn } from "./plans/identity-plans.ts";
import { createPeopleFacts, type MadeToken, type PeopleFactsDeps } from "./people-facts.ts";
import { createMemberPlans, type MemberChoice } from "./plans/member-plans.ts";
import { createTeamPlans, type NewTeam, type TeamChange } from "./plans/team-plans.ts";
import { createUserPlans, type NewPat, type NewUser, type UserChange } from "./plans/user-plans.ts";

/**
 * What can be done with people, by somebody. Each resolves when it is on the disk together with its entry in the
 * audit, and in force. Rejects with PERSON_UNKNOWN, PEOPLE_CONFLICT, FORBIDDEN, REVISION_MISMATCH, and as the store
 * does. Whether somebody may manage users and tokens at all is decided where the request comes in; who manages whom in
 * a team, that nobody changes their own role, and that an admin is left, is decided here, with what is true when the
 * change has its turn.
 */
export interface PeopleChanges {
  addUser(given: NewUser): Promise<MadeToken | undefined>;
  changeUser(given: UserChange): Promise<void>;
  removeUser(user: string): Promise<void>;
  /** Revokes every token of the user, in all teams. Resolves to how many there were. */
  resetUser(user: string): Promise<number>;
  addTeam(given: NewTeam): Promise<MadeToken | undefined>;
  changeTeam(given: TeamChange): Promise<void>;
  removeTeam(team: string, expected?: number): Promise<void>;
  addMember(given: { readonly team: string; readonly user: string; readonly role: TeamRole }): Promise<MembershipRow>;
  changeMember(given: MemberChoice, role: TeamRole): Promise<void>;
  removeMember(given: MemberChoice): Promise<void>;
  setOwner(given: MemberChoice): Promise<void>;
  addToken(given: NewPat): Promise<MadeToken>;
  /** `of` is the membership that it has to belong to. */
  revokeToken(id: string, of?: string): Promise<void>;
  addInvite(given: NewInvite): Promise<MadeInvite>;
  removeInvite(team: string, id: string): Promise<void>;
  /** Needs no right but the secret. The audit names the new membership as the actor. */
  acceptInvite(given: InviteAnswer): Promise<Joined>;
  /**
   * Who somebody is who logged in at an identity provider, with what its groups give and take. Rejects with
   * IDENTITY_UNKNOWN and LOGIN_EXPIRED too; then a set-up link stays good. Where nothing changes, nothing is written.
   */
  signIn(given: SignIn): Promise<SignedIn>;
  /** What is offered to whoever has the secret. Throws PERSON_UNKNOWN. */
  readInvite(secret: string): OpenInvite;
}

export type PeopleChangesDeps = ChangeQueueDeps & PeopleFactsDeps;

export function createPeopleChanges(deps: PeopleChangesDeps): (by: ChangeActor) => PeopleChanges {
  const carryOut = createChangeQueue(deps);
  const facts = createPeopleFacts(deps);
  const [users, teams] = [createUserPlans(facts), createTeamPlans(facts)];
  const invites = createInvitePlans(facts);
  const identities = createIdentityPlans(facts, invites);
  const plans = { ...users, ...teams, ...createMemberPlans(facts), ...invites, ...identities };

  return (by) => ({
    addUser: async (given) => await carryOut(by, () => plans.addUser(given)),
    changeUser: async (given) => await carryOut(by, () => plans.changeUser(by, given)),
    removeUser: async (user) => await carryOut(by, () => plans.removeUser(by, user)),
    resetUser: async (user) => await carryOut(by, () => plans.resetUser(user)),
    addTeam: async (given) => await carryOut(by, () => plans.addTeam(by, given)),
    changeTeam: async (given) => await carryOut(by, () => plans.changeTeam(by, given)),
    removeTeam: async (team, expected) => await carryOut(by, () => plans.removeTeam(by, team, expected)),
    addMember: async (given) => await carryOut(by, () => plans.addMember(by, given)),
    changeMember: async (given, role) => await carryOut(by, () => plans.changeMember(by, given, role)),
    removeMember: async (given) => await carryOut(by, () => plans.removeMember(by, given)),
    setOwner: async (given) => await carryOut(by, () => plans.setOwner(by, given)),
    addToken: async (given) => await carryOut(by, () => plans.addToken(given)),
    revokeToken: async (id, of) => await carryOut(by, () => plans.revokeToken(id, of)),
    addInvite: async (given) => await carryOut(by, () => plans.addInvite(by, given)),
    removeInvite: async (team, id) => await carryOut(by, () => plans.removeInvite(by, team, id)),
    acceptInvite: async (given) => await carryOut(by, () => plans.acceptInvite(given)),
    async signIn(given) {
      const { writes, result } = plans.signIn(given);
      const isNothing = Object.keys(writes).length === 0 && given.spentSetup === undefined;
      return isNothing ? result : await carryOut(by, () => plans.signIn(given));
    },
    readInvite: plans.readInvite,
  });
}
