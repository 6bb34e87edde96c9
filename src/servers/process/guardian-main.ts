import { createInterface } from "node:readline";
import { signalGroup } from "./family.ts";
import { killTreesOf, type Founders } from "./leftovers.ts";
import { parseGatewayMark } from "./marker.ts";
import { createProcessTable, readStartTime } from "./process-table.ts";
import { killWindowsTree } from "./windows.ts";

/**
 * The guardian where there is no /bin/sh: Windows, and images that hold nothing but Node. Same input as the script:
 * the gateway's mark, then lines of living founders; end of input means that the gateway is gone. Costs some 42 MB
 * where the shell costs 1.7.
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
