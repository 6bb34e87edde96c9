import { parentPort, workerData } from "node:worker_threads";
import { requireBuild } from "../../../kernel/runtime/build-id.ts";
import { compileSchema } from "./compile-schema.ts";
import type { CompileReply, CompileRequest, CompileWorkerData } from "./worker-messages.ts";

// The entry of the worker thread that `createCompiler` starts. Ajv is loaded with it.
const port = parentPort;
if (port === null) throw new Error("this file runs as a worker thread only");
const { codeLimit, buildId } = workerData as CompileWorkerData;
requireBuild(buildId);

port.on("message", ({ id, text }: CompileRequest) => {
  port.postMessage({
    kind: "compiled",
    id,
    compiled: compileSchema(text, codeLimit),
  } satisfies CompileReply);
});
port.postMessage({ kind: "ready" } satisfies CompileReply);
