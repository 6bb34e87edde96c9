// Preloaded into a measured program: writes at its end, and at SIGUSR2, how late its event loop was, in ms, to the file
// LOOP_LAG names. SIGUSR2 begins anew, so that the start is not measured. `turn` is the longest turn of the loop, but
// no longer than the processor time that this process had in it: what others on the machine take is not its own.
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
  let turn = 0;
  let before = { ms: performance.now(), cpu: process.cpuUsage() };
  setInterval(() => {
    const ms = performance.now() - before.ms - resolution;
    const { user, system } = process.cpuUsage(before.cpu);
    turn = Math.max(turn, Math.min(ms, (user + system) / 1e3));
    before = { ms: performance.now(), cpu: process.cpuUsage() };
  }, resolution).unref();
  const write = () => {
    const [p50, p99, max] = [delays.percentile(50), delays.percentile(99), delays.max].map(
      (nanos) => nanos / 1e6 - resolution,
    );
    writeFileSync(file, JSON.stringify({ p50, p99, max, turn }));
  };
  process.on("SIGUSR2", () => {
    write();
    delays.reset();
    turn = 0;
  });
  process.on("exit", write);
}
