import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useMemo, useState, useSyncExternalStore } from "react";
import { queries } from "../api/queries.ts";
import { sessionStore } from "../api/session.ts";
import { SelectField } from "../parts/forms/field.tsx";
import { Page } from "../parts/page.tsx";
import { Skeleton } from "../parts/basic/states.tsx";
import { PinnedTools } from "../parts/tools/pinned-tools.tsx";
import { ToolTable } from "../parts/tools/tool-table.tsx";
import { plain } from "../words/format.ts";
import { withOr } from "../words/words.ts";

const ToolRules = lazy(async () => ({ default: (await import("../parts/tools/tool-rules.tsx")).ToolRules }));
const here = getRouteApi("/tools");
const changeChoices = [
  ["", "All"],
  ["reads", "Only reads"],
  ["writes", "May change something"],
] as const;
const none: ReadonlySet<string> = new Set();

/** One table of all tools, with rules for those that are chosen. */
export function Tools() {
  const { match = "", server, changes, sort } = here.useSearch();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(none);
  const session = useSyncExternalStore(sessionStore.subscribe, sessionStore.get);
  const mayManage = session.kind === "in" && session.session.mayManage;
  const tools = useQuery(queries.tools);
  const choice = useMemo(
    () => ({
      chosen,
      onChoose(named: readonly string[], isChosen: boolean) {
        setChosen((now) => named.reduce((set, tool) => withOr(set, tool, isChosen), now));
      },
    }),
    [chosen],
  );
  const navigate = useNavigate();
  const { data } = useQuery(queries.status);
  const set = (next: {
    readonly match?: string;
    readonly server?: string;
    readonly changes?: string;
    readonly sort?: string;
  }): void => {
    const merged = { match, server, changes, sort, ...next };
    const search = Object.fromEntries(
      Object.entries(merged).filter(([, value]) => value !== undefined && value !== ""),
    );
    void navigate({ to: "/tools", search, replace: true });
  };
  const servers = [...new Map((data?.servers ?? []).map((row) => [row.server, plain(row.title)] as const))];
  return (
    <Page
      title="Tools"
      about={
        <>
          Every tool that your clients can reach. <Link to="/search">Try a search as a model</Link>
        </>
      }
    >
      <div className="filters">
        <div className="field grow">
          <label htmlFor="tool-match">Containing</label>
          <input id="tool-match" type="search" value={match} onChange={({ target }) => set({ match: target.value })} />
        </div>
        <SelectField
          label="Server"
          choices={[["", "All servers"], ...servers]}
          value={server ?? ""}
          onChange={({ target }) => set({ server: target.value })}
        />
        <SelectField
          label="Changes"
          choices={changeChoices}
          value={changes ?? ""}
          onChange={({ target }) => set({ changes: target.value })}
        />
      </div>
      <PinnedTools />
      {mayManage && (
        <Suspense fallback={<Skeleton lines={1} />}>
          <ToolRules
            chosen={(tools.data ?? []).filter(({ tool_path: tool }) => chosen.has(tool))}
            onDone={() => setChosen(none)}
          />
        </Suspense>
      )}
      <ToolTable
        {...{ server, match, changes, sort, choice: mayManage ? choice : undefined }}
        onSort={(next) => set({ sort: next })}
      />
    </Page>
  );
}
