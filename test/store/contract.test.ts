import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RawLists } from "../../src/catalog/model/instance-catalog.ts";
import type { InstanceId, PrincipalId } from "../../src/kernel/ids.ts";
import type { Log } from "../../src/kernel/runtime/log.ts";
import { readStartTime } from "../../src/servers/process/process-table.ts";
import { fileBackend } from "../../src/store/files/file-store.ts";
import type { Claim, Served } from "../../src/store/gateway-holder.ts";
import type { GatewayStore, InstanceTokenRecord, KeptUse, Store, StoreBackend } from "../../src/store/store.ts";
import { parseExact, stringifyExact } from "../../src/wire/json/exact-json.ts";
import { testSecrets } from "./secrets-contract.ts";

/** What every store does. A backend is one more row. */
const backends: readonly (readonly [string, StoreBackend])[] = [["files", fileBackend]];

const here = (variables: Served["variables"] = {}, file = "/c.json"): Served => ({
  configFile: file,
  directory: "/",
  variables,
});
const id = (text: string) => text as InstanceId;

describe.each(backends)("a store of %s", (_name, backend) => {
  let dataDir: string;
  let complaints: string[];
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "toolyard-store-"));
    complaints = [];
  });
  afterEach(async () => await rm(dataDir, { recursive: true, force: true }));

  /** As another process would: nothing is shared with the stores opened before but what is kept. */
  const open = (vaultKey?: string): Store =>
    backend.open({ dataDir, vaultKey: { secret: vaultKey }, startTimeOf: readStartTime });
  const complain = (_fields: unknown, message: string): void => void complaints.push(message);
  const log: Log = { debug: complain, info: complain, warn: complain, error: complain };

  async function openAt(serves = here()): Promise<GatewayStore> {
    const store = open();
    await store.lock.prepare(serves);
    return store.at(store.lock.placeOf(serves), log);
  }

  describe("keeps catalogs", () => {
    test("of a version that knew no skills, which then has none", async () => {
      const { catalogs } = await openAt();
      const { skills: _none, ...older } = lists;
      await catalogs.save(id("a"), { hash: "one", savedAtMs: 1, lists: older as RawLists });
      expect((await catalogs.load(id("a")))?.lists).toEqual({ ...older, skills: [] });
    });

    test("of each instance by itself, exactly as they were, for another process", async () => {
      const { catalogs } = await openAt();
      // A number that JavaScript cannot hold, and names that a careless backend would take for one another.
      const exact = { ...lists, tools: [parseExact('{"name":"t","inputSchema":{"maximum":12345678901234567890}}')] };
      await catalogs.save(id("a/b"), { hash: "one", savedAtMs: 1, lists: exact });
      await catalogs.save(id("a_b"), { hash: "two", savedAtMs: 2, lists });
      await catalogs.save(id("../a_b"), { hash: "three", savedAtMs: 3, lists });
      const later = (await openAt()).catalogs;
      const kept = await later.load(id("a/b"));
      expect(kept).toMatchObject({ hash: "one", savedAtMs: 1 });
      expect(stringifyExact(kept?.lists.tools)).toContain('"maximum":12345678901234567890');
      expect((await later.load(id("a_b")))?.hash).toBe("two");
      expect((await later.load(id("../a_b")))?.hash).toBe("three");
      expect(await later.load(id("A_B"))).toBeUndefined();
    });

    test("the one that was saved last, and none that was removed", async () => {
      const { catalogs } = await openAt();
      await Promise.all(
        Array.from(
          { length: 20 },
          async (_, at) => await catalogs.save(id("a"), { hash: `${at}`, savedAtMs: at, lists }),
        ),
      );
      expect((await catalogs.load(id("a")))?.hash).toBe("19");
      await Promise.all([catalogs.save(id("a"), { hash: "20", savedAtMs: 20, lists }), catalogs.remove(id("a"))]);
      expect(await (await openAt()).catalogs.load(id("a"))).toBeUndefined();
      await catalogs.remove(id("never there"));
      expect(complaints).toEqual([]);
    });
  });

  test("keeps instance tokens for another process, all or nothing", async () => {
    const { tokens } = await openAt();
    expect(tokens.read()).toEqual([]);
    const record = (at: number): InstanceTokenRecord => ({
      hash: at.toString(16).padStart(64, "0"),
      instance: id(`i${at}`),
      principal: "ada" as PrincipalId,
      createdAtMs: at,
      madeUnder: ["0011"],
    });
    await tokens.write([record(1), record(2)]);
    expect((await openAt()).tokens.read()).toEqual([record(1), record(2)]);
    await tokens.write([record(2)]);
    expect((await openAt()).tokens.read()).toEqual([record(2)]);
    expect(complaints).toEqual([]);
  });

  test("keeps how often namespaces are used, the newest value, once it is disposed", async () => {
    const use = (loads: number): KeptUse => ({
      principal: "ada" as PrincipalId,
      instance: id("i"),
      loads,
      calls: 2 ** 40,
      lastUsedAtMs: 7,
      tools: { "weird tool/ü": 3 },
    });
    const first = await openAt();
    expect(await first.namespaceUsage.load()).toBeUndefined();
    for (let loads = 0; loads < 50; loads += 1) first.namespaceUsage.save([use(loads)]);
    await first.namespaceUsage[Symbol.asyncDispose]();
    expect(await (await openAt()).namespaceUsage.load()).toEqual([use(49)]);
  });

  test("keeps counts of tokens, the newest value, once it is disposed", async () => {
    const counts = (tokens: number): readonly (readonly [string, number])[] => [
      ["a".repeat(22), tokens],
      ["__proto__", 3],
    ];
    const first = await openAt();
    expect(await first.tokenCounts.load()).toBeUndefined();
    for (let tokens = 0; tokens < 50; tokens += 1) first.tokenCounts.save(counts(tokens));
    await first.tokenCounts[Symbol.asyncDispose]();
    expect(await (await openAt()).tokenCounts.load()).toEqual(counts(49));
  });

  test("keeps what was learned, the newest value, once it is disposed", async () => {
    const first = await (await openAt()).learned();
    expect(await first.load()).toBeUndefined();
    for (let at = 0; at < 50; at += 1) first.save({ at, stems: ["wärme"] });
    await first[Symbol.asyncDispose]();
    const second = await (await openAt()).learned();
    expect(await second.load()).toEqual({ at: 49, stems: ["wärme"] });
    await second[Symbol.asyncDispose]();
  });

  test("keeps what a model wrote apart from what was learned", async () => {
    const place = await openAt();
    const [first, learned] = [await place.phrases(), await place.learned()];
    expect(await first.load()).toBeUndefined();
    first.save({ phrases: { a: ["für Wärme"] } });
    learned.save({ at: 1 });
    await Promise.all([first[Symbol.asyncDispose](), learned[Symbol.asyncDispose]()]);
    const second = await (await openAt()).phrases();
    expect(await second.load()).toEqual({ phrases: { a: ["für Wärme"] } });
    await second[Symbol.asyncDispose]();
  });

  test("keeps the vectors of one model and of one length", async () => {
    const [a, b, c] = ["a", "b", "c"].map((digit) => digit.repeat(64)) as [string, string, string];
    const first = await (await openAt()).vectors("small");
    first.put([{ hash: a, vector: Float32Array.of(0.5, -1) }]);
    first.put([
      { hash: b, vector: Float32Array.of(0, 2) },
      { hash: c, vector: Float32Array.of(1, 2, 3) },
    ]);
    expect([first.get(c), [...(first.get(b) ?? [])]]).toEqual([undefined, [0, 2]]);
    await first[Symbol.asyncDispose]();
    const second = await (await openAt()).vectors("small");
    expect([...(second.get(a) ?? [])]).toEqual([0.5, -1]);
    second.keepOnly(new Set([b]));
    expect(second.get(a)).toBeDefined();
    await second[Symbol.asyncDispose]();
    const other = await (await openAt()).vectors("large");
    expect(other.get(a)).toBeUndefined();
    await other[Symbol.asyncDispose]();
  });

  describe("keeps secrets", () => {
    testSecrets(async (key) => await open(key).secrets());
  });

  describe("gives out places", () => {
    const held = (claim: Claim): Extract<Claim, { kind: "held" }> => {
      if (claim.kind !== "held") throw new Error(`held by ${claim.by.pid}`);
      return claim;
    };

    test("to one of many that want to serve the same; the others are told which", async () => {
      const claims = await Promise.all(
        Array.from({ length: 10 }, async () => await open().lock.claim(here(), "1.2.3")),
      );
      const winners = claims.filter((claim) => claim.kind === "held");
      expect(winners).toHaveLength(1);
      const { lock } = held(winners[0] as Claim);
      await lock.announce("http://127.0.0.1:1");
      expect(await open().lock.claim(here(), "1.2.3")).toMatchObject({
        kind: "taken",
        by: { pid: process.pid, url: "http://127.0.0.1:1", version: "1.2.3", secret: lock.secret },
      });
      await lock[Symbol.asyncDispose]();
      expect(await open().lock.list()).toEqual([]);
      await held(await open().lock.claim(here(), "1.2.3")).lock[Symbol.asyncDispose]();
    });

    test("one to each configuration, and to each set of variables while the other runs", async () => {
      const { lock: locks } = open();
      const first = held(await locks.claim(here({ KEY: "a" }), "1"));
      const second = held(await locks.claim(here({ KEY: "b" }), "1"));
      const third = held(await locks.claim(here({}, "/d.json"), "1"));
      expect(new Set([first.folder, second.folder, third.folder]).size).toBe(3);
      expect(first.folder).toBe(locks.placeOf(here()));
      const served = (await open().lock.list()).map(({ serves }) => serves.configFile);
      expect(served).toHaveLength(3);
      expect(served).toEqual(expect.arrayContaining(["/c.json", "/d.json"]));
      await first.lock[Symbol.asyncDispose]();
      const again = held(await locks.claim(here({ KEY: "c" }), "1"));
      expect(again.folder).toBe(first.folder);
      await again.lock.announceServed(here({}, "/e.json"));
      expect((await open().lock.list()).map(({ serves }) => serves.configFile)).toContain("/e.json");
      for (const { lock } of [second, third, again]) await lock[Symbol.asyncDispose]();
    });

    test("that share nothing but the secrets", async () => {
      const [one, other] = [await openAt(here()), await openAt(here({}, "/d.json"))];
      await one.catalogs.save(id("a"), { hash: "one", savedAtMs: 1, lists });
      expect(await other.catalogs.load(id("a"))).toBeUndefined();
      await one.tokens.write([]);
      expect(other.tokens.read()).toEqual([]);
    });
  });
});

const lists: RawLists = {
  tools: [{ name: "t", inputSchema: { type: "object" } }],
  resources: [],
  templates: [],
  prompts: [],
  skills: [],
  eras: ["legacy"],
  capabilities: {},
  serverInfo: { name: "s", version: "1" },
} as unknown as RawLists;
