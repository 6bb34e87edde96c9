import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { api, valueOf, type Schemas } from "../api/client.ts";
import { queries, useOrder } from "../api/queries.ts";
import { Button } from "../parts/button.tsx";
import { ConfirmButton } from "../parts/confirm.tsx";
import { LogLines } from "../parts/log-lines.tsx";
import { OutcomeNote } from "../parts/outcome-note.tsx";
import { Page, Section } from "../parts/page.tsx";
import { ServerAbout, ServerOrigins } from "../parts/server-about.tsx";
import { ServerActions } from "../parts/server-actions.tsx";
import { Empty, FailureNote, Loaded, LoadedPage } from "../parts/states.tsx";
import { StatusMark } from "../parts/status-mark.tsx";
import { TabLinks } from "../parts/tab-links.tsx";
import { ToolTable } from "../parts/tool-table.tsx";
import { ago, bytes, count, counted, duration, fullTime, plain } from "../words/format.ts";

type Row = Schemas["ServerStatus"];
const here = getRouteApi("/servers/$server");
const tabs = [
  ["status", "Status"],
  ["about", "What it says"],
  ["log", "Log"],
  ["tools", "Tools"],
  ["entry", "Configuration"],
] as const;

/** One server: how it is and was, its log, its tools, its entry. */
export function Server() {
  const { server } = here.useParams();
  const { instance, tab = "status" } = here.useSearch();
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
  return (
    <Page title={plain(server.title)} about={<Line server={server} />} actions={<ServerActions server={server} />}>
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
              {plain(other.owner ?? "shared")}
            </Link>
          ))}
        </nav>
      )}
      <TabLinks
        label={`About ${plain(server.title)}`}
        tabs={tabs}
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
      {tab === "log" && <LogLines instance={server.instance} />}
      {tab === "tools" && <ToolTable server={server.server} match="" />}
      {tab === "about" && <ServerAbout slug={server.server} />}
      {tab === "entry" && (
        <>
          <Entry server={server} />
          <ServerOrigins slug={server.server} />
        </>
      )}
      {tab === "status" && <Standing server={server} />}
    </Page>
  );
}

function Line({ server }: { readonly server: Row }) {
  return (
    <>
      <StatusMark server={server} /> {plain(server.reason)}
      {server.next !== null && (
        <>
          {" "}
          <strong>{plain(server.next.text)}</strong>
          {server.next.command !== null && <code>{plain(server.next.command)}</code>}
        </>
      )}
    </>
  );
}

function Standing({ server }: { readonly server: Row }) {
  const facts: readonly (readonly [string, string])[] = [
    ["Name", server.server],
    ["Instance", server.instance],
    ["Transport", server.transport],
    ["Protocol", server.revision === null ? "not connected" : `${server.revision} (${server.era ?? ""})`],
    ["Since", server.since === null ? "not known" : `${fullTime(server.since)}, ${ago(server.since)}`],
    ["Tools", count(server.tools)],
    ["Tokens in a flat list", `${server.tokensExact ? "" : "about "}${count(server.tokens)}`],
    ["Calls in 24 h", `${count(server.calls)}, ${count(server.errors)} failed`],
    ["95 of 100 calls take at most", server.p95Ms === null ? "no call yet" : duration(server.p95Ms)],
    ["Process", server.pid === null ? "none" : String(server.pid)],
    ["Memory", server.memoryBytes === null ? "none" : bytes(server.memoryBytes)],
  ];
  return (
    <div className="columns">
      <Section title="Now">
        <dl className="facts">
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{plain(value)}</dd>
            </div>
          ))}
        </dl>
      </Section>
      <History server={server} />
    </div>
  );
}

const historyRows = 100;

function History({ server }: { readonly server: Row }) {
  const history = useQuery({
    queryKey: ["status", "history", server.instance],
    queryFn: async () =>
      await valueOf(
        api.GET("/api/instances/{id}/events", {
          params: { path: { id: server.instance }, query: { limit: historyRows } },
        }),
      ),
  });
  return (
    <Section title="History" about="newest first">
      <Loaded query={history}>
        {({ events }) => {
          const told = events.filter(({ type }) => type in sentences);
          const starts = events.filter(({ type }) => /\.(?:started|respawned|restarted)$/.test(type)).length;
          const crashes = events.filter(({ type }) => type.endsWith(".crashed")).length;
          if (told.length === 0) return <p className="muted">Nothing has happened to it yet.</p>;
          return (
            <>
              <p className="muted">
                In its last {counted(events.length, "event")}: {counted(starts, "start")},{" "}
                {crashes === 1 ? "1 crash" : `${count(crashes)} crashes`}.
              </p>
              <ol className="history">
                {told.map(({ id, time, type, data }) => (
                  <li key={id}>
                    <time dateTime={time} title={fullTime(time)}>
                      {ago(time)}
                    </time>
                    <span className="grow">{plain(sentences[type]?.(data) ?? type)}</span>
                  </li>
                ))}
              </ol>
            </>
          );
        }}
      </Loaded>
    </Section>
  );
}

