import { createHash, hkdfSync } from "node:crypto";
import { execFileSync } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AuditCheck, AuditJson } from "../../src/records/audit/audit-history.ts";
import type { AuditEntry } from "../../src/store/record-rows.ts";
import type { AuditPlace } from "../../src/store/record-store.ts";
import { createVaultKey } from "../../src/store/files/safe/vault-key.ts";
import { defaultRetention } from "../../src/store/sql/requests/retention-limits.ts";
import { loadDriver } from "../../src/store/sql/sqlite/sql-driver.ts";
import { runCommand, type CommandResult } from "../harness/command.ts";
import { fillDisk } from "../harness/full-disk.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { createTestStore, entryOf, whenOpened } from "../harness/records.ts";
import { get, post, run, untilOnline } from "../harness/rest.ts";
import { send } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";

let directory: string;
beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), "toolyard-audit-"))));
afterEach(async () => await rm(directory, { recursive: true, force: true }));

const start = async (toolyard: object = {}, more: object = {}): Promise<RunningGateway> =>
  await startGateway({
    directory,
    config: { mcpServers: { bad: { ...badServer(), scope: "shared" } }, toolyard },
    ...more,
  });

const command = async (...words: string[]): Promise<CommandResult> =>
  await runCommand([...words, "--config", join(directory, "toolyard.json"), "--data-dir", join(directory, "data")]);

/** Oldest first, through the command. */
async function entries(...words: string[]): Promise<readonly AuditJson[]> {
  const { code, stdout, stderr } = await command("audit", "--json", "--limit", "1000", ...words);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as AuditJson]));
}
const told = ({ actor, action, object, outcome }: AuditJson) => [actor, action, object, outcome];
const untilTold = async (action: string): Promise<AuditJson> =>
  await until(async () => (await entries()).findLast((entry) => entry.action === action));

const tokenOf = (name: string) => name.repeat(16);
const hashOf = (name: string) => `sha256:${createHash("sha256").update(tokenOf(name)).digest("hex")}`;
const as = (name: string) => ({ authorization: `Bearer ${tokenOf(name)}` });
const people = {
  principals: {
    ann: { tokenHash: hashOf("ann"), roles: ["admin"] },
    bob: { tokenHash: hashOf("bob"), roles: ["member"] },
  },
};

/** As somebody does who has the files and not the key. */
async function forge(sql: string): Promise<void> {
  const gateways = join(directory, "data", "gateways");
  const [place = ""] = await readdir(gateways);
  const database = loadDriver(tmpdir()).open(join(gateways, place, "state.db"));
  database.exec(sql);
  database.close();
}

/** Adds entries that are forty days old, and two of today; then lets those be removed that are older than thirty. */
async function prune(): Promise<readonly AuditPlace[]> {
  const data = join(directory, "data");
  const [place = ""] = await readdir(join(data, "gateways"));
  const key = await createVaultKey(data, {}).load(true);
  const auditKey = new Uint8Array(hkdfSync("sha256", key ?? "", "", "toolyard audit", 32));
  const folder = join(data, "gateways", place);
  for (const end of ["", "-wal", "-shm"]) await rm(join(folder, `state.db${end}`), { force: true });
  const dayMs = 86_400_000;
  const limits = { retention: { ...defaultRetention, auditMs: 30 * dayMs }, retentionMs: 1_000 };
  const store = await whenOpened(createTestStore(folder, { auditKey, limits }));
  const ago = (days: number): AuditEntry => entryOf({ atMs: Date.now() - days * dayMs });
  const old = await store.auditAll([ago(40), ago(40), ago(40), ago(1), ago(1)]);
  await until(async () => (await store.audits({ limit: 1, action: "audit.prune" })).rows.length > 0);
  await store.close(10_000);
  return old;
}

