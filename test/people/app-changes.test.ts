import { afterAll, beforeAll, expect, test } from "vitest";
import { get } from "../harness/rest.ts";
import {
  authorize,
  callbackUrl,
  connectApp,
  consent,
  postForm,
  redeem,
  refresh,
  register,
  type AppTokens,
} from "./app-client.ts";
import type { PageBrowser } from "./page-browser.ts";
import { password, startTeamWorld, type TeamWorld } from "./team-world.ts";

let world: TeamWorld;
let ann: PageBrowser;
beforeAll(async () => {
  world = await startTeamWorld();
  await world.ask("user", "add", "ann", "--admin", "--team", "red");
  ann = await world.logIn("ann", { stopAt: callbackUrl });
});
afterAll(async () => await world[Symbol.asyncDispose]());

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
const statusOf = async (token: string, path = "/api/servers"): Promise<number> =>
  (await get(`${world.url}${path}`, bearer(token))).status;

test("FAULT 102: renewals at the moment in which the app is taken away leave no token that is good, and no row", async () => {
  for (let round = 0; round < 3; round += 1) {
    const app = await connectApp(world.url, ann);
    const renewals = Array.from({ length: 8 }, async () => await refresh(world.url, app.clientId, app.refresh_token));
    const revoking = postForm(`${world.url}/oauth/revoke`, { token: app.refresh_token, client_id: app.clientId });
    const told = await Promise.all(renewals);
    expect((await revoking).status).toBe(200);
    expect(told.map(({ status }) => status).filter((status) => status !== 200 && status !== 400)).toEqual([]);
    for (const { status, json } of told)
      if (status === 200) expect(await statusOf((json as AppTokens).access_token)).toBe(401);
    const apps = (await world.ask("app", "list", "--user", "ann")).apps as { client: string }[];
    expect(JSON.stringify(apps)).not.toContain(app.clientId);
  }
});

test("FAULT 102: a code is good over a restart between it and its token, and once all the same", async () => {
  const { json } = await register(world.url, { redirect_uris: [callbackUrl] });
  const start = authorize(world.url, json.client_id);
  const code = (await consent(ann, start)).searchParams.get("code") ?? "";
  await world.restart("SIGKILL");
  const given = await redeem(world.url, json.client_id, { code, verifier: start.verifier });
  expect([given.status, await statusOf(given.json.access_token)]).toEqual([200, 200]);
  await world.restart();
  const again = await redeem(world.url, json.client_id, { code, verifier: start.verifier });
  expect([again.status, again.json.error]).toEqual([400, "invalid_grant"]);
  expect(await statusOf(given.json.access_token)).toBe(401);
});

test("consent that was asked of one person is not given by another who logged in with the same browser since", async () => {
  await world.ask("user", "add", "kim", "--team", "red");
  const { json } = await register(world.url, { redirect_uris: [callbackUrl] });
  const kim = await world.logIn("kim", { stopAt: callbackUrl });
  const asked = await kim.open(authorize(world.url, json.client_id).url);
  expect(asked.text).toContain('name="answer"');
  // In another tab.
  await kim.submit(await kim.open(`${world.url}/account`), {}, "/auth/logout");
  await kim.submit(await kim.open(`${world.url}/auth/login?next=/account`), { name: "ann", password });
  const answered = await kim.submit(asked, { answer: "allow" }, 'name="answer"');
  expect([answered.status, answered.url.startsWith(callbackUrl)]).toEqual([403, false]);
  for (const user of ["kim", "ann"])
    expect(JSON.stringify(await world.ask("app", "list", "--user", user))).not.toContain(json.client_id);
});

test("FAULT 101: who is made an admin keeps what an app of theirs was given, and no more", async () => {
  await world.ask("user", "add", "lee", "--team", "red");
  const lee = await world.logIn("lee", { stopAt: callbackUrl });
  const app = await connectApp(world.url, lee, { scope: "mcp:read mcp:tools:execute" });
  expect(await statusOf(app.access_token, "/api/users")).toBe(403);
  await world.ask("team", "role", "red", "--user", "lee", "--role", "admin");
  const renewed = (await refresh(world.url, app.clientId, app.refresh_token)).json as AppTokens;
  expect([renewed.scope, await statusOf(renewed.access_token)]).toEqual(["mcp:read mcp:tools:execute", 200]);
  const made = await fetch(`${world.url}/api/teams/red/invites`, {
    method: "POST",
    headers: { ...bearer(renewed.access_token), "content-type": "application/json" },
    body: "{}",
  });
  expect([made.status, made.headers.get("www-authenticate")]).toEqual([
    403,
    expect.stringContaining('scope="mcp:read mcp:tools:execute mcp:admin"') as string,
  ]);
});
