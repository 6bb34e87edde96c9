import type { TrialAsk } from "../../app/fronts/trial-process.ts";

// The entry of a process that tries one server for a gateway, and ends. It loads what commands that become a gateway
// load, and nothing else: a file of its own would split those.
const left = new AbortController();
const leave = (): void => left.abort(new Error("the gateway does not wait any more"));
process.once("disconnect", leave);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, leave);
process.once("message", (asked) => {
  void import("./own-gateway.ts")
    .then(async ({ answerTrial }) => await answerTrial(asked as TrialAsk, left.signal))
    .then((answer) => process.connected && process.send?.(answer, () => process.connected && process.disconnect()));
});
