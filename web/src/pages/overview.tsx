import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import type { ReactElement } from "react";
import type { Schemas } from "../api/client.ts";
import { queries } from "../api/queries.ts";
import { CopyButton } from "../parts/basic/button.tsx";
import { Name } from "../parts/basic/name.tsx";
import { Segments } from "../parts/basic/segments.tsx";
import { Loaded } from "../parts/basic/states.tsx";
import { CallsChart } from "../parts/overview/calls-chart.tsx";
import { FirstSteps, NeedsYou } from "../parts/overview/needs-you.tsx";
import { Saved } from "../parts/overview/saved.tsx";
import { Slowest } from "../parts/overview/slowest.tsx";
import { Stream } from "../parts/overview/stream.tsx";
import { Page, Section } from "../parts/page.tsx";
import { agoByHour, counted, duration, plain } from "../words/format.ts";
import { timeRanges, toTimeRange, type TimeRange } from "../words/time-range.ts";

const here = getRouteApi("/");
const ranges = Object.entries(timeRanges).map(([range, { label }]) => [range as TimeRange, label] as const);

/** The first glance: what it saves, what needs somebody, and what happened. */
export function Overview() {
  const search = here.useSearch();
  const navigate = useNavigate();
  const range = toTimeRange(search.range);
  const status = useQuery(queries.status);
  return (
    <Page
      title="Overview"
      about={status.data && <Standing status={status.data} />}
      actions={
        <Segments
          label="Time"
          tabs={ranges}
          chosen={range}
          onChoose={(next) => void navigate({ to: "/", search: { ...search, range: next }, replace: true })}
        />
      }
    >
      <Loaded query={status} lines={6}>
        {(data) => (
          <>
            <Saved hasTools={data.counts.tools > 0} />
            {data.servers.length > 0 && data.counts.calls === 0 && <FirstSteps servers={data.servers.length} />}
            <div className="overview">
              <div>
                <NeedsYou status={data} />
                {data.servers.length > 0 && (
                  <Stream range={range} isFailedOnly={search.what === "failed"} filters={<Filters range={range} />} />
                )}
              </div>
              <div>
                <CallsChart range={range} />
                <Slowest range={range} />
                <Seen range={range} />
              </div>
            </div>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Filters({ range }: { readonly range: TimeRange }): ReactElement {
  const { what } = here.useSearch();
  return (
    <span className="chips start">
      <Link to="/" search={{ range }} replace aria-current={what === undefined ? "page" : undefined} activeProps={{}}>
        All
      </Link>
      <Link
        to="/"
        search={{ range, what: "failed" }}
        replace
        aria-current={what === "failed" ? "page" : undefined}
        activeProps={{}}
      >
        Failed
      </Link>
    </span>
  );
}

function Standing({ status }: { readonly status: Schemas["GatewayStatus"] }) {
  const { counts, uptimeMs, configFile } = status;
  const url = `${location.origin}/mcp`;
  return (
    <>
      <code>{url}</code> <CopyButton text={url} label="Copy the endpoint" />
      <br />
      <Link to="/servers">{counted(counts.servers, "server")}</Link>,{" "}
      <Link to="/tools">{counted(counts.tools, "tool")}</Link> · up {duration(uptimeMs)}
      {configFile !== null && (
        <>
          {" "}
          · <Name>{configFile}</Name>
        </>
      )}
    </>
  );
}

/** Clients that called, with when they were last seen. */
function Seen({ range }: { readonly range: TimeRange }) {
  const { hours, inWords } = timeRanges[range];
  const usage = useQuery(queries.usage(hours, "client"));
  return (
    <Section title="Clients" about={<Link to="/clients">All, and connect one</Link>}>
      <Loaded query={usage}>
        {({ usage: rows }) =>
          rows.length === 0 ? (
            <p className="muted">No client has called a tool in {inWords}.</p>
          ) : (
            <ul className="list">
              {rows.map(({ group: { client = null }, calls, lastHour }) => (
                <li key={client}>
                  {client === null ? (
                    <span className="grow">without a client’s name</span>
                  ) : (
                    <Link className="grow" to="/calls" search={{ client }}>
                      {plain(client)}
                    </Link>
                  )}
                  <span className="muted number">{counted(calls, "call")}</span>
                  <span className="muted">last seen {agoByHour(lastHour)}</span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  );
}
