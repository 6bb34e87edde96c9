export interface Room {
  readonly name: string;
  readonly about: string;
}

export interface Wing extends Room {
  readonly rooms: readonly Room[];
}

export const wings: readonly Wing[];
export const planned: ReadonlySet<string>;
