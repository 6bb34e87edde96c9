// Preloaded into a measured program: writes at its end, and at SIGUSR2, how late its event loop was, in ms, to the file
// LOOP_LAG names. SIGUSR2 begins anew, so that the start is not measured.
import { writeFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { isMainThread } from "node:worker_threads";

const { LOOP_LAG: file } = process.env;
// What it starts inherits the option, but is not what is measured.
delete process.env.LOOP_LAG;
if (file !== undefined && isMainThread) {
  const resolution = 2;
  const delays = monitorEventLoopDelay({ resolution });
  delays.enable();
  const write = () => {
    const [p50, p99, max] = [delays.percentile(50), delays.percentile(99), delays.max].map(
      (nanos) => nanos / 1e6 - resolution,
    );
    writeFileSync(file, JSON.stringify({ p50, p99, max }));
  };
  process.on("SIGUSR2", () => {
    write();
    delays.reset();
  });
  process.on("exit", write);
}
