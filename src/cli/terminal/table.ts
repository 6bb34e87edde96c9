/** A column of a table: its heading, and whether its cells are numbers, which are aligned to the right. */
export interface Column {
  readonly heading: string;
  readonly align?: "right";
}

/**
 * A table without borders, with two spaces between columns. The last column is as wide as its contents. One line per
 * row, after a heading.
 */
export function toTable(columns: readonly Column[], rows: readonly (readonly string[])[]): readonly string[] {
  const lines = [columns.map(({ heading }) => heading), ...rows];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => (line[index] ?? "").length)));
  return lines.map((line) =>
    columns
      .map(({ align }, index) => {
        const cell = line[index] ?? "";
        const width = widths[index] ?? 0;
        if (align === "right") return cell.padStart(width);
        return index === columns.length - 1 ? cell : cell.padEnd(width);
      })
      .join("  ")
      .trimEnd(),
  );
}

/** Prints a table of texts on stdout. */
export function printTable(headings: readonly string[], rows: readonly (readonly string[])[]): void {
  const columns = headings.map((heading) => ({ heading }));
  process.stdout.write(`${toTable(columns, rows).join("\n")}\n`);
}
