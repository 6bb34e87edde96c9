import { expect } from "vitest";
import type { RecordStore } from "../../src/store/record-store.ts";
import { eventOf, requestOf, usageOf } from "./records.ts";

/** Writes calls of two instances of one installation, and one of none, into an empty store, and looks for them. */
export async function expectFoundByInstallation(store: RecordStore): Promise<void> {
  const [own, theirs] = ["mail-red-m_1-ab", "mail-red-m_2-cd"];
  const started = (instance: string) => eventOf(store, { instance, installation: "i_1", server: "mail", atMs: 1 });
  for (const instance of [own, own, theirs]) {
    store.append("event", started(instance));
    store.append("request", requestOf(store, { instance, server: "mail" }));
    store.append("usage", usageOf({ instance, server: "mail" }));
  }
  store.append("request", requestOf(store));
  store.append("usage", usageOf());
  await store.flush();
  const { rows } = await store.calls({ limit: 9 });
  expect(rows.map(({ installation }) => installation)).toEqual(["files", "i_1", "i_1", "i_1"]);
  expect((await store.calls({ limit: 9, installation: "i_1" })).rows).toHaveLength(3);
  expect((await store.calls({ limit: 9, installation: "files", server: "files" })).rows).toHaveLength(1);
  expect((await store.calls({ limit: 9, installation: "i_2" })).rows).toEqual([]);
  expect(await store.call(rows[1]?.id ?? 0)).toMatchObject({ installation: "i_1", instance: theirs });
  const usage = { fromMs: 0, toMs: 1, limit: 9 };
  expect((await store.usage({ ...usage, by: ["installation"] })).map(({ group, calls }) => [...group, calls])).toEqual([
    ["i_1", 3],
    ["files", 1],
  ]);
  expect(await store.usage({ ...usage, by: ["instance"], installation: "i_1" })).toMatchObject([
    { group: [own], calls: 2 },
    { group: [theirs], calls: 1 },
  ]);
}
