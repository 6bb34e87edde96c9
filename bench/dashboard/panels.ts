/** One line of a panel: what its legend says, and its values; null where Prometheus has none. */
export interface Series {
  readonly name: string;
  readonly values: readonly (number | null)[];
}

/** A panel of docs/grafana.json, as far as it can be drawn. */
export interface Panel {
  readonly title: string;
  readonly type: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat?: string }[];
}

export interface DrawnPanel {
  readonly panel: Panel;
  readonly series: readonly Series[];
}

export interface Picture {
  readonly title: string;
  readonly panels: readonly DrawnPanel[];
  /** How long the values go back, in seconds. */
  readonly seconds: number;
}

/** Grafana's grid: 24 columns. A row is as high there as here. */
const columnWidth = 46;
const rowHeight = 26;
const top = 44;
const colours = ["#3274d9", "#e0752d", "#56a64b", "#a352cc", "#e02f44", "#8f6b00", "#0a8a8a", "#7a7a7a"] as const;
/** "and 2 more", behind the legends of a panel, which are one line. */
const moreWidth = 60;

interface Legend {
  readonly left: number;
  readonly right: number;
  readonly y: number;
}

/** Draws the panels where Grafana has them. Pure. */
export function drawPanels({ title, panels, seconds }: Picture): string {
  const height = top + rowHeight * Math.max(...panels.map(({ panel: { gridPos } }) => gridPos.y + gridPos.h)) + 8;
  const width = 24 * columnWidth;
  const drawn = panels.map((one) => (one.panel.type === "row" ? drawRow(one.panel) : drawPanel(one, seconds)));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="10">`,
    `<rect width="${width}" height="${height}" fill="#f4f5f5"/>`,
    `<text x="10" y="26" font-size="16">${escapeText(title)}</text>`,
    ...drawn,
    "</svg>\n",
  ].join("\n");
}

function placeOf({ gridPos: { x, y, w, h } }: Panel) {
  return { x: x * columnWidth + 4, y: top + y * rowHeight + 4, w: w * columnWidth - 8, h: h * rowHeight - 8 };
}

function drawRow(panel: Panel): string {
  const { x, y } = placeOf(panel);
  return `<text x="${x + 4}" y="${y + 14}" font-size="12" font-weight="bold">${escapeText(panel.title)}</text>`;
}

function drawPanel({ panel, series }: DrawnPanel, seconds: number): string {
  const { x, y, w, h } = placeOf(panel);
  const frame = `<rect x="${x}" y="${y}" width="${w}" height="${h}" fill="#fff" stroke="#d8d9da"/>`;
  const head = `<text x="${x + 8}" y="${y + 16}" font-size="11" font-weight="bold">${escapeText(panel.title)}</text>`;
  const unit = panel.fieldConfig?.defaults.unit ?? "short";
  const body = panel.type === "stat" ? drawStat(panel, series, unit) : drawLines({ panel, series }, unit, seconds);
  return [frame, head, ...body].join("\n");
}

function drawStat(panel: Panel, series: readonly Series[], unit: string): readonly string[] {
  const { x, y, w, h } = placeOf(panel);
  return series.slice(0, 1).map(({ name, values }) => {
    const last = values.findLast((value) => value !== null) ?? 0;
    const text = `${name}: ${toText(last, unit)}`;
    return `<text x="${x + w / 2}" y="${y + h / 2 + 8}" font-size="20" text-anchor="middle">${escapeText(text)}</text>`;
  });
}

function drawLines({ panel, series }: DrawnPanel, unit: string, seconds: number): readonly string[] {
  const place = placeOf(panel);
  const plot = { x: place.x + 56, y: place.y + 28, w: place.w - 66, h: place.h - 68 };
  const legend = { left: place.x + 8, right: place.x + place.w - 4, y: place.y + place.h - 8 };
  const most = Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0))) || 1;
  const grid = [0, 0.5, 1].map((share) => {
    const y = plot.y + plot.h * (1 - share);
    const label = `<text x="${plot.x - 6}" y="${y + 3}" text-anchor="end">${toText(most * share, unit)}</text>`;
    return `<path d="M${plot.x} ${y}h${plot.w}" stroke="#e4e5e6"/>${label}`;
  });
  const ends = [
    `<text x="${plot.x}" y="${plot.y + plot.h + 14}">-${seconds} s</text>`,
    `<text x="${plot.x + plot.w}" y="${plot.y + plot.h + 14}" text-anchor="end">now</text>`,
  ];
  const lines = series.map(({ values }, at) => {
    const path = toPath(values, (value, index) => [
      plot.x + (plot.w * index) / Math.max(1, values.length - 1),
      plot.y + plot.h * (1 - value / most),
    ]);
    return `<path d="${path}" fill="none" stroke="${colours[at % colours.length] ?? ""}" stroke-width="1.3"/>`;
  });
  return [...grid, ...ends, ...lines, ...drawLegend(series, legend)];
}

/** One path for a line, which begins again behind a gap. */
function toPath(
  values: readonly (number | null)[],
  point: (value: number, index: number) => readonly [number, number],
): string {
  return values
    .map((value, index) => {
      if (value === null) return "";
      const [x, y] = point(value, index);
      return `${(values[index - 1] ?? null) === null ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`;
    })
    .join("");
}

/** As many names as there is room for, and how many others there are. */
function drawLegend(series: readonly Series[], { left, right, y }: Legend): readonly string[] {
  const shown: string[] = [];
  let x = left;
  for (const [at, { name }] of series.entries()) {
    const width = 24 + name.length * 5.6;
    const isLast = at === series.length - 1;
    if (x + width > right - (isLast ? 0 : moreWidth)) {
      shown.push(`<text x="${x}" y="${y}">and ${series.length - at} more</text>`);
      break;
    }
    const mark = `<rect x="${x}" y="${y - 7}" width="8" height="8" fill="${colours[at % colours.length] ?? ""}"/>`;
    shown.push(`${mark}<text x="${x + 11}" y="${y}">${escapeText(name)}</text>`);
    x = Number((x + width).toFixed(1));
  }
  return shown;
}

/** A value as Grafana writes it in this unit. */
export function toText(value: number, unit: string): string {
  switch (unit) {
    case "s":
      if (value >= 60) return `${(value / 60).toFixed(1)} min`;
      return value === 0 || value >= 1 ? `${trimmed(value)} s` : `${trimmed(value * 1_000)} ms`;
    case "bytes":
      return value >= 2 ** 20 ? `${trimmed(value / 2 ** 20)} MiB` : `${trimmed(value / 1_024)} KiB`;
    case "percentunit":
      return `${trimmed(value * 100)} %`;
    case "reqps":
      return `${trimmed(value)}/s`;
    default:
      return trimmed(value);
  }
}

/** With three digits that say something. */
function trimmed(value: number): string {
  return String(Number(value.toPrecision(3)));
}

function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
