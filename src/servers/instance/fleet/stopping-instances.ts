import type { InstanceId } from "../../../kernel/ids.ts";
import type { Instance } from "../instance.ts";
import type { RemovalReason } from "../state.ts";

/** Instances that were removed and may still be stopping. An instance that takes the place of one waits for it. */
export interface Departures {
  /** Removes an instance, and remembers it until it has stopped. */
  dismiss(instance: Instance, why: RemovalReason): void;
  /** Settles when the removed instance with this id has stopped; undefined when there is none to wait for. */
  of(id: InstanceId): Promise<void> | undefined;
  /** Settles when all removed instances have stopped. */
  all(): Promise<unknown>;
}

/** No removed instances at first. */
export function createDepartures(): Departures {
  const leaving = new Map<InstanceId, Promise<void>>();
  return {
    dismiss(instance, why) {
      const gone = instance.remove(why).finally(() => {
        if (leaving.get(instance.id) === gone) leaving.delete(instance.id);
      });
      leaving.set(instance.id, gone);
    },
    of: (id) => leaving.get(id),
    all: async () => await Promise.all(leaving.values()),
  };
}
