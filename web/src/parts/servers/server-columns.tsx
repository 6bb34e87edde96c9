import { Link } from "@tanstack/react-router";
import type { Schemas } from "../../api/client.ts";
import { useWho } from "../../api/who.ts";
import { agoShort, bytes, compact, count, duration, fullTime, plain } from "../../words/format.ts";
import { Button } from "../basic/button.tsx";
import type { Column } from "../basic/data-table.tsx";
import { LastUse, type LastUsed } from "./last-use.tsx";
import { Remedy } from "../basic/remedy.tsx";
import { StatusMark } from "../basic/status-mark.tsx";

export interface ServerRow extends Standing {
  readonly lastUse: LastUsed;
}

type Standing = Schemas["ServerStatus"];

/** The columns of each server. */
export const serverColumns: readonly Column<ServerRow>[] = [
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
    width: "6.4rem",
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
    cell: (row) => (row.memoryBytes === null ? "–" : bytes(row.memoryBytes)),
  },
  // As other programs of the system write it: without commas.
  { heading: "Process", width: "4.8rem", align: "right", cell: ({ pid }) => (pid === null ? "–" : String(pid)) },
];

/** Behind the next step: a table that is wider than the screen is cut at its end. */
export const placeOfActions = 3;

/** Unfolds what can be done with one, below it. */
export function opener(open: string | undefined, toggle: (instance: string) => void): Column<ServerRow> {
  return {
    heading: "Actions",
    width: "5.6rem",
    cell: ({ instance, title }) => (
      <Button
        look="plain"
        aria-label={`${open === instance ? "Fold" : "Actions of"} ${plain(title)}`}
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
