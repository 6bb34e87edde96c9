import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { lastUseDays, queries } from "../api/queries.ts";
import { agoByHour, fullTime } from "../words/format.ts";

export const notLately = `not in ${lastUseDays} days`;

/** When each tool or instance was last used: undefined while that is not known, and null where it was not. */
export function useLastUse(by: "tool" | "instance"): (name: string) => string | null | undefined {
  const { data } = useQuery(queries.lastUse(by));
  return useMemo(() => {
    if (data === undefined) return () => undefined;
    const hours = new Map(data.usage.map(({ group, lastHour }) => [group[by], lastHour]));
    return (name) => hours.get(name) ?? null;
  }, [data, by]);
}

/** Says it in a narrow column. */
export function LastUse({ hour }: { readonly hour: string | null | undefined }) {
  if (hour === undefined) return <span className="muted" title="Not known yet" />;
  if (hour === null)
    return (
      <span className="muted" title={notLately}>
        –
      </span>
    );
  return (
    <span className="muted" title={`In the hour from ${fullTime(hour)}`}>
      {agoByHour(hour)}
    </span>
  );
}
