import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import { api, rawFetch, valueOf, type Schemas } from "../../api/client.ts";
import { problemOf } from "../../api/failure.ts";
import { useOrder } from "../../api/queries.ts";
import { Button } from "../../parts/basic/button.tsx";
import { DataTable, type Column } from "../../parts/basic/data-table.tsx";
import { CheckField, TextField } from "../../parts/forms/field.tsx";
import { Name } from "../../parts/basic/name.tsx";
import { ListCopies } from "../../parts/servers/list-copies.tsx";
import { Page } from "../../parts/page.tsx";
import { saveBlob } from "../../parts/api/save-blob.ts";
import { Empty, FailureNote, Loaded } from "../../parts/basic/states.tsx";
import { compact, count, duration, fullTime, plain, time } from "../../words/format.ts";
import { Outcome } from "../../parts/basic/outcome.tsx";
import { foundText, outcomeOf } from "../../words/status.ts";
import { toCommand } from "../../words/words.ts";

type Call = Schemas["Call"];
const here = getRouteApi("/calls");
const pageRows = 200;

/**
 * Calls that are alike and follow each other, as one row.
 * Those that failed are never folded into those that did not.
 */
interface Run {
  readonly first: Call;
  readonly calls: readonly Call[];
}

function fold(calls: readonly Call[]): readonly Run[] {
  const runs: { first: Call; calls: Call[] }[] = [];
  for (const call of calls) {
    const last = runs.at(-1);
    const isSame =
      last !== undefined &&
      last.first.name === call.name &&
      last.first.code === call.code &&
      last.first.outcome === call.outcome &&
      last.first.principal === call.principal &&
      last.first.client === call.client;
    if (isSame) last.calls.push(call);
    else runs.push({ first: call, calls: [call] });
  }
  return runs;
}

const isSearch = ({ method }: Call): boolean => method === "search";
/** What a search costs is in the sums of the page about tokens. */
const unknown = <span className="muted">–</span>;

const columns = (open: string | undefined, toggle: (id: string) => void): readonly Column<Run>[] => [
  {
    heading: "Time",
    width: "minmax(5.5rem, 9rem)",
    cell: ({ first }) => (
      <time dateTime={first.time} title={fullTime(first.time)}>
        {time(first.time)}
      </time>
    ),
  },
  {
    heading: "What",
    width: "minmax(12rem, 2fr)",
    cell: ({ first, calls }) => (
      <>
        {isSearch(first) && "Search: "}
        <Link to="/calls/$id" params={{ id: first.id }}>
          <code>
            <Name>{first.name}</Name>
          </code>
        </Link>
        {isSearch(first) && <span className="second">{plain(foundText(first))}</span>}
        {calls.length > 1 && (
          <Button look="plain" aria-expanded={open === first.id} onClick={() => toggle(first.id)}>
            ×{count(calls.length)}
          </Button>
        )}
      </>
    ),
  },
  {
    heading: "Outcome",
    width: "minmax(10rem, 1fr)",
    cell: ({ first }) => <Outcome call={first} />,
  },
  {
    heading: "Who",
    width: "minmax(9rem, 1fr)",
    cell: ({ first }) => (
      <span>
        {plain(first.user ?? first.principal)}
        {first.client !== null && (
          <span className="muted">
            {" "}
            <Name>{first.client}</Name>
          </span>
        )}
      </span>
    ),
  },
  {
    heading: "Duration",
    width: "7rem",
    align: "right",
    cell: ({ first: { durationMs, waitMs } }) => (
      <>
        {duration(durationMs)}
        {waitMs >= 1 && (
          <span className="second" title="For the server's start, or for a person: not part of the duration.">
            waited {duration(waitMs)}
          </span>
        )}
      </>
    ),
  },
  {
    heading: "Tokens in",
    width: "5.5rem",
    align: "right",
    from: 760,
    cell: ({ first }) => (isSearch(first) ? unknown : `~${compact(first.argumentTokens)}`),
  },
  {
    heading: "Tokens out",
    width: "6rem",
    align: "right",
    from: 760,
    cell: ({ first }) =>
      isSearch(first) ? unknown : `~${compact(first.resultTokens)}${first.isResultCut ? ", cut" : ""}`,
  },
];

