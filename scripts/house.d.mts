export interface Room {
  readonly name: string;
  readonly about: string;
  readonly rooms?: readonly Room[];
  /** Its own files lie below all of its rooms. */
  readonly ground?: true;
}

export const wings: readonly Room[];
export const planned: ReadonlySet<string>;
