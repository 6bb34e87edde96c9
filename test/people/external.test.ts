import { createHmac } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../harness/free-port.ts";
import { get } from "../harness/rest.ts";
import { rpc, send } from "../harness/rpc.ts";
import { introspectionClient, startTokenIssuer, type TokenIssuer } from "../harness/token-issuer.ts";
import { until } from "../harness/until.ts";
import { openSse } from "../protocol/sse-client.ts";
import { postForm } from "./app-client.ts";
import { startTeamWorld, type TeamWorld } from "./team-world.ts";

let issuer: TokenIssuer;
let world: TeamWorld;
let base: string;
beforeAll(async () => {
  issuer = await startTokenIssuer();
  const port = await freePort();
  base = `http://127.0.0.1:${port}`;
  const external = {
    issuers: [issuer.issuer],
    audiences: ["api://toolyard"],
    teamClaim: "org.team",
    introspection: introspectionClient,
  };
  world = await startTeamWorld({ settings: { publicUrl: base, auth: { external } }, port });
  await world.ask("user", "add", "ann", "--admin", "--team", "red");
  await world.ask("user", "add", "bob", "--team", "red");
  await world.ask("team", "add", "blue");
  await world.ask("team", "members", "blue", "--add", "bob");
  await world.ask("user", "account", "ann", "--issuer", issuer.issuer, "--subject", "sub-ann");
  await world.ask("user", "account", "bob", "--issuer", issuer.issuer, "--subject", "sub-bob");
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});

const both = "mcp:read mcp:tools:execute";
const annClaims = () => ({ sub: "sub-ann", aud: `${base}/mcp`, scope: both, client_id: "app" });
const json = { "content-type": "application/json" };
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
const open = async (token: string, path = "/mcp") => await rpc(`${base}${path}`, "tools/list", {}, bearer(token));
const enter = async (token: string): Promise<number> =>
  (await send(`${base}/api/session`, { headers: json, body: JSON.stringify({ token }) })).status;
const meOf = async (token: string): Promise<{ status: number; json: unknown }> =>
  await get(`${base}/api/me`, bearer(token));

test("MUST: the metadata name the external authorization server, and the gateway is none itself", async () => {
  const challenge = (await rpc(`${base}/mcp`, "tools/list")).headers["www-authenticate"] ?? "";
  const metadataUrl = /resource_metadata="([^"]+)"/.exec(challenge)?.[1] ?? "";
  expect((await get(metadataUrl)).json).toMatchObject({
    resource: `${base}/mcp`,
    authorization_servers: [issuer.issuer],
  });
  for (const path of ["/.well-known/oauth-authorization-server", "/oauth/authorize"]) {
    const { status, json } = await get(`${base}${path}`);
    expect([path, status, json.code]).toEqual([path, 404, "LOGIN_ELSEWHERE"]);
  }
  expect((await postForm(`${base}/oauth/token`, {})).json.code).toBe("LOGIN_ELSEWHERE");
});

test("a token of the external server is its user in the team, and is not checked again for each request", async () => {
  const token = await issuer.sign(annClaims());
  expect((await open(token)).status).toBe(200);
  expect(await meOf(token)).toMatchObject({ status: 200, json: { user: { name: "ann" }, team: "red" } });
  const before = issuer.asked.length;
  await Promise.all(Array.from({ length: 20 }, async () => await open(token)));
  expect(issuer.asked.length).toBe(before);
});

