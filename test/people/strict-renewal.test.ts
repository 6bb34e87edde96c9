import { afterAll, beforeAll, expect, test } from "vitest";
import { get } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { openSse } from "../protocol/sse-client.ts";
import { callbackUrl, connectApp, refresh, type AppTokens } from "./app-client.ts";
import type { PageBrowser } from "./page-browser.ts";
import { startTeamWorld, type TeamWorld } from "./team-world.ts";

let world: TeamWorld;
let ann: PageBrowser;
beforeAll(async () => {
  world = await startTeamWorld({ settings: { auth: { refreshOverlapSeconds: 0 } } });
  await world.ask("user", "add", "ann", "--admin", "--team", "red");
  ann = await world.logIn("ann", { stopAt: callbackUrl });
});
afterAll(async () => await world[Symbol.asyncDispose]());

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
const statusOf = async (token: string): Promise<number> =>
  (await get(`${world.url}/api/servers`, bearer(token))).status;

test("FAULT 102: where renewal is strict, a refresh token that comes again ends the app's access and what it has opened", async () => {
  const [app, bystander] = [await connectApp(world.url, ann), await connectApp(world.url, ann)];
  const stream = await openSse(`${world.url}/sse`, bearer(app.access_token));
  await stream.initialize();
  const renewed = (await refresh(world.url, app.clientId, app.refresh_token)).json as AppTokens;
  expect(await statusOf(renewed.access_token)).toBe(200);
  const again = await refresh(world.url, app.clientId, app.refresh_token);
  expect([again.status, again.json.error]).toEqual([400, "invalid_grant"]);
  await until(() => stream.ended);
  for (const token of [app.access_token, renewed.access_token]) expect(await statusOf(token)).toBe(401);
  expect((await refresh(world.url, app.clientId, renewed.refresh_token)).json.error).toBe("invalid_grant");
  expect(await statusOf(bystander.access_token)).toBe(200);
  const { stdout } = await world.command("audit", "--json");
  expect(stdout).toMatch(/"action":"app\.refresh\.reuse"[^\n]*"outcome":"denied"/);
});

test("FAULT 102: with an overlap, a refresh token that comes for the twenty-first time is taken for a thief's", async () => {
  await using lenient = await startTeamWorld();
  await lenient.ask("user", "add", "ann", "--admin", "--team", "red");
  const browser = await lenient.logIn("ann", { stopAt: callbackUrl });
  const app = await connectApp(lenient.url, browser);
  const statuses: number[] = [];
  for (let time = 0; time < 22; time += 1)
    statuses.push((await refresh(lenient.url, app.clientId, app.refresh_token)).status);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(20);
  expect(statuses.at(-1)).toBe(400);
  expect((await get(`${lenient.url}/api/servers`, bearer(app.access_token))).status).toBe(401);
});
