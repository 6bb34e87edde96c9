import { parentPort, workerData } from "node:worker_threads";
import { requireBuild } from "../../../kernel/runtime/late-module.ts";
import { GatewayError, toSentFailure } from "../../../kernel/failures/gateway-error.ts";
import type { MendJob, Mended } from "./mend-thread.ts";
import { mendLarge } from "./parsed-result.ts";

// The entry of the worker thread that `mendInThread` starts for one result.
const { subject, bytes, limits, buildId } = workerData as MendJob & { readonly buildId: string };
requireBuild(buildId);

function mend(): Mended {
  try {
    const { bytes: mended, verdict } = mendLarge(subject, Buffer.from(bytes.buffer), limits);
    return { bytes: Uint8Array.from(mended), verdict };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { failure: toSentFailure(error) };
  }
}

const mended = mend();
parentPort?.postMessage(mended, "bytes" in mended ? [mended.bytes.buffer] : []);