test("FAULT 100: tokens of external servers that are not good in any way get 401 with where to log in", async () => {
  const now = Math.floor(Date.now() / 1_000);
  const claims = annClaims();
  const other = await startTokenIssuer();
  const unsigned = (header: object, key: string): string => {
    const text = [header, { iss: issuer.issuer, exp: now + 600, ...claims }]
      .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
      .join(".");
    return `${text}.${key === "" ? "" : createHmac("sha256", key).update(text).digest("base64url")}`;
  };
  const bad: Readonly<Record<string, string>> = {
    expired: await issuer.sign({ ...claims, exp: now - 61 }),
    "not yet": await issuer.sign({ ...claims, nbf: now + 90 }),
    "without an end": await issuer.sign({ ...claims, exp: undefined }),
    "without a subject": await issuer.sign({ ...claims, sub: undefined }),
    "of another audience": await issuer.sign({ ...claims, aud: "https://elsewhere.example/mcp" }),
    "of a longer address": await issuer.sign({ ...claims, aud: `${base}0/mcp` }),
    "without an audience": await issuer.sign({ ...claims, aud: undefined }),
    "in another's name": await other.sign({ ...claims, iss: issuer.issuer }),
    "of another issuer": await other.sign(claims),
    "an id token for assertions": await issuer.sign(claims, { typ: "oauth-id-jag+jwt" }),
    "for logging out": await issuer.sign(claims, { typ: "logout+jwt" }),
    "signed by nobody": unsigned({ alg: "none", typ: "at+jwt" }, ""),
    "signed with the public key": unsigned({ alg: "HS256", typ: "at+jwt", kid: "key-1" }, await issuer.publicKey()),
    "with a path for a key": await issuer.sign(claims, { kid: "../../etc/passwd" }),
    "with keys of its own": await other.sign({ ...claims, iss: issuer.issuer }, { jku: `${other.issuer}/keys` }),
    "of a stranger": await issuer.sign({ ...claims, sub: "sub-nobody" }),
    opaque: "a-token-that-nobody-gave-out-0123456789",
  };
  for (const [what, token] of Object.entries(bad)) {
    const { status, headers } = await open(token);
    expect([what, status]).toEqual([what, 401]);
    expect(headers["www-authenticate"]).toContain(
      `resource_metadata="${base}/.well-known/oauth-protected-resource/mcp"`,
    );
  }
  expect(other.asked).toEqual([]);
  await other[Symbol.asyncDispose]();
  const good = await issuer.sign({ ...claims, exp: now - 30 });
  expect((await open(good)).status).toBe(200);
  expect((await get(`${base}/api/servers?access_token=${good}`)).status).toBe(401);
});

test("FAULT 110: a clock of the other server that is 60 s off is taken, one that is 61 s off is not", async () => {
  const second = (): number => Math.floor(Date.now() / 1_000);
  /** Of a token whose times count from the gateway's clock; asked again where a second began meanwhile. */
  const statusAt = async (times: (now: number) => object): Promise<number> =>
    await until(async () => {
      const now = second();
      const { status } = await open(await issuer.sign({ ...annClaims(), exp: now + 600, ...times(now) }));
      return second() === now && status;
    });
  // Good for one more second by a clock that is behind; good from just now by one that is ahead.
  const behind = async (seconds: number): Promise<number> => await statusAt((now) => ({ exp: now - seconds + 1 }));
  const ahead = async (seconds: number): Promise<number> =>
    await statusAt((now) => ({ iat: now + seconds, nbf: now + seconds }));
  expect([await behind(60), await behind(61)]).toEqual([200, 401]);
  expect([await ahead(60), await ahead(61)]).toEqual([200, 401]);
});

test("FAULT 100: a token is good at the address that it names, and another audience of the settings is the whole", async () => {
  const flat = await issuer.sign({ ...annClaims(), aud: ["https://elsewhere.example", `${base}/mcp/flat`] });
  const opened = await Promise.all(
    ["/mcp/flat", "/mcp", "/mcp/server/own"].map(async (path) => await open(flat, path)),
  );
  expect(opened.map(({ status }) => status)).toEqual([200, 401, 401]);
  const whole = await issuer.sign({ ...annClaims(), aud: "api://toolyard" });
  expect([(await open(whole)).status, (await meOf(whole)).status]).toEqual([200, 200]);
});

test("a token for an SSE endpoint alone is good for the messages of that endpoint, too", async () => {
  const stream = await openSse(`${base}/sse`, bearer(await issuer.sign({ ...annClaims(), aud: `${base}/sse` })));
  await stream.initialize();
  expect((await stream.call(2, "tools/list")).result.tools.length).toBeGreaterThan(0);
  stream.close();
});

test("FAULT 100: a token for one endpoint logs no browser in, which would have all of the API", async () => {
  const flat = await issuer.sign({ ...annClaims(), aud: `${base}/mcp/flat` });
  const whole = await issuer.sign(annClaims());
  expect([(await open(flat, "/mcp/flat")).status, (await open(whole)).status]).toEqual([200, 200]);
  expect([await enter(flat), await enter(whole)]).toEqual([401, 200]);
});

