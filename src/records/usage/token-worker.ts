import { parentPort, workerData } from "node:worker_threads";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { requireBuild } from "../../kernel/runtime/late-module.ts";
import type { TokenReply, TokenRequest, TokenWorkerData } from "./token-thread.ts";

// The entry of the worker thread that counts tokens. The tokenizer's merges take 70 MB: they are nowhere else, and go
// with this thread.
requireBuild((workerData as TokenWorkerData).buildId);

/** What a definition says is text, also where it looks like a special token. */
const options = { disallowedSpecial: new Set<string>() };

parentPort?.on("message", ({ id, text }: TokenRequest) => {
  parentPort?.postMessage({ id, tokens: countTokens(text, options) } satisfies TokenReply);
});
