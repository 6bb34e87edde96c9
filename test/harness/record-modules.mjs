// Writes down every module that a process imports: `node --import record-modules.mjs`, with the file to append to in
// LOADED_MODULES.
import { appendFileSync } from "node:fs";
import { register } from "node:module";
import { isMainThread } from "node:worker_threads";

if (isMainThread) register(import.meta.url);

export async function load(url, context, next) {
  appendFileSync(process.env["LOADED_MODULES"], `${url}\n`);
  return await next(url, context);
}
