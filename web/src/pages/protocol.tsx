import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useState } from "react";
import type { Schemas } from "../api/client.ts";
import { followProtocol, type ProtocolState } from "../api/protocol.ts";
import { saveBlob } from "../parts/api/save-blob.ts";
import { Button } from "../parts/basic/button.tsx";
import { DataTable, type Column } from "../parts/basic/data-table.tsx";
import { LongText } from "../parts/basic/long-text.tsx";
import { Name } from "../parts/basic/name.tsx";
import { Empty, FailureNote } from "../parts/basic/states.tsx";
import { SelectField, TextField } from "../parts/forms/field.tsx";
import { Page } from "../parts/page.tsx";
import { withFilters } from "../parts/records/log-lines.tsx";
import { ListCopies } from "../parts/servers/list-copies.tsx";
import { bytes, count, counted, duration, fullTime, plain, time } from "../words/format.ts";
import { directionOf, errorOf, fitsFilters, type ProtocolFilters } from "../words/protocol.ts";
import { toCommand } from "../words/words.ts";

type Message = Schemas["ProtocolMessage"] & { readonly key: string };
const here = getRouteApi("/protocol");
const nothingYet: ProtocolState = { messages: [], lost: 0, everybody: undefined, failure: undefined };

/** What clients, the gateway and servers say to each other, while the page is open. Nothing of it is kept. */
export function Protocol() {
  const filters = here.useSearch();
  const navigate = useNavigate({ from: "/protocol" });
  const [isPaused, setPaused] = useState(false);
  const [state, setState] = useState(nothingYet);
  const [open, setOpen] = useState<string>();
  useEffect(() => (isPaused ? undefined : followProtocol(setState)), [isPaused]);
  const { messages, lost, everybody, failure } = state;
  const shown = useMemo(() => messages.filter((message) => fitsFilters(message, filters)), [messages, filters]);
  const set = (next: ProtocolFilters): void =>
    void navigate({ to: ".", search: (now) => withFilters(now, next), replace: true });
  const { server, client, method, match } = filters;
  const plainRows = () => shown.map(({ key: _key, ...message }) => message);
  return (
    <Page
      title="Protocol"
      about={
        everybody === false
          ? "Messages of your own clients and instances, as they pass. Nothing is kept."
          : "Messages between clients, the gateway and servers, as they pass. Nothing is kept."
      }
      actions={
        <>
          <Button aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
            {isPaused ? "Go on" : "Pause"}
          </Button>
          <Button onClick={() => setState((now) => ({ ...now, messages: [], lost: 0 }))}>Clear</Button>
          <ListCopies
            command={match === undefined ? toCommand("protocol", [], { server, client, method }) : undefined}
            rows={plainRows()}
          />
          <Button
            onClick={() => saveBlob(new Blob([JSON.stringify(plainRows(), undefined, 2)]), "toolyard-protocol.json")}
          >
            Save
          </Button>
        </>
      }
    >
      <Filters messages={messages} filters={filters} onFilter={set} />
      {failure !== undefined && <FailureNote error={failure} />}
      {lost > 0 && (
        <p className="note warn" role="status">
          {counted(lost, "message")} came faster than they can be shown, and {lost === 1 ? "was" : "were"} left out.
        </p>
      )}
      {isPaused && <p className="note">Paused: what passes now is not shown later.</p>}
      {shown.length === 0 ? (
        <Empty
          title={
            messages.length === 0
              ? "Nothing has passed since you opened this page"
              : `None of ${counted(messages.length, "message")} fits these filters`
          }
        >
          <p>Every request, answer and notification appears here at once, on both sides of the gateway.</p>
        </Empty>
      ) : (
        <DataTable
          label="Messages"
          columns={columns(open, (key) => setOpen(open === key ? undefined : key))}
          rows={shown}
          rowKey={({ key }) => key}
          rowClass={({ kind }) => (kind === "error" || kind === "refusal" ? "failed" : "")}
          detail={(message) => (open === message.key ? <Whole message={message} /> : null)}
        />
      )}
    </Page>
  );
}

interface FiltersProps {
  readonly messages: readonly Message[];
  readonly filters: ProtocolFilters;
  readonly onFilter: (next: ProtocolFilters) => void;
}

/** The names are those that were seen, and the chosen one. */
function Filters({ messages, filters, onFilter }: FiltersProps) {
  const choices = (all: string, chosen: string | undefined, found: readonly (string | null)[]) => {
    const names = new Set([...found, chosen].filter((name): name is string => typeof name === "string"));
    return [["", all], ...[...names].sort().map((name) => [name, plain(name)] as const)] as const;
  };
  const namesOf = (side: Message["side"]) => messages.filter((one) => one.side === side).map(({ name }) => name);
  const { server = "", client = "", method = "", match = "" } = filters;
  return (
    <div className="filters">
      <SelectField
        label="Client"
        choices={choices("All clients", filters.client, namesOf("client"))}
        value={client}
        onChange={({ target }) => onFilter({ client: target.value })}
      />
      <SelectField
        label="Server"
        choices={choices("All servers", filters.server, namesOf("server"))}
        value={server}
        onChange={({ target }) => onFilter({ server: target.value })}
      />
      <SelectField
        label="Method"
        choices={choices(
          "All methods",
          filters.method,
          messages.map((message) => message.method),
        )}
        value={method}
        onChange={({ target }) => onFilter({ method: target.value })}
      />
      <TextField label="Containing" value={match} onChange={({ target }) => onFilter({ match: target.value })} />
    </div>
  );
}

const columns = (open: string | undefined, toggle: (key: string) => void): readonly Column<Message>[] => [
  {
    heading: "Time",
    width: "5.5rem",
    cell: (message) => (
      <time dateTime={message.time} title={fullTime(message.time)}>
        {time(message.time)}
      </time>
    ),
  },
  { heading: "Direction", width: "minmax(9rem, 10rem)", cell: directionOf },
  {
    heading: "With",
    width: "minmax(7rem, 1fr)",
    cell: ({ name }) => (name === null ? <span className="muted">unnamed</span> : <Name>{name}</Name>),
  },
  {
    heading: "Message",
    width: "minmax(11rem, 2fr)",
    cell: (message) => (
      <Button look="plain" aria-expanded={open === message.key} onClick={() => toggle(message.key)}>
        <code>
          <Name>{message.method ?? message.kind}</Name>
        </code>
      </Button>
    ),
  },
  { heading: "Id", width: "5rem", from: 820, cell: ({ id }) => <code>{plain(id ?? "")}</code> },
  {
    heading: "Outcome",
    width: "minmax(6rem, 1fr)",
    cell: (message) => {
      const error = errorOf(message);
      if (error !== undefined) return <span className="bad-text">{plain(error)}</span>;
      return <span className="muted">{message.kind === "result" ? "ok" : message.kind}</span>;
    },
  },
  {
    heading: "Took",
    width: "5.5rem",
    align: "right",
    cell: ({ ms }) => (ms === null ? "–" : duration(ms)),
  },
  { heading: "Size", width: "5rem", align: "right", from: 660, cell: (message) => bytes(message.bytes) },
];

/** A message that is unfolded. */
function Whole({ message }: { readonly message: Message }) {
  return (
    <>
      {message.cut && (
        <p className="note">
          The beginning of {bytes(message.bytes)} ({count(message.bytes)} bytes).
        </p>
      )}
      <LongText text={message.text} isJson file="message.json" />
    </>
  );
}
