import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { peopleQueries } from "../../api/people-queries.ts";
import { useWho } from "../../api/who.ts";
import { Button } from "../../parts/basic/button.tsx";
import { DataTable, type Column } from "../../parts/basic/data-table.tsx";
import { ListCopies } from "../../parts/servers/list-copies.tsx";
import { OAuthClients } from "../../parts/people/oauth-clients.tsx";
import { OnceSecret } from "../../parts/people/once-secret.tsx";
import { OrderForm } from "../../parts/forms/order-form.tsx";
import { Page } from "../../parts/page.tsx";
import { Empty, Loaded } from "../../parts/basic/states.tsx";
import { RoleField } from "../../parts/people/team-members.tsx";
import { TabLinks } from "../../parts/basic/tab-links.tsx";
import { UserEditor } from "../../parts/people/user-editor.tsx";
import { count, fullTime, plain } from "../../words/format.ts";
import { roleNames } from "../../words/roles.ts";
import { toCommand } from "../../words/words.ts";

const here = getRouteApi("/people");
const slugHint = "Lowercase letters, digits and hyphens.";

/** Teams, and for admins of the gateway its users. */
export function People() {
  const { tab = "teams" } = here.useSearch();
  const { roles, hasPeople } = useWho();
  const isAdmin = roles.includes("admin");
  if (!hasPeople)
    return (
      <Page title="People and teams">
        <Empty title="This gateway is not in team mode">
          <p>
            <code>toolyard serve --team</code> keeps users and teams in its database. Without it, people stand in the
            configuration.
          </p>
        </Empty>
      </Page>
    );
  return (
    <Page
      title="People and teams"
      about={isAdmin ? "Everybody who may use this gateway." : "The teams that you are in."}
    >
      {isAdmin && (
        <TabLinks
          label="Parts"
          tabs={[
            ["teams", "Teams"],
            ["users", "Users"],
            ["apps", "Apps"],
          ]}
          chosen={tab}
          link={(name, rest) => <Link to="/people" search={{ tab: name }} {...rest} />}
        />
      )}
      {isAdmin && tab === "users" && <Users />}
      {isAdmin && tab === "apps" && <OAuthClients />}
      {(!isAdmin || (tab !== "users" && tab !== "apps")) && <Teams />}
    </Page>
  );
}

type Team = Schemas["Team"];

const teamColumns: readonly Column<Team>[] = [
  {
    heading: "Team",
    width: "minmax(7rem, 1fr)",
    cell: ({ slug }) => (
      <Link to="/teams/$team" params={{ team: slug }}>
        {plain(slug)}
      </Link>
    ),
  },
  {
    heading: "Title",
    width: "minmax(6rem, 2fr)",
    cell: ({ title }) => (title === "" ? <span className="muted">none</span> : plain(title)),
  },
  { heading: "Members", width: "5rem", align: "right", cell: ({ members }) => count(members) },
  {
    heading: "You are",
    width: "6.5rem",
    cell: ({ role }) => (role === null ? <span className="muted">not in it</span> : roleNames[role]),
  },
  { heading: "Since", width: "12rem", cell: ({ created }) => <span className="muted">{fullTime(created)}</span> },
];

function Teams() {
  const [isAdding, setAdding] = useState(false);
  const teams = useQuery(peopleQueries.teams);
  return (
    <>
      <div className="actions bar-actions">
        <Button onClick={() => setAdding(true)}>Add a team</Button>
        <ListCopies command={toCommand("team list")} rows={teams.data ?? []} />
      </div>
      {isAdding && <NewTeam onClose={() => setAdding(false)} />}
      <Loaded query={teams} lines={6}>
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="There is no team yet">
              <p>Add one, and invite people into it.</p>
            </Empty>
          ) : (
            <DataTable label="Teams" columns={teamColumns} rows={rows} rowKey={({ slug }) => slug} />
          )
        }
      </Loaded>
    </>
  );
}

/** A team or a user that was just made, with a first token where there is one. */
function Made({ what, made }: { readonly what: string; readonly made: Schemas["MadeToken"] | null | undefined }) {
  if (made == null)
    return (
      <p className="note good" role="status">
        {what}.
      </p>
    );
  return <OnceSecret title={`${what}, with a first token.`} secret={made.token} expires={made.expires} />;
}

