import { parseArgs } from "node:util";
import { isAcked } from "../../test/cluster/trial/judge.ts";
import { describeFault, planOf } from "../../test/cluster/trial/nemesis.ts";
import { plant, plantedFaults } from "../../test/cluster/trial/planted.ts";
import { describeTrial, runTrial } from "../../test/cluster/trial/trial.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "20" },
    seed: { type: "string" },
    seconds: { type: "string", default: "60" },
    rate: { type: "string", default: "60" },
    planted: { type: "string" },
    logs: { type: "boolean", default: false },
  },
});
const seconds = Number(values.seconds);
const seeds = values.seed === undefined ? Array.from({ length: Number(values.seeds) }, (_, at) => at + 1) : [Number(values.seed)];
if (values.planted !== undefined) {
  const planted = plantedFaults[Number(values.planted)] as (typeof plantedFaults)[number];
  await using build = await plant(planted);
  const { faults, seconds, holdMs = 0 } = planted;
  const { main } = build;
  const result = await runTrial({ faults, seconds, holdMs, main, callsPerSecond: 60, isOneOwner: true });
  process.stdout.write(`${describeTrial("planted", faults, result)}\n${result.logs.join("\n")}\n`);
  process.exit(0);
}
for (const seed of seeds) {
  const faults = planOf(seed, seconds);
  const result = await runTrial({ faults, seconds, callsPerSecond: Number(values.rate) });
  process.stdout.write(`${describeTrial(`seed ${seed}`, faults, result)}\n`);
  if (values.logs) {
    const [{ sentMs: begunMs } = { sentMs: 0 }] = result.calls;
    const failed = result.calls.filter((call) => !isAcked(call));
    for (const { sentMs, endedMs, ...call } of failed)
      process.stdout.write(`${JSON.stringify({ ...call, sentMs: sentMs - begunMs, endedMs: endedMs - begunMs })}\n`);
    process.stdout.write(`${faults.map(describeFault).join("\n")}\n${result.logs.join("\n")}\n`);
  }
}
