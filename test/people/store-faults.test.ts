import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, renameSync } from "node:fs";
import { mkdir, mkdtemp, open, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runCommand, type CommandResult } from "../harness/command.ts";
import { fillDisk } from "../harness/full-disk.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { onlyPlace } from "../harness/places.ts";
import { get, run } from "../harness/rest.ts";
import { until } from "../harness/until.ts";

let directory: string;
let gateway: RunningGateway | undefined;
beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), "toolyard-team-faults-"))));
afterEach(async () => {
  await gateway?.[Symbol.asyncDispose]();
  gateway = undefined;
  await rm(directory, { recursive: true, force: true });
});

const data = (): string => join(directory, "data");
const fileOf = (name: string): string => join(onlyPlace(data()), name);

async function start(): Promise<RunningGateway> {
  const own = { ...badServer("--behaviours=env"), scope: "user", requestLogging: "full" };
  gateway = await startGateway({ directory, config: { mcpServers: { own } }, args: ["--team"] });
  return gateway;
}

async function command(...words: string[]): Promise<CommandResult> {
  return await runCommand([...words, "--config", join(directory, "toolyard.json"), "--data-dir", data()]);
}

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

async function addAdmin(): Promise<string> {
  return JSON.parse((await command("user", "add", "ann", "--admin", "--team", "red", "--json")).stdout).made.token;
}

interface Told {
  readonly status: number;
  readonly code: string | undefined;
  readonly hint: string | undefined;
  readonly detail: string | undefined;
}

async function putSecret(url: string, token: string, name: string, value = "x"): Promise<Told> {
  const answer = await fetch(`${url}/api/teams/red/secrets/${name}`, {
    method: "PUT",
    headers: { ...bearer(token), "content-type": "application/json" },
    body: JSON.stringify({ value }),
  });
  const { code, hint, detail } = (await answer.json()) as { code?: string; hint?: string; detail?: string };
  return { status: answer.status, code, hint, detail };
}

async function secretsOf(url: string, token: string): Promise<readonly string[]> {
  const { secrets } = (await get(`${url}/api/teams/red/secrets`, bearer(token))).json;
  return (secrets as readonly { readonly name: string }[]).map(({ name }) => name);
}

async function expectServed(url: string, token: string, argument = "x"): Promise<void> {
  await until(async () => (await run(url, "own:env", { argument }, bearer(token))).json.success === true);
}

const canMount = process.platform === "linux" && process.getuid?.() === 0;

test.runIf(canMount)(
  "FAULT 107: without room on the disk changes are refused as a whole, people are served, and room mends it",
  async () => {
    await mkdir(data());
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=24m,mode=0700", "tmpfs", data()]);
    try {
      const { url, stderr } = await start();
      const token = await addAdmin();
      await expectServed(url, token);
      await until(() => existsSync(fileOf("records.db.ballast")));
      await fillDisk(join(data(), "filler"));
      const kept: string[] = [];
      // Records give their room away first: it is for what must not be lost. Who comes before they do is refused, too.
      const refused = await until(async () => {
        await expectServed(url, token, "x".repeat(10_000));
        const name = `SECRET_${kept.length}`;
        const told = await putSecret(url, token, name, "x".repeat(60_000));
        if (told.status === 200) kept.push(name);
        else expect(told.status).toBe(507);
        return told.status !== 200 && kept.length > 3 && told;
      });
      expect([refused.status, refused.code, refused.detail]).toEqual([
        ...[507, "STORE_FULL"],
        expect.stringContaining("no room on the disk"),
      ]);
      expect(refused.hint).toMatch(/room|space/i);
      // Nothing half: neither the secret nor its entry in the audit, and what was there is there.
      expect((await secretsOf(url, token)).toSorted()).toEqual(kept.toSorted());
      const other = await fetch(`${url}/api/users`, {
        method: "POST",
        headers: { ...bearer(token), "content-type": "application/json" },
        body: JSON.stringify({ name: "bob", team: "red" }),
      });
      const isBobThere = other.status === 201;
      expect([201, 507]).toContain(other.status);
      await expectServed(url, token);
      expect((await get(`${url}/api/users`, bearer(token))).text.includes('"bob"')).toBe(isBobThere);
      await until(async () => {
        await expectServed(url, token, "x".repeat(10_000));
        return /^toolyard_store_dropped_rows_total\S* [1-9]/m.test((await get(`${url}/metrics`, bearer(token))).text);
      });
      expect(await command("user", "add", "cid", "--team", "red")).toMatchObject(
        isBobThere ? {} : { code: 1, stderr: expect.stringMatching(/room|full/i) },
      );
      await rm(join(data(), "filler"));
      await until(async () => (await putSecret(url, token, "AFTER")).status === 200);
      await until(() => stderr().includes("works again"));
      await gateway?.stop();
      const next = await start();
      expect((await secretsOf(next.url, token)).toSorted()).toEqual(["AFTER", ...kept].toSorted());
      expect((await command("audit", "verify")).stdout).toContain("none changed or removed");
      await gateway?.stop();
    } finally {
      await gateway?.[Symbol.asyncDispose]();
      execFileSync("umount", ["-l", data()]);
    }
  },
);

