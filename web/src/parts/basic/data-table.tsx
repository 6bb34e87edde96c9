import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, ArrowUp } from "lucide-react";
import { useEffect, useLayoutEffect, useMemo, useRef, useState, type ReactNode, type RefObject } from "react";
import { SelectField } from "../forms/field.tsx";

type SortKey = number | string | null | undefined;

export interface Column<Row> {
  readonly heading: string;
  /** A track of the grid: `minmax(8rem, 1fr)`, `6rem`. */
  readonly width: string;
  readonly align?: "right";
  /** So wide must the table be, in pixels, for the column to be in it. Columns with a limit are not in cards. */
  readonly from?: number;
  /** Makes the column sortable: numbers the largest first, texts by the alphabet, unknown last. */
  readonly sortBy?: (row: Row) => SortKey;
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
  /** In an address: the heading that sorts, in small letters, with `-` before it where the order is turned. */
  readonly sort?: string | undefined;
  readonly onSort?: ((sort: string) => void) | undefined;
}

const rowPx = 40;
/** Short lists are plain: find in page works, and nothing is measured. */
const plainRows = 60;
/** Narrower, each row is a card with the names of its columns in it. */
const cardsPx = 560;

/** A table of any length and width: only rows in sight are rendered, and columns that do not fit are left out. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, rows, onEnd } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const width = useWidth(scroller);
  const areCards = width < cardsPx;
  const [own, setOwn] = useState("");
  const sort = toSort(props.onSort === undefined ? own : (props.sort ?? ""), props.columns);
  const setSort = (next: Sort | undefined): void => (props.onSort ?? setOwn)(sortText(next));
  const columns = props.columns.filter(({ from = 0 }) => from <= (areCards ? 0 : width));
  const { heading, isTurned = false } = sort ?? {};
  const sorted = useMemo(
    () => sortRows(rows, props.columns, heading === undefined ? undefined : { heading, isTurned }),
    [rows, props.columns, heading, isTurned],
  );
  const isPlain = rows.length <= plainRows;
  const virtual = useVirtualizer({
    count: sorted.length,
    enabled: !isPlain,
    getScrollElement: () => scroller.current,
    estimateSize: () => (areCards ? 4 * rowPx : rowPx),
    overscan: 12,
    getItemKey: (at) => props.rowKey(sorted[at] as Row),
  });
  const items = virtual.getVirtualItems();
  const last = isPlain ? rows.length - 1 : (items.at(-1)?.index ?? 0);
  useEffect(() => {
    if (last >= rows.length - 20) onEnd?.();
  }, [last, rows.length, onEnd]);
  const template = areCards ? {} : { gridTemplateColumns: columns.map((column) => column.width).join(" ") };
  const shared = { ...props, columns, template };
  return (
    <>
      {areCards && <SortField columns={props.columns} sort={sort} onSort={setSort} />}
      <div
        className={`table-scroll ${isPlain ? "" : "tall"} ${areCards ? "as-cards" : ""}`}
        ref={scroller}
        role="region"
        aria-label={label}
        tabIndex={0}
      >
        <div className="table" role="table" aria-label={label} aria-rowcount={rows.length + 1}>
          <div role="rowgroup" className={areCards ? "hidden" : undefined}>
            <div className="row head" role="row" style={template}>
              {columns.map((column) => (
                <Heading key={column.heading} column={column} sort={sort} onSort={areCards ? undefined : setSort} />
              ))}
            </div>
          </div>
          <div role="rowgroup" className="rows" style={isPlain ? undefined : { height: virtual.getTotalSize() }}>
            {isPlain
              ? sorted.map((row, at) => <TableRow key={props.rowKey(row)} {...shared} row={row} at={at} />)
              : items.map(({ index, start, key }) => (
                  <div
                    key={key}
                    role="presentation"
                    data-index={index}
                    ref={virtual.measureElement}
                    className="virtual"
                    style={{ transform: `translateY(${start}px)` }}
                  >
                    <TableRow {...shared} row={sorted[index] as Row} at={index} />
                  </div>
                ))}
          </div>
        </div>
      </div>
    </>
  );
}

/** The width of an element, as it is now. */
function useWidth(place: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    setWidth(element.clientWidth);
    const watcher = new ResizeObserver(() => setWidth(element.clientWidth));
    watcher.observe(element);
    return () => watcher.disconnect();
  }, [place]);
  return width;
}

