import { Link } from "@tanstack/react-router";
import { MoreHorizontal } from "lucide-react";
import type { Schemas } from "../../api/client.ts";
import { useWho } from "../../api/who.ts";
import { agoShort, bytes, compact, count, duration, fullTime, plain } from "../../words/format.ts";
import { reasonText, needsPerson } from "../../words/status.ts";
import { Button } from "../basic/button.tsx";
import type { Column } from "../basic/data-table.tsx";
import { Folded } from "../basic/folded.tsx";
import { Name } from "../basic/name.tsx";
import { Remedy } from "../basic/remedy.tsx";
import { StatusMark } from "../basic/status-mark.tsx";
import { LastUse, type LastUsed } from "./last-use.tsx";
import { ServerIcon } from "./server-icon.tsx";

export interface ServerRow extends Standing {
  readonly lastUse: LastUsed;
}

type Standing = Schemas["ServerStatus"];

/** The columns of each server, the most important first: those that do not fit are left out from the end. */
export const plainServerColumns: readonly Column<ServerRow>[] = [
  {
    heading: "Server",
    width: "minmax(10rem, 1.2fr)",
    sortBy: ({ title }) => title.toLowerCase(),
    cell: (row) => (
      <span className="named">
        <ServerIcon name={row.server} />
        <span>
          <Link to="/servers/$server" params={{ server: row.server }} search={{ instance: row.instance }}>
            <Name>{row.title}</Name>
            <Owner owner={row.owner} />
          </Link>
          <span className="second" title={row.revision === null ? "Not connected" : `MCP ${row.revision}`}>
            {row.transport}
            {row.era !== null && `, ${row.era}`}
          </span>
        </span>
      </span>
    ),
  },
  {
    heading: "State",
    width: "minmax(11rem, 1.8fr)",
    cell: (row) => (
      <>
        <StatusMark server={row} />{" "}
        {needsPerson(row) && reasonText(row) !== "" && (
          <span className="second">
            <Folded text={plain(reasonText(row))} most={90} />
          </span>
        )}
        <Remedy server={row} />
      </>
    ),
  },
  {
    heading: "Tools",
    width: "4rem",
    align: "right",
    sortBy: (row) => (isUnread(row) ? null : row.tools),
    // A server that cannot be reached may offer any number.
    cell: (row) =>
      isUnread(row) ? (
        "–"
      ) : (
        <Link to="/tools" search={{ server: row.server }}>
          {count(row.tools)}
        </Link>
      ),
  },
  {
    heading: "Tokens",
    width: "4.8rem",
    align: "right",
    sortBy: ({ tools, tokens }) => (tools === 0 ? null : tokens),
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
    width: "6.4rem",
    align: "right",
    sortBy: ({ calls }) => calls,
    cell: (row) => (
      <Link to="/calls" search={{ server: row.server }}>
        {count(row.calls)}
        {row.errors > 0 && <span className="bad-text">, {count(row.errors)} failed</span>}
      </Link>
    ),
  },
  {
    heading: "Last used",
    width: "6rem",
    from: 760,
    sortBy: ({ lastUse }) => lastUse.hour,
    cell: ({ lastUse }) => <LastUse use={lastUse} />,
  },
  {
    heading: "P95",
    width: "4.4rem",
    align: "right",
    from: 860,
    sortBy: ({ p95Ms }) => p95Ms,
    cell: ({ p95Ms }) => (p95Ms === null ? "–" : duration(p95Ms)),
  },
  {
    heading: "Since",
    width: "6.4rem",
    from: 1_080,
    sortBy: ({ since }) => since,
    cell: ({ since }) => (
      <span className="muted" title={since === null ? "Not known" : fullTime(since)}>
        {since === null ? "–" : agoShort(since)}
      </span>
    ),
  },
  {
    heading: "Memory",
    width: "5rem",
    align: "right",
    from: 1_160,
    sortBy: ({ memoryBytes }) => memoryBytes,
    cell: ({ memoryBytes }) => (memoryBytes === null ? "–" : bytes(memoryBytes)),
  },
  // As other programs of the system write it: without commas.
  {
    heading: "Process",
    width: "5rem",
    align: "right",
    from: 1_240,
    cell: ({ pid }) => (pid === null ? "–" : String(pid)),
  },
];

function isUnread({ tools, status }: Standing): boolean {
  return tools === 0 && status !== "online";
}

/** Behind the state: what can be done about it belongs beside it. */
const placeOfActions = 2;

/** The columns, with one that unfolds what can be done with a server. */
export function serverColumns(toggle: { readonly open: string | undefined; readonly on: (instance: string) => void }) {
  const opener: Column<ServerRow> = {
    heading: "Actions",
    width: "4.6rem",
    cell: ({ instance, title }) => (
      <Button
        look="plain"
        aria-label={`${toggle.open === instance ? "Fold" : "Actions of"} ${plain(title)}`}
        aria-expanded={toggle.open === instance}
        onClick={() => toggle.on(instance)}
      >
        <MoreHorizontal aria-hidden size={16} />
      </Button>
    ),
  };
  return plainServerColumns.toSpliced(placeOfActions, 0, opener);
}

/** Whose an instance is, where not everybody shares it. */
function Owner({ owner }: Pick<Standing, "owner">) {
  const { principal } = useWho();
  return owner === null ? null : <span className="muted"> {owner === principal ? "yours" : plain(owner)}</span>;
}
