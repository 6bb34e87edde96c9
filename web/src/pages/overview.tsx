import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Schemas } from "../api/client.ts";
import { queries } from "../api/queries.ts";
import { CopyButton } from "../parts/basic/button.tsx";
import { FirstSteps, NeedsYou } from "../parts/records/needs-you.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Activity, Failures, Saved, Slowest } from "../parts/servers/recent-use.tsx";
import { Loaded } from "../parts/basic/states.tsx";
import { counted, duration, plain } from "../words/format.ts";

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
