import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useQuery } from "@tanstack/react-query";
import { queries } from "../api/queries.ts";
import { SelectField } from "../parts/field.tsx";
import { Page } from "../parts/page.tsx";
import { ToolTable } from "../parts/tool-table.tsx";
import { plain } from "../words/format.ts";

const here = getRouteApi("/tools");
const changeChoices = [
  ["", "All"],
  ["reads", "Only reads"],
  ["writes", "May change something"],
] as const;

/** One table of all tools. */
export function Tools() {
  const { match = "", server, changes } = here.useSearch();
  const navigate = useNavigate();
  const { data } = useQuery(queries.status);
  const set = (next: { readonly match?: string; readonly server?: string; readonly changes?: string }): void => {
    const merged = { match, server, changes, ...next };
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
          Every tool that a client of yours can reach. <Link to="/search">Try what a model would find</Link>
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
      <ToolTable server={server} match={match} changes={changes} />
    </Page>
  );
}
