import { buildId } from "../../../kernel/runtime/late-module.ts";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import { GatewayError } from "../../../kernel/failures/gateway-error.ts";
import type { AnswerOf, AskOf, Asked, QuestionTable } from "../../question.ts";
import type { StoreProblem } from "../../record-store.ts";
import { createWorkerLifecycle, type SleepTimes } from "./worker-lifecycle.ts";
import type { QuestionName, Questions, SqlReply, SqlRequest, SqlWorkerData } from "../sql-messages.ts";
import { startSqlThread } from "../thread/sql-thread.ts";

/** The worker thread as this thread sees it: started again when it dies or is needed, and asked by name. */
export interface SqlClient {
  /** Whether there is a worker to hand batches to. */
  readonly isRunning: boolean;
  /** Whether there is one, or will be as soon as it is needed: not while a dead one waits for its next start. */
  readonly isAtHand: boolean;
  readonly starts: number;
  /** Starts the worker where it sleeps. */
  wake(): void;
  append(request: Extract<SqlRequest, { kind: "append" }>): void;
  ask<Name extends QuestionName>(name: Name, what: AskOf<Questions[Name]>): Promise<AnswerOf<Questions[Name]>>;
  /** Resolves when the worker has closed its databases, or has ended. Questions after this one are refused. */
  close(): Promise<void>;
  /** Lets the process end although the worker has not. */
  release(): void;
}

export interface SqlClientOptions {
  readonly clock: Clock;
  readonly workerFile: URL;
  /** Of each worker that is started. */
  readonly data: () => Omit<SqlWorkerData, "buildId">;
  readonly heapMb: number;
  /** Questions that may wait for an answer at once: further ones are refused. */
  readonly questions: number;
  readonly sleep: SleepTimes;
  /** As `WorkerLifecycleOptions` has it. */
  readonly onRest: () => void;
  /** Whether the databases are in order and every batch is settled. */
  readonly maySleep: () => boolean;
  readonly onReply: (reply: Exclude<SqlReply, { kind: "answer" | "refused" | "closed" | "driverless" }>) => void;
  /** The worker has ended, and everything that was handed to it is lost. */
  readonly onLost: (problem: StoreProblem) => void;
}

export function createSqlClient(options: SqlClientOptions): SqlClient {
  const { workerFile, data, heapMb, questions, maySleep, onReply, onLost } = options;
  const open = createOpenQuestions();
  let closing: Promise<void> | undefined;
  const life = createWorkerLifecycle({
    ...options,
    startThread: (on) => startSqlThread({ workerFile, data: { ...data(), buildId }, heapMb, ...on }),
    maySleep: () => open.size === 0 && maySleep(),
    onReply(reply) {
      if (reply.kind !== "answer" && reply.kind !== "refused") return onReply(reply);
      open.settle(reply);
      if (open.size === 0 && closing === undefined) life.hold(false);
    },
    onLost(problem) {
      open.failAll(unavailable(problem));
      life.hold(false);
      onLost(problem);
    },
    onClosed: () => open.failAll(draining()),
  });

  return {
    get isRunning() {
      return life.stage() === "awake" && closing === undefined;
    },
    get isAtHand() {
      return life.stage() !== "dead" && closing === undefined;
    },
    get starts() {
      return life.starts();
    },
    wake: () => life.wake(),
    append: (request) => life.post(request),
    ask(name, what) {
      if (closing !== undefined) return Promise.reject(draining());
      if (life.stage() === "dead") return Promise.reject(unavailable(life.problem()));
      if (open.size >= questions)
        return Promise.reject(new GatewayError("STORE_UNAVAILABLE", "too many questions wait for the database"));
      return new Promise((resolve, reject) => {
        const id = open.add({ settle: (text) => resolve((JSON.parse(text) ?? undefined) as never), fail: reject });
        if (open.size === 1) life.hold(true);
        life.post({ kind: "ask", id, name, text: JSON.stringify(what ?? null) });
      });
    },
    close() {
      if (closing === undefined) {
        life.hold(true);
        closing = life.close();
      }
      return closing;
    },
    release: () => life.hold(false),
  };
}

/** The questions of a table as methods, each of which asks the worker. */
export function toAsked<Table extends QuestionTable>(client: Pick<SqlClient, "ask">, table: Table): Asked<Table> {
  const names = Object.keys(table) as QuestionName[];
  const methods = names.map((name) => [name, async (what: never): Promise<unknown> => await client.ask(name, what)]);
  return Object.fromEntries(methods) as Asked<Table>;
}

function unavailable(problem: StoreProblem | undefined): GatewayError {
  const hint = problem === undefined ? {} : { hint: problem.hint };
  return new GatewayError("STORE_UNAVAILABLE", problem?.message ?? "the database is not there", hint);
}

function draining(): GatewayError {
  return new GatewayError("DRAINING", "the gateway stops, and its database is closed");
}

/** Questions that were asked and not answered yet. */
interface OpenQuestions {
  readonly size: number;
  /** Gives the id to ask it with. */
  add(question: Question): number;
  settle(reply: Extract<SqlReply, { kind: "answer" | "refused" }>): void;
  /** They will not be answered any more. */
  failAll(error: GatewayError): void;
}

interface Question {
  settle(text: string): void;
  fail(error: GatewayError): void;
}

function createOpenQuestions(): OpenQuestions {
  const open = new Map<number, Question>();
  let lastId = 0;
  return {
    get size() {
      return open.size;
    },
    add(question) {
      lastId += 1;
      open.set(lastId, question);
      return lastId;
    },
    settle(reply) {
      const question = open.get(reply.id);
      open.delete(reply.id);
      if (reply.kind === "answer") return question?.settle(reply.text);
      const { code, message, hint } = reply.failure;
      return question?.fail(new GatewayError(code, message, hint === undefined ? {} : { hint }));
    },
    failAll(error) {
      for (const question of open.values()) question.fail(error);
      open.clear();
    },
  };
}