type Data = Readonly<Record<string, unknown>>;

/** What a person wants to know of the past; events of other types are at Logs and events. */
const sentences: Readonly<Record<string, (data: Data) => string>> = {
  "mcp.server.status_changed": ({ from, to, reason }) =>
    `${word(from)} → ${word(to)}: ${typeof reason === "string" ? reason : ""}`,
  "mcp.server.started": ({ duration_ms: ms }) => `Started${typeof ms === "number" ? ` in ${duration(ms)}` : ""}`,
  "mcp.server.respawned": ({ duration_ms: ms }) =>
    `Woken by a call${typeof ms === "number" ? ` in ${duration(ms)}` : ""}`,
  "mcp.server.crashed": ({ exit_code: code, signal }) =>
    `Crashed: ${typeof signal === "string" ? signal : `exit code ${String(code)}`}`,
  "mcp.server.restarted": () => "Started again",
  "mcp.server.dormant": () => "Stopped while nobody used it",
  "mcp.server.permanently_failed": () => "Given up: it crashed too often",
  "mcp.tools.discovered": ({ tool_count: tools }) => `Lists were read: ${String(tools)} tools`,
  "server.session_replaced": () => "Its session was lost and replaced",
  "auth.login": () => "Somebody logged in",
};

function word(status: unknown): string {
  return String(status).replaceAll("_", " ");
}

type Change = "enable" | "disable" | "test" | "login" | "logout" | "remove";

/** What the configuration says of it; each of these is the command of that name. */
function Entry({ server }: { readonly server: Row }) {
  const { mutate, isPending, variables, data, error } = useOrder(
    async (change: Change) => {
      const params = { path: { slug: server.server } };
      if (change === "enable") return await valueOf(api.POST("/api/servers/{slug}/enable", { params }));
      if (change === "disable") return await valueOf(api.POST("/api/servers/{slug}/disable", { params }));
      if (change === "login") return await valueOf(api.POST("/api/servers/{slug}/login", { params }));
      if (change === "logout") return await valueOf(api.POST("/api/servers/{slug}/logout", { params }));
      if (change === "test") return await valueOf(api.POST("/api/servers/{slug}/test", { params }));
      return await valueOf(api.DELETE("/api/servers/{slug}", { params }));
    },
    { changes: [["status"], ["config"], ["tools"]] },
  );
  const isBusy = (change: Change): boolean => isPending && variables === change;
  return (
    <Section
      title="Configuration"
      about={
        <>
          Its entry is in <Link to="/settings">Settings</Link>, as JSON.
        </>
      }
    >
      <div className="actions">
        <Button isBusy={isBusy("test")} onClick={() => mutate("test")}>
          Try it apart from the gateway
        </Button>
        <Button isBusy={isBusy("enable")} onClick={() => mutate("enable")}>
          Switch on
        </Button>
        <Button isBusy={isBusy("disable")} onClick={() => mutate("disable")}>
          Switch off
        </Button>
        {server.transport !== "stdio" && (
          <>
            <Button
              look={server.status === "requires_reauth" ? "main" : "plain"}
              isBusy={isBusy("login")}
              onClick={() => mutate("login")}
            >
              Log in
            </Button>
            <Button look="plain" isBusy={isBusy("logout")} onClick={() => mutate("logout")}>
              Forget the login
            </Button>
          </>
        )}
        <ConfirmButton
          label="Take out"
          look="danger"
          question={`Take ${server.title} out of the configuration?`}
          about={<p>The file as it was is kept beside it. Clients lose its tools at once.</p>}
          isBusy={isBusy("remove")}
          onYes={() => mutate("remove")}
        />
      </div>
      {isPending && (
        <p role="status">
          {variables === "login"
            ? "A browser opens on the machine of the gateway: log in there, within three minutes."
            : "Working on it."}
        </p>
      )}
      {error !== null && <FailureNote error={error} />}
      {data !== undefined && <OutcomeNote outcome={data} done="Done." />}
      {data !== undefined && data.facts.length > 0 && (
        <pre tabIndex={0} className="wrap">
          {plain(JSON.stringify(data.facts, undefined, 2))}
        </pre>
      )}
    </Section>
  );
}
