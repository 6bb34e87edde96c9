/** Prints a table with aligned columns. */
export function printTable(
  title: string,
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): void {
  const all = [head, ...rows.map((row) => row.map(String))];
  const widths = head.map((_cell, column) => Math.max(...all.map((row) => (row[column] ?? "").length)));
  const lines = all.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "));
  process.stdout.write(`\n${title}\n${lines.join("\n")}\n`);
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? 0;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);
export const MiB = (bytes: number): string => (bytes / 1_048_576).toFixed(1);
