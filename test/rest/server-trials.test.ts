import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer, badServerFile, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { admin, as, member } from "../harness/known-people.ts";
import { get, post } from "../harness/rest.ts";
import type { RawAnswer } from "../harness/rpc.ts";
import { addCast, startTeamGateway } from "../harness/team-gateway.ts";
import { until } from "../harness/until.ts";

const secret = "hunter2-hunter2-hunter2";
const config = {
  mcpServers: { bad: badServer("--behaviours=canary"), test: { command: "no-such-program", enabled: false } },
  toolyard: { principals: { root: admin("root"), bob: member("bob") } },
};

let gateway: RunningGateway;
/** Where the gateway keeps what does not last. */
let temporary = "";
/** The file before anything was tried. */
let text = "";
beforeAll(async () => {
  temporary = await mkdtemp(join(tmpdir(), "toolyard-trials-"));
  gateway = await startGateway({ config, env: { TMPDIR: temporary } });
  text = await readFile(gateway.configFile, "utf8");
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await rm(temporary, { recursive: true, force: true });
});

const tried = async (body: unknown, who = "root"): Promise<RawAnswer> =>
  await post(`${gateway.url}/api/servers/test`, body, as(who));
const entry = (...flags: string[]): object => ({ ...badServer(...flags), startTimeoutMs: 60_000 });

async function nothingIsKept(): Promise<void> {
  expect(await readFile(gateway.configFile, "utf8")).toBe(text);
  expect(existsSync(`${gateway.configFile}.bak`)).toBe(false);
  const { json } = await get(`${gateway.url}/api/servers`, as("root"));
  expect(json.servers.map(({ slug }: { slug: string }) => slug)).toEqual(["bad", "test"]);
  expect((await readdir(temporary)).filter((name) => name.startsWith("toolyard-trial-"))).toEqual([]);
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
const pidsIn = async (file: string): Promise<readonly number[]> =>
  (await readFile(file, "utf8").catch(() => ""))
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [Number.parseInt(line, 10)]));

