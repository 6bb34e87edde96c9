import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChevronRight, Search, X } from "lucide-react";
import { useMemo, useSyncExternalStore, type ReactElement } from "react";
import { api, valueOf } from "../../api/client.ts";
import { liveStore } from "../../api/live.ts";
import { ago, compact, count, counted, duration, fullTime, plain, time } from "../../words/format.ts";
import { foundText, outcomeOf } from "../../words/status.ts";
import { toGroups, type StreamGroup, type StreamLine } from "../../words/stream.ts";
import { timeRanges, type TimeRange } from "../../words/time-range.ts";
import { Name } from "../basic/name.tsx";
import { Section } from "../page.tsx";
import { Loaded } from "../basic/states.tsx";
import { ServerIcon } from "../servers/server-icon.tsx";

const mostCalls = 80;
const mostLines = 10;
const unseenMs = 10_000;

interface StreamProps {
  readonly range: TimeRange;
  readonly isFailedOnly: boolean;
  /** Links that choose the lines. */
  readonly filters: ReactElement;
}

/** What happened, by client: searches, the calls that they led to, and their results, as they come. */
export function Stream({ range, isFailedOnly, filters }: StreamProps) {
  const { hours, inWords } = timeRanges[range];
  const live = useSyncExternalStore(liveStore.subscribe, liveStore.get);
  const calls = useQuery({
    queryKey: ["calls", "stream", range, isFailedOnly],
    queryFn: async () => {
      const from = new Date(Date.now() - hours * 3_600_000).toISOString();
      const query = { limit: mostCalls, from, ...(isFailedOnly ? { failed: "true" as const } : {}) };
      return await valueOf(api.GET("/api/calls", { params: { query } }));
    },
    // No event tells of calls that reached no server.
    refetchInterval: unseenMs,
  });
  const groups = useMemo(() => {
    const lines = (calls.data?.calls ?? []).map((call) => ({
      ...call,
      ...(call.method === "search"
        ? { kind: "search" as const, about: foundText(call), tokens: null }
        : {
            kind: "call" as const,
            about: call.outcome === "ok" ? "" : outcomeOf(call).word,
            tokens: call.resultTokens,
          }),
      isFailed: outcomeOf(call).tone === "bad",
    }));
    return toGroups(lines, mostLines);
  }, [calls.data]);
  return (
    <Section
      title="What happened"
      about={
        <>
          <span className={`live ${live}`}>{live === "live" ? "live" : "not live now"}</span>
        </>
      }
      actions={filters}
    >
      <Loaded query={calls} lines={6}>
        {() =>
          groups.length === 0 ? (
            <p className="muted">
              {isFailedOnly ? `No call has failed in ${inWords}.` : `No call and no search in ${inWords}.`}
            </p>
          ) : (
            groups.map((group) => <Group key={group.key} group={group} />)
          )
        }
      </Loaded>
    </Section>
  );
}

function Group({ group: { client, principal, lines } }: { readonly group: StreamGroup }) {
  const last = lines.at(-1)?.time;
  const failed = lines.filter(({ isFailed }) => isFailed).reduce((sum, { times }) => sum + times, 0);
  const name = client ?? "Without a client’s name";
  return (
    <section className="stream" aria-label={plain(name)}>
      <h3>
        {client !== null && <ServerIcon name={client} />}
        <span className="grow">
          {client === null ? name : <Name>{client}</Name>} <span className="muted">{plain(principal)}</span>
        </span>
        <span className="muted">
          {failed > 0 && `${count(failed)} failed · `}
          {last !== undefined && ago(last)}
        </span>
      </h3>
      <ol>
        {lines.map((line) => (
          <Line key={line.id} line={line} />
        ))}
      </ol>
    </section>
  );
}

function Line({ line }: { readonly line: StreamLine }) {
  const { kind, name, about, isFailed, times, tokens } = line;
  const Icon = kind === "search" ? Search : isFailed ? X : ChevronRight;
  const word = kind === "search" ? "Search" : isFailed ? "Failed call" : "Call";
  return (
    <li className={isFailed ? "failed" : undefined}>
      <time dateTime={line.time} title={fullTime(line.time)}>
        {time(line.time)}
      </time>
      <span className="stream-sign">
        <Icon aria-hidden size={14} />
        <span className="hidden">{word}</span>
      </span>
      <span className="grow">
        {kind === "search" && "Search: "}
        <Link to="/calls/$id" params={{ id: line.id }}>
          <Name>{name}</Name>
        </Link>
        {times > 1 && <span className="muted"> ×{count(times)}</span>}{" "}
        <span className={isFailed ? "bad-text" : "muted"}>{plain(about)}</span>
      </span>
      <span className="muted number">{duration(line.durationMs)}</span>
      <span
        className="muted number stream-tokens"
        title={tokens === null ? "" : `${counted(tokens, "token")} of result`}
      >
        {tokens === null ? "" : `~${compact(tokens)}`}
      </span>
    </li>
  );
}
