import { fromSentFailure, type SentFailure } from "../../../kernel/failures/gateway-error.ts";
import type { JsonBytes } from "../../../kernel/text/json-bytes.ts";
import { runWorker, workerUrl } from "../../../kernel/runtime/run-worker.ts";
import { createSemaphore } from "../../../kernel/runtime/semaphore.ts";
import type { Verdict } from "../../../wire/mcp/result-bytes.ts";
import { faulty, type ResultLimits, type ResultSubject } from "./result-faults.ts";

/** What the worker is given. */
export interface MendJob {
  readonly subject: ResultSubject;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly limits: ResultLimits;
}

/** What the worker answers. */
export type Mended =
  | { readonly bytes: Uint8Array<ArrayBuffer>; readonly verdict: Verdict | undefined }
  | { readonly failure: SentFailure };

/** 32 MiB of the smallest values take 5 s. */
const timeoutMs = 30_000;
/** Each holds the result several times, parsed. */
const threads = createSemaphore(1);
/** Results that may wait for it, each of which is held in memory. */
const mostWaiting = 8;
const neverAborted = new AbortController().signal;

/**
 * A large result in which something is odd, as clients can read it: parsing and writing it takes up to seconds, so a
 * thread does it, which lives no longer. One at a time; eight others wait. Rejects as `checkResult` throws, and with
 * UPSTREAM_PROTOCOL for one that takes too long or too much memory, and while eight wait already.
 */
export async function mendInThread(
  subject: ResultSubject,
  result: JsonBytes,
  { resultBytes, contentBlocks, depth }: ResultLimits,
): Promise<Extract<Mended, { readonly bytes: Uint8Array }>> {
  if (threads.waiting >= mostWaiting)
    throw faulty(subject.what, `is odd, and ${mostWaiting} other large results wait to be mended: call again later`);
  const release = await threads.acquire(neverAborted);
  try {
    const bytes = Uint8Array.from(result);
    const answer = (await runWorker({
      file: workerUrl(import.meta.url, "mend-worker"),
      data: { subject, bytes, limits: { resultBytes, contentBlocks, depth } } satisfies MendJob,
      transferred: [bytes.buffer],
      timeoutMs,
      name: "what mends large results",
      toError: (why) => faulty(subject.what, `is odd, and mending its ${result.length} bytes ${why}`),
    })) as Mended;
    if ("bytes" in answer) return answer;
    throw fromSentFailure(answer.failure);
  } finally {
    release();
  }
}
