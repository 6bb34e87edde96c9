import { parentPort, workerData } from "node:worker_threads";
import { requireBuild } from "../../../kernel/runtime/late-module.ts";
import { GatewayError, toSentFailure } from "../../../kernel/failures/gateway-error.ts";
import { isValue } from "../../../wire/mcp/shapes/result-shapes.ts";
import type { MendJob, Mended } from "./mend-thread.ts";
import { checkParsed } from "./parsed-result.ts";
import { faulty } from "./result-faults.ts";

// The entry of the worker thread that `mendInThread` starts for one result.
const { subject, bytes, limits, buildId } = workerData as MendJob & { readonly buildId: string };
requireBuild(buildId);

function mend(): Mended {
  try {
    const result = checkParsed(subject, Buffer.from(bytes.buffer), limits);
    // Questions and tasks concern the gateway itself, which would have to parse them again.
    if (!isValue(result.parsed()))
      throw faulty(subject.what, `is a question or a task of ${bytes.length} bytes in too many parts`);
    return { bytes: Uint8Array.from(result.bytes), verdict: result.verdict };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { failure: toSentFailure(error) };
  }
}

const mended = mend();
parentPort?.postMessage(mended, "bytes" in mended ? [mended.bytes.buffer] : []);
