import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useMemo } from "react";
import { api, valueOf, type Schemas } from "../api/client.ts";
import { queries } from "../api/queries.ts";
import { useWho } from "../api/who.ts";
import { CopyButton } from "../parts/button.tsx";
import { Facts } from "../parts/facts.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Remedy } from "../parts/remedy.tsx";
import { Empty, Loaded, Skeleton } from "../parts/states.tsx";
import { StatusMark } from "../parts/status-mark.tsx";
import { ago, count, counted, duration, plain, tokenCount } from "../words/format.ts";
import { needsPerson, outcomeWord, reasonText } from "../words/status.ts";

const Chart = lazy(async () => ({ default: (await import("../parts/chart.tsx")).Chart }));
const hourMs = 3_600_000;
const shown = 6;

/** What a person should see first: what needs them, what happened, what it saves. */
export function Overview() {
  const status = useQuery(queries.status);
  return (
    <Page title="Overview" about={status.data && <Standing status={status.data} />} actions={<Endpoint />}>
      <Loaded query={status} lines={6}>
        {(data) => (
          <>
            <NeedsYou status={data} />
            {data.servers.length > 0 && data.counts.calls === 0 && <FirstSteps servers={data.servers.length} />}
            <div className="columns">
              <Activity status={data} />
              <Saved hasTools={data.counts.tools > 0} />
            </div>
            <div className="columns">
              <Slowest />
              <Failures />
              <Connected />
            </div>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Standing({ status }: { readonly status: Schemas["GatewayStatus"] }) {
  const { counts, uptimeMs, configFile } = status;
  return (
    <>
      <Link to="/servers">{counted(counts.servers, "server")}</Link>,{" "}
      <Link to="/tools">{counted(counts.tools, "tool")}</Link> · up {duration(uptimeMs)}
      {configFile !== null && <> · {configFile}</>}
    </>
  );
}

function Endpoint() {
  const url = `${location.origin}/mcp`;
  return (
    <span className="endpoint">
      <code>{url}</code> <CopyButton text={url} label="Copy the endpoint" />
    </span>
  );
}

function NeedsYou({ status }: { readonly status: Schemas["GatewayStatus"] }) {
  const ill = status.servers.filter(needsPerson);
  const problems = [
    ...(status.restart === null ? [] : [{ text: status.restart, hint: "Restart the gateway." }]),
    ...(status.unready === null ? [] : [{ text: status.unready, hint: "" }]),
    ...status.store.problems.map(({ message, hint }) => ({ text: message, hint })),
  ];
  if (status.servers.length === 0)
    return (
      <Empty title="No server is configured yet">
        <ol className="steps">
          <li>
            <Link to="/start">Bring the servers that your AI clients have already</Link>, or{" "}
            <Link to="/servers">add one</Link>.
          </li>
          <li>Have a client use this gateway.</li>
          <li>Ask it for something: the first call appears here.</li>
        </ol>
      </Empty>
    );
  if (ill.length + problems.length === 0) return <p className="note good">Nothing needs you: every server is well.</p>;
  return (
    <Section title="Needs you" about={counted(ill.length + problems.length, "thing")}>
      <ul className="list">
        {problems.map(({ text, hint }) => (
          <li key={text}>
            <strong>{plain(text)}</strong> <span className="muted">{plain(hint)}</span>
          </li>
        ))}
        {ill.map((server) => (
          <li key={server.instance}>
            <Link to="/servers/$server" params={{ server: server.server }} search={{ instance: server.instance }}>
              {plain(server.title)}
            </Link>
            <StatusMark server={server} />
            <span className="muted grow">{plain(reasonText(server))}</span>
            <Remedy server={server} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** Until the first call: the three steps of the start, with what is done of them. */
function FirstSteps({ servers }: { readonly servers: number }) {
  const { mayManage } = useWho();
  const used = useQuery(queries.lastUse("client"));
  const { data: tokens } = useQuery(queries.tokens);
  if (used.data === undefined || used.data.usage.length > 0 || tokens === undefined) return null;
  const isConnected = tokens.sessions.count > 0;
  return (
    <Section title="Until the first call">
      <ol className="steps">
        <li>
          {mayManage ? <Link to="/start">Bring servers</Link> : "Servers"}: {counted(servers, "server")}{" "}
          <span className="status ok">done</span>
        </li>
        <li>
          {mayManage ? <Link to="/clients">Have a client use this gateway</Link> : "Have a client use this gateway"}{" "}
          {isConnected ? (
            <span className="status ok">done</span>
          ) : (
            <span className="muted">with the address above; it counts when it has asked for its tools</span>
          )}
        </li>
        <li>
          Ask it for something: the first call appears here. Or <Link to="/tools">run a tool</Link> yourself.
        </li>
      </ol>
    </Section>
  );
}

function Activity({ status }: { readonly status: Schemas["GatewayStatus"] }) {
  const usage = useQuery(queries.usage(24, "hour"));
  return (
    <Section
      title="Calls"
      about={
        <>
          <Link to="/calls">{counted(status.counts.calls, "call")} in 24 h</Link>,{" "}
          <Link to="/calls" search={{ failed: "true" }}>
            {count(status.counts.errors)} failed
          </Link>
        </>
      }
    >
      <Loaded query={usage}>
        {(data) =>
          data.usage.length === 0 ? (
            <Empty title="No call yet">
              <p>Every call is listed here with its caller, outcome and cost.</p>
            </Empty>
          ) : (
            <CallChart usage={data.usage} />
          )
        }
      </Loaded>
    </Section>
  );
}

function CallChart({ usage }: { readonly usage: Schemas["UsageList"]["usage"] }) {
  const { times, lines } = useMemo(() => {
    const end = Math.floor(Date.now() / hourMs) * hourMs;
    const hours = Array.from({ length: 24 }, (_, at) => end - (23 - at) * hourMs);
    const byHour = new Map(usage.map((row) => [Date.parse(row.group["hour"] ?? ""), row]));
    const values = (of: (row: (typeof usage)[number]) => number) =>
      hours.map((hour) => {
        const row = byHour.get(hour);
        return row === undefined ? 0 : of(row);
      });
    return {
      times: hours.map((hour) => hour / 1_000),
      lines: [
        { label: "Calls", color: "--accent", values: values(({ calls }) => calls) },
        { label: "Failed", color: "--bad", values: values(({ errors }) => errors) },
      ],
    };
  }, [usage]);
  return (
    <Suspense fallback={<Skeleton />}>
      <Chart label="Calls and failures by the hour, of the last day" times={times} lines={lines} />
    </Suspense>
  );
}

function Saved({ hasTools }: { readonly hasTools: boolean }) {
  const tokens = useQuery(queries.tokens);
  return (
    <Section title="Tokens" about={<Link to="/tokens">How this is counted</Link>}>
      {!hasTools && <p className="muted">Nothing can be saved yet: no server offers a tool.</p>}
      {hasTools && (
        <Loaded query={tokens}>
          {({ flat, here, savedAtStart, spentOnFinding, sessions }) => (
            <Facts
              facts={[
                ["All tools, flat", tokenCount(flat)],
                [`Here (${here.exposure})`, tokenCount(here)],
                ["Saved when a conversation begins", tokenCount(savedAtStart)],
                ["Spent on finding, today", tokenCount({ tokens: spentOnFinding.tokens, isExact: false })],
                [
                  "Net per session, median",
                  sessions.medianNet === null
                    ? "no session yet"
                    : tokenCount({ tokens: sessions.medianNet, isExact: sessions.isExact }),
                ],
              ]}
            />
          )}
        </Loaded>
      )}
    </Section>
  );
}

function Slowest() {
  const usage = useQuery(queries.usage(24, "tool"));
  return (
    <Section title="Slowest tools" about="mean of 24 h">
      <Loaded query={usage}>
        {({ usage: rows }) => {
          const slowest = rows
            .filter(({ calls }) => calls > 0)
            .map((row) => ({ ...row, mean: row.durationMs.sum / row.calls }))
            .sort((one, other) => other.mean - one.mean)
            .slice(0, shown);
          if (slowest.length === 0) return <p className="muted">No call yet.</p>;
          return (
            <ul className="list">
              {slowest.map(({ group, calls, mean }) => (
                <li key={group["tool"] ?? ""}>
                  <Link className="grow" to="/calls" search={{ tool: group["tool"] ?? "" }}>
                    {plain(group["tool"] ?? "")}
                  </Link>
                  <span className="number">{duration(mean)}</span>
                  <span className="muted number">{counted(calls, "call")}</span>
                </li>
              ))}
            </ul>
          );
        }}
      </Loaded>
    </Section>
  );
}

function Failures() {
  const failed = useQuery({
    queryKey: ["calls", "failed"],
    queryFn: async () => await valueOf(api.GET("/api/calls", { params: { query: { failed: "true", limit: shown } } })),
  });
  return (
    <Section
      title="Last failures"
      about={
        <Link to="/calls" search={{ failed: "true" }}>
          All
        </Link>
      }
    >
      <Loaded query={failed}>
        {({ calls }) =>
          calls.length === 0 ? (
            <p className="muted">No call has failed.</p>
          ) : (
            <ul className="list">
              {calls.map(({ id, name, code, outcome, time: at }) => (
                <li key={id}>
                  <Link className="grow" to="/calls/$id" params={{ id }}>
                    {plain(name)}
                  </Link>
                  <span className="bad-text">{plain(code ?? outcomeWord(outcome))}</span>
                  <span className="muted number">{ago(at)}</span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  );
}

function Connected() {
  const sessions = useQuery(queries.sessions);
  return (
    <Section title="Connected clients" about={<Link to="/clients">Connect one</Link>}>
      <Loaded query={sessions}>
        {({ clients }) =>
          clients.length === 0 ? (
            <p className="muted">No client is connected now.</p>
          ) : (
            <ul className="list">
              {clients.map(({ client, revision, endpoint, idleMs }, at) => (
                <li key={at}>
                  <span className="grow">{plain(client ?? "(no name)")}</span>
                  <span className="muted">{revision ?? "without sessions"}</span>
                  <span className="muted">{endpoint}</span>
                  {idleMs !== null && <span className="muted number">{duration(idleMs)} ago</span>}
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  );
}
