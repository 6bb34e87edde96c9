import type { InstanceId } from "../../kernel/ids.ts";
import type { Instance } from "./instance.ts";
import type { RemovalReason } from "./state.ts";

/** Instances that have been removed and may still be stopping: whatever takes the place of one waits for it. */
export interface Departures {
  dismiss(instance: Instance, why: RemovalReason): void;
  /** Settles when the one that had this id is gone; undefined when there is none to wait for. */
  of(id: InstanceId): Promise<void> | undefined;
  /** Settles when all of them are gone. */
  all(): Promise<unknown>;
}

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
