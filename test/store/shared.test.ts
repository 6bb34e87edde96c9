import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { InstanceId, PrincipalId } from "../../src/kernel/ids.ts";
import type { Log } from "../../src/kernel/runtime/log.ts";
import { readStartTime } from "../../src/servers/process/process-table.ts";
import { fileBackend } from "../../src/store/files/file-store.ts";
import type { RecordStore } from "../../src/store/record-store.ts";
import type { BrowserSessionRecord, GatewayStore, InstanceTokenRecord, SecretStore } from "../../src/store/store.ts";
import { hasNoPostgres, startPostgres, type Postgres } from "../harness/postgres.ts";
import { createTestStore, whenOpened } from "../harness/records.ts";
import { until } from "../harness/until.ts";
import { testSecrets } from "./secrets-contract.ts";

const key = Buffer.alloc(32, 1).toString("base64");

describe.skipIf(hasNoPostgres)("what gateways of one PostgreSQL share", () => {
  let postgres: Postgres;
  let url: string;
  let folders: string[];
  let stores: RecordStore[];
  let complaints: string[];
  let databases = 0;
  beforeAll(async () => void (postgres = await startPostgres()));
  afterAll(async () => await postgres[Symbol.asyncDispose]());
  beforeEach(async () => {
    databases += 1;
    url = await postgres.createDatabase(`shared_${databases}`);
    [folders, stores, complaints] = [[], [], []];
  });
  afterEach(async () => {
    for (const store of stores) await store.close(10_000);
    for (const folder of folders) await rm(folder, { recursive: true, force: true });
  });

  interface Node {
    readonly records: RecordStore;
    readonly place: GatewayStore;
    readonly secrets: SecretStore;
    readonly files: SecretStore;
  }

  const ask = async (sql: string) => await postgres.run(sql, `shared_${databases}`);
  const complain = (_fields: unknown, message: string): void => void complaints.push(message);
  const log: Log = { debug: complain, info: complain, warn: complain, error: complain };
  const teamOf = (): string => "red";

  /** A gateway with a data directory of its own, as far as its store goes. */
  async function open(key?: string, folder?: string): Promise<Node> {
    const dataDir = folder ?? (await mkdtemp(join(tmpdir(), "toolyard-shared-store-")));
    folders.push(dataDir);
    const store = fileBackend.open({ dataDir, vaultKey: { secret: key }, startTimeOf: readStartTime });
    const records = await whenOpened(createTestStore(dataDir, { database: url }));
    stores.push(records);
    const place = store.at(dataDir, log);
    const secrets = await store.secrets({ items: records.shared, teamOf });
    return { records, place, secrets, files: await store.secrets() };
  }

  const session = (at: number): BrowserSessionRecord => ({
    ...{ id: `s${at}`, cookieHash: "c".repeat(64), keyHash: at.toString(16).padStart(64, "0") },
    ...{ tokenHash: "d".repeat(64), person: "u_1", browser: "B", createdAtMs: Date.now() + at, usedAtMs: at },
  });
  const token = (at: number): InstanceTokenRecord => ({
    hash: at.toString(16).padStart(64, "0"),
    ...{ instance: `i${at}` as InstanceId, principal: "m_1" as PrincipalId, createdAtMs: at, madeUnder: ["0011"] },
  });

  describe("has logins in it", () => {
    testSecrets(async (given) => (await open(given, folders[0])).secrets);
  });

  test("browsers with tokens are those of all, and the owner's stay in the folder of one", async () => {
    const [one, other] = [await open(key), await open(key)];
    const sessionsOf = async ({ place, records }: Node) =>
      await place.browserSessions(async () => await Promise.resolve({ items: records.shared, teamOf }));
    const [here, there] = [await sessionsOf(one), await sessionsOf(other)];
    const owners = { ...session(3), tokenHash: null, person: null };
    let told = 0;
    there.onChange?.(() => (told += 1));
    const all = [session(1), session(2), owners];
    await here.write(all, { added: all });
    await until(() => there.read().length === 2 && told > 0);
    expect(there.read()).toEqual([session(1), session(2)].map((one) => ({ ...one, createdAtMs: expect.any(Number) })));
    const removed = there.read().slice(0, 1);
    // What one removes stays removed, also where the other has just noted that it was used.
    await there.write(there.read().slice(1), { removed });
    await here.write(here.read(), { changed: removed });
    await until(() => here.read().length === 2);
    expect(
      here
        .read()
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(["s2", "s3"]);
    expect((await sessionsOf(await open(key))).read().map(({ id }) => id)).toEqual(["s2"]);
    expect(complaints).toEqual([]);
  });

  const listOf = async ({ place, records }: Node) => await place.sharedTokens({ items: records.shared, teamOf });

  test("tokens for one instance are moved out of a gateway's file, and found before anybody was told of them", async () => {
    const [one, other] = [await open(key), await open(key)];
    const there = await listOf(other);
    await one.place.tokens.write([token(1)]);
    const here = await listOf(one);
    expect([here.read(), one.place.tokens.read()]).toEqual([[token(1)], []]);
    await here.write({ added: [token(2)] });
    await there.look(token(2).hash);
    expect(there.read()).toContainEqual(token(2));
    await there.look("made up");
    await until(() => there.read().length === 2);
    await there.write({ removed: [token(1)] });
    await until(() => here.read().length === 1);
    expect(complaints).toEqual([]);
  });

  test("a row that is damaged is one complaint, and the others hold", async () => {
    const [one, other] = [await open(key), await open(key)];
    await (await listOf(one)).write({ added: [token(1), token(2)] });
    await one.secrets.write("i", "canary");
    await one.secrets.write("j", "canary");
    const bad = ["not JSON", "{}", JSON.stringify({ ...token(1), hash: token(2).hash })];
    for (const about of bad) {
      await ask(`update toolyard_state.shared_item set about = '${about}' where id in ('i', '${token(1).hash}')`);
      complaints.length = 0;
      expect((await listOf(other)).read()).toEqual([token(2)]);
      expect(complaints).toHaveLength(1);
      const fresh = await open(key);
      expect(await fresh.secrets.read("i")).toEqual({ kind: "unreadable", reason: "its row is damaged" });
      expect(await fresh.secrets.read("j")).toEqual({ kind: "text", text: "canary" });
    }
  });

  test("a login of before there was a database is moved there once, and never comes back after a logout", async () => {
    const [one, other] = [await open(key), await open(key)];
    await one.files.write("i", "of one");
    await other.files.write("i", "of the other");
    expect(await one.secrets.read("i")).toEqual({ kind: "text", text: "of one" });
    expect(await one.files.read("i")).toEqual({ kind: "none" });
    expect(await other.secrets.read("i")).toEqual({ kind: "text", text: "of one" });
    expect(await other.secrets.remove("i")).toBe(true);
    await until(async () => (await one.secrets.read("i")).kind === "none");
    // The file of the other one is older than that.
    const later = await open(key, folders[1]);
    expect([await later.secrets.read("i"), await later.secrets.remove("i")]).toEqual([{ kind: "none" }, false]);
  });

  test("a lock of a gateway that ends is free at once, and one that waits can give up", async () => {
    const [one, other] = [await open(key), await open(key)];
    await new Promise<void>((inside) => {
      const work = async (): Promise<void> => {
        inside();
        await new Promise(() => undefined);
      };
      one.secrets.exclusively("i", new AbortController().signal, work).catch(() => undefined);
    });
    const free = async (): Promise<string> =>
      await other.secrets.exclusively("i", AbortSignal.timeout(500), async () => await Promise.resolve("free"));
    await expect(free()).rejects.toThrow();
    await one.records.close(10_000);
    await until(async () => (await free().catch(() => undefined)) === "free");
  });

  test("while the database is away, logins that are known are read, and none is renewed or looked for", async () => {
    const one = await open(key);
    await one.secrets.write("i", "canary");
    await postgres.stop();
    try {
      expect(await one.secrets.read("i")).toEqual({ kind: "text", text: "canary" });
      expect(await one.secrets.revision("i")).toBeDefined();
      const away = { code: "STORE_UNAVAILABLE", message: expect.stringContaining("cannot be reached") as string };
      await until(async () => {
        await expect(one.secrets.read("j")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
        return true;
      });
      await until(() => one.records.health().status === "degraded");
      await expect(one.secrets.read("j")).rejects.toMatchObject(away);
      const renew = one.secrets.exclusively("i", new AbortController().signal, async () => await Promise.resolve());
      await expect(renew).rejects.toMatchObject(away);
    } finally {
      await postgres.start();
    }
    await until(async () => (await one.secrets.read("j").catch(() => undefined))?.kind === "none");
    const many = Array.from({ length: 300 }, async (_, at) => await one.secrets.read(`never there ${at}`));
    expect(new Set((await Promise.all(many)).map(({ kind }) => kind))).toEqual(new Set(["none"]));
  });
});
