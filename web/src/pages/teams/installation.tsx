import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { peopleQueries } from "../../api/people-queries.ts";
import { useOrder } from "../../api/queries.ts";
import { isOtherTeam, mayManageTeam, useWho } from "../../api/who.ts";
import { Button } from "../../parts/basic/button.tsx";
import { ConfirmButton } from "../../parts/forms/confirm.tsx";
import { InstallationSettings } from "../../parts/installations/installation-settings.tsx";
import { OtherTeam } from "../../parts/people/other-team.tsx";
import { Page, Section } from "../../parts/page.tsx";
import { FailureNote, Loaded, LoadedPage } from "../../parts/basic/states.tsx";
import { StatusMark } from "../../parts/basic/status-mark.tsx";
import { ValuesForm } from "../../parts/installations/values-form.tsx";
import { counted, plain } from "../../words/format.ts";
import { remedies } from "../../words/status.ts";

const here = getRouteApi("/teams/$team/servers/$installation");

/** A server of a team: what it is given, by whom, and how it is offered. */
export function InstallationPage() {
  const { team, installation } = here.useParams();
  const who = useWho();
  const isElsewhere = isOtherTeam(who, team);
  const server = useQuery({ ...peopleQueries.installation(team, installation), enabled: !isElsewhere });
  const isManaged = mayManageTeam(who, team);
  if (isElsewhere) return <OtherTeam team={team} />;
  return (
    <LoadedPage query={server} title="Server">
      {({ value, etag }) => (
        <Page
          title={plain(value.slug)}
          about={
            <>
              <Link to="/teams/$team" params={{ team }} search={{ tab: "servers" }}>
                Servers of {plain(team)}
              </Link>{" "}
              · {value.transport} · {value.source === "file" ? "of the configuration file" : "installed by the team"}
              {!value.enabled && " · switched off"}
            </>
          }
          actions={isManaged && value.source === "db" ? <Actions team={team} server={value} /> : undefined}
        >
          <Missing server={value} />
          {who.team === team && (
            <ValuesForm team={team} installation={installation} whose="me" title="Your own values" isAllowed />
          )}
          {value.source === "db" ? (
            <>
              <Instances team={team} installation={installation} />
              <ValuesForm
                team={team}
                installation={installation}
                whose="team"
                title="Values of the team"
                isAllowed={isManaged}
              />
              {isManaged && <InstallationSettings team={team} latest={{ value, etag }} />}
            </>
          ) : (
            <Section title="Values of the team">
              <p className="muted">
                This server is in the configuration file, and everybody has it: it is changed there
                {who.mayManage && (
                  <>
                    , in <Link to="/settings">Settings</Link>
                  </>
                )}
                .
              </p>
            </Section>
          )}
        </Page>
      )}
    </LoadedPage>
  );
}

/** Where it runs, or waits for something. The page of a server's own logins is one of the pages for people. */
function Instances({ team, installation }: { readonly team: string; readonly installation: string }) {
  const who = useWho();
  const instances = useQuery(peopleQueries.instances(team, installation));
  const members = useQuery(peopleQueries.members(team));
  const nameOf = (member: string | null): string => {
    if (member === null) return "the whole team";
    return members.data?.find(({ id }) => id === member)?.user ?? member;
  };
  return (
    <Section title="Where it runs">
      <Loaded query={instances}>
        {({ instances: rows }) =>
          rows.length === 0 ? (
            <p className="muted">Not used since the gateway started. The first request starts it.</p>
          ) : (
            <ul className="list">
              {rows.map(({ id, member, status, dormant, reason, step }) => (
                <li key={id}>
                  <span className="grow">for {plain(nameOf(member))}</span>
                  <StatusMark server={{ status, dormant, next: step === null ? null : { step } }} />
                  {/* The missing values are named above: the reason says how to give them without this page. */}
                  {reason !== "" && status !== "awaiting_user_config" && (
                    <span className="muted wide">{plain(reason)}</span>
                  )}
                  {who.isPerson && (member === null || member === who.principal) && (
                    <a href={`/connect/${encodeURIComponent(id)}`}>
                      {step === "fill-in" || step === "log-in" ? remedies[step].word : "Your login and values"}
                    </a>
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  );
}

type Installation = Schemas["Installation"];

/** Without these values nothing starts. */
function Missing({ server: { missing } }: { readonly server: Installation }) {
  if (missing.length === 0) return null;
  return (
    <div className="note warn" role="status">
      <div>
        <p>Needs {counted(missing.length, "value")} before it can be used:</p>
        <ul>
          {missing.map(({ path, tier }) => (
            <li key={`${tier} ${path}`}>
              <code>{plain(path)}</code>,{" "}
              {tier === "user"
                ? "which each member gives"
                : tier === "team"
                  ? "which the team gives"
                  : "of the template"}
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

function Actions({ team, server }: { readonly team: string; readonly server: Installation }) {
  const navigate = useNavigate();
  const params = { path: { team, installation: server.id } };
  const order = useOrder(
    async (what: "enable" | "disable" | "remove") => {
      const path = "/api/teams/{team}/installations/{installation}";
      if (what === "enable") await valueOf(api.POST(`${path}/enable`, { params }));
      else if (what === "disable") await valueOf(api.POST(`${path}/disable`, { params }));
      else await valueOf(api.DELETE(path, { params }));
      return what;
    },
    {
      changes: [["people"], ["status"], ["tools"]],
      onDone(what) {
        if (what === "remove") void navigate({ to: "/teams/$team", params: { team }, search: { tab: "servers" } });
      },
      said(what) {
        const path = "/api/teams/{team}/installations/{installation}";
        if (what === "disable")
          return {
            text: `${server.slug} is switched off.`,
            undo: async () => await valueOf(api.POST(`${path}/enable`, { params })),
          };
        if (what === "enable")
          return {
            text: `${server.slug} is switched on.`,
            undo: async () => await valueOf(api.POST(`${path}/disable`, { params })),
          };
        return { text: `${server.slug} is uninstalled.` };
      },
    },
  );
  return (
    <>
      {server.enabled ? (
        <ConfirmButton
          label="Switch off"
          question={`Switch ${plain(server.slug)} off?`}
          about={<p>Its processes end, and calls that run on it fail. Values stay.</p>}
          isBusy={order.isPending}
          onYes={() => order.mutate("disable")}
        />
      ) : (
        <Button look="main" isBusy={order.isPending} onClick={() => order.mutate("enable")}>
          Switch on
        </Button>
      )}
      <ConfirmButton
        label="Uninstall"
        look="danger"
        question={`Uninstall ${plain(server.slug)}?`}
        about={
          <p>
            Its processes end for every member, and the values that the team and its members set for it are removed,
            with their logins there. This cannot be undone.
          </p>
        }
        isBusy={order.isPending}
        onYes={() => order.mutate("remove")}
      />
      {order.error !== null && <FailureNote error={order.error} />}
    </>
  );
}
