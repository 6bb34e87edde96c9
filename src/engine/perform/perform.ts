import type { Intent } from "../../catalog/exposure/intent.ts";
import { toGatewayError } from "../../kernel/failures/gateway-error.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { InstanceId } from "../../kernel/ids.ts";
import type { Principal } from "../../kernel/principal.ts";
import type { Instance } from "../../servers/instance/instance.ts";
import type { Profiles } from "../policy/profiles.ts";
import type { CallAudit } from "../../records/audit/call-audit.ts";
import {
  composeStages,
  type ApprovalStage,
  type Passage,
  type PassingChecks,
  type RecordStartStage,
  type Stages,
} from "./stages.ts";
import { createAuditedRun } from "./stages/audited-run.ts";
import { withForeignNotesTold } from "./foreign-note.ts";
import type { Outcome, OutcomeOf, Work } from "./work.ts";
import { createPolicyStage } from "./stages/policy.ts";
import { createRecordEndStage, type RecordEndDeps } from "./stages/record-end.ts";
import type { ResultBudgetStage } from "./result-budget.ts";
import { createRunStage, type RunDeps } from "./run.ts";
import { tracePassage } from "./stages/trace-stage.ts";
import type { Policy } from "../policy/decide.ts";
import { createSharedTasks } from "./shared-tasks.ts";
import { createTaskBook, type TaskBook } from "./task-book.ts";
import { withNote } from "../../catalog/exposure/meta/restart-notice.ts";
import { withEntries, withMetaEntries } from "../../wire/json/spliced-json.ts";
import { isJsonObject, parseJsonObject, type JsonBytes } from "../../kernel/text/json-bytes.ts";
import { formatHint } from "../validation/formats/format-hint.ts";

/** The key under which programs find the hint. */
const hintKey = "toolyard/hint";

/**
 * A refused call with a hint, where a text in its arguments does not have the format that the tool's schema names: in
 * `_meta` of a result with `isError` and for models as one more text block, in `data` of a JSON-RPC error. Formats are
 * looked at only now, because they are annotations and the server decides. Every other byte of the refusal stays, and
 * every other outcome is returned as it is.
 */
function withFormatsTold(intent: Intent, { context }: Work, outcome: Outcome): Outcome {
  if (intent.kind !== "call" || context.transparent === true || !isRefused(outcome)) return outcome;
  const hint = formatHint(intent.tool.definition.inputSchema, intent.arguments.value);
  if (hint === undefined) return outcome;
  if (outcome.kind === "error") return { ...outcome, error: withHint(outcome.error, hint) };
  const { bytes } = outcome.result;
  const told = context.forProgram === true ? bytes : withNote(bytes, `Note from Toolyard: ${hint}`);
  return { ...outcome, result: outcome.result.with(withMetaEntries(told, { [hintKey]: hint })) };
}

type Refused = Extract<Outcome, { kind: "result" | "error" }>;

function isRefused(outcome: Outcome): outcome is Refused {
  return outcome.kind === "error" || (outcome.kind === "result" && outcome.result.isError);
}

/** Data of another kind is the server's, and leaves no room. */
function withHint(error: JsonBytes, hint: string): JsonBytes {
  const parsed = parseJsonObject(error);
  const data = parsed?.["data"] ?? {};
  return parsed !== undefined && isJsonObject(data) ? withEntries(error, "data", { [hintKey]: hint }) : error;
}

/** Carries out an intent, for any principal. Never throws; rejects with a GatewayError, or with the signal's reason. */
export type Perform = <I extends Intent>(intent: I, work: Work) => Promise<OutcomeOf[I["kind"]]>;

