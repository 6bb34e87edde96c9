// A gateway for 500 teams with 10,000 users and 50,000 installations: start, one change, memory, check of a token, and
// a call against a gateway without teams. `npm run bench bench/teams/run.ts`, after `npm run build`. Parts of it:
// `-- --only=many`, `--only=live` (memory, logins, revocation), or `--only=isolation --operations=1000000
// --database=sqlite|postgres`, which takes long.
import { createHash, hkdfSync } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildConfig } from "../../src/config/load.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { randomId } from "../../src/kernel/random-id.ts";
import { createConfigDirectory } from "../../src/people/directory/config-directory.ts";
import { createTeamDirectory } from "../../src/people/directory/team-directory.ts";
import type { MembershipRow, PatRow, PeopleRows, TeamRow, UserRow } from "../../src/store/people-rows.ts";
import type { InstallRows } from "../../src/store/install-rows.ts";
import { runCommand } from "../../test/harness/command.ts";
import { badServer, startGateway, type RunningGateway } from "../../test/harness/gateway.ts";
import { placesIn } from "../../test/harness/places.ts";
import { createTestStore, whenOpened } from "../../test/harness/records.ts";
import { until } from "../../test/harness/until.ts";
import { cpuMicros } from "../measure/process.ts";
import { measureIsolation } from "./isolation.ts";
import { measureLive } from "./live.ts";
import { percentile, row } from "./rows.ts";

const teams = 500;
const membersPerTeam = 20;
const serversPerTeam = 100;
const template = { mcpServers: { files: { ...badServer("--behaviours=env"), scope: "user" } } };

const options = { only: { type: "string" }, operations: { type: "string" }, database: { type: "string" } } as const;
const { only, operations = "10000", database } = parseArgs({ options }).values;

const directory = await mkdtemp(join(tmpdir(), "toolyard-bench-teams-"));
const alone = await mkdtemp(join(tmpdir(), "toolyard-bench-alone-"));
try {
  if (only === undefined || only === "many") await measureMany();
  if (only === undefined || only === "live") await measureLive();
  if (only === "isolation")
    await measureIsolation({
      operations: Number(operations),
      database: database === "postgres" ? "postgres" : "sqlite",
    });
} finally {
  await rm(directory, { recursive: true, force: true });
  await rm(alone, { recursive: true, force: true });
}

async function measureMany(): Promise<void> {
  const admin = await prepare();
  const rows = makeRows();
  await write(rows);
  measureTokens(rows.people);
  await measureGateway(admin, rows);
}

async function start(): Promise<RunningGateway> {
  return await startGateway({ directory, config: template, args: ["--team"] });
}

async function prepare(): Promise<string> {
  const gateway = await start();
  row("memory without people", `${await residentMb(gateway)} MB`);
  const where = ["--config", gateway.configFile, "--data-dir", join(directory, "data"), "--json"];
  const { stdout } = await runCommand(["user", "add", "boss", "--admin", "--team", "team-0", ...where]);
  await gateway.stop();
  return (JSON.parse(stdout) as { made: { token: string } }).made.token;
}

interface Rows {
  readonly people: PeopleRows;
  readonly installs: Pick<InstallRows, "templates" | "installations">;
  readonly tokens: readonly string[];
}

function makeRows(): Rows {
  const now = Date.now();
  const about = { createdAtMs: now, revision: 1 };
  const tokens: string[] = [];
  const found = Array.from({ length: teams }, (_, at) => ({
    ...{ id: randomId("t_"), slug: `many-${at}`, title: `Many ${at}`, limits: {}, ...about },
  }));
  const templateRow = {
    ...{ id: randomId("tp_"), teamId: null, slug: "tool", source: "own" as const, transport: "stdio" },
    ...{ entry: JSON.stringify(badServer("--behaviours=env")), fields: '[{"path":"env.REGION"}]', version: 1 },
    ...{ revision: 1, changedBy: "owner", createdAtMs: now },
  };
  const people = {
    ...{ users: [] as UserRow[], memberships: [] as MembershipRow[], pats: [] as PatRow[], invites: [] },
    teams: found as TeamRow[],
  };
  for (const team of found)
    for (let at = 0; at < membersPerTeam; at += 1) {
      const [user, member, token] = [randomId("u_"), randomId("m_"), randomId("ty_pat_")];
      people.users.push({ id: user, name: `${team.slug}-${at}`, role: "user", status: "active", ...about } as never);
      people.memberships.push({ id: member, teamId: team.id, userId: user, role: "member", ...about } as never);
      const hash = createHash("sha256").update(token).digest("hex");
      const times = { createdAtMs: now, expiresAtMs: now + 86_400_000, usedAtMs: null };
      const limits = { scopes: [], only: null };
      people.pats.push({ id: randomId("p_"), membershipId: member, name: "", hash, ...times, ...limits } as never);
      tokens.push(token);
    }
  const installations = found.flatMap((team) =>
    Array.from({ length: serversPerTeam }, (_, at) => ({
      ...{ id: randomId("i_"), teamId: team.id, templateId: templateRow.id, templateVersion: 1, slug: `tool-${at}` },
      ...{ name: `tool ${at}`, scope: "user", config: '{"env.REGION":"eu"}', locks: "[]", settings: "{}" },
      // Switched off: what it costs to start servers is measured elsewhere.
      ...{ enabled: false, revision: 1, changedBy: "owner", createdAtMs: now },
    })),
  );
  return { people, installs: { templates: [templateRow], installations }, tokens };
}