interface Sort {
  readonly heading: string;
  readonly isTurned: boolean;
}

function toSort<Row>(text: string, columns: readonly Column<Row>[]): Sort | undefined {
  const isTurned = text.startsWith("-");
  const name = isTurned ? text.slice(1) : text;
  const column = columns.find(({ heading, sortBy }) => sortBy !== undefined && heading.toLowerCase() === name);
  return column === undefined ? undefined : { heading: column.heading, isTurned };
}

function sortText(sort: Sort | undefined): string {
  return sort === undefined ? "" : `${sort.isTurned ? "-" : ""}${sort.heading.toLowerCase()}`;
}

/** In the given order until somebody sorts. */
function sortRows<Row>(rows: readonly Row[], columns: readonly Column<Row>[], sort: Sort | undefined): readonly Row[] {
  const sortBy = columns.find(({ heading }) => heading === sort?.heading)?.sortBy;
  if (sortBy === undefined) return rows;
  const turn = sort?.isTurned === true ? -1 : 1;
  return [...rows].sort((one, other) => {
    const [left, right] = [sortBy(one), sortBy(other)];
    if (left == null || right == null) return Number(left == null) - Number(right == null);
    if (typeof left === "number" && typeof right === "number") return turn * (right - left);
    return turn * String(left).localeCompare(String(right));
  });
}

interface HeadingProps<Row> {
  readonly column: Column<Row>;
  readonly sort: Sort | undefined;
  readonly onSort: ((sort: Sort | undefined) => void) | undefined;
}

/** Pressed once it sorts, pressed again it turns the order, and then the given order is back. */
function Heading<Row>({ column: { heading, align, sortBy }, sort, onSort }: HeadingProps<Row>) {
  if (sortBy === undefined || onSort === undefined)
    return (
      <div role="columnheader" className={align}>
        {heading}
      </div>
    );
  const isChosen = sort?.heading === heading;
  const next = !isChosen ? { heading, isTurned: false } : sort.isTurned ? undefined : { heading, isTurned: true };
  const isNumber = align === "right";
  const isDown = isNumber !== (sort?.isTurned ?? false);
  const Arrow = isDown ? ArrowDown : ArrowUp;
  return (
    <div role="columnheader" className={align} aria-sort={isChosen ? (isDown ? "descending" : "ascending") : undefined}>
      <button type="button" className="sort" onClick={() => onSort(next)}>
        {heading}
        {isChosen && <Arrow aria-hidden size={12} />}
      </button>
    </div>
  );
}

interface SortFieldProps<Row> extends Omit<HeadingProps<Row>, "column"> {
  readonly columns: readonly Column<Row>[];
}

/** The same for cards, which have no headings. */
function SortField<Row>({ columns, sort, onSort }: SortFieldProps<Row>) {
  const choices = columns
    .filter(({ sortBy }) => sortBy !== undefined)
    .map(({ heading }) => [heading, heading] as const);
  if (choices.length === 0) return null;
  return (
    <SelectField
      label="Sort by"
      choices={[["", "As listed"], ...choices]}
      value={sort?.heading ?? ""}
      onChange={({ target: { value } }) => onSort?.(value === "" ? undefined : { heading: value, isTurned: false })}
    />
  );
}

interface RowProps<Row> extends DataTableProps<Row> {
  readonly row: Row;
  readonly at: number;
  readonly template: { readonly gridTemplateColumns?: string };
}

function TableRow<Row>({ row, at, template, columns, rowClass, detail }: RowProps<Row>) {
  const below = detail?.(row);
  return (
    <>
      <div className={`row ${rowClass?.(row) ?? ""}`} role="row" aria-rowindex={at + 2} style={template}>
        {columns.map(({ heading, align, cell }) => (
          <div key={heading} role="cell" className={align} data-heading={heading}>
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
