import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { get } from "../harness/rest.ts";
import { rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { openSse } from "../protocol/sse-client.ts";
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
  await world.ask("team", "add", "blue");
  await world.ask("user", "add", "bob", "--team", "blue");
  ann = await world.logIn("ann", { stopAt: callbackUrl });
});
afterAll(async () => await world[Symbol.asyncDispose]());

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
const statusOf = async (token: string, path = "/api/servers"): Promise<number> =>
  (await get(`${world.url}${path}`, bearer(token))).status;

test("MUST: an app finds the authorization server, logs its user in, and is let in with what it was given", async () => {
  const challenge = (await rpc(`${world.url}/mcp`, "tools/list")).headers["www-authenticate"] ?? "";
  const metadataUrl = /resource_metadata="([^"]+)"/.exec(challenge)?.[1] ?? "";
  expect(challenge).toContain('scope="mcp:read mcp:tools:execute"');
  const resource = (await get(metadataUrl)).json;
  expect(resource).toMatchObject({ resource: `${world.url}/mcp`, authorization_servers: [world.url] });
  const server = (await get(`${world.url}/.well-known/oauth-authorization-server`)).json;
  expect(server).toMatchObject({
    issuer: world.url,
    code_challenge_methods_supported: ["S256"],
    client_id_metadata_document_supported: true,
    authorization_response_iss_parameter_supported: true,
  });
  expect(server.scopes_supported).toEqual([...resource.scopes_supported, "offline_access"]);
  const app = await connectApp(world.url, ann, {
    resource: `${world.url}/mcp`,
    scope: resource.scopes_supported.join(" "),
  });
  // Apps ask for all that is named there, and are to have no more than they need.
  expect(app).toMatchObject({ expires_in: 3_600, scope: "mcp:read mcp:tools:execute" });
  expect(await statusOf(app.access_token)).toBe(200);
  expect((await rpc(`${world.url}/mcp`, "tools/list", {}, bearer(app.access_token))).status).not.toBe(401);
});

test("FAULT 102: twenty renewals at once all work, also over a restart, and end nothing that the app has opened", async () => {
  const app = await connectApp(world.url, ann);
  const stream = await openSse(`${world.url}/sse`, bearer(app.access_token));
  await stream.initialize();
  const renewals = await Promise.all(
    Array.from({ length: 20 }, async () => await refresh(world.url, app.clientId, app.refresh_token)),
  );
  expect(renewals.map(({ status }) => status)).toEqual(Array(20).fill(200));
  const tokens = renewals.map(({ json }) => (json as AppTokens).access_token);
  expect(new Set(tokens).size).toBe(20);
  expect((await stream.call(2, "tools/list")).result.tools.length).toBeGreaterThan(0);
  stream.close();
  await world.restart("SIGKILL");
  expect(await statusOf(app.access_token)).toBe(200);
  const last = String(renewals[7]?.json.refresh_token);
  const again = await refresh(world.url, app.clientId, last);
  expect(again.status).toBe(200);
  expect(await statusOf((again.json as AppTokens).access_token)).toBe(200);
});

test("FAULT 102: a refresh token that another app presents ends everything that came of the same consent", async () => {
  const [app, bystander] = [await connectApp(world.url, ann), await connectApp(world.url, ann)];
  const stream = await openSse(`${world.url}/sse`, bearer(app.access_token));
  await stream.initialize();
  const other = await register(world.url, { redirect_uris: [callbackUrl] });
  expect((await refresh(world.url, other.json.client_id, app.refresh_token)).json.error).toBe("invalid_grant");
  await until(() => stream.ended);
  expect(await statusOf(app.access_token)).toBe(401);
  expect((await refresh(world.url, app.clientId, app.refresh_token)).json.error).toBe("invalid_grant");
  expect(await statusOf(bystander.access_token)).toBe(200);
  const { stdout } = await world.command("audit", "--json");
  expect(stdout.split("\n").filter((line) => line.includes("app.refresh.foreign"))).toEqual([
    expect.stringContaining(other.json.client_id),
  ]);
});

test("an app that is disconnected on the account page loses what it has opened, and cannot renew", async () => {
  const app = await connectApp(world.url, ann);
  const stream = await openSse(`${world.url}/sse`, bearer(app.access_token));
  await stream.initialize();
  const page = await ann.open(`${world.url}/account`);
  // The newest stands last.
  const newest = [...page.text.matchAll(/name="id" value="(g_[a-z0-9]+)"/g)].at(-1)?.[1] ?? "";
  await ann.submit(page, {}, `value="${newest}"`);
  await until(() => stream.ended);
  expect(await statusOf(app.access_token)).toBe(401);
  expect((await refresh(world.url, app.clientId, app.refresh_token)).json.error).toBe("invalid_grant");
});

