import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadDriver, type SqlRow } from "../../src/store/sql/sqlite/sql-driver.ts";
import { get } from "../harness/rest.ts";
import { authorize, callbackUrl, connectApp, consent, redeem, refresh, register } from "./app-client.ts";
import type { PageBrowser } from "./page-browser.ts";
import { startTeamWorld, type TeamWorld } from "./team-world.ts";

const dayMs = 86_400_000;
let world: TeamWorld;
let ann: PageBrowser;
beforeAll(async () => {
  world = await startTeamWorld({ settings: { trustedProxies: ["127.0.0.1"] } });
  await world.ask("user", "add", "ann", "--admin", "--team", "red");
  ann = await world.logIn("ann", { stopAt: callbackUrl });
});
afterAll(async () => await world[Symbol.asyncDispose]());

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const statusOf = async (token: string): Promise<number> =>
  (await get(`${world.url}/api/servers`, { authorization: `Bearer ${token}` })).status;

/** Looks into the database of a gateway that does not run, or changes something there. */
function onDatabase(statement: string, ...values: readonly (string | number)[]): readonly SqlRow[] {
  const data = join(world.directory, "data");
  const [file = ""] = readdirSync(data, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith("state.db"),
  );
  const database = loadDriver(tmpdir()).open(join(data, file));
  try {
    return database.prepare(statement).all(...values);
  } finally {
    database.close();
  }
}

async function whileStopped<T>(work: () => T): Promise<T> {
  const result: T[] = [];
  await world.restart("SIGTERM", async () => void result.push(work()));
  return result[0] as T;
}

test("FAULT 102: twenty apps may register from one address in an hour, and others still may", async () => {
  const from = async (ip: string): Promise<number> => {
    const answer = await fetch(`${world.url}/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-forwarded-for": ip },
      body: JSON.stringify({ redirect_uris: [callbackUrl] }),
    });
    await answer.text();
    return answer.status;
  };
  const all = await Promise.all(Array.from({ length: 25 }, async () => await from("203.0.113.7")));
  expect(all.filter((status) => status === 201)).toHaveLength(20);
  expect(all.filter((status) => status === 429)).toHaveLength(5);
  expect([await from("203.0.113.8"), await from("203.0.113.7")]).toEqual([201, 429]);
});

test("an app that is used is kept for another 90 days, and one that is not goes", async () => {
  const app = await connectApp(world.url, ann);
  const unused = (await register(world.url, { redirect_uris: [callbackUrl] })).json.client_id;
  const soon = Date.now() + dayMs;
  await whileStopped(() => {
    onDatabase("update oauth_item set expires_at_ms = ? where kind = 'Client' returning hash", soon);
    onDatabase("update oauth_grant set used_at_ms = used_at_ms - 7200000 returning id");
  });
  expect((await refresh(world.url, app.clientId, app.refresh_token)).status).toBe(200);
  const ends = await whileStopped(
    () =>
      new Map(
        onDatabase("select hash, expires_at_ms from oauth_item where kind = 'Client'").map((row) => [
          row["hash"],
          row["expires_at_ms"],
        ]),
      ),
  );
  expect(Number(ends.get(sha256(app.clientId)))).toBeGreaterThan(soon + 80 * dayMs);
  expect(ends.get(sha256(unused))).toBe(soon);
});

test("an app that is named by a document which cannot be fetched is the one that is known by that name", async () => {
  const clientId = "https://claude.ai/oauth/claude-code-client-metadata";
  const redirectUri = "http://localhost:53252/callback";
  const browser = await world.logIn("ann", { stopAt: redirectUri });
  const start = authorize(world.url, clientId, { redirect_uri: redirectUri, prompt: "consent" });
  expect((await browser.open(start.url)).text).toContain("Claude Code");
  const code = (await consent(browser, start)).searchParams.get("code") ?? "";
  const { status, json } = await redeem(world.url, clientId, {
    ...{ code, verifier: start.verifier },
    redirect_uri: redirectUri,
  });
  expect(status).toBe(200);
  expect(await statusOf(json.access_token)).toBe(200);
  const foreign = authorize(world.url, clientId, { redirect_uri: "http://localhost:53252/elsewhere" });
  expect((await browser.open(foreign.url)).text).not.toContain('name="answer"');
  const unknown = await browser.open(authorize(world.url, "https://unknown.invalid/app.json").url);
  expect(unknown.text).not.toContain('name="answer"');
});
