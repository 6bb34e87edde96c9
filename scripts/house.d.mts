export interface Room {
  readonly name: string;
  readonly about: string;
}

export interface Wing extends Room {
  readonly rooms: readonly Room[];
  /** It has files of its own beside its rooms, which lie below all of them. */
  readonly ground?: true;
}

export const wings: readonly Wing[];
export const planned: ReadonlySet<string>;
