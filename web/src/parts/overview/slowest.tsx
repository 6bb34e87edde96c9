import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { queries } from "../../api/queries.ts";
import { counted, duration } from "../../words/format.ts";
import { timeRanges, type TimeRange } from "../../words/time-range.ts";
import { Name } from "../basic/name.tsx";
import { Section } from "../page.tsx";
import { Loaded } from "../basic/states.tsx";

const shown = 6;

/** Tools that took longest, by their mean. */
export function Slowest({ range }: { readonly range: TimeRange }) {
  const { hours, inWords } = timeRanges[range];
  const usage = useQuery(queries.usage(hours, "tool"));
  return (
    <Section title="Slowest tools" about={`mean of ${inWords}`}>
      <Loaded query={usage}>
        {({ usage: rows }) => {
          const slowest = rows
            .filter(({ calls }) => calls > 0)
            .map((row) => ({ ...row, mean: row.durationMs.sum / row.calls }))
            .sort((one, other) => other.mean - one.mean)
            .slice(0, shown);
          if (slowest.length === 0) return <p className="muted">No call in {inWords}.</p>;
          return (
            <ul className="list">
              {slowest.map(({ group, calls, mean }) => (
                <li key={group["tool"] ?? ""}>
                  <Link className="grow" to="/calls" search={{ tool: group["tool"] ?? "" }}>
                    <Name>{group["tool"] ?? ""}</Name>
                  </Link>
                  <span className="number">{duration(mean)}</span>
                  <span className="muted number">{counted(calls, "call")}</span>
                </li>
              ))}
            </ul>
          );
        }}
      </Loaded>
    </Section>
  );
}