function NewTeam({ onClose }: { readonly onClose: () => void }) {
  const { roles } = useWho();
  return (
    <OrderForm
      title="Add a team"
      submit="Add"
      start={{ slug: "", title: "" }}
      fields={{
        slug: { label: "Name", hint: `${slugHint} It cannot be changed later.`, isNeeded: true },
        title: { label: "Title" },
      }}
      note={() =>
        !roles.includes("admin") && <p className="muted">You will own it. You can choose it below your name.</p>
      }
      send={async (body) => await valueOf(api.POST("/api/teams", { body }))}
      result={({ made }) => <Made what="The team is added" made={made} />}
      onClose={onClose}
    />
  );
}

type User = Schemas["User"];

function Users() {
  const { match = "", tab } = here.useSearch();
  const navigate = useNavigate();
  const setMatch = (text: string): void => {
    const search = { ...(tab === undefined ? {} : { tab }), ...(text === "" ? {} : { match: text }) };
    void navigate({ to: "/people", search, replace: true });
  };
  const [isAdding, setAdding] = useState(false);
  const [edited, setEdited] = useState<string>();
  const users = useQuery(peopleQueries.users);
  const columns: readonly Column<User>[] = [
    {
      heading: "User",
      width: "minmax(9rem, 1fr)",
      cell: ({ id, name }) => (
        <Button look="plain" className="opens" title={plain(name)} onClick={() => setEdited(id)}>
          {plain(name)}
        </Button>
      ),
    },
    {
      heading: "May",
      width: "10rem",
      cell: ({ role }) => (role === "admin" ? "run the gateway" : <span className="muted">use it</span>),
    },
    {
      heading: "State",
      width: "7rem",
      cell: ({ status }) =>
        status === "active" ? <span className="muted">active</span> : <span className="bad-text">suspended</span>,
    },
    {
      heading: "Teams",
      width: "minmax(10rem, 2fr)",
      cell: ({ teams }) =>
        teams.length === 0 ? (
          <span className="muted">none</span>
        ) : (
          teams.map(({ team, role }, at) => (
            <span key={team}>
              {at > 0 && ", "}
              <Link to="/teams/$team" params={{ team }}>
                {plain(team)}
              </Link>
              {role !== "member" && <span className="muted"> ({role})</span>}
            </span>
          ))
        ),
    },
    { heading: "Since", width: "12rem", cell: ({ created }) => <span className="muted">{fullTime(created)}</span> },
  ];
  return (
    <>
      <div className="filters">
        <div className="field grow">
          <label htmlFor="user-match">Containing</label>
          <input id="user-match" type="search" value={match} onChange={({ target }) => setMatch(target.value)} />
        </div>
        <Button onClick={() => setAdding(true)}>Add a user</Button>
        <ListCopies command={match === "" ? toCommand("user list") : undefined} rows={users.data ?? []} />
      </div>
      {isAdding && <NewUser onClose={() => setAdding(false)} />}
      {edited !== undefined && <UserEditor id={edited} onClose={() => setEdited(undefined)} />}
      <Loaded query={users} lines={6}>
        {(all) => {
          const rows = all.filter(({ name }) => name.includes(match.trim().toLowerCase()));
          return rows.length === 0 ? (
            <Empty title={all.length === 0 ? "There is no user yet" : "No user has such a name"} />
          ) : (
            <DataTable label="Users" columns={columns} rows={rows} rowKey={({ id }) => id} />
          );
        }}
      </Loaded>
    </>
  );
}

const firstRole: Schemas["Member"]["role"] = "member";

function NewUser({ onClose }: { readonly onClose: () => void }) {
  const teams = useQuery(peopleQueries.teams);
  return (
    <OrderForm
      title="Add a user"
      submit="Add"
      start={{ name: "", team: "", role: firstRole, admin: false }}
      fields={{
        name: { label: "Name", hint: slugHint, isNeeded: true },
        team: {
          label: "Team",
          choices: [["", "None yet"], ...(teams.data ?? []).map(({ slug }) => [slug, plain(slug)] as const)],
        },
        role: ({ values, set }) =>
          values.team !== "" && <RoleField value={values.role} onChange={(role) => set({ role })} />,
        admin: { label: "Admin of the gateway", hint: "May do everything, in every team." },
      }}
      note={({ name }) => (
        <p className="muted">
          The user needs a link to set a password: <code>toolyard user link {name.trim() || "NAME"}</code>
        </p>
      )}
      send={async ({ team, role, ...user }) =>
        await valueOf(api.POST("/api/users", { body: { ...user, ...(team === "" ? {} : { team, role }) } }))
      }
      result={({ made }) => <Made what="The user is added" made={made} />}
      onClose={onClose}
    />
  );
}
