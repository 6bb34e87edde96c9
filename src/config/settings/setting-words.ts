import type { Row, RowText } from "../rows/setting-row.ts";

/** `180000` is `180,000 (3 min)`, where the name says that it is a time. */
function numberWords(name: string, value: number): string {
  const plain = value.toLocaleString("en-US", { useGrouping: "min2" });
  const size = name.endsWith("Bytes") ? sizeWords(value) : name.endsWith("Ms") ? timeWords(value) : undefined;
  return size === undefined ? plain : `${plain} (${size})`;
}

function sizeWords(value: number): string | undefined {
  if (value >= 1024 ** 2 && value % 1024 ** 2 === 0) return `${value / 1024 ** 2} MiB`;
  return value >= 1024 && value % 1024 === 0 ? `${value / 1024} KiB` : undefined;
}

function timeWords(value: number): string | undefined {
  const units = [
    [3_600_000, "h"],
    [60_000, "min"],
    [1_000, "s"],
  ] as const;
  const unit = value === 0 ? undefined : units.find(([length]) => value % length === 0);
  return unit && `${value / unit[0]} ${unit[1]}`;
}

/** The default of a row, in words. */
export function fallbackWords(name: string, { fallback, fallbackText }: Row<unknown, unknown>): string {
  if (fallbackText !== undefined) return fallbackText;
  if (fallback === undefined) return "none";
  return typeof fallback === "number" ? numberWords(name, fallback) : `\`${JSON.stringify(fallback)}\``;
}

/** What a row decides, why its default is what it is, and when a change of it counts. */
export function rowSentences({ about, reason, isReadAtStart }: RowText): readonly string[] {
  const phrases = reason === undefined ? [about] : [about, reason];
  return [...phrases.map(sentence), ...(isReadAtStart === true ? ["A change takes effect at the next start."] : [])];
}

/** A phrase as a sentence. */
export function sentence(phrase: string): string {
  const text = `${phrase[0]?.toUpperCase() ?? ""}${phrase.slice(1)}`;
  return text.endsWith(".") ? text : `${text}.`;
}

/** Words of a page for where they are shown as they are. */
export function withoutMarkdown(text: string): string {
  return text.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1").replaceAll("`", "");
}