test("FAULT 101: scopes count as they stand in `scope` or `scp`, and a token without any of ours permits nothing", async () => {
  const read = await issuer.sign({ ...annClaims(), scope: undefined, scp: ["openid", "mcp:read"] });
  const call = { name: "execute_mcp_tool", arguments: { tool_path: "own:env", arguments: {} } };
  const refused = await rpc(`${base}/mcp`, "tools/call", call, bearer(read));
  expect([(await open(read)).status, refused.status]).toEqual([200, 403]);
  expect(refused.headers["www-authenticate"]).toContain(`error="insufficient_scope", scope="${both}"`);
  const none = await open(await issuer.sign({ ...annClaims(), scope: "openid" }));
  expect([none.status, none.headers["www-authenticate"]]).toEqual([403, expect.stringContaining('scope="mcp:read"')]);
});

test("somebody in two teams is in the one that the claim names, and in no other", async () => {
  const bobs = { ...annClaims(), sub: "sub-bob" };
  expect((await open(await issuer.sign(bobs))).status).toBe(401);
  expect((await open(await issuer.sign({ ...bobs, org: { team: "green" } }))).status).toBe(401);
  const blue = await issuer.sign({ ...bobs, org: { team: "blue" } });
  expect((await meOf(blue)).json).toMatchObject({ user: { name: "bob" }, team: "blue" });
  const { stdout } = await world.command("audit", "--json");
  expect(stdout).toContain("the user is in several teams");
});

test("FAULT 100: thirty tokens that name keys which do not exist have the keys fetched once at most", async () => {
  const before = issuer.asked.filter((path) => path === "/keys").length;
  const strange = await Promise.all(
    Array.from({ length: 30 }, async (_, index) => await issuer.sign(annClaims(), { kid: `made-up-${index}` })),
  );
  for (const token of strange) expect((await open(token)).status).toBe(401);
  expect(issuer.asked.filter((path) => path === "/keys").length - before).toBeLessThan(2);
});

describe("opaque tokens", () => {
  test("are asked about, and end with what they opened as soon as they are no good any more", async () => {
    const claims = { active: true, ...annClaims(), client_id: "other", exp: Math.floor(Date.now() / 1_000) + 600 };
    issuer.opaque.set("opaque-token-1", claims);
    const stream = await openSse(`${base}/sse`, bearer("opaque-token-1"));
    await stream.initialize();
    expect(await meOf("opaque-token-1")).toMatchObject({ status: 200, json: { user: { name: "ann" } } });
    issuer.opaque.delete("opaque-token-1");
    await until(async () => (await open("opaque-token-1")).status === 401);
    await until(() => stream.ended);
  });

  test("the other server is not told tokens of this gateway, also when they are no good any more", async () => {
    const { made } = await world.ask("user", "add", "carl", "--team", "red");
    const before = issuer.asked.length;
    expect((await meOf(made.token)).status).toBe(200);
    await world.ask("user", "disable", "carl");
    expect((await meOf(made.token)).status).toBe(401);
    expect((await meOf(`ty_pat_${"0".repeat(64)}`)).status).toBe(401);
    expect(issuer.asked.length).toBe(before);
  });

  test("while the server cannot be asked, nobody is let in, and no login is asked for", async () => {
    issuer.opaque.set("opaque-token-2", { active: true, ...annClaims() });
    issuer.isDown = true;
    const { status, headers } = await open("opaque-token-2");
    issuer.isDown = false;
    expect([status, headers["www-authenticate"]]).toEqual([503, undefined]);
    expect((await open("opaque-token-2")).status).toBe(200);
  });
});

test("FAULT 98: who is disabled here is out at once, whatever the token says, and so are open streams", async () => {
  await world.ask("user", "add", "eve", "--team", "red");
  await world.ask("user", "account", "eve", "--issuer", issuer.issuer, "--subject", "sub-eve");
  issuer.opaque.set("eves-token", { active: true, ...annClaims(), sub: "sub-eve" });
  const stream = await openSse(`${base}/sse`, bearer("eves-token"));
  await stream.initialize();
  await world.ask("user", "disable", "eve");
  await until(() => stream.ended);
  expect((await open("eves-token")).status).toBe(401);
});

test("an account is one user's, and what the gateway knows of its server stands in no output", async () => {
  const given = ["--issuer", issuer.issuer, "--subject", "sub-ann"];
  const { code, stderr } = await world.command("user", "account", "bob", ...given);
  expect([code, stderr]).toEqual([1, expect.stringContaining("already another user's")]);
  const { stdout } = await world.command("audit", "--json");
  for (const text of [stdout, world.gateway.stderr(), world.gateway.stdout()]) {
    expect(text).not.toContain(introspectionClient.clientSecret);
    expect(text).not.toContain("opaque-token-1");
  }
});
