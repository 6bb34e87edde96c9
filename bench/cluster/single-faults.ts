import type { Fault } from "../../test/cluster/trial/nemesis.ts";
import type { TrialOptions } from "../../test/cluster/trial/trial.ts";

/** One fault each, with the lease that is usual. */
export interface SingleFault extends Pick<TrialOptions, "faults" | "seconds" | "isOneOwner" | "leaseMs"> {
  readonly name: string;
}

const usual = { leaseMs: 5_000, isOneOwner: true } as const;
const atMs = 3_000;
const ofOwner = (kind: Fault["kind"], forMs: number): readonly Fault[] => [{ kind, atMs, forMs, nodes: ["n1"] }];

/** The first node runs all servers, but where all nodes are concerned. */
export const singleFaults: readonly SingleFault[] = [
  {
    name: "rolling restart of all three",
    ...{ ...usual, isOneOwner: false, seconds: 20 },
    faults: [{ kind: "rollingRestart", atMs, forMs: 2_000, nodes: ["n1", "n2", "n3"] }],
  },
  { name: "kill -9 of the owner of everything", ...usual, seconds: 15, faults: ofOwner("kill", 3_000) },
  { name: "SIGTERM of the owner of everything", ...usual, seconds: 15, faults: ofOwner("drain", 3_000) },
  { name: "SIGSTOP of the owner for 8 s", ...usual, seconds: 20, faults: ofOwner("freeze", 8_000) },
  {
    name: "PostgreSQL killed for 30 s",
    ...usual,
    seconds: 40,
    faults: [{ kind: "killDatabase", atMs, forMs: 30_000, nodes: [] }],
  },
  { name: "the owner cut off PostgreSQL for 12 s", ...usual, seconds: 25, faults: ofOwner("cutDatabase", 12_000) },
  { name: "the owner cut off everything for 12 s", ...usual, seconds: 25, faults: ofOwner("cutAll", 12_000) },
  { name: "nothing reaches the owner for 8 s", ...usual, seconds: 25, faults: ofOwner("cutInbound", 8_000) },
];
