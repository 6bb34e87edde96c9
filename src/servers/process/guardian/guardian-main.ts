import { createInterface } from "node:readline";
import { signalGroup, killWindowsTree } from "./process-group.ts";
import { killTreesOf, type Founders } from "../orphan-sweep.ts";
import { parseGatewayMark } from "../marker.ts";
import { createProcessTable, readStartTime } from "../process-table.ts";

/**
 * The guardian for systems without /bin/sh: Windows, and images that contain nothing but Node. Its input is the same as
 * the script's: the gateway's mark, then lines with the founders that are alive. The end of input means that the
 * gateway has ended. It takes about 42 MB of memory, the shell only 1.7.
 */
async function guard(): Promise<void> {
  let mark: string | undefined;
  let founders: Founders = new Map();
  for await (const line of createInterface({ input: process.stdin })) {
    if (mark === undefined) mark = line;
    else
      founders = new Map(
        line
          .split(" ")
          .filter(Boolean)
          .map((pid) => [Number(pid), readStartTime(Number(pid))]),
      );
  }
  if (process.platform === "win32") await Promise.all([...founders.keys()].map(killWindowsTree));
  else
    for (const founder of founders.keys()) signalGroup(founder, process.platform === "linux" ? "SIGSTOP" : "SIGKILL");
  const gateway = parseGatewayMark(mark);
  if (gateway) await killTreesOf(gateway, founders, createProcessTable());
}

for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"] as const) process.on(signal, () => undefined);
await guard();
