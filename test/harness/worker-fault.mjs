// Preloaded into a gateway: at SIGUSR2 its store's thread is sent what it cannot read, and dies of it.
import { createRequire, syncBuiltinESMExports } from "node:module";

const threads = createRequire(import.meta.url)("node:worker_threads");

if (threads.isMainThread) {
  const workers = new Set();
  threads.Worker = class extends threads.Worker {
    constructor(file, options) {
      super(file, options);
      if (!String(file).includes("sql-worker")) return;
      workers.add(this);
      this.once("exit", () => workers.delete(this));
    }
  };
  syncBuiltinESMExports();
  process.on("SIGUSR2", () => {
    for (const worker of workers) worker.postMessage(null);
  });
}