describe("the audit has", () => {
  test("starts and ends, configurations and who gained rights, and which call a server was started for", async () => {
    const gateway = await start(people);
    await untilOnline(gateway.url, as("ann"));
    const config = { mcpServers: {}, toolyard: { ...people, principals: { ann: people.principals.ann } } };
    await writeFile(gateway.configFile, JSON.stringify(config));
    await until(async () => (await entries("--action", "config.apply")).length === 2);
    await writeFile(gateway.configFile, "{ nonsense");
    await untilTold("config.refuse");
    await writeFile(gateway.configFile, JSON.stringify(config));
    expect((await command("stop")).code).toBe(0);
    // A signal that finds the process about to exit would end it.
    expect(await until(() => gateway.process.exitCode ?? undefined)).toBe(0);
    const all = await entries();
    expect(all.map(told).filter(([, action]) => action !== "config.apply")).toEqual([
      ["owner", "rights.change", gateway.configFile, "ok"],
      ["gateway", "gateway.start", gateway.url, "ok"],
      ["gateway", "server.start", "bad", "ok"],
      ["owner", "rights.change", gateway.configFile, "ok"],
      ["owner", "config.refuse", gateway.configFile, "failed"],
      ["owner", "gateway.stop", "", "ok"],
      ["gateway", "gateway.stop", "", "ok"],
    ]);
    const change = all.findLast(({ action }) => action === "rights.change");
    expect(JSON.parse(change?.detail ?? "").principals).toEqual({ added: [], removed: ["bob"], changed: [] });
    expect((await command("audit", "verify")).stdout).toMatch(new RegExp(`^${all.length} entries, none changed`));
  });

  test("for whom a server was started, and what people and the owner ordered", async () => {
    await using gateway = await start(people);
    await untilOnline(gateway.url, as("ann"));
    await post(`${gateway.url}/api/instances/bad/stop`, {}, as("ann"));
    await post(`${gateway.url}/api/instances/bad/restart`, {}, as("ann"));
    expect((await command("restart", "bad")).code).toBe(0);
    const orders = (await entries()).filter(({ action }) => action.startsWith("server."));
    expect(orders.map(told)).toEqual([
      ["gateway", "server.start", "bad", "ok"],
      ["ann", "server.stop", "bad", "ok"],
      ["ann", "server.restart", "bad", "ok"],
      ["ann", "server.start", "bad", "ok"],
      ["owner", "server.restart", "bad", "ok"],
      ["local", "server.start", "bad", "ok"],
    ]);
  });

  test("tokens that are made and taken back, before whoever asked for it is answered", async () => {
    const gateway = await start(people);
    await untilOnline(gateway.url, as("ann"));
    const made = await post(`${gateway.url}/api/instances/bad/token`, {}, as("bob"));
    expect(made.status).toBe(200);
    await send(`${gateway.url}/api/instances/bad/token`, {
      method: "DELETE",
      headers: { ...as("bob"), "content-type": "application/json" },
    });
    await gateway.stop("SIGKILL");
    const tokens = (await entries()).filter(({ action }) => action.startsWith("token."));
    expect(tokens.map(told)).toEqual([
      ["bob", "token.issue", "bad", "ok"],
      ["bob", "token.revoke", "bad", "ok"],
    ]);
    expect(JSON.stringify(tokens)).not.toContain(String(made.json.token));
  });

  test("who was denied what and from where, and no more of it than tells something", async () => {
    await using gateway = await start(people);
    await untilOnline(gateway.url, as("ann"));
    for (let at = 0; at < 40; at += 1)
      expect((await get(`${gateway.url}/api/servers?token=canary`, as("eve"))).status).toBe(401);
    expect((await post(`${gateway.url}/api/instances/bad/stop`, {}, as("bob"))).status).toBe(403);
    expect((await get(`${gateway.url}/api/audit`, as("bob"))).status).toBe(403);
    await get(`${gateway.url}/mcp`, { origin: "https://evil.example" });
    const denied = await until(async () => {
      const found = (await entries()).filter(({ outcome }) => outcome === "denied");
      return found.length >= 12 && found;
    });
    expect(denied.every(({ ip }) => ip?.endsWith("127.0.0.1"))).toBe(true);
    expect(JSON.stringify(denied)).not.toContain("canary");
    const codes = denied.map(({ actor, detail }) => `${actor} ${String(JSON.parse(detail).code)}`);
    expect(codes.filter((code) => code === "unknown UNAUTHORIZED")).toHaveLength(10);
    expect(codes.filter((code) => code === "bob FORBIDDEN")).toHaveLength(2);
    await gateway.stop();
    const counted = (await entries()).filter(({ action }) => action === "access.more");
    expect(counted.map(({ detail }) => JSON.parse(detail).entries)).toContain(31);
  });

  test("nothing where that is switched off", async () => {
    await using gateway = await start({ records: { audit: "off" } });
    await untilOnline(gateway.url);
    await run(gateway.url, "bad:echo");
    await until(async () => (await command("audit", "verify")).stdout.startsWith("0 entries"));
  });
});