test("FAULT 106: where there can be no write-ahead log, nobody is let in: the gateway says so and does not start", async () => {
  await start();
  await addAdmin();
  await gateway?.stop();
  // As on a network drive: memory that processes share cannot be had there.
  await rm(fileOf("state.db-shm"), { force: true });
  mkdirSync(fileOf("state.db-shm"));
  await expect(start()).rejects.toThrow(/ended at once[^]*the people cannot be read[^]*state\.db/);
  await rm(fileOf("state.db-shm"), { recursive: true });
  const { url } = await start();
  expect((await get(`${url}/readyz`)).status).toBe(200);
  expect((await command("user", "list")).stdout).toContain("ann");
});

/** Overwrites pages in the middle of a file, beginning with its second. */
async function damage(path: string): Promise<void> {
  const { size } = await stat(path);
  const file = await open(path, "r+");
  for (let at = 4_096; at < size; at += 4_096) await file.write(Buffer.alloc(2_000, 0xaa), 0, 2_000, at);
  await file.close();
}

test("FAULT 106: damaged pages of the state keep everybody out, with the way back; of records they keep nobody out", async () => {
  const { url } = await start();
  const token = await addAdmin();
  await expectServed(url, token);
  const backup = join(directory, "backup.db");
  expect((await command("backup", backup)).code).toBe(0);
  await gateway?.stop();
  await damage(fileOf("records.db"));
  const second = await start();
  await expectServed(second.url, token);
  expect((await readdir(onlyPlace(data()))).filter((name) => /^records\.db\.damaged-\d+$/.test(name))).toHaveLength(1);
  await gateway?.stop();
  await damage(fileOf("state.db"));
  await expect(start()).rejects.toThrow(
    /the people cannot be read: [^]*state\.db is damaged[^]*put a backup of state\.db in its place/,
  );
  expect((await command("restore", backup)).code).toBe(0);
  const third = await start();
  await expectServed(third.url, token);
});

test("FAULT 106: a state that is replaced under the gateway takes no change until the right one is back", async () => {
  const { url } = await start();
  const token = await addAdmin();
  expect((await putSecret(url, token, "BEFORE")).status).toBe(200);
  const path = fileOf("state.db");
  const aside = `${path}.aside`;
  copyFileSync(path, `${path}.copy`);
  renameSync(path, aside);
  renameSync(`${path}.copy`, path);
  expect(await putSecret(url, token, "MEANWHILE")).toMatchObject({ status: 503, code: "STORE_UNAVAILABLE" });
  await expectServed(url, token);
  expect(await secretsOf(url, token)).toEqual(["BEFORE"]);
  renameSync(aside, path);
  await until(async () => (await putSecret(url, token, "AFTER")).status === 200);
  expect((await secretsOf(url, token)).toSorted()).toEqual(["AFTER", "BEFORE"]);
  await gateway?.stop();
  await start();
  expect((await command("audit", "verify")).stdout).toContain("none changed or removed");
});

test("backups that are made while everybody writes have all that was acknowledged before, and are whole", async () => {
  const { url } = await start();
  const token = await addAdmin();
  const done: string[] = [];
  let [at, isOver] = [0, false];
  const write = async (): Promise<void> => {
    while (!isOver) {
      at += 1;
      const name = `SECRET_${at}`;
      expect((await putSecret(url, token, name)).status).toBe(200);
      done.push(name);
    }
  };
  const writers = Array.from({ length: 16 }, write);
  const backups: { readonly file: string; readonly before: readonly string[]; after: number }[] = [];
  for (const name of ["first", "second", "third"]) {
    const soFar = done.length;
    await until(() => done.length > soFar + 50);
    const made = { file: join(directory, `${name}.db`), before: [...done], after: 0 };
    expect((await command("backup", made.file)).code).toBe(0);
    made.after = done.length;
    backups.push(made);
  }
  isOver = true;
  await Promise.all(writers);
  await gateway?.stop();
  for (const { file, before, after } of backups) {
    const restored = await command("restore", file, "--json");
    expect(JSON.parse(restored.stdout)).toMatchObject({ isWhole: true });
    const { url: there } = await start();
    const names = new Set(await secretsOf(there, token));
    expect(before.filter((name) => !names.has(name))).toEqual([]);
    // What came after it is not in it; sixteen were on their way when the last was counted.
    expect(names.size).toBeLessThanOrEqual(after + writers.length);
    await gateway?.stop();
  }
  // They were written to meanwhile, or nothing was shown.
  expect(backups.some(({ before, after }) => after > before.length)).toBe(true);
}, 300_000);
