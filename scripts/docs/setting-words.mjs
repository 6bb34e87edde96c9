// What the pages about the configuration say of a row.
import { bundledTable } from "./bundled-table.mjs";

export const { fallbackWords, rowSentences, sentence } = await bundledTable("src/config/settings/config-schema.ts");

/** Where a setting can be given beside the file. */
export function givenWords({ flag, variable, isVariableInSeconds }) {
  if (flag !== undefined) return `\`--${flag.name}\`, \`${variableName(flag.name)}\``;
  if (variable === undefined) return undefined;
  return isVariableInSeconds === true ? `\`${variable}\`, in seconds` : `\`${variable}\``;
}

export const variableName = (option) => `TOOLYARD_${option.toUpperCase().replaceAll("-", "_")}`;

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
