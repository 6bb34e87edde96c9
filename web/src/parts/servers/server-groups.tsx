import { useMemo, useState } from "react";
import { useWho } from "../../api/who.ts";
import { count, counted, plain } from "../../words/format.ts";
import { needsPerson } from "../../words/status.ts";
import { DataTable } from "../basic/data-table.tsx";
import { ServerActions } from "./server-actions.tsx";
import { plainServerColumns, serverColumns, type ServerRow } from "./server-columns.tsx";
import { ServerEntry } from "./server-entry.tsx";

interface ServerGroupsProps {
  readonly rows: readonly ServerRow[];
  readonly isMany: boolean;
  readonly isFiltered: boolean;
}

/** Many stand in the categories of their entries, where there are any; those in which nothing needs anybody folded. */
export function ServerGroups({ rows, isMany, isFiltered }: ServerGroupsProps) {
  const groups = isMany ? byCategory(rows) : [];
  if (groups.every(({ category }) => category === null)) return <Table label="Servers" rows={rows} />;
  return groups.map(({ category, rows: own }) => {
    const ill = own.filter(needsPerson).length;
    const name = category === null ? "Without a category" : plain(category);
    return (
      <details
        // What somebody folds stays folded until the filter begins or ends.
        key={`${category ?? ""} ${isFiltered}`}
        className="section group"
        open={isFiltered || ill > 0}
      >
        <summary>
          <strong>{name}</strong> {counted(own.length, "server")}
          {ill > 0 && <span className="bad-text">, {illText(ill)}</span>}
        </summary>
        <Table label={name} rows={own} />
      </details>
    );
  });
}

interface Group {
  /** Null for those that have none. */
  readonly category: string | null;
  readonly rows: readonly ServerRow[];
}

/** Those that have none come last. */
function byCategory(rows: readonly ServerRow[]): readonly Group[] {
  const groups = new Map<string | null, ServerRow[]>();
  for (const row of rows) {
    const group = groups.get(row.category);
    if (group === undefined) groups.set(row.category, [row]);
    else group.push(row);
  }
  return [...groups]
    .map(([category, own]) => ({ category, rows: own }))
    .sort(({ category: one }, { category: other }) =>
      one === null || other === null ? Number(one === null) - Number(other === null) : one.localeCompare(other),
    );
}

function Table({ label, rows }: { readonly label: string; readonly rows: readonly ServerRow[] }) {
  const { mayManage } = useWho();
  const [open, setOpen] = useState<string>();
  const columns = useMemo(
    () =>
      mayManage
        ? serverColumns({ open, on: (instance) => setOpen(open === instance ? undefined : instance) })
        : plainServerColumns,
    [mayManage, open],
  );
  return (
    <DataTable
      label={label}
      columns={columns}
      rows={rows}
      rowKey={({ instance }) => instance}
      detail={(row) =>
        mayManage &&
        open === row.instance && (
          <div className="stack">
            <div className="actions">
              <ServerActions server={row} />
            </div>
            <ServerEntry server={row} />
          </div>
        )
      }
    />
  );
}

export function illText(ill: number): string {
  return ill === 1 ? "1 needs you" : `${count(ill)} need you`;
}
