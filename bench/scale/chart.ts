import type { PeoplePoint } from "./people.ts";
import type { ToolsPoint } from "./tools.ts";

interface Line {
  readonly name: string;
  readonly colour: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

const width = 960;
const panel = Object.freeze({ width: 400, height: 230, left: 60 });
/** A number nearer to that of another line is left out: the lines are as near to each other there. */
const labelHeight = 11;
const colours = Object.freeze({ first: "#2680c2", second: "#f0b429", third: "#3ebd93" });

/**
 * What a search, and everything that is held for it, costs by the number of tools and by the number of people. In CPU:
 * times of day say what else the machine did.
 */
export function drawScale(tools: readonly ToolsPoint[], people: readonly PeoplePoint[]): string {
  const byTools = (name: string, colour: string, value: (point: ToolsPoint) => number): Line => ({
    name,
    colour,
    points: tools.map((point) => [point.tools, value(point)]),
  });
  const byPeople = (name: string, colour: string, value: (point: PeoplePoint) => number): Line => ({
    name,
    colour,
    points: people.map((point) => [point.people, value(point)]),
  });
  const each = people[0]?.toolsEach ?? 0;
  const panels = [
    drawPanel(0, 0, "A search in one view, ms of CPU, by tools", [
      byTools("usual questions", colours.first, ({ search }) => search.cpuUs / 1_000),
      byTools("of thirty words", colours.second, ({ searchLong }) => searchLong.cpuUs / 1_000),
    ]),
    drawPanel(1, 0, "Indexing it in the background, seconds of CPU, by tools", [
      byTools("repeated definitions", colours.first, ({ buildCpuMs }) => buildCpuMs / 1_000),
      byTools("all different", colours.second, ({ distinctCpuMs }) => distinctCpuMs / 1_000),
    ]),
    drawPanel(0, 1, `A search, ms of CPU, by people with ${each} tools of their own`, [
      byPeople("search", colours.first, ({ search }) => search.cpuUs / 1_000),
    ]),
    drawPanel(1, 1, "Catalogs, views and indexes, MB, by people", [
      byPeople("all together", colours.third, ({ bytes }) => bytes / 2 ** 20),
    ]),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} 640" font-family="sans-serif" font-size="12">
<rect width="${width}" height="640" fill="#fff"/>
${panels.join("\n")}
</svg>
`;
}

function drawPanel(column: number, row: number, title: string, lines: readonly Line[]): string {
  const left = panel.left + column * (panel.width + 60);
  const bottom = 280 + row * 320;
  const all = lines.flatMap(({ points }) => points);
  const [least, most] = [Math.min(...all.map(([x]) => x)), Math.max(...all.map(([x]) => x))];
  const highest = Math.max(...all.map(([, y]) => y)) || 1;
  const toX = (x: number): number => left + (panel.width * Math.log(x / least)) / (Math.log(most / least) || 1);
  const toY = (y: number): number => bottom - (panel.height * 0.85 * y) / highest;
  const at = ([x, y]: readonly [number, number]): string => `${toX(x).toFixed(1)},${toY(y).toFixed(1)}`;
  const drawn = lines.map(({ name, colour, points }, number) => {
    const before = lines.slice(0, number).flatMap((line) => line.points);
    const isFree = ([x, y]: readonly [number, number]): boolean =>
      before.every(([otherX, otherY]) => otherX !== x || Math.abs(toY(otherY) - toY(y)) > labelHeight);
    const labels = points
      .filter(isFree)
      .map(
        ([x, y]) =>
          `<text x="${toX(x).toFixed(1)}" y="${(toY(y) - 6).toFixed(1)}" font-size="10" text-anchor="middle" fill="${colour}">${toShort(y)}</text>`,
      );
    const key = `<text x="${left + number * 180}" y="${bottom - panel.height - 4}" fill="${colour}">${name}</text>`;
    return `${key}<polyline points="${points.map(at).join(" ")}" fill="none" stroke="${colour}" stroke-width="2"/>${labels.join("")}`;
  });
  const ticks = [...new Set(all.map(([x]) => x))].map(
    (x) => `<text x="${toX(x).toFixed(1)}" y="${bottom + 18}" font-size="10" text-anchor="middle">${x}</text>`,
  );
  const axis = `<line x1="${left}" y1="${bottom}" x2="${left + panel.width}" y2="${bottom}" stroke="#9aa5b1"/>`;
  const head = `<text x="${left}" y="${bottom - panel.height - 22}" font-size="14">${title}</text>`;
  return [head, axis, ...drawn, ...ticks].join("\n");
}

function toShort(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2);
}