describe("whoever reads the audit", () => {
  test("gets pages, lines and CSV over REST, as an admin, and leaves an entry with an export", async () => {
    await using gateway = await start(people);
    await untilOnline(gateway.url, as("ann"));
    await until(async () => (await entries()).length >= 4);
    const first = await get(`${gateway.url}/api/audit?limit=2`, as("ann"));
    const page = first.json as { entries: AuditJson[]; nextCursor: string };
    expect(page.entries.map(({ seq }) => seq)).toEqual([4, 3]);
    const second = await get(`${gateway.url}/api/audit?limit=9&cursor=${page.nextCursor}`, as("ann"));
    expect(second.json).toMatchObject({ entries: [{ seq: 2 }, { seq: 1 }], nextCursor: null });
    const found = await get(`${gateway.url}/api/audit?action=server.start&actor=gateway&to=2999-01-01`, as("ann"));
    expect((found.json as { entries: AuditJson[] }).entries.map(told)).toEqual([
      ["gateway", "server.start", "bad", "ok"],
    ]);
    const csv = await get(`${gateway.url}/api/audit`, { ...as("ann"), accept: "text/csv" });
    expect(csv.headers["content-disposition"]).toBe('attachment; filename="audit.csv"');
    expect(csv.text.split("\r\n")[0]).toBe("seq,time,actor,via,team,action,object,outcome,ip,detail,prev,hash");
    const lines = await get(`${gateway.url}/api/audit`, { ...as("ann"), accept: "application/x-ndjson" });
    const exported = lines.text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as AuditJson]));
    expect(exported.map(({ seq }) => seq)).toEqual([6, 5, 4, 3, 2, 1]);
    expect(exported[0]).toMatchObject({ actor: "ann", action: "audit.export", detail: '{"format":"ndjson"}' });
    const later = await get(`${gateway.url}/api/audit?from=${Date.parse(exported[0]?.time ?? "") + 1}`, as("ann"));
    expect(later.json).toMatchObject({ entries: [], nextCursor: null });
    expect((await get(`${gateway.url}/api/audit/verify`, as("ann"))).json).toMatchObject({
      isWhole: true,
      entries: 6,
      lost: 0,
    });
    for (const wrong of ["cursor=x", "from=never", "outcome=odd"])
      expect((await get(`${gateway.url}/api/audit?${wrong}`, as("ann"))).status).toBe(400);
  });

  test("learns from the command which entry was changed or removed, while a gateway runs and afterwards", async () => {
    const gateway = await start();
    await untilOnline(gateway.url);
    await untilTold("server.start");
    await gateway.stop();
    expect((await command("audit", "verify")).code).toBe(0);
    await forge("update audit set actor = 'nobody' where seq = 2");
    const changed = await command("audit", "verify");
    expect([changed.code, changed.stdout]).toEqual([
      1,
      expect.stringMatching(/^broken at entry 2: entry 2 was changed/),
    ]);
    await forge("delete from audit where seq = 1");
    await using again = await start();
    await untilOnline(again.url);
    const removed = await command("audit", "verify", "--json");
    expect([removed.code, JSON.parse(removed.stdout)]).toMatchObject([1, { isWhole: false, brokenAt: 1 }]);
  });

  test("learns from the command and over REST from where on the audit is kept, while a gateway runs and afterwards", async () => {
    const gateway = await start(people);
    await untilOnline(gateway.url, as("ann"));
    await untilTold("server.start");
    await gateway.stop();
    const exported = await prune();
    const checked = await command("audit", "verify", "--json");
    const { isWhole, entries: left, pruned } = JSON.parse(checked.stdout) as AuditCheck;
    expect([checked.code, isWhole, left]).toEqual([0, true, 3]);
    expect(exported[2]).toEqual({ seq: pruned?.seq, hash: pruned?.hash });
    expect((await entries()).map(({ seq, action }) => [seq, action]).at(-1)).toEqual([6, "audit.prune"]);
    await using again = await start(people);
    await untilOnline(again.url, as("ann"));
    expect((await get(`${again.url}/api/audit/verify`, as("ann"))).json).toMatchObject({ isWhole: true, pruned });
    const said = (await command("audit", "verify")).stdout.split("\n");
    expect(said[1]).toBe(
      `it begins after entry ${pruned?.seq} (${pruned?.hash}): those up to it were removed on ${pruned?.time.slice(0, 10)} for their age`,
    );
  });

  test("exports everything with the chain, also without a gateway, and is told where there is none", async () => {
    const nothing = await startGateway({
      directory,
      config: { mcpServers: {}, toolyard: { records: { store: "off" } } },
    });
    await nothing.stop();
    const none = await command("audit");
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("none has left an audit")]);
    const gateway = await start();
    await untilOnline(gateway.url);
    await untilTold("server.start");
    const live = await command("audit", "export", "--format", "csv");
    expect(live.stdout.split("\r\n").at(1)).toContain("audit.export");
    await gateway.stop();
    const lines = (await command("audit", "export")).stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as AuditJson);
    expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, at) => lines.length - at));
    lines.slice(0, -1).forEach(({ prev }, at) => expect(prev).toBe(lines[at + 1]?.hash));
    expect((await command("audit", "export", "--format", "xml")).code).toBe(2);
    expect((await command("audit", "burn")).code).toBe(2);
    expect((await command("audit", "--limit", "0")).code).toBe(2);
  });
});

