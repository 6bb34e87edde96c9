import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import type { Schemas } from "../api/client.ts";
import { queries } from "../api/queries.ts";
import { useWho } from "../api/who.ts";
import { CopyButton } from "../parts/basic/button.tsx";
import { Facts, type Fact } from "../parts/basic/facts.tsx";
import { useLastUse } from "../parts/servers/last-use.tsx";
import { LogLines, withFilters } from "../parts/records/log-lines.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Remedy } from "../parts/basic/remedy.tsx";
import { EntryEditor } from "../parts/servers/entry-editor.tsx";
import { ServerAbout, ServerOrigins } from "../parts/servers/server-about.tsx";
import { ServerEntry } from "../parts/servers/server-entry.tsx";
import { ServerVariables } from "../parts/servers/server-variables.tsx";
import { ServerHistory } from "../parts/servers/server-history.tsx";
import { ServerActions } from "../parts/servers/server-actions.tsx";
import { Empty, LoadedPage } from "../parts/basic/states.tsx";
import { ServerIcon } from "../parts/servers/server-icon.tsx";
import { StatusMark } from "../parts/basic/status-mark.tsx";
import { TabLinks } from "../parts/basic/tab-links.tsx";
import { ToolDefinitions } from "../parts/tools/tool-definitions.tsx";
import { ToolTable } from "../parts/tools/tool-table.tsx";
import { ago, agoByHour, bytes, count, duration, fullTime, plain, tokenCount } from "../words/format.ts";
import { needsPerson } from "../words/status.ts";

type Row = Schemas["ServerStatus"];
const here = getRouteApi("/servers/$server");
const tabs = [
  ["status", "Status"],
  ["about", "About"],
  ["log", "Log"],
  ["tools", "Tools"],
  ["entry", "Configuration"],
] as const;

/** One server: how it is and was, its log, its tools, its entry. */
export function Server() {
  const { server } = here.useParams();
  const { instance, tab: asked } = here.useSearch();
  const tab = tabs.find(([name]) => name === asked)?.[0] ?? "status";
  const status = useQuery(queries.status);
  return (
    <LoadedPage query={status} title={server}>
      {({ servers }) => {
        const own = servers.filter((row) => row.server === server);
        const chosen = own.find((row) => row.instance === instance) ?? own[0];
        if (chosen === undefined)
          return (
            <Page title={server}>
              <Empty title={`There is no server “${plain(server)}”`}>
                <p>
                  It may have been taken out of the configuration. <Link to="/servers">All servers</Link>
                </p>
              </Empty>
            </Page>
          );
        return <Shown server={chosen} others={own} tab={tab} />;
      }}
    </LoadedPage>
  );
}

function Shown({
  server,
  others,
  tab,
}: {
  readonly server: Row;
  readonly others: readonly Row[];
  readonly tab: string;
}) {
  const { mayManage, principal } = useWho();
  const { level, match } = here.useSearch();
  const { data: details } = useQuery(queries.server(server.server));
  const navigate = useNavigate({ from: "/servers/$server" });
  const shownTabs = mayManage ? tabs : tabs.filter(([name]) => name !== "entry");
  // Nothing has to be done yet, but the reason is of interest.
  const isComingBack = server.status === "restarting" && server.reason !== "";
  return (
    <Page
      title={plain(server.title)}
      icon={<ServerIcon name={server.server} icon={details?.icon ?? null} />}
      about={<StatusMark server={server} />}
      actions={<ServerActions server={server} />}
    >
      {(server.next !== null || isComingBack) && <Trouble server={server} />}
      {others.length > 1 && (
        <nav aria-label="Instances" className="chips">
          {others.map((other) => (
            <Link
              key={other.instance}
              to="/servers/$server"
              params={{ server: other.server }}
              search={{ instance: other.instance }}
              aria-current={other === server ? "page" : undefined}
            >
              {other.owner === null ? "shared" : other.owner === principal ? "yours" : plain(other.owner)}
            </Link>
          ))}
        </nav>
      )}
      <TabLinks
        label={`About ${plain(server.title)}`}
        tabs={shownTabs}
        chosen={tab}
        link={(name, rest) => (
          <Link
            to="/servers/$server"
            params={{ server: server.server }}
            search={{ instance: server.instance, tab: name }}
            replace
            {...rest}
          />
        )}
      />
      {tab === "log" && (
        <LogLines
          instance={server.instance}
          filters={{ level, match }}
          onFilter={(next) => void navigate({ to: ".", search: (now) => withFilters(now, next), replace: true })}
        />
      )}
      {tab === "tools" && (
        <>
          {mayManage && (
            <p>
              <Link to="/tools" search={{ server: server.server }}>
                Hide, rename or describe its tools
              </Link>
            </p>
          )}
          <ToolTable server={server.server} match="" />
        </>
      )}
      {tab === "about" && <ServerAbout slug={server.server} />}
      {tab === "entry" && mayManage && (
        <>
          <ServerEntry server={server} />
          <ServerVariables slug={server.server} />
          <EntryEditor server={server.server} />
          <ServerOrigins slug={server.server} />
        </>
      )}
      {tab === "status" && (
        <>
          <ToolDefinitions server={server.server} />
          <Standing server={server} />
        </>
      )}
    </Page>
  );
}

