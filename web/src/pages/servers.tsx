import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Schemas } from "../api/client.ts";
import { queries } from "../api/queries.ts";
import { useWho } from "../api/who.ts";
import { AddServer } from "../parts/add-server.tsx";
import { Button } from "../parts/button.tsx";
import { DataTable, type Column } from "../parts/data-table.tsx";
import { ExampleServers } from "../parts/example-servers.tsx";
import { LastUse, useLastUse, type LastUsed } from "../parts/last-use.tsx";
import { ListCopies } from "../parts/list-copies.tsx";
import { Page } from "../parts/page.tsx";
import { Remedy } from "../parts/remedy.tsx";
import { ServerActions } from "../parts/server-actions.tsx";
import { ServerEntry } from "../parts/server-entry.tsx";
import { Empty, Loaded } from "../parts/states.tsx";
import { StatusMark } from "../parts/status-mark.tsx";
import { agoShort, bytes, compact, count, counted, duration, fullTime, plain } from "../words/format.ts";
import { needsPerson } from "../words/status.ts";
import { toCommand } from "../words/words.ts";

interface Row extends Standing {
  readonly lastUse: LastUsed;
}

type Standing = Schemas["ServerStatus"];
const here = getRouteApi("/servers");

const columns: readonly Column<Row>[] = [
  {
    heading: "Server",
    width: "minmax(7.5rem, 1.8fr)",
    cell: (row) => (
      <Link to="/servers/$server" params={{ server: row.server }} search={{ instance: row.instance }}>
        {plain(row.title)}
        <Owner owner={row.owner} />
      </Link>
    ),
  },
  {
    heading: "Status",
    width: "minmax(9.5rem, 1.2fr)",
    isWrapping: true,
    cell: (row) => <StatusMark server={row} />,
  },
  // Beside the status, where it is seen on any screen.
  {
    heading: "Next",
    width: "minmax(8.3rem, 1fr)",
    cell: (row) => <Remedy server={row} />,
  },
  {
    heading: "Since",
    width: "5.6rem",
    cell: ({ since }) => (
      <span className="muted" title={since === null ? "Not known" : fullTime(since)}>
        {since === null ? "–" : agoShort(since)}
      </span>
    ),
  },
  {
    heading: "Transport",
    width: "7.6rem",
    cell: ({ transport, revision, era }) => (
      <span className="muted" title={revision === null ? "Not connected" : `MCP ${revision}`}>
        {transport}
        {era !== null && `, ${era}`}
      </span>
    ),
  },
  {
    heading: "Tools",
    width: "3.2rem",
    align: "right",
    // What cannot be reached may offer any number.
    cell: (row) =>
      row.tools === 0 && row.status !== "online" ? (
        "–"
      ) : (
        <Link to="/tools" search={{ server: row.server }}>
          {count(row.tools)}
        </Link>
      ),
  },
  {
    heading: "Tokens",
    width: "4rem",
    align: "right",
    cell: (row) =>
      row.tools === 0 ? (
        "–"
      ) : (
        <Link to="/tools" search={{ server: row.server, sort: "tokens" }}>
          {row.tokensExact ? "" : "~"}
          {compact(row.tokens)}
        </Link>
      ),
  },
  {
    heading: "Calls 24 h",
    width: "6rem",
    align: "right",
    cell: (row) => (
      <Link to="/calls" search={{ server: row.server }}>
        {count(row.calls)}
        {row.errors > 0 && <span className="bad-text">, {count(row.errors)} failed</span>}
      </Link>
    ),
  },
  { heading: "Last used", width: "5.8rem", cell: ({ lastUse }) => <LastUse use={lastUse} /> },
  { heading: "P95", width: "3.7rem", align: "right", cell: (row) => (row.p95Ms === null ? "–" : duration(row.p95Ms)) },
  {
    heading: "Memory",
    width: "4.6rem",
    align: "right",
    cell: (row) => (
      <span title={row.pid === null ? "No process" : `Process ${row.pid}`}>
        {row.memoryBytes === null ? "–" : bytes(row.memoryBytes)}
      </span>
    ),
  },
];

