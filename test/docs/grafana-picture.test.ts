import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { drawPanels, toText, type Panel } from "../../bench/dashboard/panels.ts";

const docs = (name: string): string => readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8");
const panelOf = (more: Partial<Panel> = {}): Panel => ({
  title: "Requests",
  type: "timeseries",
  gridPos: { x: 0, y: 0, w: 8, h: 8 },
  fieldConfig: { defaults: { unit: "reqps" } },
  ...more,
});
const draw = (panel: Panel, ...values: readonly (readonly (number | null)[])[]) =>
  drawPanels({
    title: "T",
    panels: [{ panel, series: values.map((one, at) => ({ name: `series ${at}`, values: one })) }],
    seconds: 60,
  });

test("the picture in docs/ has every panel of the dashboard, and a line in each", () => {
  const { panels } = JSON.parse(docs("grafana.json")) as { readonly panels: readonly Panel[] };
  const picture = docs("grafana.svg");
  const places = panels.map(({ title }) => picture.indexOf(`font-weight="bold">${title}</text>`));
  expect(panels.filter((_, at) => places[at] === -1).map(({ title }) => title)).toEqual([]);
  const drawn = panels.map(({ type, title }, at) => ({ type, title, text: picture.slice(places[at], places[at + 1]) }));
  const empty = drawn.filter(({ type, text }) => type === "timeseries" && !/<path d="M[^"]*L/.test(text));
  expect(empty.map(({ title }) => title)).toEqual([]);
});

test("a line goes from the oldest value to the newest, and the highest touches the top of the scale", () => {
  const svg = draw(panelOf(), [0, 5, 10]);
  expect(svg).toContain("10/s</text>");
  const [path = ""] = /M[\d.]+ [\d.]+L[^"]+/.exec(svg) ?? [];
  const points = path
    .split(/[ML]/)
    .slice(1)
    .map((point) => point.split(" ").map(Number));
  expect(points).toHaveLength(3);
  const [xs, ys] = [points.map(([x = 0]) => x), points.map(([, y = 0]) => y)];
  expect(xs).toEqual(xs.toSorted((one, other) => one - other));
  expect(ys).toEqual(ys.toSorted((one, other) => other - one));
});

test("where there is no value, a line has a gap", () => {
  expect(
    draw(panelOf(), [1, 1, null, 2, 2])
      .match(/"(M[^"]*L[^"]*)"/)?.[1]
      ?.match(/M/g),
  ).toHaveLength(2);
});

test("names that have no place in the legend are counted, and markup in names is text", () => {
  const svg = draw(panelOf(), ...Array.from({ length: 12 }, () => [1, 2]));
  const shown = svg.match(/>series \d+</g)?.length ?? 0;
  expect(shown).toBeGreaterThan(1);
  expect(svg).toContain(`>and ${12 - shown} more<`);
  expect(draw(panelOf({ title: "a<b & c" }), [1])).toContain("a&lt;b &amp; c");
});

test("a row is a heading, and a stat shows the last value", () => {
  expect(draw(panelOf({ type: "row" }))).toContain(">Requests</text>");
  expect(draw(panelOf({ type: "stat", fieldConfig: { defaults: { unit: "s" } } }), [30, 90, null])).toContain(
    ">series 0: 1.5 min<",
  );
});

test.each([
  [0, "s", "0 s"],
  [0.0123, "s", "12.3 ms"],
  [3, "s", "3 s"],
  [5_242_880, "bytes", "5 MiB"],
  [2_048, "bytes", "2 KiB"],
  [0.256, "percentunit", "25.6 %"],
  [1.23456, "reqps", "1.23/s"],
  [4, "short", "4"],
])("%d as %s is %s", (value, unit, text) => {
  expect(toText(value, unit)).toBe(text);
});