/** The only way in which anything is done: fronts decode a request, call `perform`, and encode the outcome. */
export interface Performer {
  readonly perform: Perform;
  /** The instance that created the task that a principal asks about, whichever front the task was returned by. */
  ownerOfTask(principal: Principal, taskId: string): InstanceId | undefined;
  /** Learns of the task from other nodes; undefined where there is nothing to ask. */
  readonly seekTasks: TaskBook["seek"];
  /** Records a call that became no intent, because its tool is not known, or its server could not be asked for it. */
  readonly refused: (work: Pick<Work, "context" | "view">, name: string, error: unknown) => void;
  /** Whether this client of the principal began the task. */
  readonly isTaskOf: TaskBook["isOf"];
  /** Intents that have not been answered yet. */
  readonly inFlight: number;
}

export interface PerformDeps extends RunDeps, Omit<RecordEndDeps, "tasks"> {
  readonly discovery: RunDeps["discovery"] & RecordEndDeps["discovery"];
  readonly instanceOf: (id: InstanceId) => Instance | undefined;
  /** The same object until the configuration changes. */
  readonly policy: () => Policy;
  readonly clock: Pick<Clock, "now" | "monotonic">;
  /** Where every call has to be in the audit before it is answered. */
  readonly callAudit?: CallAudit | undefined;
  readonly profiles?: Pick<Profiles, "require"> | undefined;
  /** Stages that are skipped when they are not given. */
  readonly approval?: ApprovalStage;
  /** Those that the configuration turns on: the same object until it changes. */
  readonly checks?: () => PassingChecks | undefined;
  readonly recordStart?: RecordStartStage;
  readonly resultBudget?: ResultBudgetStage;
}

/** Combines the stages, with those that are given in `deps`. */
export function createPerformer(deps: PerformDeps): Performer {
  const tasks = createTaskBook(deps.elsewhere);
  const recordEnd = createRecordEndStage({ ...deps, tasks });
  const run = createRunStage(deps);
  const sharedTasks = createSharedTasks(deps.instanceOf, tasks);
  const { resultBudget } = deps;
  let inFlight = 0;
  const stages: Stages = {
    policy: createPolicyStage(deps, sharedTasks, deps.profiles),
    ...(deps.approval === undefined ? {} : { approval: deps.approval }),
    ...(deps.recordStart === undefined ? {} : { recordStart: deps.recordStart }),
    run: deps.callAudit === undefined ? run : createAuditedRun(run, deps.callAudit),
    fit(intent, work, outcome) {
      const own = sharedTasks.fit(intent, work, outcome);
      const toCut = (one: Outcome): Outcome | Promise<Outcome> =>
        resultBudget === undefined ? one : resultBudget(intent, work, one);
      const cut = own instanceof Promise ? own.then(toCut) : toCut(own);
      const told = (outcome: Outcome): Outcome | Promise<Outcome> => {
        const noted = withForeignNotesTold(deps.slices, intent, work, outcome);
        const withFormats = (one: Outcome): Outcome => withFormatsTold(intent, work, one);
        return noted instanceof Promise ? noted.then(withFormats) : withFormats(noted);
      };
      return cut instanceof Promise ? cut.then(told) : told(cut);
    },
    recordEnd(intent, work, startedMs, ended) {
      inFlight -= 1;
      recordEnd.ended(intent, work, startedMs, ended);
    },
  };

  function compose(checks: PassingChecks | undefined): Passage {
    const passage = composeStages({ ...stages, checks }, deps.clock);
    return deps.traces === undefined ? passage : tracePassage(passage, deps.traces);
  }

  let checks: PassingChecks | undefined;
  let pass = compose(checks);
  const current = (): Passage => {
    const now = deps.checks?.();
    if (now !== checks) pass = compose((checks = now));
    return pass;
  };
  return {
    // The switch gives each kind of intent its own kind of outcome, but the list of stages is not typed by kind.
    perform: ((intent, work) => {
      inFlight += 1;
      return current()(intent, work);
    }) as Perform,
    refused: (work, name, error) => recordEnd.refused(work, name, toGatewayError(error)),
    ownerOfTask: tasks.find,
    seekTasks: tasks.seek,
    isTaskOf: tasks.isOf,
    get inFlight() {
      return inFlight;
    },
  };
}
