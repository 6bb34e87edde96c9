import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommand } from "../harness/command.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { hasNoPostgres, startPostgres, type Postgres } from "../harness/postgres.ts";
import { get, run } from "../harness/rest.ts";
import { until } from "../harness/until.ts";

/** The lock of those who write to the state, as `postgres-link.ts` has it. */
const stateLock = 7_402_886_518;

describe.skipIf(hasNoPostgres)("a gateway for teams whose PostgreSQL is in trouble", () => {
  let postgres: Postgres;
  let directory: string;
  let url: string;
  let gateway: RunningGateway;
  let admin: string;
  beforeAll(async () => {
    postgres = await startPostgres();
    url = await postgres.createDatabase("yard");
    directory = await mkdtemp(join(tmpdir(), "toolyard-postgres-faults-"));
    gateway = await startGateway({
      directory,
      config: {
        mcpServers: { own: { ...badServer("--behaviours=env"), scope: "user" } },
        toolyard: { team: true, database: url },
      },
    });
    const made = await command("user", "add", "ann", "--admin", "--team", "red", "--json");
    admin = JSON.parse(made.stdout).made.token;
    await until(async () => (await callServed()).success === true);
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await postgres[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  const command = async (...words: string[]) =>
    await runCommand([...words, "--config", gateway.configFile, "--data-dir", join(directory, "data")]);
  const bearer = (): Record<string, string> => ({ authorization: `Bearer ${admin}` });
  const callServed = async () => (await run(gateway.url, "own:env", {}, bearer())).json;
  const onServer = async (sql: string) => await postgres.run(sql, "yard");

  async function addUser(name: string): Promise<{ status: number; code: string | undefined; detail?: string }> {
    const headers = { ...bearer(), "content-type": "application/json" };
    const body = JSON.stringify({ name, team: "red" });
    const answer = await fetch(`${gateway.url}/api/users`, { method: "POST", headers, body });
    const { code, detail } = (await answer.json()) as { code?: string; detail?: string };
    return { status: answer.status, code, ...(detail === undefined ? {} : { detail }) };
  }

  /** Who there is, as the database has it. */
  const usersKept = async (): Promise<readonly unknown[]> =>
    (await onServer('select name from toolyard_state."user" order by name')).map(({ name }) => name);

  const untilReady = async (): Promise<void> =>
    void (await until(async () => (await get(`${gateway.url}/readyz`)).text === '{"status":"ready"}'));

  /** Whatever happened: the chain of the audit is whole, and has as many new users as there are. */
  async function expectWhole(): Promise<void> {
    const { stdout } = await command("audit", "verify");
    expect(stdout).toContain("none changed or removed");
    const [added] = await onServer("select count(*) as added from toolyard_state.audit where action = 'user.add'");
    expect(Number(added?.["added"])).toBe((await usersKept()).length);
  }

  /** Somebody else who works on the database, in a transaction that does not end until `release`. */
  async function hold(sql: string): Promise<() => Promise<void>> {
    const client = new pg.Client({ connectionString: url });
    client.on("error", () => undefined);
    await client.connect();
    await client.query("begin");
    await client.query(sql);
    return async () => {
      await client.query("rollback");
      await client.end();
    };
  }

  const waiting = async (): Promise<readonly Record<string, unknown>[]> =>
    await onServer(
      "select pid from pg_stat_activity where application_name = 'toolyard' and wait_event_type = 'Lock' and state = 'active'",
    );

  test("FAULT 106: a change whose connection is lost in its transaction is refused, leaves nothing, and is made when asked again", async () => {
    const release = await hold(`select pg_advisory_xact_lock(${stateLock}::bigint)`);
    const lost = addUser("bob");
    const [{ pid } = {}] = await until(async () => {
      const found = await waiting();
      return found.length > 0 && found;
    });
    await onServer(`select pg_terminate_backend(${Number(pid)})`);
    expect(await lost).toMatchObject({ status: 503, code: "STORE_UNAVAILABLE" });
    await release();
    expect(await callServed()).toMatchObject({ success: true });
    await untilReady();
    expect(await usersKept()).toEqual(["ann"]);
    expect(await addUser("bob")).toMatchObject({ status: 201 });
    await expectWhole();
  });

  test("FAULT 106: a primary that another has taken the place of takes no change, and the gateway goes on with the next", async () => {
    await onServer("alter database yard set default_transaction_read_only = on");
    await onServer("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'toolyard'");
    const refused = await addUser("cid");
    expect(refused).toMatchObject({ status: 503, code: "STORE_UNAVAILABLE" });
    await until(async () => (await get(`${gateway.url}/readyz`)).json.records === "degraded");
    expect(await callServed()).toMatchObject({ success: true });
    expect(await addUser("cid")).toMatchObject({ status: 503, code: "STORE_UNAVAILABLE" });
    // By another way: what goes through this database may change nothing.
    await postgres.run("alter database yard reset default_transaction_read_only");
    await untilReady();
    expect(await usersKept()).toEqual(["ann", "bob"]);
    expect(await addUser("cid")).toMatchObject({ status: 201 });
    await expectWhole();
  });

  test("a statement that takes longer than five seconds is given up, with everything of its change", async () => {
    const release = await hold("lock table toolyard_state.membership");
    const late = await addUser("dan");
    expect(late.status).toBe(503);
    expect(late.detail).toContain("took too long");
    expect(await callServed()).toMatchObject({ success: true });
    await release();
    expect(await usersKept()).toEqual(["ann", "bob", "cid"]);
    expect(await addUser("dan")).toMatchObject({ status: 201 });
    await expectWhole();
  });

  test("questions that find every connection busy are refused, calls and changes go on, and then so do questions", async () => {
    const release = await hold("lock table toolyard_records.request_log");
    const ask = async () => await get(`${gateway.url}/api/calls`, bearer());
    const refused = await Promise.all(Array.from({ length: 8 }, ask));
    expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 503));
    expect(refused.map(({ text }) => text).join("\n")).toMatch(/are busy/);
    expect(await callServed()).toMatchObject({ success: true });
    expect(await addUser("eve")).toMatchObject({ status: 201 });
    await release();
    await until(async () => (await ask()).status === 200);
    await expectWhole();
  });

  test("FAULT 106: after a restart of the server everything is there, and numbers of 64 bits are numbers", async () => {
    const before = await usersKept();
    await postgres.kill();
    expect(await callServed()).toMatchObject({ success: true });
    await postgres.start();
    await untilReady();
    expect(await usersKept()).toEqual(before);
    expect(await addUser("fay")).toMatchObject({ status: 201 });
    await expectWhole();
    await callServed();
    const [call] = await until(async () => {
      const { calls } = (await get(`${gateway.url}/api/calls?limit=1`, bearer())).json;
      return (calls as readonly { id: string; durationMs: number }[]).length > 0 && calls;
    });
    // Beyond what 32 bits hold, and what a double holds exactly.
    expect([Number(call.id) > 2 ** 32, Number.isSafeInteger(Number(call.id)), typeof call.durationMs]).toEqual([
      ...[true, true, "number"],
    ]);
    expect((await get(`${gateway.url}/api/calls/${call.id}`, bearer())).json).toMatchObject({ id: call.id });
    const { entries } = (await get(`${gateway.url}/api/audit?limit=1`, bearer())).json;
    expect(Number.isInteger(Number(entries[0].seq ?? entries[0].id))).toBe(true);
    const { tokens } = (await get(`${gateway.url}/api/me/tokens`, bearer())).json;
    expect(Date.parse(tokens[0].expires)).toBeGreaterThan(Date.now());
  });
});
