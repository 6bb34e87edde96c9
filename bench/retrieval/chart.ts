import type { SizePoint } from "./size-curve.ts";

export interface Bars {
  readonly set: string;
  /** Recall@5 in %, by engine. */
  readonly values: ReadonlyMap<string, number>;
}

const colours = ["#9aa5b1", "#f0b429", "#2680c2", "#3ebd93", "#8719e0"];
const width = 960;

/** Two charts in one picture: recall@5 by set and engine, and over the size of the catalog. */
export function drawChart(sets: readonly Bars[], curve: readonly SizePoint[]): string {
  const engines = [...new Set(sets.flatMap((set) => [...set.values.keys()]))];
  const body = [legend(engines), ...sets.map((set, at) => setBars(set, at, sets.length, engines)), sizeLines(curve)];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} 620" font-family="sans-serif" font-size="12">
<rect width="${width}" height="620" fill="#fff"/>
<text x="20" y="24" font-size="16">Needs met within five results (recall@5, %)</text>
${body.join("\n")}
</svg>
`;
}

function legend(engines: readonly string[]): string {
  return engines
    .map(
      (engine, at) =>
        `<rect x="${20 + at * 180}" y="36" width="10" height="10" fill="${colours[at]}"/><text x="${34 + at * 180}" y="45">${engine}</text>`,
    )
    .join("");
}

function setBars(set: Bars, at: number, count: number, engines: readonly string[]): string {
  const slot = (width - 40) / count;
  const bar = (slot - 14) / engines.length;
  const left = 20 + at * slot;
  const bars = engines.map((engine, number) => {
    const value = set.values.get(engine);
    if (value === undefined) return "";
    const height = 2.2 * value;
    const x = left + number * bar;
    const label = `<text x="${(x + bar / 2).toFixed(1)}" y="${(294 - height).toFixed(1)}" font-size="8" text-anchor="middle">${value.toFixed(0)}</text>`;
    return `<rect x="${x.toFixed(1)}" y="${(298 - height).toFixed(1)}" width="${(bar - 1).toFixed(1)}" height="${height.toFixed(1)}" fill="${colours[number]}"/>${label}`;
  });
  return `${bars.join("")}<text x="${(left + slot / 2 - 7).toFixed(1)}" y="314" font-size="10" text-anchor="middle">${set.set}</text>`;
}

function sizeLines(curve: readonly SizePoint[]): string {
  const x = (tools: number): number => 60 + ((Math.log10(tools) - 2) / 2) * (width - 120);
  const y = (recall: number): number => 590 - 2.2 * recall;
  const line = (colour: string, recallOf: (point: SizePoint) => number): string => {
    const points = curve.map((point) => `${x(point.tools).toFixed(1)},${y(recallOf(point)).toFixed(1)}`).join(" ");
    const labels = curve.map(
      (point) =>
        `<text x="${x(point.tools).toFixed(1)}" y="${(y(recallOf(point)) - 6).toFixed(1)}" text-anchor="middle">${recallOf(point).toFixed(0)}</text>`,
    );
    return `<polyline points="${points}" fill="none" stroke="${colour}" stroke-width="2"/>${labels.join("")}`;
  };
  const ticks = curve.map(
    (point) => `<text x="${x(point.tools).toFixed(1)}" y="608" text-anchor="middle">${point.tools} tools</text>`,
  );
  const title = `<text x="20" y="350" font-size="16">The queries of real_mcp, as the catalog grows</text>`;
  return [
    title,
    line(colours[2] ?? "", (point) => point.lexical.recall5),
    line(colours[1] ?? "", (point) => point.miniSearch.recall5),
    ...ticks,
  ].join("\n");
}
