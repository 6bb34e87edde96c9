/** A line of the table that is printed. */
export function row(what: string, figure: string): void {
  process.stdout.write(`${what.padEnd(56)} ${figure}\n`);
}

export function percentile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((one, two) => one - two);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