test("FAULT 98: who is removed from the team loses the apps of that team at once, and who is disabled all", async () => {
  await world.ask("user", "add", "eve", "--team", "red");
  await world.ask("team", "members", "blue", "--add", "eve");
  const eve = await world.logIn("eve", { stopAt: callbackUrl });
  const inTeam = async (team: string): Promise<string> => {
    const { json } = await register(world.url, { redirect_uris: [callbackUrl] });
    const start = authorize(world.url, json.client_id);
    const page = await eve.open(start.url);
    const member = new RegExp(`<option value="(m_[a-z0-9]+)">${team}<`).exec(page.text)?.[1] ?? "";
    const end = await eve.submit(page, { answer: "allow", team: member }, 'name="answer"');
    const code = new URL(end.url).searchParams.get("code") ?? "";
    return (await redeem(world.url, json.client_id, { code, verifier: start.verifier })).json.access_token;
  };
  const [red, blue] = [await inTeam("red"), await inTeam("blue")];
  expect([await statusOf(red), await statusOf(blue)]).toEqual([200, 200]);
  await world.ask("team", "members", "red", "--remove", "eve");
  expect([await statusOf(red), await statusOf(blue)]).toEqual([401, 200]);
  await world.ask("user", "reset", "eve");
  expect(await statusOf(blue)).toBe(401);
  expect((await eve.open(`${world.url}/account`)).text).toContain("Log in");
});

test("FAULT 102: a code works once, within its minute, for its own app, address and verifier", async () => {
  const { json: client } = await register(world.url, { redirect_uris: [callbackUrl] });
  const other = (await register(world.url, { redirect_uris: [callbackUrl] })).json.client_id;
  const fresh = async (): Promise<{ code: string; verifier: string }> => {
    const start = authorize(world.url, client.client_id);
    const callback = await consent(ann, start);
    expect(callback.searchParams.get("iss")).toBe(world.url);
    expect(callback.searchParams.get("state")).toBe(start.state);
    return { code: callback.searchParams.get("code") ?? "", verifier: start.verifier };
  };
  const refused = async (clientId: string, given: Parameters<typeof redeem>[2]): Promise<string> => {
    const { status, json } = await redeem(world.url, clientId, given);
    expect(status).toBe(400);
    return json.error;
  };
  expect(await refused(other, await fresh())).toBe("invalid_grant");
  expect(await refused(client.client_id, { ...(await fresh()), verifier: "x".repeat(43) })).toBe("invalid_grant");
  expect(await refused(client.client_id, { ...(await fresh()), redirect_uri: `${callbackUrl}/x` })).toBe(
    "invalid_grant",
  );
  const good = await fresh();
  const both = await Promise.all([1, 2].map(async () => await redeem(world.url, client.client_id, good)));
  // The second may take back what the first is about to be given.
  expect(both.filter(({ status }) => status === 200).length).toBeLessThan(2);
  expect(both.every(({ status }) => status === 200 || status === 400)).toBe(true);
  // Somebody has the code who should not: nothing that came of it is good any more.
  expect(await refused(client.client_id, good)).toBe("invalid_grant");
  for (const { json } of both) expect(await statusOf(String(json.access_token))).toBe(401);
});

test("FAULT 102: without PKCE, with its plain form, or to an address that is not the app's, nobody is asked anything", async () => {
  const { json } = await register(world.url, { redirect_uris: [callbackUrl] });
  const ask = async (more: Record<string, string>): Promise<string> => {
    const { url } = authorize(world.url, json.client_id, more);
    const page = await ann.open(url);
    expect(page.text).not.toContain('name="answer"');
    const { search, hash } = new URL(page.url);
    return page.status === 303
      ? (new URLSearchParams(hash === "" ? search : hash.slice(1)).get("error") ?? "")
      : "page";
  };
  expect(await ask({ code_challenge_method: "plain" })).toBe("invalid_request");
  expect(await ask({ code_challenge: "" })).toBe("invalid_request");
  expect(await ask({ resource: "https://elsewhere.example/mcp" })).toBe("invalid_target");
  expect(await ask({ response_type: "token" })).toBe("unsupported_response_type");
  expect(await ask({ prompt: "none" })).toMatch(/_required$/);
  for (const uri of [
    "http://127.0.0.1:5999/other",
    "http://127.0.0.1.evil.example:5999/callback",
    "https://127.0.0.1:5999/callback",
    "http://evil.example/callback",
    "http://127.0.0.1:5999/callback?x=1",
    "http://127.0.0.1:5999/callback#x",
    "http://user@127.0.0.1:5999/callback",
    "http://127.0.0.1:5999/callback/../callback2",
    "http://[::1]:5999/callback",
    "javascript:alert(1)//",
  ])
    expect([uri, await ask({ redirect_uri: uri })]).toEqual([uri, "page"]);
});

