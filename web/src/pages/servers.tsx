import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import type { Schemas } from "../api/client.ts";
import { queries } from "../api/queries.ts";
import { useWho } from "../api/who.ts";
import { AddServer } from "../parts/servers/add-server.tsx";
import { Button } from "../parts/basic/button.tsx";
import { ExampleServers } from "../parts/servers/server-catalog.tsx";
import { useLastUse } from "../parts/servers/last-use.tsx";
import { ListCopies } from "../parts/servers/list-copies.tsx";
import { Page } from "../parts/page.tsx";
import { illText, ServerGroups } from "../parts/servers/server-groups.tsx";
import { Empty, Loaded } from "../parts/basic/states.tsx";
import { compact, count, counted } from "../words/format.ts";
import { byNeed, isUsable, needsPerson } from "../words/status.ts";
import { toCommand } from "../words/words.ts";

type Standing = Schemas["ServerStatus"];
const here = getRouteApi("/servers");
/** So many are seen at a glance in one table. */
const fewServers = 12;

/** Every instance with its status, and what to do about it. */
export function Servers() {
  const search = here.useSearch();
  const { match = "", add } = search;
  const navigate = useNavigate();
  const { mayManage } = useWho();
  const status = useQuery(queries.status);
  // In the address, because other pages and the palette lead to it.
  const setAdding = (isAdding: boolean): void =>
    void navigate({ to: "/servers", search: withGiven({ ...search, add: isAdding ? "true" : "" }), replace: true });
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
              void navigate({ to: "/servers", search: withGiven({ ...search, match: target.value }), replace: true })
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
      {mayManage && <AddServer isOpen={add === "true"} onClose={() => setAdding(false)} />}
      <Loaded query={status} lines={8}>
        {({ servers }) => <List servers={servers} match={match} show={search.show ?? ""} />}
      </Loaded>
    </Page>
  );
}

function Counts({ servers }: { readonly servers: readonly Standing[] }) {
  const usable = servers.filter(isUsable).length;
  const ill = servers.filter(needsPerson).length;
  const tools = servers.reduce((sum, server) => sum + server.tools, 0);
  const tokens = servers.reduce((sum, server) => sum + server.tokens, 0);
  return (
    <>
      {counted(servers.length, "server")}, {count(usable)} can be used
      {ill > 0 && (
        <>
          , <Link to="/">{illText(ill)}</Link>
        </>
      )}
      {tools > 0 && (
        <>
          {" "}
          · {counted(tools, "tool")}, <Link to="/tokens">{compact(tokens)} tokens</Link> if all were listed
        </>
      )}
    </>
  );
}

const kinds = [
  ["", "All", () => true],
  ["needs", "Needs you", needsPerson],
  ["running", "Running", ({ status, dormant }: Standing) => status === "online" && !dormant],
  ["asleep", "Asleep", ({ dormant }: Standing) => dormant],
  ["off", "Off", (server: Standing) => server.status === "disabled" && !needsPerson(server)],
] as const;

/** Servers by their state, with how many there are of each; of states without a server nothing. */
function Kinds({ servers, show }: { readonly servers: readonly Standing[]; readonly show: string }) {
  const search = here.useSearch();
  const shown = kinds
    .map(([kind, name, fits]) => ({ kind, name, count: servers.filter(fits).length }))
    .filter(({ kind, count: number }) => kind === "" || kind === show || number > 0);
  if (shown.length <= 2) return null;
  return (
    <nav aria-label="State" className="chips start">
      {shown.map(({ kind, name, count: number }) => (
        <Link
          key={kind}
          to="/servers"
          search={withGiven({ ...search, show: kind })}
          replace
          aria-current={kind === show ? "page" : undefined}
          activeProps={{}}
        >
          {name} {count(number)}
        </Link>
      ))}
    </nav>
  );
}

/** Without empty entries. */
function withGiven(search: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(search).filter((entry): entry is [string, string] => !!entry[1]));
}

interface ListProps {
  readonly servers: readonly Standing[];
  readonly match: string;
  readonly show: string;
}

function List({ servers, match, show }: ListProps) {
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
  const [, , isOfKind] = kinds.find(([kind]) => kind === show) ?? kinds[0];
  const fitting = servers
    .filter(({ title, server, word, category }) =>
      `${title} ${server} ${word} ${category ?? ""}`.toLowerCase().includes(words),
    )
    .filter(isOfKind)
    .sort(byNeed);
  const rows = fitting.map((row) => ({ ...row, lastUse: lastUse(row.instance) }));
  return (
    <>
      <Kinds servers={servers} show={show} />
      {rows.length === 0 && <Empty title={match === "" ? "No server is in this state" : `No server fits “${match}”`} />}
      {rows.length > 0 && (
        <ServerGroups rows={rows} isMany={servers.length > fewServers} isFiltered={match !== "" || show !== ""} />
      )}
      <div className="actions">
        <ListCopies command={match === "" && show === "" ? toCommand("status") : undefined} rows={fitting} />
      </div>
    </>
  );
}
