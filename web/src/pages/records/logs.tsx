import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { rawFetch } from "../../api/client.ts";
import { problemOf } from "../../api/failure.ts";
import { onLiveEvent } from "../../api/live.ts";
import { useOrder } from "../../api/queries.ts";
import { useWho } from "../../api/who.ts";
import { Button } from "../../parts/basic/button.tsx";
import { EventCall } from "../../parts/records/event-call.tsx";
import { ListCopies } from "../../parts/servers/list-copies.tsx";
import { LogLines, withFilters, type LogFilters } from "../../parts/records/log-lines.tsx";
import { Page } from "../../parts/page.tsx";
import { saveBlob } from "../../parts/api/save-blob.ts";
import { Empty, FailureNote } from "../../parts/basic/states.tsx";
import { TabLinks } from "../../parts/basic/tab-links.tsx";
import { counted, plain, time } from "../../words/format.ts";
import { toCommand } from "../../words/words.ts";

const here = getRouteApi("/logs");
const tabs = [
  ["log", "Logs of servers"],
  ["events", "Events"],
] as const;

/** What servers write, and what happens in the gateway. */
export function Logs() {
  const { tab = "log", server, level, match } = here.useSearch();
  const { mayManage } = useWho();
  const navigate = useNavigate({ from: "/logs" });
  const set = (next: LogFilters): void =>
    void navigate({ to: ".", search: (now) => withFilters(now, next), replace: true });
  return (
    <Page
      title="Logs and events"
      about="Server logs, and the gateway’s events as they happen."
      actions={mayManage && <SupportBundle />}
    >
      <TabLinks
        label="Logs and events"
        tabs={tabs}
        chosen={tab}
        link={(name, rest) => <Link to="/logs" search={{ tab: name }} replace {...rest} />}
      />
      {tab === "events" ? (
        <Events match={match ?? ""} onMatch={(text) => set({ match: text })} />
      ) : (
        <LogLines filters={{ server, level, match }} onFilter={set} />
      )}
    </Page>
  );
}

/** What somebody who helps needs to know, as a file that is read through before it is sent. */
function SupportBundle() {
  const save = useOrder(
    async () => {
      const response = await rawFetch("/api/support");
      if (!response.ok) throw problemOf(response.status, await response.json());
      saveBlob(new Blob([JSON.stringify(await response.json(), undefined, 2)]), "toolyard-support.json");
    },
    { changes: [] },
  );
  return (
    <>
      <Button
        isBusy={save.isPending}
        title="Status, settings, failed calls and warnings, without secrets"
        onClick={() => save.mutate(undefined)}
      >
        Download a report for support
      </Button>
      {save.error !== null && <FailureNote error={save.error} />}
    </>
  );
}

interface Seen {
  readonly id: string;
  readonly type: string;
  readonly time: string;
  /** Of another node. */
  readonly node?: string;
  readonly server: string | null;
  readonly instance: string | null;
  readonly data: unknown;
}

const mostEvents = 500;

function Events({ match, onMatch }: { readonly match: string; readonly onMatch: (match: string) => void }) {
  const [events, setEvents] = useState<readonly Seen[]>([]);
  const [isPaused, setPaused] = useState(false);
  useEffect(() => {
    if (isPaused) return undefined;
    return onLiveEvent(({ id, type, data }) => {
      if (type === "reset") return;
      const event = JSON.parse(data) as Omit<Seen, "id">;
      setEvents((now) => [{ ...event, type, id: id ?? `${event.time}-${now.length}` }, ...now].slice(0, mostEvents));
    });
  }, [isPaused]);
  const words = match.toLowerCase();
  const shown = events.filter((event) => `${event.type} ${event.server ?? ""}`.toLowerCase().includes(words));
  return (
    <div className="stack">
      <div className="filters">
        <div className="field grow">
          <label htmlFor="event-match">Type or server containing</label>
          <input id="event-match" type="search" value={match} onChange={({ target }) => onMatch(target.value)} />
        </div>
        <Button aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {isPaused ? "Go on" : "Pause"}
        </Button>
        <Button onClick={() => setEvents([])}>Clear</Button>
        <ListCopies command={match === "" ? toCommand("events", [], { follow: true }) : undefined} rows={shown} />
      </div>
      {shown.length === 0 ? (
        <Empty
          title={
            events.length === 0
              ? "Nothing has happened since you opened this page"
              : `None of ${counted(events.length, "event")} fits this filter`
          }
        >
          <p>Calls, starts and ends of servers, and changes of the configuration appear here at once.</p>
        </Empty>
      ) : (
        <ol className="history" aria-label="Events">
          {shown.map((event) => (
            <li key={event.id}>
              <time dateTime={event.time}>{time(event.time)}</time>
              <code>{event.type}</code>
              {event.server !== null && (
                <Link
                  to="/servers/$server"
                  params={{ server: event.server }}
                  search={event.instance === null ? {} : { instance: event.instance }}
                >
                  {plain(event.server)}
                </Link>
              )}
              {event.node !== undefined && <span className="muted">at {plain(event.node)}</span>}
              {event.type === "mcp.request.logs" && <EventCall time={event.time} data={event.data} />}
              <details className="grow">
                <summary>Details</summary>
                <pre tabIndex={0} className="wrap">
                  {plain(JSON.stringify(event.data, undefined, 2))}
                </pre>
              </details>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}