/** Why it is as it is, and what to do about it, here or in a terminal. */
function Trouble({ server }: { readonly server: Row }) {
  const { command = null } = server.next ?? {};
  const { mayManage } = useWho();
  return (
    <div className={needsPerson(server) ? "note bad" : "note"}>
      <div>
        {server.reason !== "" && server.next?.step !== "fill-in" && <p>{plain(server.reason)}</p>}
        <p>
          {plain(server.next?.text ?? "It is retried automatically.")} <Remedy server={server} />
        </p>
        {command !== null && (
          <p className="muted">
            In a terminal: <code>{plain(command)}</code> <CopyButton text={command} label="Copy" />
          </p>
        )}
        {mayManage && server.next?.step === "correct" && <ServerVariables slug={server.server} isUrgent />}
      </div>
    </div>
  );
}

function Standing({ server }: { readonly server: Row }) {
  const { hour, otherwise } = useLastUse("instance")(server.instance);
  const isUnread = server.tools === 0 && server.status !== "online";
  const facts: readonly Fact[] = [
    ["Name", server.server],
    ["Instance", server.instance],
    ["Transport", server.transport],
    ["Protocol", server.revision === null ? "not connected" : `${server.revision} (${server.era ?? ""})`],
    ["Since", server.since === null ? "not known" : `${fullTime(server.since)}, ${ago(server.since)}`],
    [
      "Tools",
      isUnread ? (
        "not known"
      ) : (
        <Link key="tools" to="/tools" search={{ server: server.server }}>
          {count(server.tools)}
        </Link>
      ),
    ],
    [
      "Tokens in a flat list",
      isUnread ? "not known" : tokenCount({ tokens: server.tokens, isExact: server.tokensExact }),
    ],
    ["Last used", hour === undefined ? "not known yet" : hour === null ? otherwise : agoByHour(hour)],
    [
      "Calls in 24 h",
      <span key="calls">
        <Link to="/calls" search={{ server: server.server }}>
          {count(server.calls)}
        </Link>
        {server.errors > 0 && (
          <>
            ,{" "}
            <Link to="/calls" search={{ server: server.server, failed: "true" }}>
              {count(server.errors)} failed
            </Link>
          </>
        )}
      </span>,
    ],
    ["95 of 100 calls take at most", server.p95Ms === null ? "no call yet" : duration(server.p95Ms)],
    ...(server.node === null ? [] : [["Runs at node", server.node] as const]),
    ["Process", server.pid === null ? "none" : String(server.pid)],
    ["Memory", server.memoryBytes === null ? "none" : bytes(server.memoryBytes)],
  ];
  return (
    <div className="columns">
      <Section title="Now">
        <Facts facts={facts} />
      </Section>
      <ServerHistory instance={server.instance} />
    </div>
  );
}
