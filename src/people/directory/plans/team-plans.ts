import type { TeamLimits, TeamRow } from "../../../store/people-rows.ts";
import type { ChangeActor, Plan } from "../change-queue.ts";
import { conflict, forbidden, requireRevision, revise, type MadeToken, type PeopleFacts } from "../people-facts.ts";
import { isAtLeast } from "../team-rights.ts";

export interface NewTeam {
  readonly slug: string;
  readonly title?: string | undefined;
}

export interface TeamChange {
  readonly team: string;
  readonly title?: string | undefined;
  readonly limits?: TeamLimits | undefined;
  readonly expected?: number | undefined;
}

/** Teams that one user may be the owner of: a company has few, and a program that makes them has to be stopped. */
const mostOwned = 10;
const firstTokenDays = 90;

/** Changes of teams. */
export function createTeamPlans(facts: PeopleFacts) {
  const { book, teamOf, standingOf } = facts;

  function ownTeam(by: ChangeActor, team: TeamRow): Plan<MadeToken | undefined> {
    const user = book.users.get(by.user ?? "");
    if (user?.status !== "active") throw forbidden("only a user of the database may have a team");
    if (facts.isTeamOfConfig(team.slug)) throw conflict(`there is a team ${team.slug} already`);
    const owned = book.membersOf(user.id).filter(({ row }) => row.role === "owner");
    if (owned.length >= mostOwned) throw conflict(`${user.name} has ${mostOwned} teams already`);
    const member = facts.newMember(user, team, "owner");
    const { row, made } = facts.newPat(member.id, "first", { days: firstTokenDays });
    const about = { action: "team.add", object: team.slug, team: team.slug };
    return { writes: { teams: [team], memberships: [member], pats: [row] }, ...about, result: made };
  }

  return {
    /** Whoever does not run the gateway becomes the team's owner, and gets a token for it. */
    addTeam(by: ChangeActor, { slug, title = "" }: NewTeam): Plan<MadeToken | undefined> {
      const team = facts.newTeam(slug, title);
      if (!facts.isAdmin(by)) return ownTeam(by, team);
      return { writes: { teams: [team] }, action: "team.add", object: slug, team: slug, result: undefined };
    },

    changeTeam(by: ChangeActor, { team: slug, title, limits, expected }: TeamChange): Plan<void> {
      const team = teamOf(slug);
      if (limits !== undefined && !facts.isAdmin(by)) throw forbidden("only an admin of the gateway sets limits");
      const change = {
        ...(title === undefined ? {} : { title: title.slice(0, 100) }),
        ...(limits === undefined ? {} : { limits }),
      };
      const about = { action: "team.change", object: slug, team: slug, detail: change };
      return { writes: { teams: [revise(team, expected, change)] }, ...about, result: undefined };
    },

    removeTeam(by: ChangeActor, slug: string, expected: number | undefined): Plan<void> {
      const team = teamOf(slug);
      if (!isAtLeast(standingOf(by, team), "owner")) throw forbidden("only an owner of the team may do that");
      requireRevision(team, expected);
      for (const { user } of book.membersIn(team.id))
        facts.keepAdmin(user, book.membersOf(user.id).length === 1, team.id);
      const about = { action: "team.remove", object: slug, team: slug };
      return { writes: { goneTeams: [team.id] }, ...about, result: undefined };
    },
  };
}
