import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadDriver } from "../../src/store/sql/sqlite/sql-driver.ts";
import { get } from "../harness/rest.ts";
import { callbackUrl, connectApp, refresh } from "./app-client.ts";
import type { PageBrowser } from "./page-browser.ts";
import { startTeamWorld, type TeamWorld } from "./team-world.ts";

/** Apps that were never given anything, of which the gateway keeps so many; and how often it looks after them. */
const [mostUnused, perPurge] = [10_000, 200];
/** Registrations that are on their way at once. */
const workers = 16;

let world: TeamWorld;
let ann: PageBrowser;
let admin: string;
beforeAll(async () => {
  world = await startTeamWorld({ settings: { trustedProxies: ["127.0.0.1"] } });
  admin = (await world.ask("user", "add", "ann", "--admin", "--team", "red")).made.token;
  ann = await world.logIn("ann", { stopAt: callbackUrl });
});
afterAll(async () => await world[Symbol.asyncDispose]());

/** Resolves to the status. */
async function registerFrom(ip: string, metadata: object = {}): Promise<number> {
  const answer = await fetch(`${world.url}/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-forwarded-for": ip },
    body: JSON.stringify({ client_name: "Flood", redirect_uris: [callbackUrl], ...metadata }),
  });
  await answer.text();
  return answer.status;
}

interface ListedApp {
  readonly id: string;
  readonly name: string;
  readonly apps: number;
}

/** All pages of the list, each of which is small. */
async function listAll(): Promise<readonly ListedApp[]> {
  const all: ListedApp[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const path = `/api/auth/clients?limit=1000&cursor=${cursor}`;
    const { status, json } = await get(`${world.url}${path}`, { authorization: `Bearer ${admin}` });
    expect(status).toBe(200);
    expect(json.clients.length).toBeLessThanOrEqual(1_000);
    all.push(...json.clients);
    cursor = json.nextCursor;
  }
  return all;
}

/** Something done with the database, beside the gateway that has it open. */
function inDatabase<T>(act: (database: ReturnType<ReturnType<typeof loadDriver>["open"]>) => T): T {
  const data = join(world.directory, "data");
  const [file = ""] = readdirSync(data, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith("state.db"),
  );
  const database = loadDriver(tmpdir()).open(join(data, file));
  try {
    return act(database);
  } finally {
    database.close();
  }
}

function keptClients(): number {
  return inDatabase((database) => {
    const [row] = database.prepare("select count(*) as rows from oauth_item where kind = 'Client'").all();
    return Number(row?.["rows"]);
  });
}

/** As if so many had registered before all others: each takes the gateway some milliseconds. */
function addOlderClients(count: number): void {
  const newest = "select * from oauth_item where kind = 'Client' and uses = 0 order by expires_at_ms limit 1";
  inDatabase((database) =>
    database.exec(`with recursive older(age) as (select 1 union all select age + 1 from older where age < ${count})
      insert into oauth_item (kind, hash, payload, uses, expires_at_ms)
      select kind, 'older-' || age, payload, 0, expires_at_ms - age from older, (${newest})`),
  );
}

/** Twenty from each address. Resolves to what was not taken. */
async function registerMany(first: number, count: number): Promise<readonly number[]> {
  let at = first;
  const refused: number[] = [];
  await Promise.all(
    Array.from({ length: workers }, async () => {
      while (at < first + count) {
        const source = Math.floor(at / 20);
        at += 1;
        const status = await registerFrom(`203.${Math.floor(source / 250)}.113.${source % 250}`);
        if (status !== 201) refused.push(status);
      }
    }),
  );
  return refused;
}

test("FAULT 102: apps that register without end push each other out, and nobody who uses one", async () => {
  const used = await connectApp(world.url, ann);
  const ours = (await world.ask("client", "add", "By an admin", "--redirect", callbackUrl)).client.id as string;
  // More than a page of the list has.
  const total = 1_040;
  expect(await registerMany(0, total)).toEqual([]);
  expect(keptClients()).toBe(total + 2);
  // Those that are used stay, and so does whatever an admin made.
  expect((await refresh(world.url, used.clientId, used.refresh_token)).status).toBe(200);
  const listed = await listAll();
  expect(listed).toHaveLength(keptClients());
  expect(new Set(listed.map(({ id }) => id)).size).toBe(listed.length);
  expect(listed[0]).toMatchObject({ id: ours, name: "By an admin" });
  expect(listed.find(({ id }) => id === used.clientId)).toMatchObject({ apps: 1 });
  const one = await get(`${world.url}/api/auth/clients/${ours}`, { authorization: `Bearer ${admin}` });
  expect(one.json).toMatchObject({ name: "By an admin", expires: null });
  const terminal = await world.command("client", "list");
  expect(terminal.stdout).toContain("By an admin");
  expect(terminal.stdout.trimEnd().split("\n")).toHaveLength(1_001);
  expect(terminal.stderr).toContain("There are more");
  addOlderClients(mostUnused);
  expect(await registerMany(total, 2 * perPurge)).toEqual([]);
  expect(keptClients()).toBeLessThanOrEqual(mostUnused + perPurge + workers + 2);
  expect(keptClients()).toBeGreaterThanOrEqual(mostUnused);
  expect((await refresh(world.url, used.clientId, used.refresh_token)).status).toBe(200);
  // Whoever comes now is served all the same.
  expect((await connectApp(world.url, ann)).scope).toContain("mcp:read");
}, 600_000);

test("FAULT 102: all addresses of an IPv6 network are one, which registers twenty apps in an hour", async () => {
  const inOne = Array.from({ length: 20 }, (_, at) => `2001:db8:0:7:${at.toString(16)}::1`);
  expect(await Promise.all(inOne.map(async (ip) => await registerFrom(ip)))).toEqual(inOne.map(() => 201));
  expect(await registerFrom("2001:db8:0:7::beef")).toBe(429);
  expect(await registerFrom("2001:0db8:0000:0007:ffff:ffff:ffff:ffff")).toBe(429);
  expect(await registerFrom("2001:db8:0:8::1")).toBe(201);
});

test("what an app says of itself is a page of text at most, and a cursor that was not given out is refused", async () => {
  const uris = (count: number): object => ({
    redirect_uris: Array.from({ length: count }, (_, at) => `http://127.0.0.1/${"x".repeat(80)}/${at}`),
  });
  expect(await registerFrom("198.51.100.1", uris(50))).toBe(201);
  expect(await registerFrom("198.51.100.1", uris(100))).toBe(413);
  const wrong = await get(`${world.url}/api/auth/clients?cursor=x`, { authorization: `Bearer ${admin}` });
  expect([wrong.status, wrong.json.code]).toEqual([400, "CURSOR_INVALID"]);
});