/** Every call, newest first: failures are marked, successes are not. */
export function Calls() {
  const search = here.useSearch();
  const navigate = useNavigate();
  const { server, tool, client, failed } = search;
  const [open, setOpen] = useState<string>();
  const calls = useInfiniteQuery({
    queryKey: ["calls", server ?? "", tool ?? "", client ?? "", failed ?? ""],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam }) => {
      const query = {
        limit: pageRows,
        ...(server === undefined ? {} : { server }),
        ...(tool === undefined ? {} : { tool }),
        ...(client === undefined ? {} : { client }),
        ...(failed === "true" ? { failed: "true" as const } : {}),
        ...(pageParam === undefined ? {} : { cursor: pageParam }),
      };
      return await valueOf(api.GET("/api/calls", { params: { query } }));
    },
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = calls;
  const rows = useMemo(() => (calls.data?.pages ?? []).flatMap((page) => page.calls), [calls.data]);
  const runs = useMemo(() => fold(rows), [rows]);
  const onEnd = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const set = (name: string, value: string): void => {
    const next = Object.fromEntries(
      Object.entries({ ...search, [name]: value }).filter(([, text]) => text !== "" && text !== undefined),
    );
    void navigate({ to: "/calls", search: next, replace: true });
  };
  const isFiltered = [server, tool, client, failed].some((value) => value !== undefined);
  return (
    <Page
      title="Calls"
      about="Every call, with its caller and its result."
      actions={
        <>
          <Exports filters={{ server, tool, client, failed }} />
          <ListCopies
            command={
              client === undefined ? toCommand("calls", [], { failed: failed === "true", server, tool }) : undefined
            }
            rows={rows}
          />
        </>
      }
    >
      <div className="filters">
        <TextField label="Server" value={server ?? ""} onChange={({ target }) => set("server", target.value)} />
        <TextField label="Tool" value={tool ?? ""} onChange={({ target }) => set("tool", target.value)} />
        <TextField label="Client" value={client ?? ""} onChange={({ target }) => set("client", target.value)} />
        <CheckField
          label="Only failed"
          checked={failed === "true"}
          onChange={({ target }) => set("failed", target.checked ? "true" : "")}
        />
      </div>
      <Loaded query={calls} lines={10}>
        {() =>
          runs.length === 0 ? (
            <Empty title={isFiltered ? "No call fits these filters" : "No call yet"}>
              <p>
                Time, caller, outcome, duration and tokens are kept. Arguments and results only where a server's entry
                has <code>requestLogging: "full"</code>.
              </p>
            </Empty>
          ) : (
            <DataTable
              label="Calls"
              columns={columns(open, (id) => setOpen(open === id ? undefined : id))}
              rows={runs}
              rowKey={({ first }) => first.id}
              rowClass={({ first }) => (outcomeOf(first).tone === "bad" ? "failed" : "")}
              detail={({ first, calls: all }) => (open === first.id && all.length > 1 ? <Folded calls={all} /> : null)}
              onEnd={onEnd}
            />
          )
        }
      </Loaded>
    </Page>
  );
}

const formats = [
  ["NDJSON", "application/x-ndjson", "calls.ndjson"],
  ["CSV", "text/csv", "calls.csv"],
] as const;

/** What fits the filters, up to 100,000 calls, as a file. */
function Exports({ filters }: { readonly filters: Readonly<Record<string, string | undefined>> }) {
  const save = useOrder(
    async ([, type, name]: (typeof formats)[number]) => {
      const given = Object.entries(filters).filter((entry): entry is [string, string] => entry[1] !== undefined);
      const response = await rawFetch(`/api/calls?${new URLSearchParams(given).toString()}`, {
        headers: { Accept: type },
      });
      if (!response.ok) throw problemOf(response.status, await response.json());
      saveBlob(await response.blob(), name);
    },
    { changes: [] },
  );
  return (
    <>
      {formats.map((format) => (
        <Button
          key={format[0]}
          look="plain"
          isBusy={save.isPending && save.variables === format}
          onClick={() => save.mutate(format)}
        >
          Export {format[0]}
        </Button>
      ))}
      {save.error !== null && <FailureNote error={save.error} />}
    </>
  );
}

function Folded({ calls }: { readonly calls: readonly Call[] }) {
  return (
    <ul className="list">
      {calls.map((call) => (
        <li key={call.id}>
          <Link to="/calls/$id" params={{ id: call.id }}>
            {fullTime(call.time)}
          </Link>
          <span className="number">{duration(call.durationMs)}</span>
        </li>
      ))}
    </ul>
  );
}
