import { useRef, useState } from "react";
import { rawFetch } from "../api/client.ts";
import { readEvents } from "../api/event-text.ts";
import { ApiFailure, problemOf, toFailure } from "../api/failure.ts";

export interface Progress {
  readonly progress?: number;
  readonly total?: number;
  readonly message?: string;
}

export interface ToolRun {
  readonly state: "idle" | "running" | "done" | "failed";
  readonly progress: Progress | undefined;
  /** What the tool said meanwhile. */
  readonly log: readonly string[];
  /** The answer as text. */
  readonly answer: string | undefined;
  readonly failure: ApiFailure | undefined;
  readonly durationMs: number | undefined;
}

const idle: ToolRun = {
  state: "idle",
  progress: undefined,
  log: [],
  answer: undefined,
  failure: undefined,
  durationMs: undefined,
};
const mostLog = 500;

/** Calls a tool, and follows it. Its answer stays text, because its numbers must stay as they are. */
export function useToolRun(tool: string) {
  const [run, setRun] = useState(idle);
  const controller = useRef<AbortController>(undefined);

  async function call(argumentsText: string): Promise<void> {
    controller.current?.abort();
    const own = new AbortController();
    controller.current = own;
    const started = performance.now();
    setRun({ ...idle, state: "running" });
    const end = (last: Partial<ToolRun>): void => {
      if (controller.current === own) setRun((now) => ({ ...now, durationMs: performance.now() - started, ...last }));
    };
    try {
      const response = await rawFetch(`/execute/${encodeURIComponent(tool)}`, {
        method: "POST",
        headers: { Accept: "text/event-stream" },
        body: argumentsText,
        signal: own.signal,
      });
      if (!response.ok || response.body === null) throw problemOf(response.status, await response.json());
      let hasEnded = false;
      await readEvents(response.body, ({ type, data }) => {
        if (type === "progress") end({ progress: JSON.parse(data) as Progress });
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
      end({ state: "failed", failure });
    }
  }

  return { run, call, cancel: () => controller.current?.abort() };
}

function toLine(data: string): string {
  const { level, data: said } = JSON.parse(data) as { readonly level?: string; readonly data?: unknown };
  return `${level ?? "log"}: ${typeof said === "string" ? said : JSON.stringify(said)}`;
}
