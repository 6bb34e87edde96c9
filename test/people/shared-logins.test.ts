import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommand } from "../harness/command.ts";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { hasNoPostgres, startPostgres, type Postgres } from "../harness/postgres.ts";
import { get, post, run } from "../harness/rest.ts";
import { send, type RawAnswer } from "../harness/rpc.ts";
import { startSwitchProxy, type SwitchProxy } from "../harness/switch-proxy.ts";
import { until } from "../harness/until.ts";
import { startAuthorizationServer, type AuthorizationServer } from "../oauth/authorization-server.ts";
import { clickThrough } from "../oauth/browser.ts";
import { runCommand as runLogin } from "../oauth/login-command.ts";
import { startProtectedServer, type ProtectedServer } from "../oauth/mcp-server.ts";
import { createPageBrowser, type PageBrowser, type SeenPage } from "./page-browser.ts";
import { password } from "./team-world.ts";

const key = Buffer.alloc(32, 1).toString("base64");

describe.skipIf(hasNoPostgres)("what belongs to people, at two gateways of one PostgreSQL", () => {
  let postgres: Postgres;
  let directory: string;
  let env: Record<string, string>;
  let name: SwitchProxy;
  let publicUrl: string;
  let authorization: AuthorizationServer;
  let server: ProtectedServer;
  let first: RunningGateway;
  let second: RunningGateway;
  let bob: PageBrowser;
  let bearer: Record<string, string>;

  async function start(folder: string): Promise<RunningGateway> {
    await mkdir(join(directory, folder), { recursive: true });
    return await startGateway({
      directory: join(directory, folder),
      config: {
        mcpServers: {
          vault: { type: "http", url: server.url, scope: "user" },
          common: { type: "http", url: server.url, scope: "shared" },
        },
        toolyard: { team: true, database: "${env:YARD_DATABASE}", publicUrl },
      },
      env,
    });
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
  async function command(gateway: RunningGateway, ...words: string[]): Promise<any> {
    const where = ["--config", gateway.configFile, "--data-dir", join(gateway.directory, "data"), "--json"];
    const { code, stdout, stderr } = await runCommand([...words, ...where], env);
    expect([code, stderr]).toEqual([0, ""]);
    return JSON.parse(stdout);
  }

  const both = (): readonly RunningGateway[] => [first, second];
  const leadTo = (gateway: RunningGateway): void => name.leadTo(Number(new URL(gateway.url).port));
  const call = async (gateway: RunningGateway, tool = "vault:headers"): Promise<RawAnswer> =>
    await run(gateway.url, tool, {}, bearer);
  const works = async (gateway: RunningGateway, tool?: string): Promise<boolean> =>
    (await call(gateway, tool)).status === 200;
  const instanceOf = async (slug: string, gateway = first): Promise<string> => {
    const { instances } = (await get(`${gateway.url}/api/instances`, bearer)).json;
    return (instances as { id: string; server: string }[]).find((one) => one.server === slug)?.id ?? "";
  };
  const pageOf = async (slug: string): Promise<string> =>
    `${publicUrl}/connect/${encodeURIComponent(await instanceOf(slug))}`;
  /** The token that the server was sent. */
  async function tokenSent(gateway: RunningGateway): Promise<string> {
    expect(await works(gateway)).toBe(true);
    const sent = server.seen.findLast(({ rpc }) => rpc === "tools/call");
    const token = /^Bearer (.+)$/.exec(sent?.headers.authorization ?? "")?.[1];
    if (token === undefined) throw new Error("the server was sent no token");
    return token;
  }

  /** From the page to the authorization server and back, to where the browser is sent with the answer. */
  async function callbackOf(page: SeenPage): Promise<string> {
    const shown = await bob.submit(page, {}, 'value="login"');
    const address = /<a class="button" rel="noreferrer" href="([^"]+)"/.exec(shown.text)?.[1];
    if (address === undefined) throw new Error(shown.text);
    return (await clickThrough(address.replaceAll("&#38;", "&"), { stopAt: `${publicUrl}/` })).url;
  }

  async function logIn(slug: string): Promise<SeenPage> {
    return await bob.open(await callbackOf(await bob.open(await pageOf(slug))));
  }

  beforeAll(async () => {
    postgres = await startPostgres();
    directory = await mkdtemp(join(tmpdir(), "toolyard-shared-"));
    env = { YARD_DATABASE: await postgres.createDatabase("yard"), TOOLYARD_KEY: key };
    let url = "";
    authorization = await startAuthorizationServer({ resource: () => url });
    server = await startProtectedServer({
      issuer: () => authorization.issuer,
      accepts: async (token, resource) => (await authorization.audienceOf(token)) === resource,
    });
    ({ url } = server);
    name = await startSwitchProxy();
    publicUrl = `http://127.0.0.1:${name.port}`;
    [first, second] = await Promise.all([start("first"), start("second")]);
    leadTo(first);
    await command(first, "user", "add", "ann", "--admin", "--team", "red");
    const { made } = await command(first, "user", "add", "bob", "--team", "red");
    bearer = { authorization: `Bearer ${made.token}` };
    const { link } = await command(first, "user", "link", "bob");
    bob = createPageBrowser();
    await bob.submit(await bob.open(`${publicUrl}/setup`), {
      ...{ code: link.split("#")[1], password, again: password },
    });
    await until(async () => (await get(`${second.url}/api/me`, bearer)).status === 200);
  });
  afterAll(async () => {
    await first[Symbol.asyncDispose]();
    await second[Symbol.asyncDispose]();
    await name[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    await authorization[Symbol.asyncDispose]();
    await postgres[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  test("a login at a server that is made at one is used at the other, and a logout there ends it here", async () => {
    expect([await works(first), await works(second)]).toEqual([false, false]);
    expect((await logIn("vault")).text).toContain("You are logged in.");
    for (const gateway of both()) await until(async () => await works(gateway));
    // Nothing of it is readable in the database, and nothing of it lies in a folder of one of them.
    const token = await tokenSent(first);
    const [row] = await postgres.run("select team, about from toolyard_state.shared_item where kind = 'login'", "yard");
    expect(row?.["team"]).toBe("red");
    expect(Buffer.from(String(row?.["about"]), "base64").toString("latin1")).not.toContain(token);
    leadTo(second);
    const out = await bob.submit(await bob.open(await pageOf("vault")), {}, 'value="logout"');
    leadTo(first);
    expect(out.text).toContain("Nobody is logged in.");
    for (const gateway of both()) await until(async () => !(await works(gateway)));
  });

  test("however many calls find an old token at both, it is renewed once, and all of them go on", async () => {
    await logIn("vault");
    for (const gateway of both()) await until(async () => await works(gateway));
    for (let round = 0; round < 3; round += 1) {
      const token = await tokenSent(first);
      const before = authorization.grants.length;
      await authorization.revoke(token);
      const calls = Array.from({ length: 20 }, async (_, at) => await call(both()[at % 2] as RunningGateway));
      expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(Array(20).fill(200));
      expect(authorization.grants.slice(before)).toEqual(["refresh_token"]);
      expect(await tokenSent(second)).not.toBe(token);
    }
  });

  test("a browser that begins a login at one and comes back to the other is logged in, once, and no other browser is", async () => {
    const out = await bob.submit(await bob.open(await pageOf("vault")), {}, 'value="logout"');
    expect(out.text).toContain("Nobody is logged in.");
    const begun = async (): Promise<string> => {
      leadTo(first);
      const callback = await callbackOf(await bob.open(await pageOf("vault")));
      leadTo(second);
      return callback;
    };
    const callback = await begun();
    const back = await bob.open(callback);
    expect([back.url, back.text.includes("You are logged in.")]).toEqual([await pageOf("vault"), true]);
    expect((await bob.open(callback)).status).toBe(403);
    for (const gateway of both()) await until(async () => await works(gateway));
    // What the browser brought is in the database no longer, and nothing of the login that ended.
    const left = async (): Promise<number> =>
      (await postgres.run("select 1 from toolyard_state.shared_item where kind like 'login-%'", "yard")).length;
    await until(async () => (await left()) === 0);
    // A refusal of the authorization server is told there, too.
    const refused = new URL(await begun());
    refused.searchParams.delete("code");
    refused.searchParams.set("error", "access_denied");
    expect((await bob.open(refused.href)).text).toContain("access_denied");
    // ann is led to finish what bob began: neither of them does then.
    const stolen = await begun();
    const { link } = await command(first, "user", "link", "ann");
    const ann = createPageBrowser();
    await ann.submit(await ann.open(`${publicUrl}/setup`), {
      ...{ code: link.split("#")[1], password, again: password },
    });
    expect((await ann.open(stolen)).status).toBe(403);
    expect((await bob.open(stolen)).status).toBe(403);
    leadTo(first);
    expect((await bob.open(stolen)).status).toBe(403);
  });

  test("`toolyard login` beside them logs in at all of them, and `logout` out", async () => {
    expect(await works(second, "common:headers")).toBe(false);
    const login = runLogin(first.directory, ["login", "common"], env);
    await clickThrough(await login.address());
    expect([await login.ended, login.stderr()]).toEqual([0, expect.not.stringContaining("toolyard:")]);
    for (const gateway of both()) await until(async () => await works(gateway, "common:headers"));
    expect(await runLogin(second.directory, ["logout", "common"], env).ended).toBe(0);
    for (const gateway of both()) await until(async () => !(await works(gateway, "common:headers")));
  });

  test("a token for one instance is good at the other at once, and revoked there it is good nowhere", async () => {
    const instance = await instanceOf("vault");
    const path = `/api/instances/${encodeURIComponent(instance)}/token`;
    const ping = async (gateway: RunningGateway, token: string): Promise<number> =>
      (
        await post(
          `${gateway.url}/i/${encodeURIComponent(instance)}/mcp`,
          { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} },
          { authorization: `Bearer ${token}`, accept: "application/json, text/event-stream" },
        )
      ).status;
    const tokens: string[] = [];
    for (const gateway of [first, second, first]) {
      const { token } = (await post(`${gateway.url}${path}`, {}, bearer)).json;
      tokens.push(token as string);
      const other = gateway === first ? second : first;
      expect(await ping(other, token as string)).not.toBe(401);
    }
    expect(await ping(second, `ty_inst_${"0".repeat(64)}`)).toBe(401);
    await until(async () => ((await get(`${second.url}${path}`, bearer)).json.tokens as unknown[]).length === 3);
    const revoked = await send(`${second.url}${path}`, {
      method: "DELETE",
      headers: { ...bearer, "content-type": "application/json" },
    });
    expect(revoked.json).toEqual({ revoked: 3 });
    for (const token of tokens) {
      expect(await ping(second, token)).toBe(401);
      await until(async () => (await ping(first, token)) === 401);
    }
  });

  test("a browser that logs in at the dashboard with a token is logged in at both, until it logs out at one", async () => {
    const json = { "content-type": "application/json" };
    const given = { token: bearer["authorization"]?.slice("Bearer ".length) };
    const login = await post(`${publicUrl}/api/session`, given);
    expect(login.status).toBe(200);
    const cookie = String(login.headers["set-cookie"]).split(";", 1)[0] ?? "";
    const proof = { cookie, "toolyard-key": login.json.key as string };
    /** Behind the one name: the cookie is that name's. */
    const statusAt = async (gateway: RunningGateway): Promise<number> => {
      leadTo(gateway);
      return (await get(`${publicUrl}/api/session`, { ...proof, connection: "close" })).status;
    };
    for (const gateway of both()) await until(async () => (await statusAt(gateway)) === 200);
    leadTo(second);
    const out = await send(`${publicUrl}/api/session`, {
      method: "DELETE",
      headers: { ...proof, ...json, connection: "close" },
    });
    expect(out.status).toBe(200);
    for (const gateway of both()) await until(async () => (await statusAt(gateway)) === 401);
    leadTo(first);
  });

  test("wrong passwords count at both together, however many are tried at once, and a right one forgets them", async () => {
    const tries = async (count: number, given: string): Promise<readonly number[]> => {
      const all = Array.from({ length: count }, async (_, at) => {
        const { url } = both()[at % 2] as RunningGateway;
        const browser = createPageBrowser({ leadsTo: (address) => address.replace(publicUrl, url) });
        const page = await browser.open(`${publicUrl}/auth/login?next=/account`);
        return (await browser.submit(page, { name: "bob", password: given })).status;
      });
      return await Promise.all(all);
    };
    expect(new Set(await tries(4, "wrong horse battery"))).toEqual(new Set([401]));
    expect(await tries(1, password)).toEqual([200]);
    const wrong = await tries(20, "wrong horse battery");
    expect(wrong.filter((status) => status === 401)).toHaveLength(10);
    expect(wrong.filter((status) => status === 429)).toHaveLength(10);
    // Nothing says who it was.
    const kept = await postgres.run("select * from toolyard_state.attempt", "yard");
    expect(JSON.stringify(kept)).not.toMatch(/bob|127\.0\.0\.1/);
  });

  test("while the database is away, a login that has to be renewed says what it waits for, and goes on after that", async () => {
    for (const gateway of both()) await until(async () => await works(gateway));
    const token = await tokenSent(first);
    await postgres.stop();
    try {
      // One that is good is used.
      expect(await works(second)).toBe(true);
      await authorization.revoke(token);
      const { json } = await until(async () => {
        const answer = await call(first);
        return answer.json.code === "STORE_UNAVAILABLE" && /cannot be reached/.test(answer.text) && answer;
      });
      expect(json.detail).toContain("PostgreSQL at 127.0.0.1");
    } finally {
      await postgres.start();
    }
    const before = authorization.grants.length;
    for (const gateway of both()) await until(async () => await works(gateway));
    expect(authorization.grants.slice(before)).toEqual(["refresh_token"]);
  });
});
