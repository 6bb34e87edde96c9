/** A machine's name, as `nameMachine` has it, and the path of its binary. */
export interface Binary {
  readonly machine: string;
  readonly file: string;
}
export function listBinaries(): readonly Binary[];
export function packBinaries(options: {
  readonly target: string;
  readonly binaries?: readonly Binary[];
  readonly quality?: number;
  readonly cache?: string;
}): Promise<void>;
