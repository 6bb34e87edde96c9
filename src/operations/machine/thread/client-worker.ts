import { parentPort, workerData } from "node:worker_threads";
import type { SentClientOrder } from "./client-thread.ts";

// The entry of the thread that `orderInThread` starts for one order. It loads what orders in the gateway's own thread
// load, and nothing else: a file of its own would split that.
const { answerClientOrder } = await import("../machine.ts");
parentPort?.postMessage(await answerClientOrder(workerData as SentClientOrder));
