import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Schemas } from "../api/client.ts";
import { queries } from "../api/queries.ts";
import { useWho } from "../api/who.ts";
import { AddServer } from "../parts/servers/add-server.tsx";
import { Button } from "../parts/basic/button.tsx";
import { ExampleServers } from "../parts/servers/example-servers.tsx";
import { useLastUse } from "../parts/servers/last-use.tsx";
import { ListCopies } from "../parts/servers/list-copies.tsx";
import { Page } from "../parts/page.tsx";
import { illText, ServerGroups } from "../parts/servers/server-groups.tsx";
import { Empty, Loaded } from "../parts/basic/states.tsx";
import { count, counted } from "../words/format.ts";
import { needsPerson } from "../words/status.ts";
import { toCommand } from "../words/words.ts";

type Standing = Schemas["ServerStatus"];
const here = getRouteApi("/servers");
/** So many are seen at a glance in one table. */
const fewServers = 12;

/** Every instance with its status, and what to do about it. */
export function Servers() {
  const { match = "" } = here.useSearch();
  const navigate = useNavigate();
  const [isAdding, setAdding] = useState(false);
  const { mayManage } = useWho();
  const status = useQuery(queries.status);
  return (
    <Page
      title="Servers"
      about={status.data && <Counts servers={status.data.servers} />}
      actions={
        <>
          <input
            type="search"
            aria-label="Filter servers"
            placeholder="Filter"
            value={match}
            onChange={({ target }) =>
              void navigate({
                to: "/servers",
                search: target.value === "" ? {} : { match: target.value },
                replace: true,
              })
            }
          />
          {mayManage && (
            <Button look="main" onClick={() => setAdding(true)}>
              Add a server
            </Button>
          )}
        </>
      }
    >
      <AddServer isOpen={isAdding} onClose={() => setAdding(false)} />
      <Loaded query={status} lines={8}>
        {({ servers }) => <List servers={servers} match={match} />}
      </Loaded>
    </Page>
  );
}

function Counts({ servers }: { readonly servers: readonly Standing[] }) {
  const well = servers.filter(({ status }) => status === "online").length;
  const ill = servers.filter(needsPerson).length;
  return (
    <>
      {counted(servers.length, "server")}, {count(well)} can be used
      {ill > 0 && (
        <>
          , <Link to="/">{illText(ill)}</Link>
        </>
      )}
    </>
  );
}

function List({ servers, match }: { readonly servers: readonly Standing[]; readonly match: string }) {
  const lastUse = useLastUse("instance");
  const { mayManage } = useWho();
  if (servers.length === 0)
    return (
      <Empty title="No server is configured yet">
        <p>
          <Link to="/start">Bring the servers you already have</Link> in your AI clients, or add one with the button
          above.
        </p>
        {mayManage && <ExampleServers />}
      </Empty>
    );
  const words = match.toLowerCase();
  const fitting = servers.filter(({ title, server, word, category }) =>
    `${title} ${server} ${word} ${category ?? ""}`.toLowerCase().includes(words),
  );
  const rows = fitting.map((row) => ({ ...row, lastUse: lastUse(row.instance) }));
  if (rows.length === 0) return <Empty title={`No server fits “${match}”`} />;
  return (
    <>
      <ServerGroups rows={rows} isMany={servers.length > fewServers} isFiltered={match !== ""} />
      <div className="actions">
        <ListCopies command={match === "" ? toCommand("status") : undefined} rows={fitting} />
      </div>
    </>
  );
}
