import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Schemas } from "../api/client.ts";
import { queries } from "../api/queries.ts";
import { DataTable, type Column } from "../parts/basic/data-table.tsx";
import { ListCopies } from "../parts/servers/list-copies.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Empty, Loaded } from "../parts/basic/states.tsx";
import { count, counted, percent, plain, tokenCount } from "../words/format.ts";
import { toCommand } from "../words/words.ts";

type Cost = Schemas["TokenReport"]["servers"][number];

const columns = (whole: number): readonly Column<Cost>[] => [
  {
    heading: "Server",
    width: "minmax(10rem, 1fr)",
    cell: ({ server }) => (
      <Link to="/servers/$server" params={{ server }}>
        {plain(server)}
      </Link>
    ),
  },
  {
    heading: "Tools",
    width: "5rem",
    align: "right",
    cell: ({ server, tools }) =>
      tools === 0 ? (
        <span className="muted">–</span>
      ) : (
        <Link to="/tools" search={{ server, sort: "tokens" }}>
          {count(tools)}
        </Link>
      ),
  },
  {
    heading: "Tokens",
    width: "7rem",
    align: "right",
    cell: ({ tools, ...cost }) => (tools === 0 ? <span className="muted">–</span> : tokenCount(cost)),
  },
  {
    heading: "Share",
    width: "minmax(8rem, 2fr)",
    cell: ({ tools, tokens }) => tools > 0 && <Share part={tokens / Math.max(1, whole)} />,
  },
];

function Share({ part }: { readonly part: number }) {
  return (
    <span className="share">
      <span className="bar wide" aria-hidden>
        <span className="slice" style={{ flexGrow: part }} />
        <span style={{ flexGrow: 1 - part }} />
      </span>
      <span className="number">{percent(part)}</span>
    </span>
  );
}

/** What tools cost a model, what that saves, and how each number comes about. */
export function Tokens() {
  const tokens = useQuery(queries.tokens);
  return (
    <Page title="Token cost" about="Counted with the o200k tokenizer; other models differ by up to 20 %.">
      <Loaded query={tokens} lines={8}>
        {(report) => <Report report={report} />}
      </Loaded>
    </Page>
  );
}

function Report({ report }: { readonly report: Schemas["TokenReport"] }) {
  const { flat, here, savedAtStart, spentOnFinding, sessions, servers } = report;
  return (
    <>
      <dl className="numbers">
        <Figure name="All tools, listed" value={flat.tokens} isExact={flat.isExact}>
          What the list of all tools at <code>/mcp/flat</code>, and its instructions, cost you now.
        </Figure>
        <Figure name="This gateway’s list" value={here.tokens} isExact={here.isExact}>
          What the list and instructions of <code>/mcp</code> ({here.exposure}) cost.
        </Figure>
        <Figure name="Saved when a conversation begins" value={savedAtStart.tokens} isExact={savedAtStart.isExact}>
          All tools minus this list. Negative if the short list costs more than all tools.
        </Figure>
        <Figure name="Spent on searches today" value={spentOnFinding.tokens} isExact={false}>
          {counted(spentOnFinding.answers, "answer")} of searches cost {count(spentOnFinding.answerTokens)}, and{" "}
          {counted(spentOnFinding.wrappedCalls, "call")} through execute {count(spentOnFinding.wrappingTokens)} more.
          Measured; estimates of tokens.
        </Figure>
        <Figure name="Net per session, median" value={sessions.medianNet} isExact={sessions.isExact}>
          Saved at the start minus what this session spent on searches, of {counted(sessions.count, "session")} in 30
          days. Not multiplied by turns.
        </Figure>
        <Figure name="Net per session, worst" value={sessions.worstNet} isExact={sessions.isExact}>
          The session in which searches cost most.
        </Figure>
      </dl>
      {sessions.unknown.length > 0 && (
        <p className="muted">
          Not counted, because these clients load definitions only when they need them:{" "}
          {sessions.unknown
            .map(({ client, sessions: number }) => `${plain(client)} (${counted(number, "session")})`)
            .join(", ")}
          .
        </p>
      )}
      <Section
        title="By server"
        about="in a flat list"
        actions={<ListCopies command={toCommand("tokens")} rows={servers} />}
      >
        {servers.length === 0 ? (
          <Empty title="No server offers a tool yet" />
        ) : (
          <DataTable
            label="Token cost by server"
            columns={columns(flat.tokens)}
            rows={[...servers].sort((one, other) => other.tokens - one.tokens)}
            rowKey={({ server }) => server}
          />
        )}
      </Section>
    </>
  );
}

interface FigureProps {
  readonly name: string;
  readonly value: number | null;
  readonly isExact: boolean;
  readonly children: ReactNode;
}

function Figure({ name, value, isExact, children }: FigureProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <span className="figure">{value === null ? "not known yet" : tokenCount({ tokens: value, isExact })}</span>
        <details>
          <summary>How</summary>
          <p className="muted">{children}</p>
        </details>
      </dd>
    </div>
  );
}
