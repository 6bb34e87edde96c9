import type { Config } from "../../config/config.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { EventBus } from "../../kernel/events/event-bus.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { LoadLate } from "../../kernel/runtime/late-module.ts";
import type { Log } from "../../kernel/runtime/log.ts";
import type { EventFacts } from "../../records/events/event-json.ts";
import { collectEvents } from "../../records/calls/recorded-events.ts";
import { createLossReport } from "../../records/calls/loss-report.ts";
import { createRecordSink } from "../../records/calls/record-sink.ts";
import type { Redaction } from "../../records/redaction/redaction.ts";
import { createRowRedaction } from "../../records/calls/row-redaction.ts";
import { createRequestLog, type LogRequest, type RequestLogDeps } from "../../records/calls/call-recorder.ts";
import { logServers } from "../../records/calls/server-lines.ts";
import type { RecordStore, StoreProblem } from "../../store/record-store.ts";
import type { GatewayStore } from "../../store/store.ts";
import type { GatewayAudit } from "./audit-wing.ts";
import { keepingOf, type Keeping } from "./record-keeping.ts";

/** The wing `records`, wired: what happened is kept, and can be asked for. */
export interface Records {
  /** Records one call; undefined when nothing is recorded. */
  readonly recordCall: LogRequest | undefined;
  /** Undefined until it is loaded, where it cannot be, and where nothing is recorded. */
  store(): RecordStore | undefined;
  /** Whether anything is to be recorded at all. */
  readonly isOn: boolean;
  /** The problems of the store, if any. */
  problems(): readonly StoreProblem[];
  /** Rows that were dropped before there was a store. */
  readonly dropped: number;
  /** Loads the store and its thread, once the gateway answers. No caller waits for it. */
  open(): void;
  /** Opens it, and waits until it can be asked. Rejects with STORE_UNAVAILABLE where it cannot be opened. */
  opened(): Promise<RecordStore>;
  /** Calls back as `RecordStore.onRest` does, once there is a store. For the life of the gateway. */
  onRest(listener: () => void): void;
  /** Calls back as `RecordStore.onLoss` does, once there is a store. For the life of the gateway. */
  onLoss(listener: () => void): void;
  /** Writes what waits and closes the store, at most within `deadlineMs`. */
  close(deadlineMs: number): Promise<void>;
}

export interface RecordsDeps extends Pick<RequestLogDeps, "node" | "loggingOf" | "schemasOf"> {
  readonly config: () => Config;
  readonly events: EventBus;
  readonly store: Pick<GatewayStore, "records">;
  readonly redaction: Redaction;
  readonly facts: EventFacts;
  readonly loadLate: LoadLate;
  readonly audit: Pick<GatewayAudit, "open" | "fail" | "close">;
  readonly log: Log;
  readonly clock: Clock;
}

/** Nothing of the store is loaded before `open`, and none of it where `records.store` is `off`. */
export function createRecords(deps: RecordsDeps): Records {
  const { settings } = deps.config();
  return settings.records.store === "off" ? recordNothing : recordAll(deps, keepingOf(settings));
}

const recordNothing: Records = Object.freeze({
  recordCall: undefined,
  store: () => undefined,
  isOn: false,
  problems: () => [],
  dropped: 0,
  open: () => undefined,
  opened: async () => {
    throw new GatewayError("STORE_UNAVAILABLE", "records.store is off");
  },
  onRest: () => undefined,
  onLoss: () => undefined,
  close: async () => undefined,
});

function recordAll(deps: RecordsDeps, keep: Keeping): Records {
  const { redaction, log, clock } = deps;
  const losses = createLossReport(log, clock);
  // Problems of the store are reported already.
  const sink = createRecordSink(() => opened?.health().status === "ready" && losses.note());
  const stopLogging = logServers(deps.events, sink);
  const recorded = collectEvents(deps.events);
  const resting: (() => void)[] = [];
  const losing: (() => void)[] = [];
  let opening: Promise<void> | undefined;
  let opened: RecordStore | undefined;
  let failed: StoreProblem | undefined;

  async function open(): Promise<void> {
    try {
      const [store, { createEventRecorder }] = await deps.loadLate(
        "the store of records",
        async () =>
          await Promise.all([
            deps.store.records({ clock, ...keep, redact: createRowRedaction(redaction) }),
            import("../../records/calls/event-recorder.ts"),
          ]),
      );
      opened = store;
      store.onHealth(createReport(log));
      store.onLoss(() => {
        log.warn({ component: "records" }, lossText);
        for (const listener of losing) listener();
      });
      store.onRest(() => {
        for (const listener of resting) listener();
      });
      sink.open(store);
      recorded.open(createEventRecorder(sink, deps.facts));
      deps.audit.open(store);
    } catch (error) {
      failed = {
        database: null,
        kind: "failed",
        message: `the store of records cannot be opened: ${error instanceof Error ? error.message : String(error)}`,
        hint: "Nothing is recorded, and where people are kept in it no one can log in. Mend the cause and restart the gateway.",
      };
      recorded.stop();
      sink.close();
      deps.audit.fail(new GatewayError("STORE_UNAVAILABLE", failed.message, { hint: failed.hint }));
      createReport(log)({ problems: [failed] });
    }
  }

  return {
    recordCall: createRequestLog({ ...deps, sink, redactJson: redaction.json, said: redaction.said }),
    store: () => opened,
    isOn: true,
    problems: () => (failed === undefined ? (opened?.health().problems ?? []) : [failed]),
    get dropped() {
      return sink.dropped;
    },
    open() {
      opening ??= open();
    },
    async opened() {
      await (opening ??= open());
      if (opened !== undefined) return opened;
      throw new GatewayError("STORE_UNAVAILABLE", failed?.message ?? "the store is not open", {
        ...(failed === undefined ? {} : { hint: failed.hint }),
      });
    },
    onRest: (listener) => void resting.push(listener),
    onLoss: (listener) => void losing.push(listener),
    async close(deadlineMs) {
      stopLogging();
      recorded.stop();
      await opening;
      await deps.audit.close(deadlineMs);
      await opened?.close(deadlineMs);
      losses[Symbol.dispose]();
    },
  };
}

const lossText =
  "the database has lost changes that were known here, as after a failover to a standby that lagged: " +
  "people, tokens and installations are read from it again";

/** Reports problems, and when there are none any more. */
function createReport(log: Log): (health: { readonly problems: readonly StoreProblem[] }) => void {
  let wasWrong = false;
  return ({ problems }) => {
    for (const { database, kind, message, hint } of problems)
      log.warn({ component: "records", database, kind }, `${message}. ${hint}`);
    if (problems.length === 0 && wasWrong) log.info({ component: "records" }, "the store of records works again");
    wasWrong = problems.length > 0;
  };
}