describe("a server that is in no file", () => {
  test("is started, asked for what it offers, and gone again, and nothing of it is kept", async () => {
    const pids = join(gateway.directory, "pids");
    const made = entry("--behaviours=canary,echo", "--resources", "--prompts", `--write-pid=${pids}`);
    const { status, json } = await tried({ name: "new", entry: { ...made, env: { API_TOKEN: secret } } });
    expect([status, json]).toEqual([
      200,
      expect.objectContaining({
        ok: true,
        name: "new",
        status: "online",
        code: null,
        hint: null,
        server: { name: "bad-server", title: null, version: expect.any(String) as string },
        revision: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) as string,
        eras: ["legacy"],
        offers: { tools: 2, resources: 3, templates: 1, prompts: 2, skills: 0 },
        tools: expect.arrayContaining([expect.objectContaining({ name: "echo" })]) as unknown,
      }),
    ]);
    expect(json.tokens).toBeGreaterThan(0);
    expect(json.durationMs).toBeGreaterThan(0);
    const started = await pidsIn(pids);
    expect(started.length).toBeGreaterThan(0);
    expect(started.filter(isAlive)).toEqual([]);
    await nothingIsKept();
  });

  test("is tried by its command as by its entry, and its rules hide tools", async () => {
    const { command, args } = badServer("--behaviours=canary,echo");
    expect((await tried({ name: "x", command: [command, ...args] })).json).toMatchObject({ ok: true });
    const ruled = await tried({
      name: "x",
      entry: { ...entry("--behaviours=canary,echo"), tools: { deny: ["echo"] } },
    });
    expect(ruled.json.tools.map(({ name }: { name: string }) => name)).toEqual(["canary"]);
    expect(ruled.json.offers.tools).toBe(2);
  });

  test("stands in the audit once it is tried, with who ordered it", async () => {
    await tried({ name: "seen", command: ["no-such-program-either", secret] });
    const { entries } = (await get(`${gateway.url}/api/audit?action=server.test`, as("root"))).json;
    const seen = entries.filter(({ object }: { object: string }) => object === "no-such-program-either");
    expect(seen).toEqual([expect.objectContaining({ actor: "root", via: "rest", outcome: "ok" })]);
    expect(JSON.stringify(entries)).not.toContain(secret);
  });

  test("FAULT 64: whose command does not exist is said to be that, with what to do", async () => {
    const { status, json } = await tried({ name: "none", entry: { command: "no-such-program" } });
    expect([status, json.ok, json.status, json.offers, json.server]).toEqual([200, false, "error", null, null]);
    expect(json.reason).toContain("no-such-program");
    expect([typeof json.code, typeof json.hint]).toEqual(["string", "string"]);
  });

  test("FAULT 65: that never answers is given up at its deadline, with its last output, and is gone", async () => {
    const pids = join(gateway.directory, "hanging");
    const flags = ["--hang-on-initialize", "--on-discover=silent", "--stderr-lines=3", `--write-pid=${pids}`];
    // A busy machine takes longer than the first deadline to start anything at all.
    const output = new Set<string>();
    for (const startTimeoutMs of [1_000, 5_000, 25_000, 100_000]) {
      if (output.has("stderr line 3")) break;
      const { json } = await tried({ name: "hangs", entry: { ...badServer(...flags), startTimeoutMs } });
      expect([json.ok, json.code === null]).toEqual([false, false]);
      for (const line of json.output as string[]) output.add(line);
    }
    expect(output).toContain("stderr line 3");
    expect((await pidsIn(pids)).length).toBeGreaterThan(0);
    expect((await pidsIn(pids)).filter(isAlive)).toEqual([]);
  });

  test("FAULT 69: that prints what is no message is used all the same, and one that prints nothing else is not", async () => {
    expect((await tried({ name: "loud", entry: entry("--banner=<h1>hello</h1>") })).json.ok).toBe(true);
    const script = `setInterval(() => process.stdout.write("<h1>junk</h1>\\n"), 50)`;
    const junk = { command: process.execPath, args: ["-e", script], startTimeoutMs: 1_500 };
    const { status, json } = await tried({ name: "junk", entry: junk });
    expect([status, json.ok, json.offers]).toEqual([200, false, null]);
  });

  test("FAULT 78: takes every child along that it leaves behind, whatever session that is in", async () => {
    const pids = join(gateway.directory, "children");
    const start = join(gateway.directory, "start.mjs");
    await writeFile(
      start,
      `import { spawn } from "node:child_process"; import { appendFileSync } from "node:fs";
       for (const detached of [false, true]) {
         const child = spawn("sleep", ["600"], { detached, stdio: "ignore" });
         child.unref(); appendFileSync(${JSON.stringify(pids)}, child.pid + "\\n");
       }
       await import(${JSON.stringify(badServerFile)});`,
    );
    const { json } = await tried({
      name: "forks",
      entry: { command: process.execPath, args: [start, "--ignore-sigterm"] },
    });
    expect(json.ok).toBe(true);
    const children = await pidsIn(pids);
    expect(children).toHaveLength(2);
    await until(() => children.filter(isAlive).length === 0);
  });

  test("FAULT 35: with a name that is markup is tried under it, and the answer is JSON that nobody takes for a page", async () => {
    const name = `<img src=x onerror=alert(1)>\u202E`;
    const { json, headers } = await tried({ name, entry: entry("--behaviours=canary") });
    expect([json.ok, json.name]).toEqual([true, name]);
    expect(headers["content-type"]).toContain("application/json");
    expect(headers["x-content-type-options"]).toBe("nosniff");
  });

  test.each([
    [{ name: "x" }, "body: needs either a command, a target or an entry"],
    [{ name: "x", entry: {}, command: ["a"] }, "body: needs either a command, a target or an entry"],
    [{ name: "x", entry: [] }, "body.entry"],
    [{ name: "x", entry: "npx" }, "body.entry"],
    [{ name: "x", entry: null }, "body.entry"],
    [{ name: "--force", entry: { command: "a" } }, "body.name"],
    [{ name: "x", target: "--force" }, "body.target"],
    [{ name: 7, entry: { command: "a" } }, "body.name"],
  ])("%j is refused before anything is started", async (body, message) => {
    const { status, json } = await tried(body);
    expect([status, json.code]).toEqual([400, "PARAMS_INVALID"]);
    expect(json.detail).toContain(message);
  });

  test.each([
    [{ name: "bad", entry: { command: "a" } }, "there is a server"],
    [{ entry: { command: "a" } }, "expected a name"],
    [{ name: "x", target: "no name" }, "what is"],
  ])("%j is no server that could be added, and it is said why", async (body, message) => {
    const { status, json } = await tried(body);
    expect([status, json.code]).toEqual([400, "CONFIG_INVALID"]);
    expect(json.detail).toContain(message);
  });

  test.each([[{ comand: "a" }], [{ command: 7 }], [{ command: "a", tools: { denied: ["x"] } }], [{ url: "ftp://x" }]])(
    "an entry such as %j is tried, and what is wrong in it is the answer",
    async (wrong) => {
      const { status, json } = await tried({ name: "wrong", entry: wrong });
      expect([status, json.ok, json.status]).toEqual([200, false, "disabled"]);
      expect(json.reason).toContain("mcpServers.wrong");
    },
  );

  test("FAULT 88: secrets of its entry are in no answer, also where the server writes them", async () => {
    const script = `console.error("token " + process.env.API_TOKEN); process.exit(3)`;
    const told = await tried({
      name: "tells",
      entry: { command: process.execPath, args: ["-e", script], env: { API_TOKEN: secret } },
    });
    expect(told.json.ok).toBe(false);
    expect(told.json.output.join("\n")).toContain("token [redacted]");
    expect(told.text).not.toContain(secret);
  });

  test("FAULT 91: is for admins alone: for others nothing is started", async () => {
    const mark = join(gateway.directory, "started");
    const { status, json } = await tried({ name: "x", entry: entry(`--write-pid=${mark}`) }, "bob");
    expect([status, json.code]).toEqual([403, "FORBIDDEN"]);
    expect(existsSync(mark)).toBe(false);
  });

  test("is tried three at once at most, together with those of the file", async () => {
    const marks = ["one", "two", "three"].map((name) => join(gateway.directory, name));
    const leave = new AbortController();
    const hanging = marks.map(async (mark) => {
      const flags = ["--hang-on-initialize", "--on-discover=silent", `--write-pid=${mark}`];
      await fetch(`${gateway.url}/api/servers/test`, {
        method: "POST",
        signal: leave.signal,
        headers: { ...as("root"), "content-type": "application/json" },
        body: JSON.stringify({ name: "hangs", entry: { ...badServer(...flags), startTimeoutMs: 100_000 } }),
      });
    });
    const ended = Promise.allSettled(hanging);
    // The file is there before the number is in it.
    await until(async () => (await Promise.all(marks.map(pidsIn))).flat().length === marks.length);
    for (const path of ["/api/servers/test", "/api/servers/bad/test"]) {
      const { status, json } = await post(`${gateway.url}${path}`, { name: "x", entry: entry() }, as("root"));
      expect([path, status, json.code, json.retry_after_s]).toEqual([path, 429, "RATE_LIMITED", 1]);
    }
    // Whoever leaves ends what was started for them.
    leave.abort();
    await ended;
    const started = (await Promise.all(marks.map(pidsIn))).flat();
    expect(started).toHaveLength(3);
    await until(() => started.filter(isAlive).length === 0);
    await until(async () => (await tried({ name: "x", entry: entry("--behaviours=canary") })).json.ok === true);
  });

  test("that is called `test` in the file keeps its own routes", async () => {
    expect((await get(`${gateway.url}/api/servers/test`, as("root"))).json.slug).toBe("test");
    expect((await post(`${gateway.url}/api/servers/test/test`, {}, as("root"))).json).toMatchObject({ ok: false });
    await nothingIsKept();
  });
});

test("FAULT 91: with teams, only an admin of the gateway tries a server, by whichever way it is written", async () => {
  await using team = await startTeamGateway();
  const cast = await addCast(team);
  const mark = join(team.directory, "started");
  const { command, args } = badServer(`--write-pid=${mark}`);
  const ways = [
    { entry: { command, args } },
    { command: [command, ...args] },
    { entry: { url: "http://127.0.0.1:9" } },
  ];
  for (const way of ways)
    for (const who of ["olga", "tom", "bob", "cid"] as const) {
      const { status, json } = await team.ask(cast[who], "POST", "/api/servers/test", { body: { name: "x", ...way } });
      expect([who, status, json.code]).toEqual([who, 403, "FORBIDDEN"]);
    }
  expect(existsSync(mark)).toBe(false);
  const body = { name: "x", ...ways[0] };
  const byToken = await team.ask(cast.ann, "POST", "/api/servers/test", { body });
  expect([byToken.json.code, existsSync(mark)]).toEqual(["LOGIN_NOT_RECENT", false]);
  const headers = await team.browser("ann");
  const { json } = await team.ask("", "POST", "/api/servers/test", { body, headers });
  expect([json, existsSync(mark)]).toEqual([expect.objectContaining({ ok: true }), true]);
});
