import type { Clock } from "../../kernel/clock.ts";

const hourMs = 3_600_000;

/** What may be spent within an hour, which begins with the first thing begun in it. */
export interface HourlyBudget {
  /** Milliseconds until something may be begun; 0 when it may now. */
  waitMs(): number;
  begin(): void;
  spend(tokens: number): void;
  /** Tokens of this hour. */
  spent(): number;
}

export function createHourlyBudget(
  { toolsPerHour, tokensPerHour }: { readonly toolsPerHour: number; readonly tokensPerHour: number },
  clock: Pick<Clock, "monotonic">,
): HourlyBudget {
  let startedMs = Number.NEGATIVE_INFINITY;
  let tools = 0;
  let tokens = 0;

  function renew(): void {
    if (clock.monotonic() - startedMs < hourMs) return;
    startedMs = clock.monotonic();
    tools = 0;
    tokens = 0;
  }

  return {
    waitMs() {
      renew();
      return tools < toolsPerHour && tokens < tokensPerHour ? 0 : Math.max(1, startedMs + hourMs - clock.monotonic());
    },
    begin() {
      renew();
      tools += 1;
    },
    spend: (count) => void (tokens += count),
    spent() {
      renew();
      return tokens;
    },
  };
}
