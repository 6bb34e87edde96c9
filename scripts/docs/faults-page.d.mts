import type { Fault, FaultGroup } from "../../test/faults/faults.mjs";
import type { TestTitle } from "./test-titles.mjs";

export interface HeldFault extends Fault {
  readonly held: readonly TestTitle[];
  /** Tests that the row names, and that do not exist. */
  readonly gone: readonly string[];
}
export interface HeldGroup extends FaultGroup {
  readonly faults: readonly HeldFault[];
}
export declare function faultNumbers(title: string): readonly string[] | undefined;
export declare function heldFaults(groups: readonly FaultGroup[], titles: readonly TestTitle[]): readonly HeldGroup[];
export declare function faultsPage(held: readonly HeldGroup[]): string;
