import type { Clock } from "../../kernel/runtime/clock.ts";
import type { Log } from "../../kernel/runtime/log.ts";

/** Says in the log that rows are lost. */
export interface LossReport extends Disposable {
  /** One row was. Costs an addition. */
  note(): void;
}

/** Between two lines about the same flood. */
export const lossReportMs = 60_000;

/** A line at the first loss and one per minute after it, with a count, until nothing is lost for a minute. */
export function createLossReport(log: Pick<Log, "warn">, clock: Pick<Clock, "after">): LossReport {
  let lost = 0;
  let cancel: (() => void) | undefined;

  function count(): void {
    cancel = undefined;
    if (lost === 0) return;
    log.warn(
      { component: "records", lost },
      `${lost} records were lost within a minute: more came than can be written`,
    );
    lost = 0;
    cancel = clock.after(lossReportMs, count);
  }

  function end(): void {
    cancel?.();
    count();
    cancel?.();
    cancel = undefined;
  }

  return {
    note() {
      lost += 1;
      if (cancel !== undefined) return;
      log.warn({ component: "records" }, "records are lost: more come than can be written. Calls are served");
      cancel = clock.after(lossReportMs, count);
    },
    [Symbol.dispose]: end,
  };
}
