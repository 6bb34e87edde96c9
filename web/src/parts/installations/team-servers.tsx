import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Schemas } from "../../api/client.ts";
import { peopleQueries } from "../../api/people-queries.ts";
import { mayManageTeam, useWho } from "../../api/who.ts";
import { counted, plain } from "../../words/format.ts";
import { toCommand } from "../../words/words.ts";
import { Button } from "../basic/button.tsx";
import { DataTable, type Column } from "../basic/data-table.tsx";
import { Name } from "../basic/name.tsx";
import { ServerIcon } from "../servers/server-icon.tsx";
import { InstallServer } from "./install-server.tsx";
import { StatusMark } from "../basic/status-mark.tsx";
import { ListCopies } from "../servers/list-copies.tsx";
import { NewTemplate } from "./new-template.tsx";
import { Empty, Loaded } from "../basic/states.tsx";

type Installation = Schemas["ListedInstallation"];

/** Servers of a team: those of the configuration file, which everybody has, and its own. */
export function TeamServers({ team }: { readonly team: string }) {
  const [dialog, setDialog] = useState<"install" | "template">();
  const who = useWho();
  const servers = useQuery(peopleQueries.installations(team));
  const columns: readonly Column<Installation>[] = [
    {
      heading: "Server",
      width: "minmax(7.5rem, 1fr)",
      cell: ({ slug, id }) => (
        <span className="named">
          <ServerIcon name={slug} />
          <Link to="/teams/$team/servers/$installation" params={{ team, installation: id }}>
            <Name>{slug}</Name>
          </Link>
        </span>
      ),
    },
    // Beside the server, where it is seen on any screen.
    {
      heading: "State",
      width: "minmax(8.5rem, 1fr)",
      cell: ({ enabled, missing, status, dormant }) => {
        if (!enabled) return <span className="status off">Off</span>;
        if (missing.length > 0) return <span className="status ask">Needs {counted(missing.length, "value")}</span>;
        return status === null ? <span className="muted">Installed</span> : <StatusMark server={{ status, dormant }} />;
      },
    },
    {
      heading: "Runs",
      width: "9.5rem",
      from: 640,
      cell: ({ scope }) =>
        scope === "shared" ? "once for all" : scope === "user" ? "for each member" : "for each client",
    },
    {
      heading: "Name",
      width: "minmax(6rem, 1fr)",
      from: 760,
      cell: ({ name, slug }) => (name === slug ? <span className="muted">–</span> : plain(name)),
    },
    {
      heading: "From",
      width: "10rem",
      from: 640,
      cell: ({ source }) => <span className="muted">{source === "file" ? "the configuration" : "this team"}</span>,
    },
  ];
  const close = (): void => setDialog(undefined);
  return (
    <>
      {mayManageTeam(who, team) && (
        <div className="actions bar-actions">
          <Button onClick={() => setDialog("install")}>Install a server</Button>
          <Button onClick={() => setDialog("template")}>Add a template</Button>
        </div>
      )}
      {dialog === "install" && <InstallServer team={team} onClose={close} />}
      {dialog === "template" && <NewTemplate team={team} onClose={close} />}
      <Loaded query={servers} lines={5}>
        {({ installations }) =>
          installations.length === 0 ? (
            <Empty title="This team has no server yet">
              <p>Install one from a template. Admins of the gateway add templates of programs.</p>
            </Empty>
          ) : (
            <>
              <DataTable label="Servers" columns={columns} rows={installations} rowKey={({ id }) => id} />
              <div className="actions">
                <ListCopies command={toCommand("installations", [], { team })} rows={installations} />
              </div>
            </>
          )
        }
      </Loaded>
    </>
  );
}
