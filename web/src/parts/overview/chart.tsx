import { useEffect, useRef } from "react";
import UPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { count, fullTime } from "../../words/format.ts";

export interface ChartProps {
  /** What it shows, for those who do not see it. */
  readonly label: string;
  /** Whether its times are days rather than times of a day. */
  readonly isOfDays: boolean;
  /** Seconds since 1970. */
  readonly times: readonly number[];
  readonly lines: readonly { readonly label: string; readonly color: string; readonly values: readonly number[] }[];
}

const heightPx = 180;

/** Lines over time. Loaded with the first page that has one. */
export function Chart({ label, isOfDays, times, lines }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const style = getComputedStyle(element);
    // A canvas knows colours only as they are computed: of a property of our own, that is its text.
    const color = (name: string): string => {
      element.style.color = `var(${name})`;
      const computed = style.color;
      element.style.color = "";
      return computed;
    };
    const bars = UPlot.paths.bars?.({ size: [0.8, 28] });
    const ticksOf = new Intl.DateTimeFormat(
      "en",
      isOfDays ? { day: "numeric", month: "short" } : { hour: "2-digit", minute: "2-digit", hourCycle: "h23" },
    );
    const axis = {
      stroke: color("--muted"),
      grid: { stroke: style.borderTopColor, width: 1 },
      ticks: { show: false },
      font: "11px system-ui",
    };
    const plot = new UPlot(
      {
        width: element.clientWidth,
        height: heightPx,
        cursor: { y: false, drag: { x: false, y: false } },
        legend: { show: false },
        scales: {
          x: { time: true },
          y: { range: (_plot, _least, most) => [0, Math.max(4, Math.ceil((most ?? 0) * 1.1))] },
        },
        axes: [
          {
            ...axis,
            size: 26,
            grid: { show: false },
            values: (_plot, ticks) => ticks.map((tick) => ticksOf.format(tick * 1_000)),
          },
          {
            ...axis,
            size: 44,
            values: (_plot, ticks) => ticks.map((tick) => (Number.isInteger(tick) ? count(tick) : "")),
          },
        ],
        series: [
          {},
          ...lines.map((line) => ({
            label: line.label,
            stroke: color(line.color),
            fill: color(line.color),
            width: 1,
            points: { show: false },
            ...(bars === undefined ? {} : { paths: bars }),
          })),
        ],
      },
      // A bar of nothing would be a line at the bottom.
      [[...times], ...lines.map(({ values }) => values.map((value) => (value === 0 ? null : value)))],
      element,
    );
    const watcher = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: heightPx }));
    watcher.observe(element);
    return () => {
      watcher.disconnect();
      plot.destroy();
    };
  }, [isOfDays, times, lines]);
  return (
    <figure className="chart">
      <div ref={place} className="plot" role="img" aria-label={label} />
      <figcaption>
        {lines.map((line) => (
          <span key={line.label} className="legend">
            <span className={`dot ${line.color.slice(2)}`} aria-hidden /> {line.label}
          </span>
        ))}
        <details>
          <summary>As a table</summary>
          <table>
            <thead>
              <tr>
                <th scope="col">From</th>
                {lines.map((line) => (
                  <th key={line.label} scope="col">
                    {line.label}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {times.map((at, index) => (
                <tr key={at}>
                  <td>{fullTime(new Date(at * 1_000).toISOString())}</td>
                  {lines.map((line) => (
                    <td key={line.label}>{count(line.values[index] ?? 0)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      </figcaption>
    </figure>
  );
}
