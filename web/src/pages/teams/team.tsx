import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { peopleQueries } from "../../api/people-queries.ts";
import { isOtherTeam, mayManageTeam, useWho } from "../../api/who.ts";
import { OtherTeam } from "../../parts/people/other-team.tsx";
import { Page } from "../../parts/page.tsx";
import { LoadedPage } from "../../parts/basic/states.tsx";
import { TabLinks } from "../../parts/basic/tab-links.tsx";
import { TeamInvites } from "../../parts/people/team-invites.tsx";
import { TeamMembers } from "../../parts/people/team-members.tsx";
import { TeamSecrets } from "../../parts/people/team-secrets.tsx";
import { TeamServers } from "../../parts/installations/team-servers.tsx";
import { TeamSettings } from "../../parts/people/team-settings.tsx";
import { counted, plain } from "../../words/format.ts";
import { roleNames } from "../../words/roles.ts";

const here = getRouteApi("/teams/$team");

/** One team: who is in it, which servers it has, and for its admins how it is run. */
export function Team() {
  const { team: slug } = here.useParams();
  const { tab = "members" } = here.useSearch();
  const who = useWho();
  const isElsewhere = isOtherTeam(who, slug);
  const team = useQuery({ ...peopleQueries.team(slug), enabled: !isElsewhere });
  const isManaged = mayManageTeam(who, slug);
  const tabs: readonly (readonly [string, string])[] = [
    ["members", "Members"],
    ["servers", "Servers"],
    ...(isManaged
      ? ([
          ["invites", "Invitations"],
          ["secrets", "Secrets"],
          ["settings", "Settings"],
        ] as const)
      : []),
  ];
  if (isElsewhere) return <OtherTeam team={slug} />;
  const shown = tabs.some(([name]) => name === tab) ? tab : "members";
  return (
    <LoadedPage query={team} title={slug}>
      {(found) => (
        <Page
          title={found.value.title === "" ? slug : plain(found.value.title)}
          about={
            <>
              <Link to="/people">Teams</Link> · {slug} · {counted(found.value.members, "member")}
              {found.value.role !== null && ` · you are ${roleNames[found.value.role]}`}
            </>
          }
        >
          <TabLinks
            label="Parts"
            tabs={tabs}
            chosen={shown}
            link={(name, rest) => <Link to="/teams/$team" params={{ team: slug }} search={{ tab: name }} {...rest} />}
          />
          {shown === "members" && <TeamMembers team={slug} />}
          {shown === "servers" && <TeamServers team={slug} />}
          {shown === "invites" && <TeamInvites team={slug} />}
          {shown === "secrets" && <TeamSecrets team={slug} />}
          {shown === "settings" && <TeamSettings latest={found} />}
        </Page>
      )}
    </LoadedPage>
  );
}
