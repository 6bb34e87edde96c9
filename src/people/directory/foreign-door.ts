import type { Clock } from "../../kernel/clock.ts";
import type { Principal } from "../../kernel/principal.ts";
import { createForeignBook, type ForeignBook, type ForeignToken } from "./foreign-book.ts";
import type { MemberBook } from "./member-book.ts";

/** People who come with a token of another authorization server. */
export interface ForeignDoor extends Pick<ForeignBook, "byToken" | "isOver" | "forget" | "nextExpiryMs"> {
  /** Checks a token that is not known. Any number of requests share one check. */
  readonly find: (token: string, hash: string) => Promise<Principal | undefined>;
}

export interface ForeignDoorDeps {
  readonly book: Pick<MemberBook, "members" | "under" | "withdraw">;
  readonly check: (token: string, signal: AbortSignal) => Promise<ForeignToken | undefined>;
  readonly clock: Pick<Clock, "now">;
  /** Told when a token came in, with the time at which it expires. */
  readonly onToken: (expiresAtMs: number) => void;
  /** Told when something was taken from somebody. */
  readonly onTaken: () => void;
}

/** As long as a request waits for it. */
const deadlineMs = 10_000;

export function createForeignDoor({ book, check, clock, onToken, onTaken }: ForeignDoorDeps): ForeignDoor {
  const held = createForeignBook(book);
  const checking = new Map<string, Promise<Principal | undefined>>();

  async function checkOne(token: string, hash: string): Promise<Principal | undefined> {
    const found = await check(token, AbortSignal.timeout(deadlineMs));
    if (found === undefined) {
      if (held.reject(hash, clock.now())) onTaken();
      return undefined;
    }
    onToken(found.expiresAtMs);
    return held.put(hash, found);
  }

  return {
    ...held,
    async find(token, hash) {
      const known = held.byToken(hash, clock.now());
      if (known !== undefined) return known;
      let running = checking.get(hash);
      if (running === undefined) {
        running = checkOne(token, hash).finally(() => checking.delete(hash));
        checking.set(hash, running);
      }
      return await running;
    },
  };
}
