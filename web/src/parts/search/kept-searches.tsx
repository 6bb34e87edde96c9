import { Link } from "@tanstack/react-router";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { degradedText, isWorse, placeText, verdictOf } from "../../../../src/kernel/search-words.ts";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { keptSearchesKey, useOrder } from "../../api/queries.ts";
import { agoShort, count, fullTime, plain, time } from "../../words/format.ts";
import { Button } from "../basic/button.tsx";
import { DataTable, type Column } from "../basic/data-table.tsx";
import { ListCopies } from "../servers/list-copies.tsx";
import { saveBlob } from "../api/save-blob.ts";
import { Empty, FailureNote, Loaded } from "../basic/states.tsx";

type Row = Schemas["KeptSearchRun"]["searches"][number];

const columns: readonly Column<Row>[] = [
  {
    heading: "Search",
    width: "minmax(9rem, 2fr)",
    cell: ({ query }) => (
      <Link to="/search" search={{ query }}>
        {plain(query)}
      </Link>
    ),
  },
  {
    heading: "Outcome",
    width: "minmax(8.5rem, 1fr)",
    cell: (row) => (
      <span className={isWorse(row) ? "bad-text" : undefined}>
        {verdictOf(row)}
        {isWorse(row) && row.toolExists && row.first !== null && (
          <span className="muted" title={plain(row.first)}>
            {" "}
            first: {plain(row.first)}
          </span>
        )}
      </span>
    ),
  },
  {
    heading: "Should find",
    width: "minmax(12rem, 1.4fr)",
    cell: ({ tool }) => (
      <Link to="/run/$tool" params={{ tool }} title={plain(tool)}>
        <code>{plain(tool)}</code>
      </Link>
    ),
  },
  {
    heading: "Kept",
    width: "6rem",
    cell: ({ keptAt }) => (
      <span className="muted" title={fullTime(keptAt)}>
        {agoShort(keptAt)}
      </span>
    ),
  },
  { heading: "Then", width: "3.6rem", align: "right", cell: ({ rank }) => <Place rank={rank} /> },
  { heading: "Now", width: "3.6rem", align: "right", cell: ({ rankNow }) => <Place rank={rankNow} /> },
  { heading: "Remove", width: "5.4rem", cell: (row) => <Remove row={row} /> },
];

/** What somebody keeps, made again whenever it is looked at. */
export function KeptSearches() {
  const run = useQuery({
    queryKey: keptSearchesKey,
    queryFn: async () => await valueOf(api.POST("/api/searches/run")),
    staleTime: 0,
    // Each reading runs all of them: on opening the page or on request, not whenever the window gets the focus.
    refetchOnWindowFocus: false,
  });
  return (
    <Loaded query={run} lines={6}>
      {({ searches, degraded }) => {
        if (searches.length === 0)
          return (
            <Empty title="You keep no search as a test yet">
              <p>
                <Link to="/search">Try a search</Link>, and choose “Keep as a test” above what it finds. It is made
                again here, to see whether the tool is still found after a change of servers, descriptions or settings.
              </p>
            </Empty>
          );
        const worse = searches.filter(isWorse).length;
        return (
          <>
            <div className="bar-line">
              <p className={worse === 0 ? "muted" : "bad-text"} role="status">
                {searches.length === 1 ? "1 search" : `${count(searches.length)} searches`},{" "}
                {worse === 0 ? "none is worse than when it was kept" : `${count(worse)} to look at`}
              </p>
              <span className="muted">made at {time(new Date(run.dataUpdatedAt).toISOString())}</span>
              <Button isBusy={run.isFetching} onClick={() => void run.refetch()}>
                Make them again
              </Button>
              <div className="actions">
                <ListCopies command={undefined} rows={searches} />
                <Button look="plain" onClick={() => save(searches)}>
                  Download
                </Button>
              </div>
            </div>
            {run.isError && <FailureNote error={run.error} />}
            {degraded !== null && <p className="note warn">Found {plain(degradedText(degraded))}.</p>}
            <DataTable label="Kept searches" columns={columns} rows={searches} rowKey={({ id }) => id} />
            <p className="muted">Only you see yours. Making them again teaches the search nothing.</p>
          </>
        );
      }}
    </Loaded>
  );
}

function Place({ rank }: { readonly rank: number | null }) {
  return rank === null ? <span title={placeText(rank)}>–</span> : <>{count(rank)}</>;
}

function Remove({ row: { id, query, tool } }: { readonly row: Row }) {
  const client = useQueryClient();
  const remove = useOrder(
    async () => {
      await valueOf(api.DELETE("/api/searches/{id}", { params: { path: { id } } }));
      client.setQueryData<Schemas["KeptSearchRun"]>(keptSearchesKey, (run) =>
        run === undefined ? undefined : { ...run, searches: run.searches.filter((row) => row.id !== id) },
      );
    },
    // The others need not be made again for it.
    {
      changes: [],
      said: () => ({
        text: `“${query}” is no longer kept.`,
        undo: async () => {
          await valueOf(api.POST("/api/searches", { body: { query, tool } }));
          await client.invalidateQueries({ queryKey: keptSearchesKey });
        },
      }),
    },
  );
  return (
    <Button
      look="plain"
      aria-label={`Remove ${plain(query)}`}
      isBusy={remove.isPending}
      onClick={() => remove.mutate(undefined)}
    >
      {remove.isError ? "Again" : "Remove"}
    </Button>
  );
}

/** One search in each line, as a program reads it. */
function save(searches: readonly Row[]): void {
  const lines = searches.map((search) => `${JSON.stringify(search)}\n`).join("");
  saveBlob(new Blob([lines], { type: "application/x-ndjson" }), "kept-searches.jsonl");
}
