import type { Usage } from "./usage-log.ts";

const dayMs = 86_400_000;
const lookBackDays = 30;
/** The most that a store answers: of usual people, everything. */
const mostGroups = 10_000;
/** What was used only once is not what somebody works with. */
const leastSessions = 2;

/**
 * The tools that a person used in most sessions of the last thirty days, most used first. An hour with calls counts as
 * one session: clients of the newest revision have no other, and a loop of a thousand calls is one use.
 */
export async function readMostUsed(
  usage: Pick<Usage, "read">,
  { person, most, nowMs }: { readonly person: string; readonly most: number; readonly nowMs: number },
): Promise<readonly string[]> {
  const { sums } = await usage.read({
    fromMs: nowMs - lookBackDays * dayMs,
    toMs: nowMs + dayMs,
    by: ["tool", "hour"],
    principal: person,
    limit: mostGroups,
  });
  const sessions = new Map<string, number>();
  for (const { group, calls, errors } of sums) {
    const [tool] = group;
    // Requests other than tool calls are counted by their method, which has no colon.
    if (typeof tool === "string" && tool.includes(":") && calls > errors)
      sessions.set(tool, (sessions.get(tool) ?? 0) + 1);
  }
  return [...sessions]
    .filter(([, count]) => count >= leastSessions)
    .toSorted(([one, more], [other, less]) => less - more || (one < other ? -1 : 1))
    .slice(0, most)
    .map(([tool]) => tool);
}
