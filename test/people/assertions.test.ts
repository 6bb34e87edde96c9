import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadDriver } from "../../src/store/sql/sqlite/sql-driver.ts";
import { freePort } from "../harness/free-port.ts";
import { get } from "../harness/rest.ts";
import { rpc, send } from "../harness/rpc.ts";
import { startTokenIssuer, type TokenIssuer } from "../harness/token-issuer.ts";
import { until } from "../harness/until.ts";
import { openSse } from "../protocol/sse-client.ts";
import { callbackUrl, postForm, register } from "./app-client.ts";
import { startTeamWorld, type TeamWorld } from "./team-world.ts";

const grantType = "urn:ietf:params:oauth:grant-type:jwt-bearer";
let idp: TokenIssuer;
let world: TeamWorld;
let app: { readonly client_id: string; readonly client_secret: string };
beforeAll(async () => {
  idp = await startTokenIssuer();
  const port = await freePort();
  world = await startTeamWorld({
    settings: {
      publicUrl: `http://127.0.0.1:${port}`,
      auth: { assertions: { issuers: [idp.issuer], teamClaim: "team" } },
    },
    port,
  });
  await world.ask("user", "add", "ann", "--admin", "--team", "red");
  await world.ask("user", "account", "ann", "--issuer", idp.issuer, "--subject", "sub-ann");
  app = await registerApp([grantType]);
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await idp[Symbol.asyncDispose]();
});

async function registerApp(grantTypes: readonly string[]): Promise<typeof app> {
  const about = { client_name: "Company app", redirect_uris: [callbackUrl], grant_types: grantTypes };
  const { json } = await register(world.url, { ...about, token_endpoint_auth_method: "client_secret_post" });
  return json as unknown as typeof app;
}

let made = 0;
const claimsOf = (more: object = {}) => ({
  ...{ sub: "sub-ann", aud: world.url, client_id: app.client_id, jti: `assertion-${(made += 1)}` },
  ...{ resource: `${world.url}/mcp`, scope: "mcp:read mcp:tools:execute", ...more },
});
const assert = async (more: object = {}, header: object = {}): Promise<string> =>
  await idp.sign(claimsOf(more), { typ: "oauth-id-jag+jwt", ...header });
const exchange = async (assertion: string, more: Record<string, string> = {}) =>
  await postForm(`${world.url}/oauth/token`, {
    grant_type: grantType,
    client_id: app.client_id,
    client_secret: app.client_secret,
    assertion,
    ...more,
  });
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
/** With a session, which has all of the API. */
const enter = async (token: string): Promise<number> => {
  const headers = { "content-type": "application/json" };
  return (await send(`${world.url}/api/session`, { headers, body: JSON.stringify({ token }) })).status;
};
const open = async (token: string, path = "/mcp"): Promise<number> =>
  (await rpc(`${world.url}${path}`, "tools/list", {}, bearer(token))).status;

test("MUST: enterprise-managed authorization: what the identity provider says of a person is exchanged for a token", async () => {
  const metadata = (await get(`${world.url}/.well-known/oauth-authorization-server`)).json;
  expect(metadata.authorization_grant_profiles_supported).toEqual(["urn:ietf:params:oauth:grant-profile:id-jag"]);
  expect(metadata.grant_types_supported).toContain(grantType);
  const { status, json } = await exchange(await assert());
  expect([status, Object.keys(json).sort()]).toEqual([200, ["access_token", "expires_in", "scope", "token_type"]]);
  expect(json).toMatchObject({ token_type: "Bearer", expires_in: 3_600, scope: "mcp:read mcp:tools:execute" });
  expect([await open(json.access_token), await open(json.access_token, "/mcp/flat")]).toEqual([200, 200]);
  const me = (await get(`${world.url}/api/me`, bearer(json.access_token))).json;
  expect(me).toMatchObject({ user: { name: "ann" }, team: "red" });
});

test("MUST: the token is for the resource of the assertion, with the scopes that both sides name", async () => {
  const flat = await exchange(await assert({ resource: `${world.url}/mcp/flat`, scope: "mcp:read mcp:admin other" }), {
    scope: "mcp:read mcp:tools:execute",
  });
  expect([flat.status, flat.json.scope]).toEqual([200, "mcp:read"]);
  const { access_token: token } = flat.json;
  expect([await open(token, "/mcp/flat"), await open(token), await open(token, "/mcp/server/own")]).toEqual([
    200, 401, 401,
  ]);
  expect([await enter(token), await enter((await exchange(await assert())).json.access_token)]).toEqual([401, 200]);
  const usual = await exchange(await assert({ resource: undefined, scope: undefined }));
  expect([usual.json.scope, await open(usual.json.access_token)]).toEqual(["mcp:read mcp:tools:execute", 200]);
  const elsewhere = await assert({ resource: "https://elsewhere.example/mcp" });
  expect((await exchange(elsewhere)).json.error).toBe("invalid_target");
  expect((await exchange(await assert(), { resource: `${world.url}/mcp/flat` })).json.error).toBe("invalid_target");
  expect((await exchange(await assert({ scope: "other" }))).json.error).toBe("invalid_scope");
});