/** Behind the next step: a table that is wider than the screen is cut at its end. */
const placeOfActions = 3;

/** Unfolds what can be done with one, below it. */
function opener(open: string | undefined, toggle: (instance: string) => void): Column<Row> {
  return {
    heading: "Actions",
    width: "5.6rem",
    cell: ({ instance, title }) => (
      <Button
        look="plain"
        aria-label={`Actions of ${plain(title)}`}
        aria-expanded={open === instance}
        onClick={() => toggle(instance)}
      >
        {open === instance ? "Fold" : "Actions"}
      </Button>
    ),
  };
}

/** Whose an instance is, where not everybody shares it. */
function Owner({ owner }: Pick<Standing, "owner">) {
  const { principal } = useWho();
  return owner === null ? null : <span className="muted"> {owner === principal ? "yours" : plain(owner)}</span>;
}

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

function illText(ill: number): string {
  return ill === 1 ? "1 needs you" : `${count(ill)} need you`;
}

/** So many are seen at a glance in one table. */
const fewServers = 12;

interface GroupsProps {
  readonly rows: readonly Row[];
  readonly isMany: boolean;
  readonly isFiltered: boolean;
}

/** Many stand in the categories of their entries, where there are any; those in which nothing needs anybody folded. */
function Groups({ rows, isMany, isFiltered }: GroupsProps) {
  const groups = isMany ? byCategory(rows) : [];
  if (groups.every(({ category }) => category === null)) return <Table label="Servers" rows={rows} />;
  return groups.map(({ category, rows: own }) => {
    const ill = own.filter(needsPerson).length;
    const name = category === null ? "Without a category" : plain(category);
    return (
      <details
        // What somebody folds stays folded until the filter begins or ends.
        key={`${category ?? ""} ${isFiltered}`}
        className="section group"
        open={isFiltered || ill > 0}
      >
        <summary>
          <strong>{name}</strong> {counted(own.length, "server")}
          {ill > 0 && <span className="bad-text">, {illText(ill)}</span>}
        </summary>
        <Table label={name} rows={own} />
      </details>
    );
  });
}

interface Group {
  /** Null for those that have none. */
  readonly category: string | null;
  readonly rows: readonly Row[];
}

/** Those that have none come last. */
function byCategory(rows: readonly Row[]): readonly Group[] {
  const groups = new Map<string | null, Row[]>();
  for (const row of rows) {
    const group = groups.get(row.category);
    if (group === undefined) groups.set(row.category, [row]);
    else group.push(row);
  }
  return [...groups]
    .map(([category, own]) => ({ category, rows: own }))
    .sort(({ category: one }, { category: other }) =>
      one === null || other === null ? Number(one === null) - Number(other === null) : one.localeCompare(other),
    );
}

function Table({ label, rows }: { readonly label: string; readonly rows: readonly Row[] }) {
  const { mayManage } = useWho();
  const [open, setOpen] = useState<string>();
  const toggle = (instance: string): void => setOpen(open === instance ? undefined : instance);
  return (
    <DataTable
      label={label}
      columns={mayManage ? columns.toSpliced(placeOfActions, 0, opener(open, toggle)) : columns}
      rows={rows}
      rowKey={({ instance }) => instance}
      detail={(row) =>
        mayManage &&
        open === row.instance && (
          <div className="stack">
            <div className="actions">
              <ServerActions server={row} />
            </div>
            <ServerEntry server={row} />
          </div>
        )
      }
    />
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
  const rows = fitting.map((row): Row => ({ ...row, lastUse: lastUse(row.instance) }));
  if (rows.length === 0) return <Empty title={`No server fits “${match}”`} />;
  return (
    <>
      <Groups rows={rows} isMany={servers.length > fewServers} isFiltered={match !== ""} />
      <div className="actions">
        <ListCopies command={match === "" ? toCommand("status") : undefined} rows={fitting} />
      </div>
    </>
  );
}
