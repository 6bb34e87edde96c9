import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { migrate, stepsDone } from "../../src/store/sql/sqlite/migrate.ts";
import { stateSteps } from "../../src/store/sql/sqlite/schema-steps.ts";
import { loadDriver, type SqlDatabase } from "../../src/store/sql/sqlite/sql-driver.ts";
import { mainFile } from "../harness/gateway.ts";
import { onlyPlace } from "../harness/places.ts";
import { get } from "../harness/rest.ts";
import { startTeamWorld } from "./team-world.ts";

/** As many steps as the version had that is upgraded from. */
const before = 6;
/** So many that a copy of the file takes its time. */
const users = 20_000;
const token = "ty_pat_of-a-version-before";

async function open<T>(path: string, work: (database: SqlDatabase) => T | Promise<T>): Promise<T> {
  const database = loadDriver(tmpdir()).open(path);
  try {
    return await work(database);
  } finally {
    database.close();
  }
}

/** People as an earlier version kept them: ann, who has a token, and many others in one team. */
async function writeOldState(path: string): Promise<void> {
  for (const end of ["", "-wal", "-shm", `.before-${before}`]) await rm(`${path}${end}`, { force: true });
  await open(path, async (database) => {
    await migrate(database, path, Object.fromEntries(Object.entries(stateSteps).slice(0, before)), false);
    const many = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${users})`;
    database.exec(`
      insert into team (id, slug, created_at_ms) values ('t_red', 'red', 1);
      insert into user (id, name, role, status, created_at_ms) values ('u_ann', 'ann', 'admin', 'active', 1);
      insert into membership (id, team_id, user_id, role, created_at_ms) values ('m_ann', 't_red', 'u_ann', 'owner', 1);
      insert into pat (id, membership_id, name, hash, created_at_ms, expires_at_ms) values
        ('p_1', 'm_ann', '', '${createHash("sha256").update(token).digest("hex")}', 1, ${Date.now() + 86_400_000});
      ${many} insert into user (id, name, role, status, created_at_ms)
        select 'u_' || i, 'user-' || i, 'user', 'active', 1 from n;
      ${many} insert into membership (id, team_id, user_id, role, created_at_ms)
        select 'm_' || i, 't_red', 'u_' || i, 'member', 1 from n;`);
  });
}

/** What is in the folder when the gateway is killed, or was already, if the test was not looking for a while. */
const moments: Readonly<Record<string, (folder: string) => boolean>> = {
  "the copy of before is being written": (folder) =>
    readdirSync(folder).some((name) => name.startsWith(`state.db.before-${before}`)),
  "the copy is whole, and the tables are changed": (folder) =>
    readdirSync(folder).includes(`state.db.before-${before}`),
  "something was written of the new tables": (folder) =>
    readdirSync(folder).includes(`state.db.before-${before}`) &&
    (statSync(join(folder, "state.db-wal"), { throwIfNoEntry: false })?.size ?? 0) > 0,
};

test("FAULT 109: kill -9 in a migration leaves the version before or the new one, and the next start has everybody", async () => {
  await using world = await startTeamWorld();
  await world.gateway.stop();
  const folder = onlyPlace(join(world.directory, "data"));
  const path = join(folder, "state.db");
  await writeOldState(path);
  for (const [moment, isThere] of Object.entries(moments)) {
    if ((await open(path, stepsDone)).length > before) await writeOldState(path);
    const words = ["serve", "--team", "--port", "0", "--config", world.gateway.configFile];
    const child = spawn(process.execPath, [mainFile, ...words, "--data-dir", join(world.directory, "data")], {
      stdio: "ignore",
    });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    // Looks all the time: these moments are short.
    while (!isThere(folder)) {
      expect([moment, child.exitCode]).toEqual([moment, null]);
      await new Promise((resolve) => setImmediate(resolve));
    }
    child.kill("SIGKILL");
    await ended;
    await open(path, (database) => {
      expect([before, Object.keys(stateSteps).length]).toContain(stepsDone(database).length);
      expect(database.prepare("select count(*) as users from user").get()).toEqual({ users: users + 1 });
      expect(database.prepare("pragma integrity_check").get()).toEqual({ integrity_check: "ok" });
    });
  }
  await writeOldState(path);
  await world.restart();
  expect((await get(`${world.url}/api/me`, { authorization: `Bearer ${token}` })).json.user.name).toBe("ann");
  expect((await world.command("audit", "verify")).code).toBe(0);
  await world.gateway.stop();
  await open(path, (database) => {
    expect(stepsDone(database)).toEqual(Object.keys(stateSteps));
    expect(database.prepare("select count(*) as members from membership").get()).toEqual({ members: users + 1 });
  });
  // What the version before can be started with again.
  await open(`${path}.before-${before}`, (database) => {
    expect(stepsDone(database)).toHaveLength(before);
    expect(database.prepare("select count(*) as users from user").get()).toEqual({ users: users + 1 });
  });
  expect(readdirSync(folder).filter((name) => name.endsWith(".unfinished"))).toEqual([]);
});
