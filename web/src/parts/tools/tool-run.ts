import { useEffect, useRef, useState } from "react";
import { api, rawFetch, valueOf } from "../../api/client.ts";
import { readEvents } from "../../api/event-text.ts";
import { ApiFailure, problemOf, toFailure } from "../../api/failure.ts";

export interface Progress {
  readonly progress?: number;
  readonly total?: number;
  readonly message?: string;
}

/** What the server asks in the middle of the call. */
export interface Question {
  readonly id: string;
  readonly method: string;
  readonly params: {
    readonly mode?: string;
    readonly message?: string;
    readonly url?: string;
    readonly requestedSchema?: Readonly<Record<string, unknown>>;
  };
}

export interface QuestionAnswer {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: Readonly<Record<string, string | number | boolean | string[]>>;
}

export interface ToolRun {
  /** Counts the calls: a new one has nothing of the one before. */
  readonly number: number;
  /** The arguments as they were sent. */
  readonly sent: string;
  readonly state: "idle" | "running" | "done" | "failed";
  readonly progress: Progress | undefined;
  /** What the tool said meanwhile. */
  readonly log: readonly string[];
  /** Questions that wait for the person's answer, the oldest first. */
  readonly questions: readonly Question[];
  /** The answer as text. */
  readonly answer: string | undefined;
  readonly failure: ApiFailure | undefined;
  readonly durationMs: number | undefined;
}

const idle: ToolRun = {
  number: 0,
  sent: "{}",
  state: "idle",
  progress: undefined,
  log: [],
  questions: [],
  answer: undefined,
  failure: undefined,
  durationMs: undefined,
};
const mostLog = 500;

/** Calls a tool, and follows it. Its answer stays text, because its numbers must stay as they are. */
export function useToolRun(tool: string) {
  const [run, setRun] = useState(idle);
  const controller = useRef<AbortController>(undefined);
  const isGone = useRef(false);
  const isAsked = useRef(false);
  isAsked.current = run.questions.length > 0;
  // A call goes on when its page is left, unless it waits for an answer of the person.
  useEffect(() => {
    isGone.current = false;
    return () => {
      isGone.current = true;
      if (isAsked.current) controller.current?.abort();
    };
  }, []);

  async function call(argumentsText: string): Promise<void> {
    controller.current?.abort();
    const own = new AbortController();
    controller.current = own;
    const started = performance.now();
    setRun(({ number }) => ({ ...idle, number: number + 1, sent: argumentsText, state: "running" }));
    const end = (last: Partial<ToolRun>): void => {
      if (controller.current === own) setRun((now) => ({ ...now, durationMs: performance.now() - started, ...last }));
    };
    try {
      const response = await rawFetch(`/execute/${encodeURIComponent(tool)}`, {
        method: "POST",
        headers: { Accept: "text/event-stream", "Toolyard-Elicitation": "form, url" },
        body: argumentsText,
        signal: own.signal,
      });
      if (!response.ok || response.body === null) throw problemOf(response.status, await response.json());
      let hasEnded = false;
      await readEvents(response.body, ({ type, data }) => {
        if (type === "progress") end({ progress: JSON.parse(data) as Progress });
        else if (type === "question") ask(own, JSON.parse(data) as Question);
        else if (type === "question-over") takeBack((JSON.parse(data) as Question).id);
        else if (type === "log") setRun((now) => ({ ...now, log: [...now.log, toLine(data)].slice(-mostLog) }));
        else {
          hasEnded = true;
          if (type === "result") end({ state: "done", answer: data });
          else end({ state: "failed", failure: problemOf(0, JSON.parse(data)) });
        }
      });
      if (!hasEnded) throw new TypeError("the stream ended");
    } catch (error) {
      const failure = own.signal.aborted
        ? new ApiFailure({ code: "CALL_CANCELLED", detail: "You have cancelled the call.", hint: "", status: 0 })
        : toFailure(error);
      end({ state: "failed", failure, questions: [] });
    }
  }

  function ask(own: AbortController, question: Question): void {
    if (isGone.current) own.abort();
    else if (controller.current === own) setRun((now) => ({ ...now, questions: [...now.questions, question] }));
  }

  function takeBack(gone: string): void {
    setRun((now) => ({ ...now, questions: now.questions.filter(({ id }) => id !== gone) }));
  }

  /** Rejects with why the answer was not taken. */
  async function answer(id: string, given: QuestionAnswer): Promise<void> {
    await valueOf(api.POST("/api/questions/{id}", { params: { path: { id } }, body: given }));
    takeBack(id);
  }

  return { run, call, answer, cancel: () => controller.current?.abort() };
}

function toLine(data: string): string {
  const { level, data: said } = JSON.parse(data) as { readonly level?: string; readonly data?: unknown };
  return `${level ?? "log"}: ${typeof said === "string" ? said : JSON.stringify(said)}`;
}
