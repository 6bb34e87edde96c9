import { useQuery } from "@tanstack/react-query";
import { api, valueOf } from "../../api/client.ts";
import { ago, count, counted, duration, fullTime, plain } from "../../words/format.ts";
import { type StateChange } from "../../words/status.ts";
import { Section } from "../page.tsx";
import { Loaded } from "../basic/states.tsx";
import { StatusMark } from "../basic/status-mark.tsx";

const historyRows = 100;

/** What happened to one instance, newest first. */
export function ServerHistory({ instance }: { readonly instance: string }) {
  const history = useQuery({
    queryKey: ["status", "history", instance],
    queryFn: async () =>
      await valueOf(
        api.GET("/api/instances/{id}/events", {
          params: { path: { id: instance }, query: { limit: historyRows } },
        }),
      ),
  });
  return (
    <Section title="History" about="newest first">
      <Loaded query={history}>
        {({ events }) => {
          const told = events.filter(({ type }) => type === stateChange || type in sentences);
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
                    {type === stateChange ? (
                      <Entered data={data} />
                    ) : (
                      <span className="grow">{plain(sentences[type]?.(data) ?? type)}</span>
                    )}
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

const stateChange = "mcp.server.status_changed";

/** A state that it came into, in the words of the page, and why. */
function Entered({ data }: { readonly data: Data }) {
  const { to, reason, step } = data as unknown as StateChange;
  return (
    <>
      <StatusMark server={{ status: to, dormant: false, next: step === undefined ? null : { step } }} />
      {/* Where there is no reason, the event names the step that led there: that is no sentence. */}
      <span className="muted grow">{reason?.includes(" ") === true && plain(reason)}</span>
    </>
  );
}

/** What a person wants to know of the past; events of other types are at Logs and events. */
const sentences: Readonly<Record<string, (data: Data) => string>> = {
  "mcp.server.started": ({ duration_ms: ms }) => `Started${typeof ms === "number" ? ` in ${duration(ms)}` : ""}`,
  "mcp.server.respawned": ({ duration_ms: ms }) =>
    `Woken by a call${typeof ms === "number" ? ` in ${duration(ms)}` : ""}`,
  "mcp.server.crashed": ({ exit_code: code, signal }) =>
    `Crashed: ${typeof signal === "string" ? signal : `exit code ${String(code)}`}`,
  "mcp.server.restarted": () => "Started again",
  "mcp.server.breaker": ({ state, replica, reason }) =>
    `The breaker of ${String(replica)} is ${String(state)}: it ${String(reason)}`,
  "mcp.server.dormant": () => "Stopped while idle",
  "mcp.server.permanently_failed": () => "Given up: it crashed too often",
  "mcp.tools.discovered": ({ tool_count: tools }) => `Lists were read: ${String(tools)} tools`,
  "server.session_replaced": () => "Its session was lost and replaced",
  "auth.login": () => "Somebody logged in",
};