async function write({ people, installs }: Rows): Promise<void> {
  const data = join(directory, "data");
  const key = Buffer.from((await readFile(join(data, "vault.key"), "utf8")).trim(), "base64");
  const auditKey = new Uint8Array(hkdfSync("sha256", key, "", "toolyard audit", 32));
  const store = await whenOpened(createTestStore(placesIn(data)[0] ?? "", { auditKey }));
  const about = {
    actor: "bench",
    via: "bench",
    team: null,
    object: "",
    outcome: "ok" as const,
    ip: null,
    detail: "{}",
  };
  await store.people.change(people, { atMs: Date.now(), action: "bench.people", ...about });
  const { templates, installations } = installs;
  await store.installs.change({ templates }, { atMs: Date.now(), action: "bench.templates", ...about });
  // As many at once as the database's thread has room for.
  for (let at = 0; at < installations.length; at += 1_000) {
    const some = { installations: installations.slice(at, at + 1_000) };
    await store.installs.change(some, { atMs: Date.now(), action: "bench.installs", ...about });
  }
  await store.close(60_000);
}

/** What each request costs to know who sends it, without the hash. */
function measureTokens(people: PeopleRows): void {
  const config = buildConfig(undefined, { cwd: "/", env: {}, flags: {}, homeDirectories: { config: "/", data: "/" } });
  const beside = createConfigDirectory(config);
  const before = heapMb();
  const team = createTeamDirectory({ beside, config: () => config, clock: systemClock });
  team.apply(people);
  row(
    "memory per member, with user and token",
    `${(((heapMb() - before) * 1_024) / people.memberships.length).toFixed(2)} KB`,
  );
  const hashes = people.pats.map(({ hash }) => hash);
  const times = 2_000_000;
  for (let at = 0; at < 100_000; at += 1) team.byToken(hashes[at % hashes.length] ?? "");
  const begin = process.cpuUsage();
  for (let at = 0; at < times; at += 1) team.byToken(hashes[at % hashes.length] ?? "");
  const { user, system } = process.cpuUsage(begin);
  row("look-up of a token", `${((user + system) / times).toFixed(3)} us`);
  const tokens = hashes.slice(0, 1_000);
  const second = process.cpuUsage();
  for (let at = 0; at < 200_000; at += 1)
    team.byToken(
      createHash("sha256")
        .update(tokens[at % 1_000] ?? "")
        .digest("hex"),
    );
  const spent = process.cpuUsage(second);
  row("the same with the token's hash", `${((spent.user + spent.system) / 200_000).toFixed(3)} us`);
  team.stop();
}

async function measureGateway(admin: string, { tokens, installs }: Rows): Promise<void> {
  const begin = performance.now();
  const gateway = await start();
  await until(async () => (await fetch(`${gateway.url}/readyz`)).ok);
  const pid = gateway.process.pid ?? 0;
  row("start until ready", `${Math.round(performance.now() - begin)} ms wall, ${cpuMs(pid)} ms CPU`);
  row("memory with everything", `${await residentMb(gateway)} MB`);
  const members = tokens.slice(0, 200);
  for (const token of members) await fetch(`${gateway.url}/api/servers`, { headers: bearer(token) });
  row("memory when 200 members have listed their 101 servers", `${await residentMb(gateway)} MB`);
  const [first] = installs.installations;
  const path = `${gateway.url}/api/teams/many-0/installations/${first?.slug ?? ""}`;
  const times: number[] = [];
  const cpu = cpuMicros(pid);
  for (let at = 0; at < 50; at += 1) {
    const before = performance.now();
    const headers = { ...bearer(admin), "content-type": "application/json" };
    const answer = await fetch(path, { method: "PATCH", headers, body: JSON.stringify({ name: `name ${at}` }) });
    if (!answer.ok) throw new Error(await answer.text());
    times.push(performance.now() - before);
  }
  times.sort((a, b) => a - b);
  const each = (cpuMicros(pid) - cpu) / 50 / 1_000;
  row("one change, on the disk and in force", `${ms(times[25])} p50, ${ms(times[49])} most, ${each.toFixed(2)} ms CPU`);
  const local = await startGateway({ directory: alone, config: template });
  const costs: { readonly withTeams: number; readonly without: number }[] = [];
  // In turns, so that whatever else the machine does falls on both.
  for (let round = 0; round < 5; round += 1)
    costs.push({ withTeams: await callCost(gateway, bearer(members[0] ?? "")), without: await callCost(local, {}) });
  const [withTeams, without] = [
    percentile(
      costs.map((one) => one.withTeams),
      0.5,
    ),
    percentile(
      costs.map((one) => one.without),
      0.5,
    ),
  ];
  row("a call over REST, CPU of the gateway", `${withTeams.toFixed(0)} us; without teams ${without.toFixed(0)} us`);
  row("the same as a share", (withTeams / without).toFixed(3));
  await local.stop();
  await gateway.stop();
}

async function callCost(gateway: RunningGateway, headers: Record<string, string>): Promise<number> {
  const call = async (): Promise<void> => {
    const answer = await fetch(`${gateway.url}/execute/files%3Aenv`, {
      ...{ method: "POST", body: "{}", headers: { ...headers, "content-type": "application/json" } },
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${answer.status} ${text}`);
  };
  for (let at = 0; at < 500; at += 1) await call();
  const pid = gateway.process.pid ?? 0;
  const before = cpuMicros(pid);
  for (let at = 0; at < 2_000; at += 1) await call();
  return (cpuMicros(pid) - before) / 2_000;
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

async function residentMb({ process: { pid } }: RunningGateway): Promise<number> {
  const status = await readFile(`/proc/${pid ?? 0}/status`, "utf8");
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024);
}

function cpuMs(pid: number): number {
  return Math.round(cpuMicros(pid) / 1_000);
}

function heapMb(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

function ms(value: number | undefined): string {
  return `${(value ?? 0).toFixed(1)} ms`;
}
