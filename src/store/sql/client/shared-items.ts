import { createSignal, sleep, untilAborted } from "../../../kernel/runtime/abort.ts";
import type { SharedItems, SharedKey } from "../../shared.ts";
import { readAnew, type ChangeListeners } from "../postgres/change-listeners.ts";
import type { SqlClient } from "./sql-client.ts";

const kind = "changeShared";
/** Between two tries for a lock that another gateway has: a renewal takes a tenth of a second. */
const againMs = 50;
/** So often it is tried to give a lock back; by then the connection that holds it has ended, too. */
const mostTries = 100;

/** Of all gateways of a database. */
export function createSharedItems(client: Pick<SqlClient, "ask">, changes: ChangeListeners): SharedItems {
  // A part of everything is read: nothing of the rest is known by that.
  const known: Pick<ChangeListeners, "least" | "saw"> = { least: changes.least, saw: () => undefined };

  async function giveBack(name: string): Promise<void> {
    for (let tries = 0; tries < mostTries; tries += 1) {
      const isDone = await client.ask("unlockShared", name).then(
        () => true,
        () => false,
      );
      if (isDone) return;
      await sleep(againMs, new AbortController().signal);
    }
  }

  return {
    async read(wanted, ids) {
      const ask = { kind: wanted, ids: ids ?? null };
      return (await readAnew(known, kind, async () => await client.ask("shared", ask))).items;
    },
    async write(writes) {
      const { change } = await client.ask("changeShared", writes);
      changes.wrote(kind, change);
    },
    exclusively: createTurns(async (name, signal, work) => {
      while (!(await client.ask("lockShared", name))) await sleep(againMs, signal);
      try {
        return await work();
      } finally {
        await giveBack(name);
      }
    }),
    onChange: (wanted, listener) =>
      changes.listen(kind, (detail) => {
        if (detail === undefined) return listener(undefined);
        const keys = JSON.parse(detail) as readonly (readonly [SharedKey["kind"], string])[];
        const ids = keys.flatMap(([one, id]) => (one === wanted ? [id] : []));
        if (ids.length > 0) listener(ids);
      }),
  };
}

type Exclusively = SharedItems["exclusively"];

/** One after the other here, because the database takes all of a gateway for one. */
function createTurns(exclusively: Exclusively): Exclusively {
  const last = new Map<string, Promise<unknown>>();
  return async (name, signal, work) => {
    const before = last.get(name);
    const { promise, done } = createSignal();
    const mine = Promise.all([before, promise]);
    last.set(name, mine);
    try {
      if (before !== undefined) await untilAborted(before, signal);
      return await exclusively(name, signal, work);
    } finally {
      done();
      if (last.get(name) === mine) last.delete(name);
    }
  };
}
