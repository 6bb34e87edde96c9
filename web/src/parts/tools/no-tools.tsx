import { useQueries, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Schemas } from "../../api/client.ts";
import { queries } from "../../api/queries.ts";
import { counted, plain } from "../../words/format.ts";
import { Remedy } from "../basic/remedy.tsx";
import { Empty, Loaded } from "../basic/states.tsx";
import { StatusMark } from "../basic/status-mark.tsx";

const coming = new Set(["provisioning", "command_received", "connecting", "discovering_tools", "syncing_tools"]);
/** Of so many that are up it is looked whether rules hide what they offer; of more, the first tell enough. */
const mostAsked = 10;

/** Why there is no tool, of one server or all: nothing is configured, they start or are down, or rules hide all. */
export function NoTools({ server }: { readonly server: string | undefined }) {
  const status = useQuery(queries.status);
  return (
    <Loaded query={status}>
      {({ servers }) => {
        const own = servers.filter((row) => server === undefined || row.server === server);
        if (own.length === 0) return <NothingConfigured server={server} />;
        if (own.some((row) => coming.has(row.status)))
          return <Empty title="Servers are starting: their tools appear here" />;
        const up = own.filter((row) => row.status === "online");
        return up.length === 0 ? <Down rows={own} /> : <Up rows={up} />;
      }}
    </Loaded>
  );
}

function NothingConfigured({ server }: { readonly server: string | undefined }) {
  if (server !== undefined) return <Empty title={`There is no server “${plain(server)}”`} />;
  return (
    <Empty title="No server is configured yet">
      <p>
        <Link to="/start">Bring the servers you already have</Link>, or <Link to="/servers">add one</Link>.
      </p>
    </Empty>
  );
}

interface RowsProps {
  readonly rows: readonly Schemas["ServerStatus"][];
}

function Down({ rows }: RowsProps) {
  return (
    <Empty title="No server is up: their tools are unknown">
      <ul className="list">
        {rows.slice(0, mostAsked).map((row) => (
          <li key={row.instance}>
            <Link to="/servers/$server" params={{ server: row.server }} search={{ instance: row.instance }}>
              {plain(row.title)}
            </Link>
            <StatusMark server={row} />
            <Remedy server={row} />
          </li>
        ))}
      </ul>
    </Empty>
  );
}

/** What a server offers, and a person is not shown, a rule of the configuration hides. */
function Up({ rows }: RowsProps) {
  const asked = [...new Set(rows.map((row) => row.server))].slice(0, mostAsked);
  const details = useQueries({ queries: asked.map((slug) => queries.server(slug)) });
  const hidden = details.reduce(
    (sum, { data }) => sum + (data?.isKnown === true ? Math.max(0, data.offers.tools - data.shownTools) : 0),
    0,
  );
  if (hidden > 0)
    return (
      <Empty title={`Rules of the configuration hide all ${counted(hidden, "tool")}`}>
        <p>
          <code>tools.allow</code> and <code>tools.deny</code> of a server’s entry say which are offered.{" "}
          {asked.map((slug) => (
            <Link key={slug} to="/servers/$server" params={{ server: slug }} search={{ tab: "entry" }}>
              Look at {plain(slug)}
            </Link>
          ))}
        </p>
      </Empty>
    );
  return (
    <Empty title={asked.length === 1 ? "This server offers no tools" : "No server offers a tool"}>
      <p>
        They may offer <Link to="/resources">resources or prompts</Link>. <Link to="/servers">Look at the servers</Link>
      </p>
    </Empty>
  );
}
