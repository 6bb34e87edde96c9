/** A table as a benchmark prints it. */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The tables of a text in Markdown, in their order. */
export function readTables(text: string): readonly Table[] {
  const tables: { columns: readonly string[]; rows: string[][] }[] = [];
  let isInside = false;
  for (const line of text.split("\n")) {
    if (!line.startsWith("|")) {
      isInside = false;
      continue;
    }
    const cells = line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
    if (!isInside) tables.push({ columns: cells, rows: [] });
    else if (!cells.every((cell) => /^:?-+:?$/.test(cell))) tables.at(-1)?.rows.push(cells);
    isInside = true;
  }
  return tables;
}

const width = 960;
const rowHeight = 22;
const labelWidth = 300;
const colours = ["#2680c2", "#f0b429", "#3ebd93"] as const;

/** Horizontal bars: a group for each row, with the wanted columns, at most three. The first column is the label. */
export function barChart(title: string, { columns, rows }: Table, wanted: readonly string[]): string {
  const numbers = columns.map((name, at) => ({ name, at })).filter(({ name }) => wanted.includes(name));
  const most = Math.max(...rows.flatMap((row) => numbers.map(({ at }) => toNumber(row[at])))) || 1;
  const groupHeight = rowHeight * numbers.length + 8;
  const bars = rows.flatMap((row, index) => {
    const top = 60 + index * groupHeight;
    const label = `<text x="${labelWidth - 10}" y="${top + groupHeight / 2}" text-anchor="end">${escapeText(row[0] ?? "")}</text>`;
    return [
      label,
      ...numbers.map(({ at }, place) => {
        const length = ((width - labelWidth - 110) * toNumber(row[at])) / most;
        const y = top + place * rowHeight;
        return `<rect x="${labelWidth}" y="${y}" width="${length.toFixed(1)}" height="${rowHeight - 6}" fill="${colours[place] ?? ""}"/><text x="${(labelWidth + length + 6).toFixed(1)}" y="${y + 12}">${escapeText(row[at] ?? "")}</text>`;
      }),
    ];
  });
  const legend = numbers.map(
    ({ name }, place) =>
      `<rect x="${20 + place * 260}" y="34" width="10" height="10" fill="${colours[place] ?? ""}"/><text x="${34 + place * 260}" y="43">${escapeText(name)}</text>`,
  );
  const height = 70 + rows.length * groupHeight;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12">
<rect width="${width}" height="${height}" fill="#fff"/>
<text x="20" y="22" font-size="16">${escapeText(title)}</text>
${[...legend, ...bars].join("\n")}
</svg>
`;
}

function toNumber(cell: string | undefined): number {
  return cell === undefined || cell === "" ? Number.NaN : Number(cell.replaceAll(",", ""));
}

function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
