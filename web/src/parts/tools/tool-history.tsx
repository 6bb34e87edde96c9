import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api, valueOf } from "../../api/client.ts";
import { useOrder } from "../../api/queries.ts";
import { sentArguments } from "../../api/typed-arguments.ts";
import { indentedOrAsIs } from "../../words/text/exact-json.ts";
import { ago, compact, duration, fullTime, plain, shortened } from "../../words/format.ts";
import { Outcome } from "../basic/outcome.tsx";
import { Button } from "../basic/button.tsx";
import { Section } from "../page.tsx";
import { FailureNote, Loaded } from "../basic/states.tsx";

const shownCalls = 8;
const shownCharacters = 60;

interface ToolHistoryProps {
  readonly tool: string;
  /** Counts the calls that were made here. */
  readonly number: number;
  /** Puts arguments into the form. */
  readonly onUse: (text: string) => void;
}

/** The last calls of a tool by anybody, and the arguments that were sent from this tab, to be used again. */
export function ToolHistory({ tool, number, onUse }: ToolHistoryProps) {
  const calls = useQuery({
    queryKey: ["calls", "of-tool", tool, number],
    queryFn: async () => await valueOf(api.GET("/api/calls", { params: { query: { tool, limit: shownCalls } } })),
    placeholderData: (before) => before,
  });
  const use = useOrder(async (id: string) => await valueOf(api.GET("/api/calls/{id}", { params: { path: { id } } })), {
    changes: [],
    onDone({ body }) {
      if (body !== null && !body.areArgumentsCut) onUse(indentedOrAsIs(body.arguments));
    },
  });
  return (
    <>
      <Sent tool={tool} onUse={onUse} />
      <Section
        title="Last calls"
        about={
          <Link to="/calls" search={{ tool }}>
            All
          </Link>
        }
      >
        {use.error !== null && <FailureNote error={use.error} />}
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
                      <Outcome call={call} />{" "}
                      <span className="muted">{plain(call.client ?? call.user ?? call.principal)}</span>
                    </span>
                    <span className="number">{duration(call.durationMs)}</span>
                    <span className="muted number">~{compact(call.argumentTokens + call.resultTokens)} tokens</span>
                    {call.hasBody && (
                      <Button
                        look="plain"
                        aria-label={`Use the arguments of the call ${ago(call.time)}`}
                        isBusy={use.isPending && use.variables === call.id}
                        onClick={() => use.mutate(call.id)}
                      >
                        Use
                      </Button>
                    )}
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
      </Section>
    </>
  );
}

function Sent({ tool, onUse }: Pick<ToolHistoryProps, "tool" | "onUse">) {
  const sent = sentArguments(tool);
  if (sent.length === 0) return null;
  return (
    <Section title="Recent arguments" about="sent from this tab">
      <ul className="list" aria-label="Recent arguments">
        {sent.map((text) => {
          const line = shortened(plain(text).replaceAll(/\s+/g, " "), shownCharacters);
          return (
            <li key={text}>
              <code className="grow">{line}</code>
              <Button look="plain" aria-label={`Use ${line}`} onClick={() => onUse(text)}>
                Use
              </Button>
            </li>
          );
        })}
      </ul>
    </Section>
  );
}
