import { createGuardian } from "../../src/servers/process/guardian/guardian.ts";
import { spawnTree, type ProcessTree } from "../../src/servers/process/spawn-tree.ts";

/**
 * Starts trees until the system gives no more, frees one, starts one again, ends all. Says on stdout how it went, as
 * one line of JSON.
 */
const log = { debug() {}, info() {}, warn() {}, error() {} };
const guardian = createGuardian({ environment: process.env, recordDirectory: undefined, log });
const trees: ProcessTree[] = [];
const start = () =>
  spawnTree({ command: "cat", args: [], env: { PATH: process.env["PATH"] ?? "" }, cwd: "/" }, guardian);
const stop = async (tree: ProcessTree | undefined) => {
  tree?.stdout.resume();
  tree?.stderr.resume();
  await tree?.stop({ timeoutMs: 5000 }, new AbortController().signal);
};

let failure: unknown;
while (!failure && trees.length < 500)
  await start().then(
    (tree) => trees.push(tree),
    (error: unknown) => (failure = error),
  );
const started = trees.length;
const { code, message } = failure as { code: string; message: string };
await Promise.all(trees.splice(0, 3).map(stop));
const recovered = await start().then((tree) => trees.push(tree) > 0, String);
await Promise.all(trees.map(stop));
await guardian[Symbol.asyncDispose]();
process.stdout.write(JSON.stringify({ started, code, message, recovered, mark: guardian.gateway }));
