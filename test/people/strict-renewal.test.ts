import { afterAll, beforeAll, expect, test } from "vitest";
import { get } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import { openSse } from "../protocol/sse-client.ts";
import { authorize, callbackUrl, connectApp, refresh, type AppTokens } from "./app-client.ts";
import type { PageBrowser } from "./page-browser.ts";
import { startTeamWorld, type TeamWorld } from "./team-world.ts";

let world: TeamWorld;
let ann: PageBrowser;
beforeAll(async () => {
  world = await startTeamWorld({ settings: { auth: { refreshOverlapSeconds: 0, clientDocuments: false } } });
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

test("FAULT 102: of twenty strict renewals at once one gets tokens at most, and none of them are good afterwards", async () => {
  for (let round = 0; round < 3; round += 1) {
    const app = await connectApp(world.url, ann);
    const at = Array.from({ length: 20 }, async () => await refresh(world.url, app.clientId, app.refresh_token));
    const given = (await Promise.all(at)).filter(({ status }) => status === 200).map(({ json }) => json as AppTokens);
    expect(given.length).toBeLessThanOrEqual(1);
    for (const { access_token: access, refresh_token: next } of given) {
      await until(async () => (await statusOf(access)) === 401);
      expect((await refresh(world.url, app.clientId, next)).json.error).toBe("invalid_grant");
    }
    expect(await statusOf(app.access_token)).toBe(401);
  }
});

test("codes of devices are tried only so often from one address", async () => {
  const statuses: number[] = [];
  for (let time = 0; time < 40; time += 1) {
    const page = await ann.open(`${world.url}/oauth/device`);
    statuses.push((await ann.submit(page, { user_code: `BCDF-GH${String(time).padStart(2, "0")}` })).status);
  }
  expect(statuses.slice(0, 10).every((status) => status === 200)).toBe(true);
  expect(statuses.at(-1)).toBe(429);
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

test("where no documents of clients are taken, the metadata offer none, and apps register", async () => {
  const { json } = await get(`${world.url}/.well-known/oauth-authorization-server`);
  expect(json.client_id_metadata_document_supported ?? false).toBe(false);
  expect(json.registration_endpoint).toBe(`${world.url}/oauth/register`);
  // Also not for those that the gateway knows without the Internet.
  const known = "https://claude.ai/oauth/claude-code-client-metadata";
  const page = await ann.open(authorize(world.url, known, { redirect_uri: "http://localhost:1/callback" }).url);
  expect([page.status >= 400, page.text.includes('name="answer"')]).toEqual([true, false]);
  expect((await connectApp(world.url, ann)).access_token).toEqual(expect.any(String));
});