test("FAULT 100: a token opens the resource that it was given out for, and no other", async () => {
  const flat = await connectApp(world.url, ann, { resource: `${world.url}/mcp/flat` });
  const open = async (path: string): Promise<boolean> =>
    (await rpc(`${world.url}${path}`, "tools/list", {}, bearer(flat.access_token))).status !== 401;
  expect([await open("/mcp/flat"), await open("/mcp"), await open("/mcp/server/own")]).toEqual([true, false, false]);
  expect(await statusOf(flat.access_token)).toBe(401);
  const all = await connectApp(world.url, ann, { resource: world.url });
  expect(await statusOf(all.access_token)).toBe(200);
  // A token stands in its header, once.
  expect((await get(`${world.url}/api/servers?access_token=${all.access_token}`)).status).toBe(401);
});

test("FAULT 101: an app that may only look is told what a call needs, and gets it by asking again", async () => {
  const reader = await connectApp(world.url, ann, { scope: "mcp:read made:up" });
  expect(reader.scope).toBe("mcp:read");
  const call = { name: "execute_mcp_tool", arguments: { tool_path: "own:env", arguments: {} } };
  const { status, headers } = await rpc(`${world.url}/mcp`, "tools/call", call, bearer(reader.access_token));
  expect(status).toBe(403);
  expect(headers["www-authenticate"]).toContain('error="insufficient_scope", scope="mcp:read mcp:tools:execute"');
  const { scope } = await connectApp(world.url, ann, { scope: "mcp:read mcp:tools:execute" });
  expect(scope).toBe("mcp:read mcp:tools:execute");
});

test("people choose among their own teams only, and see where the app would send them", async () => {
  const { json } = await register(world.url, { client_name: "Nice\u202e <b>app</b>", redirect_uris: [callbackUrl] });
  const { url } = authorize(world.url, json.client_id);
  const page = await ann.open(url);
  expect(page.text).toContain("Nice &#60;b&#62;app");
  expect(page.text).toContain("127.0.0.1:5999");
  expect(page.text).toContain("Any program there can call itself so");
  expect(page.headers["content-security-policy"]).toContain("form-action 'self' http://127.0.0.1:5999");
  expect([...page.text.matchAll(/<option value="m_[a-z0-9]+">(\w+)/g)].map(([, team]) => team)).toEqual(["red"]);
  const members = (await world.ask("team", "members", "blue")).members as { id: string }[];
  const forged = await ann.submit(page, { answer: "allow", team: members[0]?.id ?? "" }, 'name="answer"');
  expect([forged.status, forged.text.includes("you are not in this team")]).toEqual([403, true]);
  // By GET nothing is agreed to, another browser cannot answer, and who declines is believed.
  const bob = await world.logIn("bob", { stopAt: callbackUrl });
  expect((await bob.open(page.url)).text).toContain("opened in another browser");
  const declined = await ann.submit(await ann.open(url), { answer: "decline" }, 'name="answer"');
  expect(new URL(declined.url).searchParams.get("error")).toBe("access_denied");
});

test("FAULT 30: what a request says of its host gets into no address of the metadata", async () => {
  const headers = { "x-forwarded-host": "evil.example", "x-forwarded-proto": "https", forwarded: "host=evil.example" };
  const { text } = await get(`${world.url}/.well-known/oauth-authorization-server`, headers);
  expect(text).not.toContain("evil");
  expect(JSON.parse(text).token_endpoint).toBe(`${world.url}/oauth/token`);
});