test("FAULT 102: an assertion is good once, also for ten at the same time and after kill -9", async () => {
  const assertion = await assert();
  const all = await Promise.all(Array.from({ length: 10 }, async () => await exchange(assertion)));
  expect(all.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(all.filter(({ json }) => json.error === "invalid_grant")).toHaveLength(9);
  const token = all.find(({ status }) => status === 200)?.json.access_token as string;
  await world.restart("SIGKILL");
  expect((await exchange(assertion)).json.error).toBe("invalid_grant");
  expect(await open(token)).toBe(200);
});

test("FAULT 100: assertions of others, for others, of another kind, too old or too long are worth nothing", async () => {
  const now = Math.floor(Date.now() / 1_000);
  const other = await startTokenIssuer();
  const bad: Readonly<Record<string, string>> = {
    expired: await assert({ exp: now - 61 }),
    "good for a day": await assert({ exp: now + 86_400 }),
    "for another server": await assert({ aud: "https://elsewhere.example" }),
    "for the resource": await assert({ aud: `${world.url}/mcp` }),
    "for two servers": await assert({ aud: [world.url, "https://elsewhere.example"] }),
    "for another app": await assert({ client_id: "somebody-else" }),
    "without an app": await assert({ client_id: undefined }),
    "without an id": await assert({ jti: undefined }),
    "with an empty id": await assert({ jti: "" }),
    "of a tenant": await assert({ tenant: "acme" }),
    "an id token": await assert({}, { typ: "JWT" }),
    "an access token": await assert({}, { typ: "at+jwt" }),
    "of another issuer": await other.sign(claimsOf(), { typ: "oauth-id-jag+jwt" }),
    "in another's name": await other.sign(claimsOf({ iss: idp.issuer }), { typ: "oauth-id-jag+jwt" }),
    "of a stranger": await assert({ sub: "sub-nobody" }),
    "for a team that ann is not in": await assert({ team: "blue" }),
    nonsense: "not.a.token",
  };
  for (const [what, assertion] of Object.entries(bad)) {
    const { status, json } = await exchange(assertion);
    expect([what, status, json.error]).toEqual([what, 400, "invalid_grant"]);
  }
  expect(other.asked).toEqual([]);
  await other[Symbol.asyncDispose]();
  const wrong = await exchange(await assert(), { client_secret: "x" });
  expect([wrong.status, wrong.json.error]).toEqual([401, "invalid_client"]);
  const plain = await registerApp([]);
  const unasked = await exchange(await assert({ client_id: plain.client_id }), plain);
  expect([unasked.status, unasked.json.access_token]).toEqual([400, undefined]);
});

test("an app's next assertion belongs to the same consent: what it has opened goes on until that is taken away", async () => {
  const first = (await exchange(await assert({ resource: world.url }))).json.access_token as string;
  const stream = await openSse(`${world.url}/sse`, bearer(first));
  await stream.initialize();
  const second = (await exchange(await assert({ resource: world.url }))).json.access_token as string;
  expect(second).not.toBe(first);
  expect((await stream.call(2, "tools/list")).result.tools.length).toBeGreaterThan(0);
  await world.ask("user", "reset", "ann");
  await until(() => stream.ended);
  expect([await open(first, "/sse"), await open(second, "/sse")]).toEqual([401, 401]);
});

test("an app that comes back after its consent was tidied away is given another one", async () => {
  await world.ask("user", "account", "ann", "--issuer", idp.issuer, "--subject", "sub-ann");
  const ask = async () => await exchange(await assert({ resource: `${world.url}/mcp/server/own` }));
  const first = (await ask()).json.access_token as string;
  expect(await open(first, "/mcp/server/own")).toBe(200);
  const data = join(world.directory, "data");
  const file = (await readdir(data, { recursive: true })).find((name) => name.endsWith("state.db")) ?? "";
  const database = loadDriver(world.directory).open(join(data, file));
  // As the gateway itself does it, and others of the same database.
  database.exec(`delete from oauth_grant where audience = '${world.url}/mcp/server/own'`);
  database.close();
  const { status, json } = await ask();
  expect([status, await open(json.access_token, "/mcp/server/own"), await open(first, "/mcp/server/own")]).toEqual([
    200, 200, 401,
  ]);
});

test("what was exchanged and what was refused stands in the audit, and no assertion or token anywhere", async () => {
  const assertion = await assert();
  const token = (await exchange(assertion)).json.access_token as string;
  await exchange(await assert({ sub: "sub-mallory" }));
  const { stdout } = await world.command("audit", "--json");
  const lines = stdout.split("\n").filter((line) => line.includes('"app.assertion"'));
  expect(lines.filter((line) => line.includes("sub-mallory"))).toEqual([expect.stringContaining('"denied"')]);
  expect(lines.some((line) => line.includes('"ok"') && line.includes("sub-ann"))).toBe(true);
  for (const text of [stdout, world.gateway.stderr(), world.gateway.stdout()]) {
    expect(text).not.toContain(assertion);
    expect(text).not.toContain(token);
  }
});
