// What the pages about the configuration say of a row.

/** `180000` is `180,000 (3 min)`, where the name says that it is a time. */
export function numberWords(name, value) {
  const plain = value.toLocaleString("en-US", { useGrouping: "min2" });
  const size = name.endsWith("Bytes") ? sizeWords(value) : name.endsWith("Ms") ? timeWords(value) : undefined;
  return size === undefined ? plain : `${plain} (${size})`;
}

function sizeWords(value) {
  if (value >= 1024 ** 2 && value % 1024 ** 2 === 0) return `${value / 1024 ** 2} MiB`;
  return value >= 1024 && value % 1024 === 0 ? `${value / 1024} KiB` : undefined;
}

function timeWords(value) {
  const units = [
    [3_600_000, "h"],
    [60_000, "min"],
    [1_000, "s"],
  ];
  const unit = value === 0 ? undefined : units.find(([length]) => value % length === 0);
  return unit && `${value / unit[0]} ${unit[1]}`;
}

/** The default, in words. */
export function fallbackWords(name, { fallback, fallbackText }) {
  if (fallbackText !== undefined) return fallbackText;
  if (fallback === undefined) return "none";
  return typeof fallback === "number" ? numberWords(name, fallback) : `\`${JSON.stringify(fallback)}\``;
}

/** What a row decides, why its default is what it is, and when a change of it counts. */
export function rowSentences({ about, reason, isReadAtStart }) {
  const phrases = reason === undefined ? [about] : [about, reason];
  return [...phrases.map(sentence), ...(isReadAtStart === true ? ["A change takes effect at the next start."] : [])];
}

/** Where a setting can be given beside the file. */
export function givenWords({ flag, variable, isVariableInSeconds }) {
  if (flag !== undefined) return `\`--${flag.name}\`, \`${variableName(flag.name)}\``;
  if (variable === undefined) return undefined;
  return isVariableInSeconds === true ? `\`${variable}\`, in seconds` : `\`${variable}\``;
}

export const variableName = (option) => `TOOLYARD_${option.toUpperCase().replaceAll("-", "_")}`;

/** A phrase as a sentence. */
export function sentence(phrase) {
  const text = `${phrase[0]?.toUpperCase() ?? ""}${phrase.slice(1)}`;
  return text.endsWith(".") ? text : `${text}.`;
}

const head = `| name | type and limits | default | what it decides, and why the default is what it is | example |
|---|---|---|---|---|`;

/** A table with a line for each row; what is no row has a table of its own elsewhere. */
export function rowTable(rows) {
  const lines = Object.entries(rows).flatMap(([name, row]) => (row.kind === "row" ? [line(name, row)] : []));
  return lines.length === 0 ? "" : `${head}\n${lines.join("\n")}\n`;
}

function line(name, row) {
  const given = givenWords(row);
  const words = [...rowSentences(row), ...(given === undefined ? [] : [`Also ${given}.`])];
  const cells = [
    `\`${name}\``,
    row.type,
    fallbackWords(name, row),
    words.join(" "),
    `\`${JSON.stringify(row.example)}\``,
  ];
  return `| ${cells.map(cell).join(" | ")} |`;
}

/** A table's cell ends at a bar. Nothing else is escaped, because the words hold code and links. */
export const cell = (text) => text.replaceAll("|", "\\|");

/** Words that are shown as they are. */
export const withoutMarkdown = (text) => text.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1").replaceAll("`", "");