test("a terminal without a browser is connected with a code that its owner types elsewhere", async () => {
  const device = "urn:ietf:params:oauth:grant-type:device_code";
  const { json } = await register(world.url, {
    client_name: "Terminal",
    redirect_uris: [callbackUrl],
    grant_types: [device],
  });
  const started = await postForm(`${world.url}/oauth/device/start`, { client_id: json.client_id });
  expect(started.status).toBe(200);
  const { device_code, user_code, verification_uri } = started.json;
  const poll = async () =>
    await postForm(`${world.url}/oauth/token`, { grant_type: device, client_id: json.client_id, device_code });
  expect((await poll()).json.error).toBe("authorization_pending");
  const typed = await ann.submit(await ann.open(verification_uri), { user_code: "WRONG-CODE" });
  expect(typed.text).toContain("This code is not right");
  const shown = await ann.submit(typed, { user_code });
  expect(shown.text).toContain("Terminal");
  const asked = await ann.submit(shown, {}, 'name="confirm"');
  expect(asked.text).toContain("another device");
  const done = await ann.submit(asked, { answer: "allow" }, 'name="answer"');
  expect(done.text).toContain("The app is connected");
  const { status, json: tokens } = await poll();
  expect(status).toBe(200);
  expect(await statusOf(tokens.access_token)).toBe(200);
});

test("an app with a secret is known by it, may ask what a token is, and can give tokens back", async () => {
  const { json } = await register(world.url, {
    client_name: "Service",
    redirect_uris: ["https://app.example/callback"],
    token_endpoint_auth_method: "client_secret_post",
  });
  expect(json["client_secret"]).toEqual(expect.any(String));
  const about = { client_id: json.client_id, client_secret: String(json["client_secret"]) };
  const app = await connectApp(world.url, ann);
  const introspect = async () =>
    (await postForm(`${world.url}/oauth/introspect`, { ...about, token: app.access_token })).json;
  expect(await introspect()).toMatchObject({
    active: true,
    team_name: "red",
    team_role: "member",
    aud: `${world.url}/mcp`,
  });
  const wrong = await postForm(`${world.url}/oauth/introspect`, {
    ...about,
    client_secret: "x",
    token: app.access_token,
  });
  expect([wrong.status, wrong.json.error]).toEqual([401, "invalid_client"]);
  const own = { client_id: app.clientId, token: app.refresh_token };
  expect((await postForm(`${world.url}/oauth/revoke`, own)).status).toBe(200);
  expect(await introspect()).toEqual({ active: false });
  expect(await statusOf(app.access_token)).toBe(401);
});

test("FAULT J: tokens, codes, cookies and secrets are in no file, log, record or output, in no form", async () => {
  const app = await connectApp(world.url, ann);
  const secret = await register(world.url, {
    redirect_uris: ["https://a.example/"],
    token_endpoint_auth_method: "client_secret_basic",
  });
  const start = authorize(world.url, app.clientId);
  const code = (await consent(ann, start)).searchParams.get("code") ?? "";
  const { link } = await world.ask("user", "link", "bob");
  // Used, refused, taken back and renewed: each leaves a line somewhere.
  expect(await statusOf(app.access_token)).toBe(200);
  await rpc(`${world.url}/mcp`, "tools/call", { name: "nothing" }, bearer(app.access_token));
  await get(`${world.url}/api/servers?access_token=${app.access_token}`);
  const renewed = (await refresh(world.url, app.clientId, app.refresh_token)).json as AppTokens;
  await postForm(`${world.url}/oauth/revoke`, { client_id: app.clientId, token: renewed.refresh_token });
  const waiting = await ann.open(authorize(world.url, app.clientId).url);
  const secrets = [
    app.access_token,
    app.refresh_token,
    renewed.access_token,
    renewed.refresh_token,
    code,
    link.split("#")[1],
    String(secret.json["client_secret"]),
    password,
  ];
  const step = waiting.url.split("/").at(-1) ?? "";
  const all = [...secrets, step, ...[...ann.cookies.values()].map((value) => decodeURIComponent(value))];
  expect(all.every((one) => one.length > 15)).toBe(true);
  const files = await readdir(join(world.directory, "data"), { recursive: true, withFileTypes: true });
  const contents = await Promise.all(
    files.filter((file) => file.isFile()).map(async (file) => await readFile(join(file.parentPath, file.name))),
  );
  expect(contents.some((bytes) => bytes.includes("Test app"))).toBe(true);
  const told = await Promise.all(
    [["audit"], ["calls"], ["user"]].map(async (words) => await world.command(...words, "--json")),
  );
  for (const text of [
    ...told.flatMap(({ stdout, stderr }) => [stdout, stderr]),
    world.gateway.stdout(),
    world.gateway.stderr(),
  ])
    contents.push(Buffer.from(text));
  for (const one of all) {
    const forms = [
      one,
      Buffer.from(one).toString("hex"),
      Buffer.from(one).toString("base64"),
      Buffer.from(one, "base64url").toString("hex"),
      Buffer.from(one).toString("base64url"),
      encodeURIComponent(one),
    ];
    for (const form of forms) expect(contents.filter((bytes) => bytes.includes(form)).length, one).toBe(0);
  }
});
