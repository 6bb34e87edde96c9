import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useMemo, useSyncExternalStore } from "react";
import { queries } from "../../api/queries.ts";
import { themeStore } from "../../theme.ts";
import { count, counted } from "../../words/format.ts";
import { barStarts, timeRanges, toBars, type TimeRange } from "../../words/time-range.ts";
import { Section } from "../page.tsx";
import { Empty, Loaded, Skeleton } from "../basic/states.tsx";

const Chart = lazy(async () => ({ default: (await import("./chart.tsx")).Chart }));

/** Calls, and how many of them failed, made from the records: a restart of the gateway changes nothing of it. */
export function CallsChart({ range }: { readonly range: TimeRange }) {
  const { inWords, bar } = timeRanges[range];
  const counts = useQuery(queries.callCounts(range));
  // Colours are read when it is drawn.
  const theme = useSyncExternalStore(themeStore.subscribe, () => getComputedStyle(document.documentElement).color);
  const { times, lines, calls, errors } = useMemo(() => {
    const bars = toBars(barStarts(range, counts.dataUpdatedAt), counts.data ?? []);
    const sum = (read: (one: (typeof bars)[number]) => number): number =>
      bars.reduce((total, one) => total + read(one), 0);
    return {
      times: bars.map(({ atMs }) => atMs / 1_000),
      lines: [
        { label: "Calls", color: "--part-2", values: bars.map((one) => one.calls) },
        { label: "Failed", color: "--bad", values: bars.map((one) => one.errors) },
      ],
      calls: sum((one) => one.calls),
      errors: sum((one) => one.errors),
    };
  }, [range, counts.data, counts.dataUpdatedAt]);
  return (
    <Section
      title="Calls"
      about={
        counts.data !== undefined && (
          <>
            <Link to="/calls">{counted(calls, "call")}</Link> reached a server,{" "}
            <Link to="/calls" search={{ failed: "true" }}>
              {count(errors)} failed
            </Link>
            , in {inWords}
          </>
        )
      }
    >
      <Loaded query={counts}>
        {() =>
          calls === 0 ? (
            <Empty title={`No call in ${inWords}`}>
              <p>Every call is counted here, and listed with its caller, outcome and cost.</p>
            </Empty>
          ) : (
            <Suspense fallback={<Skeleton />}>
              <Chart
                key={theme}
                label={`Calls and failures by ${bar}, in ${inWords}`}
                isOfDays={range === "week" || range === "month"}
                times={times}
                lines={lines}
              />
            </Suspense>
          )
        }
      </Loaded>
    </Section>
  );
}