describe("a strict audit", () => {
  const strict = { records: { audit: "strict" } };

  test("has an entry before a call runs and one before its answer leaves, whenever the gateway is killed", async () => {
    for (let life = 1; life <= 3; life += 1) {
      const gateway = await start(strict);
      await untilOnline(gateway.url);
      for (let call = 0; call < life; call += 1)
        expect((await run(gateway.url, "bad:echo", { n: call })).status).toBe(200);
      await gateway.stop("SIGKILL");
      const calls = (await entries()).filter(({ action }) => action.startsWith("call"));
      expect(calls).toHaveLength(life * (life + 1));
      const ends = calls.filter(({ action }) => action === "call");
      expect(ends.map(({ detail }) => JSON.parse(detail).begun)).toEqual(
        calls.filter(({ action }) => action === "call.begin").map(({ seq }) => seq),
      );
      expect((await command("audit", "verify")).code).toBe(0);
    }
  });

  test("says that a call was running when the gateway was killed, and how calls failed", async () => {
    const gateway = await start(strict);
    await untilOnline(gateway.url);
    await run(gateway.url, "bad:fail", { text: "no" });
    await run(gateway.url, "bad:rpc-error", {});
    const hanging = run(gateway.url, "bad:hang", {}).catch(() => undefined);
    await until(async () => (await entries("--action", "call.begin")).length === 3);
    await gateway.stop("SIGKILL");
    await hanging;
    const calls = (await entries()).filter(({ action }) => action.startsWith("call"));
    expect(calls.map(({ action, object }) => `${action} ${object}`)).toEqual([
      "call.begin bad:fail",
      "call bad:fail",
      "call.begin bad:rpc-error",
      "call bad:rpc-error",
      "call.begin bad:hang",
    ]);
  });

  test("lets many calls share a write to the disk, and has all of them", async () => {
    await using gateway = await start(strict);
    await untilOnline(gateway.url);
    const answers = await Promise.all(
      Array.from({ length: 100 }, async (_, n) => await run(gateway.url, "bad:echo", { n })),
    );
    const served = answers.filter(({ status }) => status === 200).length;
    expect(served).toBeGreaterThan(0);
    expect((await entries("--action", "call")).length).toBe(served);
  });

  test("refuses calls where nothing is recorded", async () => {
    await using gateway = await start({ records: { audit: "strict", store: "off" } });
    await untilOnline(gateway.url);
    const { status, json } = await run(gateway.url, "bad:echo");
    expect([status, json.code]).toEqual([503, "STORE_UNAVAILABLE"]);
    expect(json.detail).toContain("bad:echo was not called");
  });
});

const canMount = process.platform === "linux" && process.getuid?.() === 0;

describe.runIf(canMount)("on a full disk", () => {
  beforeEach(() => void execFileSync("mount", ["-t", "tmpfs", "-o", "size=32m", "tmpfs", directory]));
  afterEach(() => void execFileSync("umount", ["-l", directory]));

  test("a strict audit refuses calls before they run, until there is room", async () => {
    await using gateway = await start({ records: { audit: "strict" } });
    await untilOnline(gateway.url);
    expect((await run(gateway.url, "bad:echo")).status).toBe(200);
    let files = 0;
    const refused = await until(async () => {
      // Once more: the room of the ballast is given to the audit.
      await fillDisk(join(directory, `filler-${(files += 1)}`));
      const answer = await run(gateway.url, "bad:echo");
      return answer.status === 507 && answer;
    });
    expect(refused.json).toMatchObject({ code: "STORE_FULL" });
    expect(refused.json.detail).toContain("was not called");
    for (let at = 1; at <= files; at += 1) await rm(join(directory, `filler-${at}`));
    await until(async () => (await run(gateway.url, "bad:echo")).status === 200);
    expect((await command("audit", "verify")).code).toBe(0);
  });

  test("calls are served where it is not strict", async () => {
    await using gateway = await start();
    await untilOnline(gateway.url);
    for (let at = 0; at < 5; at += 1) {
      await fillDisk(join(directory, `filler-${at}`));
      await post(`${gateway.url}/api/instances/bad/restart`);
      // The server has just been restarted: a call may come while it starts.
      await until(async () => (await run(gateway.url, "bad:echo")).status === 200);
    }
    for (let at = 0; at < 5; at += 1) await rm(join(directory, `filler-${at}`));
    let verified: CommandResult | undefined;
    await until(async () => (verified = await command("audit", "verify")).code === 0).catch((error: unknown) => {
      throw new Error(`${JSON.stringify(verified)}\n${gateway.stderr()}`, { cause: error });
    });
    // What could not be written then is written now.
    await until(async () => (await entries("--action", "server.restart")).length === 5);
    expect((await command("audit", "verify")).code).toBe(0);
  });
});
