import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { api, valueOf, type Schemas } from "../../api/client.ts";
import { queries } from "../../api/queries.ts";
import { plain } from "../../words/format.ts";
import { toCommand } from "../../words/words.ts";
import { Button } from "../basic/button.tsx";
import { CheckField, SelectField } from "../forms/field.tsx";
import { ListCopies } from "../servers/list-copies.tsx";
import { LogRows } from "./log-rows.tsx";
import { useRested } from "../basic/rested.ts";
import { Empty, Loaded } from "../basic/states.tsx";

type Level = Schemas["LogLine"]["level"];
const levels = [
  ["", "All levels"],
  ["info", "Info and worse"],
  ["warning", "Warnings and worse"],
  ["error", "Errors and worse"],
] as const;
const pageLines = 200;

interface LogLinesProps {
  /** Of one instance, or of whatever `server` names. */
  readonly instance?: string;
  /** They stand in the address. Without a server, those of all. */
  readonly filters: LogFilters;
  readonly onFilter: (next: LogFilters) => void;
}

/** Empty or absent: not filtered by it. */
export interface LogFilters {
  readonly server?: string | undefined;
  readonly level?: string | undefined;
  readonly match?: string | undefined;
}

/** The parameters of an address, with other filters. */
export function withFilters<Search extends object>(search: Search, next: LogFilters): Search {
  const all = Object.entries({ ...search, ...next });
  return Object.fromEntries(all.filter(([, value]) => value !== undefined && value !== "")) as Search;
}

function ServerField({ server, onServer }: { readonly server: string; readonly onServer: (server: string) => void }) {
  const { data } = useQuery(queries.status);
  const servers = new Map((data?.servers ?? []).map((row) => [row.server, plain(row.title)] as const));
  return (
    <SelectField
      label="Server"
      choices={[["", "All servers"], ...servers]}
      value={server}
      onChange={({ target }) => onServer(target.value)}
    />
  );
}

/** Lines of servers, oldest first, with the newest in sight until somebody scrolls away from it. */
export function LogLines({ instance, filters, onFilter }: LogLinesProps) {
  const { server = "", level = "", match = "" } = filters;
  const [isFollowing, setFollowing] = useState(true);
  const [isWrapped, setWrapped] = useState(true);
  const text = useRested(match.trim());
  const logs = useInfiniteQuery({
    queryKey: ["logs", instance ?? "", server, level, text],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam }) => {
      const query = {
        limit: pageLines,
        ...(instance === undefined ? {} : { instance }),
        ...(server === "" ? {} : { server }),
        ...(level === "" ? {} : { level: level as Level }),
        ...(text === "" ? {} : { text }),
        ...(pageParam === undefined ? {} : { cursor: pageParam }),
      };
      return await valueOf(api.GET("/api/logs", { params: { query } }));
    },
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
  const lines = useMemo(() => (logs.data?.pages ?? []).flatMap((page) => page.logs).toReversed(), [logs.data]);
  const download = `data:text/plain;charset=utf-8,${encodeURIComponent(lines.map((line) => `${line.time} ${line.level} ${line.line}`).join("\n"))}`;
  return (
    <div className="stack">
      <div className="filters">
        {instance === undefined && <ServerField server={server} onServer={(chosen) => onFilter({ server: chosen })} />}
        <SelectField
          label="Level"
          choices={levels}
          value={level}
          onChange={({ target }) => onFilter({ level: target.value })}
        />
        <div className="field">
          <label htmlFor="log-match">Containing</label>
          <input
            id="log-match"
            type="search"
            maxLength={200}
            value={match}
            onChange={({ target }) => onFilter({ match: target.value })}
          />
        </div>
        <CheckField label="Follow" checked={isFollowing} onChange={({ target }) => setFollowing(target.checked)} />
        <CheckField label="Wrap" checked={isWrapped} onChange={({ target }) => setWrapped(target.checked)} />
        <a className="button" href={download} download="toolyard-log.txt">
          Download
        </a>
        <ListCopies
          command={match === "" ? toCommand("logs", [instance ?? server], { level, follow: true }) : undefined}
          rows={lines}
        />
      </div>
      <Loaded query={logs} lines={8}>
        {() =>
          lines.length === 0 ? (
            <Empty
              title={
                logs.hasNextPage
                  ? "None of the newest lines fits"
                  : text === "" && level === ""
                    ? "Nothing was written yet"
                    : text === ""
                      ? "No line of this level"
                      : `No line contains “${text}”`
              }
            >
              <p>What servers write to stderr, and send as log messages, appears here.</p>
              {logs.hasNextPage && (
                <Button isBusy={logs.isFetchingNextPage} onClick={() => void logs.fetchNextPage()}>
                  Look at older lines
                </Button>
              )}
            </Empty>
          ) : (
            <>
              {logs.hasNextPage && (
                <div>
                  <Button isBusy={logs.isFetchingNextPage} onClick={() => void logs.fetchNextPage()}>
                    Show older lines
                  </Button>
                </div>
              )}
              <LogRows
                lines={lines}
                isWrapped={isWrapped}
                isOfOne={instance !== undefined}
                isFollowing={isFollowing}
                onFollow={setFollowing}
              />
            </>
          )
        }
      </Loaded>
    </div>
  );
}
