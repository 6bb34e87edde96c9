// Preloaded into a measured program: at SIGUSR2 it collects its garbage and writes what is left, in bytes, to the file
// LIVE_HEAP names.
import { writeFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { isMainThread } from "node:worker_threads";

const file = process.env.LIVE_HEAP;
// For this process only: what it starts is another program.
delete process.env.LIVE_HEAP;
if (file !== undefined && isMainThread) {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  process.on("SIGUSR2", () => {
    collect();
    // What is finalized lets go of more.
    setTimeout(() => {
      collect();
      const { heapUsed, external, rss } = process.memoryUsage();
      writeFileSync(file, JSON.stringify({ heapUsed, external, rss }));
    }, 50);
  });
}
