import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Schemas } from "../../api/client.ts";
import { lastUseDays, queries } from "../../api/queries.ts";
import { agoByHour, fullTime } from "../../words/format.ts";

/** When something was last used. */
export interface LastUsed {
  /** The hour of it; undefined while that is not known, and null where it was not. */
  readonly hour: string | null | undefined;
  /** The text where it was not used: a gateway that is new, or keeps nothing, knows of less than a month. */
  readonly otherwise: string;
}

/** How far back is known: `from` is when the month began that was asked for. */
export function knownText({ from, since }: Pick<Schemas["UsageList"], "from" | "since">): string {
  return since !== null && Date.parse(since) > Date.parse(from) ? `since ${fullTime(since)}` : `in ${lastUseDays} days`;
}

/** When each tool or instance was last used. */
export function useLastUse(by: "tool" | "instance"): (name: string) => LastUsed {
  const { data } = useQuery(queries.lastUse(by));
  return useMemo(() => {
    if (data === undefined) return () => ({ hour: undefined, otherwise: "" });
    const hours = new Map(data.usage.map(({ group, lastHour }) => [group[by], lastHour]));
    const otherwise = `not ${knownText(data)}`;
    return (name) => ({ hour: hours.get(name) ?? null, otherwise });
  }, [data, by]);
}

/** Says it in a narrow column. */
export function LastUse({ use: { hour, otherwise } }: { readonly use: LastUsed }) {
  if (hour === undefined) return <span className="muted" title="Not known yet" />;
  if (hour === null)
    return (
      <span className="muted" title={otherwise}>
        –
      </span>
    );
  return (
    <span className="muted" title={`In the hour from ${fullTime(hour)}`}>
      {agoByHour(hour)}
    </span>
  );
}
