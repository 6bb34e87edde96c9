export interface Fault {
  /** Or a letter, for a group that is one fault. */
  readonly number: string;
  readonly what: string;
  readonly gets: string;
  /** Tests that hold it and are titled otherwise, by the beginning of their titles. */
  readonly tests?: readonly string[];
  readonly missing?: string;
  readonly notBuilt?: string;
  readonly untested?: string;
}
export interface FaultGroup {
  readonly letter: string;
  readonly title: string;
  readonly about?: string;
  readonly faults: readonly Fault[];
}
export declare const faultGroups: readonly FaultGroup[];
