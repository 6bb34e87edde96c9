import type { PinChoice } from "../../config/rows/tool-rows.ts";
import type { Clock } from "../../kernel/runtime/clock.ts";
import type { Principal } from "../../kernel/principal.ts";

/** What people chose for themselves. */
export interface PinStore {
  /** Undefined for those who chose nothing. */
  of(person: string): Promise<PinChoice | undefined>;
  /** Resolves when it is written; undefined takes the choice back. Rejects with STORE_UNAVAILABLE or STORE_FULL. */
  choose(person: string, choice: PinChoice | undefined): Promise<void>;
}

export interface PinsDeps {
  /** Of the configuration: for all who chose nothing. */
  readonly configured: () => PinChoice;
  /** Of the profile that somebody comes with: it comes before what they chose. */
  readonly ofProfile?: ((principal: Principal) => PinChoice | undefined) | undefined;
  readonly storeFor: (principal: Pick<Principal, "user">) => Promise<PinStore>;
  /** The paths that this person used in most sessions, at most as many as are asked for. */
  readonly mostUsed: (principal: Principal, most: number) => Promise<readonly string[]>;
  readonly clock: Pick<Clock, "monotonic">;
  readonly onFailure: (error: unknown) => void;
}

export interface ChosenPins {
  /** The person's own; undefined where that of the configuration holds. */
  readonly own: PinChoice | undefined;
  readonly configured: PinChoice;
  /** The pinned tools at present. */
  readonly paths: readonly string[];
}

/** Which tools are pinned for whom. */
export interface Pins {
  /**
   * At once where it is known, as nearly always. Never rejects: where a person's own choice cannot be read, that of the
   * configuration holds.
   */
  of(principal: Principal): ChosenPins | Promise<ChosenPins>;
  /** Resolves when it is written. New sessions follow it. Rejects as the store does. */
  choose(principal: Principal, choice: PinChoice | undefined): Promise<void>;
}

/** Another gateway of the same database may have changed a choice: it is looked at again after this. */
const choiceAgeMs = 10_000;
/** The most used tools are determined once a day, so that a list without a session does not change in between. */
const mostUsedAgeMs = 86_400_000;
/** Fewer than may be pinned by hand: no one has weighed their cost in tokens. */
const automaticPins = 5;
const rememberedPeople = 1_000;

interface Known<T> {
  readonly value: T;
  readonly atMs: number;
}

export function createPins(deps: PinsDeps): Pins {
  const { clock, configured, mostUsed, onFailure } = deps;
  const choiceOf = (principal: Principal, own: PinChoice | undefined): PinChoice =>
    (principal.profile === undefined ? undefined : deps.ofProfile?.(principal)) ?? own ?? configured();
  const choices = createMemo<PinChoice | undefined>(choiceAgeMs, clock);
  const used = createMemo<readonly string[]>(mostUsedAgeMs, clock);

  async function look(principal: Principal): Promise<ChosenPins> {
    const own = await choices.get(principal.id, async () => {
      try {
        return await (await deps.storeFor(principal)).of(principal.id);
      } catch (error) {
        onFailure(error);
        return undefined;
      }
    });
    if (choiceOf(principal, own) === "auto")
      await used.get(principal.id, async () => await mostUsed(principal, automaticPins).catch(() => []));
    return decided(principal, own);
  }

  function decided(principal: Principal, own: PinChoice | undefined): ChosenPins {
    const choice = choiceOf(principal, own);
    const paths = choice === "auto" ? (used.peek(principal.id)?.value ?? none) : choice;
    return { own, configured: configured(), paths };
  }

  return {
    of(principal) {
      const known = choices.peek(principal.id);
      const isDecided = known !== undefined && (choiceOf(principal, known.value) !== "auto" || used.peek(principal.id));
      return isDecided ? decided(principal, known.value) : look(principal);
    },
    async choose(principal, choice) {
      await (await deps.storeFor(principal)).choose(principal.id, choice);
      choices.forget(principal.id);
    },
  };
}

const none: readonly string[] = Object.freeze([]);

interface Memo<T> {
  /** Undefined where it is unknown or too old. */
  peek(key: string): Known<T> | undefined;
  get(key: string, read: () => Promise<T>): Promise<T>;
  forget(key: string): void;
}

function createMemo<T>(maxAgeMs: number, clock: PinsDeps["clock"]): Memo<T> {
  const known = new Map<string, Known<T>>();
  const peek = (key: string): Known<T> | undefined => {
    const one = known.get(key);
    return one !== undefined && clock.monotonic() - one.atMs < maxAgeMs ? one : undefined;
  };
  return {
    peek,
    async get(key, read) {
      const one = peek(key);
      if (one !== undefined) return one.value;
      const value = await read();
      known.delete(key);
      known.set(key, { value, atMs: clock.monotonic() });
      if (known.size > rememberedPeople) known.delete(known.keys().next().value as string);
      return value;
    },
    forget: (key) => void known.delete(key),
  };
}
