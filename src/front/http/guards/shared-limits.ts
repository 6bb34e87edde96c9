import type { UseNote } from "../../../cluster/peers/messages.ts";
import type { Clock } from "../../../kernel/runtime/clock.ts";
import type { Admission, AdmissionLimits } from "./admission.ts";

type Use = UseNote["uses"][number];

/** Limits that several gateways keep together. */
export interface SharedLimits {
  /** Notes what people use at another gateway. It replaces what that one told before, and counts for two seconds. */
  note(gateway: string, uses: readonly Use[]): void;
  close(): void;
}

interface SharedLimitsDeps {
  readonly admission: Pick<Admission, "accounts" | "account">;
  readonly limits: () => AdmissionLimits;
  readonly clock: Clock;
  /** How many gateways share them, this one included. */
  readonly gateways: () => number;
  /** Tells the others. */
  readonly tell: (uses: readonly Use[]) => void;
}

const tellMs = 250;
const silenceMs = 2_000;
/** The heaviest ones of a gateway. */
const mostTold = 1_000;

/**
 * Has this gateway tell the others, four times a second, which people use more than half of their share of a limit (the
 * limit divided by the gateways), and counts what others tell as if it were used here. So a person has together at most
 * half more than a limit, beside what starts within a quarter of a second.
 */
export function createSharedLimits({ admission, limits, clock, gateways, tell }: SharedLimitsDeps): SharedLimits {
  const others = new Map<string, { uses: readonly Use[]; readonly atMs: number }>();
  let wasTold = false;
  let cancel = clock.after(tellMs, tick);

  function tick(): void {
    cancel = clock.after(tellMs, tick);
    for (const [gateway, { atMs }] of others) if (clock.monotonic() - atMs > silenceMs) replace(gateway, []);
    const uses = gateways() > 1 ? heavyUses() : [];
    // The last that is told of somebody is that nothing is used any more.
    if (uses.length > 0 || wasTold) tell(uses);
    wasTold = uses.length > 0;
  }

  function heavyUses(): readonly Use[] {
    const { callsPerSecond, concurrentCalls, openStreams } = limits();
    const parts = 2 * gateways();
    const uses: Use[] = [];
    for (const [person, account] of admission.accounts) {
      const { running, streams, spent: calls } = account;
      account.spent = 0;
      const isHeavy =
        running * parts > concurrentCalls ||
        streams * parts > openStreams ||
        calls * parts * 1_000 > callsPerSecond * tellMs;
      if (isHeavy) uses.push([person, running, streams, calls]);
    }
    return uses.length <= mostTold ? uses : uses.toSorted(([, a], [, b]) => b - a).slice(0, mostTold);
  }

  function replace(gateway: string, uses: readonly Use[]): void {
    const before = others.get(gateway)?.uses ?? [];
    if (uses.length === 0) others.delete(gateway);
    else others.set(gateway, { uses, atMs: clock.monotonic() });
    add(before, -1);
    add(uses, 1);
  }

  function add(uses: readonly Use[], sign: 1 | -1): void {
    for (const [person, running, streams] of uses) {
      const { elsewhere } = admission.account(person);
      elsewhere.running += sign * running;
      elsewhere.streams += sign * streams;
    }
  }

  return {
    note(gateway, uses) {
      replace(gateway, uses);
      for (const [person, , , calls] of uses) admission.account(person).tokens -= calls;
    },
    close: () => cancel(),
  };
}
