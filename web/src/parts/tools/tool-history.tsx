import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api, valueOf } from "../../api/client.ts";
import { ago, compact, duration, fullTime, plain } from "../../words/format.ts";
import { outcomeWord } from "../../words/status.ts";
import { Section } from "../page.tsx";
import { Loaded } from "../basic/states.tsx";

const shownCalls = 5;

/** The last calls of a tool, by whomever; `number` counts those that were made here. */
export function ToolHistory({ tool, number }: { readonly tool: string; readonly number: number }) {
  const calls = useQuery({
    queryKey: ["calls", "of-tool", tool, number],
    queryFn: async () => await valueOf(api.GET("/api/calls", { params: { query: { tool, limit: shownCalls } } })),
    placeholderData: (before) => before,
  });
  return (
    <Section
      title="Last calls"
      about={
        <Link to="/calls" search={{ tool }}>
          All
        </Link>
      }
    >
      <Loaded query={calls} lines={2}>
        {({ calls: rows }) =>
          rows.length === 0 ? (
            <p className="muted">It was not called yet.</p>
          ) : (
            <ul className="list" aria-label="Last calls">
              {rows.map((call) => (
                <li key={call.id}>
                  <Link to="/calls/$id" params={{ id: call.id }} title={fullTime(call.time)}>
                    {ago(call.time)}
                  </Link>
                  <span className="grow">
                    {call.outcome === "ok" ? (
                      <span className="muted">ok</span>
                    ) : (
                      <span className="bad-text">{plain(call.code ?? outcomeWord(call.outcome))}</span>
                    )}{" "}
                    <span className="muted">{plain(call.client ?? call.user ?? call.principal)}</span>
                  </span>
                  <span className="number">{duration(call.durationMs)}</span>
                  <span className="muted number">~{compact(call.argumentTokens + call.resultTokens)} tokens</span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  );
}
