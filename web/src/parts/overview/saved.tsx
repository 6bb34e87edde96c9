import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Schemas } from "../../api/client.ts";
import { queries } from "../../api/queries.ts";
import { count, counted, percent, roughly, tokenCount } from "../../words/format.ts";
import { Loaded } from "../basic/states.tsx";

type Report = Schemas["TokenReport"];

/** How much a model of today can read at once, as a measure to compare with. */
const contextTokens = 200_000;
const days = 30;

/** The figures that say what the gateway is for: the tokens that clients did not have to send to a model. */
export function Saved({ hasTools }: { readonly hasTools: boolean }) {
  const tokens = useQuery(queries.tokens);
  if (!hasTools) return null;
  return (
    <section className="hero" aria-label="Tokens not sent">
      <Loaded query={tokens}>
        {(report) => (
          <>
            <Today report={report} />
            <Month report={report} />
            <Context report={report} />
          </>
        )}
      </Loaded>
    </section>
  );
}

interface ReportProps {
  readonly report: Report;
}

function sumSince({ sessions }: Report, sinceMs: number): { readonly net: number; readonly count: number } {
  const rows = sessions.byHour.filter(({ fromMs }) => fromMs >= sinceMs);
  return {
    net: rows.reduce((sum, { net }) => sum + net, 0),
    count: rows.reduce((sum, row) => sum + row.sessions, 0),
  };
}

function midnight(back: number): number {
  const now = new Date();
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - back).getTime();
}

function Today({ report }: ReportProps) {
  const { net, count: conversations } = sumSince(report, midnight(0));
  const { savedAtStart, spentOnFinding } = report;
  return (
    <Figure name="Tokens not sent today" isLarge value={count(net)}>
      {conversations === 0
        ? `No conversation yet. Each begins with ${tokenCount(savedAtStart)} tokens less. `
        : `${counted(conversations, "conversation")}, after ${count(spentOnFinding.tokens)} tokens for searches. `}
      <Link to="/tokens">How it is counted</Link>
    </Figure>
  );
}

function Month({ report }: ReportProps) {
  const { net, count: conversations } = sumSince(report, 0);
  const { medianNet, worstNet } = report.sessions;
  const byDay = Array.from({ length: days }, (_, at) => {
    const from = midnight(days - 1 - at);
    return Math.max(0, sumSince(report, from).net - sumSince(report, midnight(days - 2 - at)).net);
  });
  const most = Math.max(...byDay, 1);
  return (
    <Figure name="In 30 days" value={roughly(net)}>
      {counted(conversations, "conversation")}
      {medianNet !== null && worstNet !== null && `; median ${count(medianNet)} each, worst ${count(worstNet)}`}.
      <span className="spark" role="img" aria-label={`By day, at most ${count(most)}`}>
        {byDay.map((value, at) => (
          <span key={at} style={{ height: `${(100 * value) / most}%` }} />
        ))}
      </span>
    </Figure>
  );
}

function Context({ report: { flat, here, servers } }: ReportProps) {
  const tools = servers.reduce((sum, server) => sum + server.tools, 0);
  const rows = [
    ["part-2", `All ${counted(tools, "tool")}, listed`, flat],
    ["part-1", "This gateway’s list", here],
  ] as const;
  return (
    <Figure
      name="Of a 200,000-token context"
      value={
        <>
          {percent(flat.tokens / contextTokens)} <small>becomes</small> {percent(here.tokens / contextTokens)}
        </>
      }
    >
      <span className="context" aria-hidden>
        {rows.map(([part, , value]) => (
          <span
            key={part}
            className={part}
            style={{ width: `${Math.min(100, (100 * value.tokens) / contextTokens)}%` }}
          />
        ))}
      </span>
      {rows.map(([part, name, value]) => (
        <span key={part} className="context-row">
          <span className={`dot ${part}`} aria-hidden />
          <span className="grow">{name}</span>
          <span className="number">{tokenCount(value)}</span>
        </span>
      ))}
    </Figure>
  );
}

interface FigureProps {
  readonly name: string;
  readonly value: ReactNode;
  readonly isLarge?: boolean;
  readonly children: ReactNode;
}

function Figure({ name, value, isLarge = false, children }: FigureProps) {
  return (
    <div className="hero-part">
      <p className="muted">{name}</p>
      <p className={isLarge ? "hero-figure" : "figure"}>{value}</p>
      <div className="muted">{children}</div>
    </div>
  );
}
