import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useMemo, useState } from "react";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { queries } from "../../api/queries.ts";
import { ago, count, counted, duration, plain, tokenCount } from "../../words/format.ts";
import { outcomeWord } from "../../words/status.ts";
import { Facts } from "../basic/facts.tsx";
import { Section } from "../page.tsx";
import { Segments } from "../basic/segments.tsx";
import { Empty, Loaded, Skeleton } from "../basic/states.tsx";

const Chart = lazy(async () => ({ default: (await import("../records/chart.tsx")).Chart }));
const hourMs = 3_600_000;
const shown = 6;

const spans = [
  ["hour", "Last hour, by the minute"],
  ["day", "Last day, by the hour"],
] as const;
type Span = (typeof spans)[number][0];

/** Calls, and how many of them failed: of the last hour while there are any, otherwise of the last day. */
export function Activity({ status }: { readonly status: Schemas["GatewayStatus"] }) {
  const [chosen, setChosen] = useState<Span>();
  const usage = useQuery(queries.usage(24, "hour"));
  const recent = useQuery(queries.minutes);
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
        {(day) => (
          <Loaded query={recent}>
            {(hour) => {
              const isBusy = hour.minutes.some(({ calls }) => calls > 0);
              if (day.usage.length === 0 && !isBusy)
                return (
                  <Empty title="No call yet">
                    <p>Every call is listed here with its caller, outcome and cost.</p>
                  </Empty>
                );
              const span = chosen ?? (isBusy ? "hour" : "day");
              return (
                <>
                  <Segments label="Of which time" tabs={spans} chosen={span} onChoose={setChosen} />
                  {span === "hour" ? <MinuteChart minutes={hour.minutes} /> : <HourChart usage={day.usage} />}
                </>
              );
            }}
          </Loaded>
        )}
      </Loaded>
    </Section>
  );
}

function MinuteChart({ minutes }: { readonly minutes: Schemas["UsageMinutes"]["minutes"] }) {
  const rows = useMemo(() => minutes.map(({ from, ...counts }) => ({ atMs: Date.parse(from), ...counts })), [minutes]);
  return <CallChart label="Calls and failures by the minute, of the last hour" rows={rows} />;
}

function HourChart({ usage }: { readonly usage: Schemas["UsageList"]["usage"] }) {
  const rows = useMemo(() => {
    const end = Math.floor(Date.now() / hourMs) * hourMs;
    const byHour = new Map(usage.map((row) => [Date.parse(row.group["hour"] ?? ""), row]));
    return Array.from({ length: 24 }, (_, at) => {
      const atMs = end - (23 - at) * hourMs;
      const { calls, errors } = byHour.get(atMs) ?? { calls: 0, errors: 0 };
      return { atMs, calls, errors };
    });
  }, [usage]);
  return <CallChart label="Calls and failures by the hour, of the last day" rows={rows} />;
}

interface CallChartProps {
  readonly label: string;
  readonly rows: readonly { readonly atMs: number; readonly calls: number; readonly errors: number }[];
}

function CallChart({ label, rows }: CallChartProps) {
  const { times, lines } = useMemo(
    () => ({
      times: rows.map(({ atMs }) => atMs / 1_000),
      lines: [
        { label: "Calls", color: "--accent", values: rows.map(({ calls }) => calls) },
        { label: "Failed", color: "--bad", values: rows.map(({ errors }) => errors) },
      ],
    }),
    [rows],
  );
  return (
    <Suspense fallback={<Skeleton />}>
      <Chart label={label} times={times} lines={lines} />
    </Suspense>
  );
}

/** What definitions cost, and what finding tools saves. */
export function Saved({ hasTools }: { readonly hasTools: boolean }) {
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

/** Tools that took longest. */
export function Slowest() {
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

/** The last calls that failed. */
export function Failures() {
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
