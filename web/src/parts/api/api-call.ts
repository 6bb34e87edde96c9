import { useRef, useState } from "react";
import { rawFetch } from "../../api/client.ts";
import { ApiFailure, toFailure } from "../../api/failure.ts";

/** The request: the path with its query, and a body where there is one. */
export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

export interface ApiAnswer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly type: string;
  /** Undefined where it is no text. Of a stream, what has come so far. */
  readonly text: string | undefined;
  readonly content: Blob;
  /** Whether the rest was not read, because it is too long or somebody stopped it. */
  readonly isCut: boolean;
}

export interface ApiCall {
  readonly state: "idle" | "running" | "done" | "failed";
  readonly answer: ApiAnswer | undefined;
  readonly failure: ApiFailure | undefined;
  readonly durationMs: number | undefined;
}

const idle: ApiCall = { state: "idle", answer: undefined, failure: undefined, durationMs: undefined };
/** Twice the longest result of a tool; a stream of events goes on for ever. */
const mostBytes = 64 * 1024 * 1024;

/** Sends a request with the page's session. Its answer stays text, because its numbers must stay as they are. */
export function useApiCall(onChange: () => void) {
  const [call, setCall] = useState(idle);
  const controller = useRef<AbortController>(undefined);

  async function send({ method, path, headers, body }: ApiRequest): Promise<void> {
    controller.current?.abort();
    const own = new AbortController();
    controller.current = own;
    const started = performance.now();
    const show = (next: Partial<ApiCall>): void => {
      if (controller.current === own) setCall((now) => ({ ...now, durationMs: performance.now() - started, ...next }));
    };
    setCall({ ...idle, state: "running" });
    try {
      const sent = method === "GET" ? {} : { method, ...(body === undefined ? {} : { body }) };
      const response = await rawFetch(path, { ...sent, headers, cache: "no-store", signal: own.signal });
      await read(response, (answer) => show({ answer }), own.signal);
      show({ state: "done" });
    } catch (error) {
      const stopped = new ApiFailure({ code: "STOPPED", detail: "You have stopped it.", hint: "", status: 0 });
      show({ state: "failed", failure: own.signal.aborted ? stopped : toFailure(error) });
    }
    // Also what was stopped or answered with a failure may have changed something.
    if (method !== "GET") onChange();
  }

  return { call, send, stop: () => controller.current?.abort() };
}

/** Reads the answer, and shows what there is of it: of a stream whatever comes, otherwise the whole. */
async function read(response: Response, show: (answer: ApiAnswer) => void, signal: AbortSignal): Promise<void> {
  const type = response.headers.get("content-type") ?? "";
  const isText = type === "" || /^text\/|[/+](?:json|x-ndjson|yaml)\b/.test(type);
  const isStream = type.startsWith("text/event-stream");
  const decoder = new TextDecoder();
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  const texts: string[] = [];
  const head = {
    status: response.status,
    statusText: response.statusText,
    headers: [...response.headers],
    type,
  };
  const tell = (isCut: boolean): void =>
    show({ ...head, text: isText ? texts.join("") : undefined, content: new Blob(pieces), isCut });
  tell(false);
  const reader = response.body?.getReader();
  let length = 0;
  while (reader !== undefined) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      // What came before somebody stopped it is worth seeing.
      if (signal.aborted) tell(true);
      throw error;
    });
    if (done) break;
    pieces.push(value);
    if (isText) texts.push(decoder.decode(value, { stream: true }));
    length += value.length;
    if (isStream) tell(false);
    if (length <= mostBytes) continue;
    await reader.cancel();
    tell(true);
    return;
  }
  texts.push(decoder.decode());
  tell(false);
}
