import type { Clock } from "../../kernel/runtime/clock.ts";
import { GatewayError } from "../../kernel/failures/gateway-error.ts";
import type { StoreHealth } from "../../store/record-store.ts";

/**
 * Whether the database that other gateways write to still says who may do what. People are served as they were known
 * for a while without it. After that no one is: somebody may have been taken away elsewhere.
 */
export interface DatabaseContact {
  readonly isCut: boolean;
  /** DATABASE_SILENT, while no one can be let in. */
  refusal(): GatewayError | undefined;
  stop(): void;
}

export interface DatabaseContactDeps {
  readonly store: {
    health(): StoreHealth;
    onHealth(listener: (health: StoreHealth) => void): () => void;
  };
  readonly clock: Pick<Clock, "monotonic" | "after">;
  /** How long people are served without it. */
  readonly longestMs: () => number;
  /** It was cut, or is there again. */
  readonly onChange: (isCut: boolean) => void;
}

export function createDatabaseContact({ store, clock, longestMs, onChange }: DatabaseContactDeps): DatabaseContact {
  /** Undefined while it is there. */
  let lastHeardMs: number | undefined;
  let isCut = false;
  let message = "";
  let cancel = (): void => undefined;

  function look(): void {
    cancel();
    const leftMs = lastHeardMs === undefined ? undefined : lastHeardMs + longestMs() - clock.monotonic();
    const isCutNow = leftMs !== undefined && leftMs <= 0;
    if (leftMs !== undefined && leftMs > 0) cancel = clock.after(leftMs, look);
    if (isCutNow === isCut) return;
    isCut = isCutNow;
    onChange(isCut);
  }

  function follow({ status, problems }: StoreHealth): void {
    if (status === "closed") return cancel();
    const [problem] = problems;
    const heardMs = clock.monotonic() - (problem?.unheardMs ?? 0);
    lastHeardMs = problem === undefined ? undefined : Math.min(lastHeardMs ?? heardMs, heardMs);
    message = problem?.message ?? "";
    look();
  }

  const stopListening = store.onHealth(follow);
  follow(store.health());
  return {
    get isCut() {
      return isCut;
    },
    refusal: () =>
      isCut
        ? new GatewayError(
            "DATABASE_SILENT",
            `nobody can be let in: for more than ${longestMs() / 1_000} s, ${message || "the database was not there"}`,
          )
        : undefined,
    stop() {
      cancel();
      stopListening();
    },
  };
}
