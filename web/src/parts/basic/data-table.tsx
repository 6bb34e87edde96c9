import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, type ReactNode } from "react";

export interface Column<Row> {
  readonly heading: string;
  /** A track of the grid: `minmax(8rem, 1fr)`, `6rem`. */
  readonly width: string;
  readonly align?: "right";
  /** Whether a long text takes further lines instead of being cut. */
  readonly isWrapping?: boolean;
  readonly cell: (row: Row) => ReactNode;
}

export interface DataTableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string;
  /** Marks a row: `failed`. */
  readonly rowClass?: (row: Row) => string;
  /** Called when the end comes near: there may be more. */
  readonly onEnd?: (() => void) | undefined;
  /** Shown below a row that is unfolded. */
  readonly detail?: (row: Row) => ReactNode;
}

const rowPx = 34;
/** Short lists are plain: find in page works, and nothing is measured. */
const plainRows = 60;

/** A table of any length: only rows that are seen are there. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rows, onEnd } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const isPlain = rows.length <= plainRows;
  const virtual = useVirtualizer({
    count: rows.length,
    enabled: !isPlain,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    overscan: 12,
    getItemKey: (at) => props.rowKey(rows[at] as Row),
  });
  const items = virtual.getVirtualItems();
  const last = isPlain ? rows.length - 1 : (items.at(-1)?.index ?? 0);
  useEffect(() => {
    if (last >= rows.length - 20) onEnd?.();
  }, [last, rows.length, onEnd]);
  const template = { gridTemplateColumns: columns.map(({ width }) => width).join(" ") };
  return (
    <div
      className={`table-scroll ${isPlain ? "" : "tall"}`}
      ref={scroller}
      role="region"
      aria-label={label}
      tabIndex={0}
    >
      <div className="table" role="table" aria-label={label} aria-rowcount={rows.length + 1}>
        <div role="rowgroup">
          <div className="row head" role="row" style={template}>
            {columns.map(({ heading, align }) => (
              <div key={heading} role="columnheader" className={align}>
                {heading}
              </div>
            ))}
          </div>
        </div>
        <div role="rowgroup" className="rows" style={isPlain ? undefined : { height: virtual.getTotalSize() }}>
          {isPlain
            ? rows.map((row, at) => (
                <TableRow key={props.rowKey(row)} {...props} row={row} at={at} template={template} />
              ))
            : items.map(({ index, start, key }) => (
                <div
                  key={key}
                  role="presentation"
                  data-index={index}
                  ref={virtual.measureElement}
                  className="virtual"
                  style={{ transform: `translateY(${start}px)` }}
                >
                  <TableRow {...props} row={rows[index] as Row} at={index} template={template} />
                </div>
              ))}
        </div>
      </div>
    </div>
  );
}

interface RowProps<Row> extends DataTableProps<Row> {
  readonly row: Row;
  readonly at: number;
  readonly template: { readonly gridTemplateColumns: string };
}

function TableRow<Row>({ row, at, template, columns, rowClass, detail }: RowProps<Row>) {
  const below = detail?.(row);
  return (
    <>
      <div className={`row ${rowClass?.(row) ?? ""}`} role="row" aria-rowindex={at + 2} style={template}>
        {columns.map(({ heading, align, isWrapping, cell }) => (
          <div key={heading} role="cell" className={isWrapping === true ? "wrapping" : align}>
            {cell(row)}
          </div>
        ))}
      </div>
      {below != null && below !== false && (
        <div role="row" className="detail">
          <div role="cell">{below}</div>
        </div>
      )}
    </>
  );
}
