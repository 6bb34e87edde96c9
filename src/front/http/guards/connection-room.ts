/** How many connections there may be, in all and of one address. */
export interface ConnectionRoom {
  /** Takes a place. Undefined when there is none; otherwise what gives it back, which may be called once. */
  take(address: string): (() => void) | undefined;
}

export interface ConnectionRoomOptions {
  readonly ofAll: number;
  readonly ofOne: number;
  /** Whether an address is shared by many people: a proxy, or this machine. */
  readonly isShared: (address: string) => boolean;
}

/** A connection without a request takes some 10 KB, and a descriptor, of which a process has few. */
export function createConnectionRoom({ ofAll, ofOne, isShared }: ConnectionRoomOptions): ConnectionRoom {
  const held = new Map<string, number>();
  let total = 0;
  return {
    take(address) {
      const own = held.get(address) ?? 0;
      if (total >= ofAll || (own >= ofOne && !isShared(address))) return undefined;
      held.set(address, own + 1);
      total += 1;
      return () => {
        total -= 1;
        const left = (held.get(address) ?? 1) - 1;
        if (left === 0) held.delete(address);
        else held.set(address, left);
      };
    },
  };
}
