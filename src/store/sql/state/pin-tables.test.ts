import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { createTestStore, entryOf, whenOpened } from "../../../../test/harness/records.ts";
import type { PinStore } from "../../../catalog/discovery/pins.ts";
import { createPinsFile } from "../../files/kept-files.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "toolyard-pins-"));
  const made = folder;
  onTestFinished(async () => await rm(made, { recursive: true, force: true }));
});

async function withMembers() {
  const store = await whenOpened(createTestStore(folder));
  onTestFinished(async () => await store.close(10_000));
  const about = { createdAtMs: 1, revision: 1 };
  const of = (at: number) => ({ id: `m_${at}`, teamId: "t_1", userId: `u_${at}`, role: "member" as const, ...about });
  await store.people.change(
    {
      users: [1, 2].map((at) => ({ id: `u_${at}`, name: `n${at}`, role: "user", status: "active", ...about })),
      teams: [{ id: "t_1", slug: "red", title: "", limits: {}, ...about }],
      memberships: [of(1), of(2)],
    },
    entryOf({}),
  );
  return store;
}

const inFile = (failures: unknown[] = []): PinStore =>
  createPinsFile(join(folder, "pins.json"), (error) => failures.push(error));

test.each([
  ["a file", async () => inFile()],
  ["the database", async () => (await withMembers()).pins],
])("in %s, a choice is kept, replaced and taken back, for one person alone", async (_where, open) => {
  const pins = await open();
  expect(await pins.of("m_1")).toBeUndefined();
  await pins.choose("m_1", ["a:x", "b:y"]);
  await pins.choose("m_2", "auto");
  expect([await pins.of("m_1"), await pins.of("m_2")]).toEqual([["a:x", "b:y"], "auto"]);
  await pins.choose("m_1", []);
  expect(await pins.of("m_1")).toEqual([]);
  await pins.choose("m_1", undefined);
  expect([await pins.of("m_1"), await pins.of("m_2")]).toEqual([undefined, "auto"]);
});

test("what no database can hold is kept as it can be read again, and a member who left has nothing", async () => {
  const store = await withMembers();
  await store.pins.choose("m_1", ["a:one\0two\uD800"]);
  expect(await store.pins.of("m_1")).toEqual(["a:one\uFFFDtwo\uFFFD"]);
  await expect(store.pins.choose("m_9", ["a:x"])).rejects.toMatchObject({ code: "UNAUTHORIZED" });
});

test("changes of the file at the same time lose nothing, and a damaged one is set aside", async () => {
  const pins = inFile();
  await Promise.all(Array.from({ length: 20 }, async (_, at) => await pins.choose(`p${at}`, [`a:t${at}`])));
  const again = inFile();
  for (const at of [0, 7, 19]) expect(await again.of(`p${at}`)).toEqual([`a:t${at}`]);
  const odd = { format: 1, pins: { good: ["a:x"], bad: [7], many: Array.from({ length: 11 }, (_, at) => `a:${at}`) } };
  await writeFile(join(folder, "pins.json"), JSON.stringify(odd));
  const mixed = inFile();
  expect([await mixed.of("good"), await mixed.of("bad"), await mixed.of("many")]).toEqual([
    ["a:x"],
    undefined,
    undefined,
  ]);
  await writeFile(join(folder, "pins.json"), "{");
  const failures: unknown[] = [];
  expect(await inFile(failures).of("good")).toBeUndefined();
  expect(failures).toHaveLength(1);
});
