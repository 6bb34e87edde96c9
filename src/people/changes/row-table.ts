/**
 * Rows in memory, by a key and by whatever else they are looked up with. A change costs as much as it touches, however
 * many rows there are.
 */
export interface RowTable<Row> {
  readonly rows: ReadonlyMap<string, Row>;
  /** A row that is replaced keeps its place in the order. */
  put(row: Row): void;
  /** Returns the row that was removed. */
  remove(key: string): Row | undefined;
  /** Keys of rows that are not among those given. */
  missing(kept: readonly string[]): string[];
  /** Looks rows up by a value that each has for itself. To be called before the first row comes, as {@link grouped}. */
  unique(valueOf: (row: Row) => string): (value: string) => Row | undefined;
  /** Rows that share a value. Those whose value is null are in no group. */
  grouped(valueOf: (row: Row) => string | null): RowGroups<Row>;
}

/** Rows of a table that share a value. */
export interface RowGroups<Row> {
  of(value: string): readonly Row[];
  /** Values that some row has. */
  values(): Iterable<string>;
}

interface Index<Row> {
  readonly valueOf: (row: Row) => string | null;
  add(value: string, row: Row, key: string): void;
  remove(value: string, row: Row, key: string): void;
}

/** Creates an empty table. Neither the key nor an indexed value of an object changes while it is in the table. */
export function createRowTable<Row>(keyOf: (row: Row) => string): RowTable<Row> {
  const rows = new Map<string, Row>();
  const indexes: Index<Row>[] = [];

  function leave(row: Row, kept?: Row): void {
    for (const { valueOf, remove } of indexes) {
      const value = valueOf(row);
      if (value !== null && (kept === undefined || valueOf(kept) !== value)) remove(value, row, keyOf(row));
    }
  }

  return {
    rows,
    put(row) {
      const key = keyOf(row);
      const before = rows.get(key);
      if (before !== undefined) leave(before, row);
      rows.set(key, row);
      for (const { valueOf, add } of indexes) {
        const value = valueOf(row);
        if (value !== null) add(value, row, key);
      }
    },
    remove(key) {
      const before = rows.get(key);
      if (before !== undefined) leave(before);
      rows.delete(key);
      return before;
    },
    missing(kept) {
      const there = new Set(kept);
      return [...rows.keys()].filter((key) => !there.has(key));
    },
    unique(valueOf) {
      const byValue = new Map<string, Row>();
      indexes.push({
        valueOf,
        add: (value, row) => byValue.set(value, row),
        // Rows may swap their values in one change.
        remove: (value, row) => byValue.get(value) === row && byValue.delete(value),
      });
      return (value) => byValue.get(value);
    },
    grouped(valueOf) {
      const groups = new Map<string, Map<string, Row>>();
      indexes.push({
        valueOf,
        add: (value, row, key) => groups.set(value, (groups.get(value) ?? new Map<string, Row>()).set(key, row)),
        remove(value, _row, key) {
          const group = groups.get(value);
          group?.delete(key);
          if (group?.size === 0) groups.delete(value);
        },
      });
      return { of: (value) => [...(groups.get(value)?.values() ?? [])], values: () => groups.keys() };
    },
  };
}
