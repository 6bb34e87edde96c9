import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommand } from "../harness/command.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { hasNoPostgres, startPostgres, type Postgres } from "../harness/postgres.ts";
import { get, post } from "../harness/rest.ts";
import { send } from "../harness/rpc.ts";
import { startSwitchProxy, type SwitchProxy } from "../harness/switch-proxy.ts";
import { until } from "../harness/until.ts";
import { authorize, callbackUrl, connectApp, consent, postForm, redeem, refresh, register } from "./app-client.ts";
import { createPageBrowser, type PageBrowser } from "./page-browser.ts";
import { password } from "./team-world.ts";
import { openSse } from "../protocol/sse-client.ts";

const key = Buffer.alloc(32, 1).toString("base64");
const newKey = Buffer.alloc(32, 2).toString("base64");

describe.skipIf(hasNoPostgres)("two gateways of one PostgreSQL, behind one name", () => {
  let postgres: Postgres;
  let directory: string;
  let url: string;
  let name: SwitchProxy;
  let publicUrl: string;
  let first: RunningGateway;
  let second: RunningGateway;
  let ann: PageBrowser;

  interface Differently {
    readonly env?: Record<string, string>;
    readonly settings?: object;
  }

  async function start(folder: string, { env, settings }: Differently = {}): Promise<RunningGateway> {
    await mkdir(join(directory, folder), { recursive: true });
    return await startGateway({
      directory: join(directory, folder),
      config: {
        mcpServers: { own: { ...badServer("--behaviours=env,hang"), scope: "user" } },
        toolyard: { team: true, database: "${env:YARD_DATABASE}", publicUrl, ...settings },
      },
      env: { YARD_DATABASE: url, TOOLYARD_KEY: key, ...env },
    });
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
  async function ask(gateway: RunningGateway, ...words: string[]): Promise<any> {
    const where = ["--config", gateway.configFile, "--data-dir", join(gateway.directory, "data"), "--json"];
    const { code, stdout, stderr } = await runCommand([...words, ...where], {
      YARD_DATABASE: url,
      TOOLYARD_KEY: key,
    });
    expect([code, stderr]).toEqual([0, ""]);
    return JSON.parse(stdout);
  }

  const portOf = (gateway: RunningGateway): number => Number(new URL(gateway.url).port);
  const statusOf = async (gateway: RunningGateway, headers: Record<string, string>): Promise<number> =>
    (await get(`${gateway.url}/api/me`, headers)).status;
  const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
  const cookieOf = (browser: PageBrowser): Record<string, string> => ({
    cookie: [...browser.cookies].map(([cookie, value]) => `${cookie}=${value}`).join("; "),
  });

  beforeAll(async () => {
    postgres = await startPostgres();
    url = await postgres.createDatabase("yard");
    directory = await mkdtemp(join(tmpdir(), "toolyard-several-"));
    name = await startSwitchProxy();
    publicUrl = `http://127.0.0.1:${name.port}`;
    [first, second] = await Promise.all([start("first"), start("second")]);
    name.leadTo(portOf(first));
    await ask(first, "user", "add", "ann", "--admin", "--team", "red");
    const { link } = await ask(first, "user", "link", "ann");
    ann = createPageBrowser({ stopAt: callbackUrl });
    const page = await ann.open(`${publicUrl}/setup`);
    await ann.submit(page, { code: link.split("#")[1], password, again: password });
  });
  afterAll(async () => {
    await first[Symbol.asyncDispose]();
    await second[Symbol.asyncDispose]();
    await name[Symbol.asyncDispose]();
    await postgres[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  test("a login at one gateway is one at the other, and ends at both", async () => {
    const browser = createPageBrowser();
    const page = await browser.open(`${publicUrl}/auth/login?next=/account`);
    await browser.submit(page, { name: "ann", password });
    const cookies = cookieOf(browser);
    expect(await statusOf(first, cookies)).toBe(200);
    await until(async () => (await statusOf(second, cookies)) === 200);
    name.leadTo(portOf(second));
    try {
      const account = await browser.open(`${publicUrl}/account`);
      await browser.submit(account, {}, 'action="/auth/logout"');
    } finally {
      name.leadTo(portOf(first));
    }
    expect(await statusOf(second, cookies)).toBe(401);
    await until(async () => (await statusOf(first, cookies)) === 401);
  });

  test("each step of an app's login may be at another gateway, however soon it comes", async () => {
    for (let round = 0; round < 3; round += 1) {
      const { json } = await register(second.url, { client_name: "App", redirect_uris: [callbackUrl] });
      const start = authorize(publicUrl, json.client_id);
      const code = (await consent(ann, start)).searchParams.get("code") ?? "";
      const given = await redeem(second.url, json.client_id, { code, verifier: start.verifier });
      expect([given.status, await statusOf(first, bearer(given.json.access_token))]).toEqual([200, 200]);
      const renewed = await refresh(first.url, json.client_id, given.json.refresh_token);
      expect([renewed.status, await statusOf(second, bearer(renewed.json.access_token))]).toEqual([200, 200]);
      // What was made up is found nowhere.
      expect(await statusOf(second, bearer(`${renewed.json.access_token}x`))).toBe(401);
    }
  });

  test("FAULT 98: an app that is taken away at one gateway loses its streams at the other, and gets no new token at either", async () => {
    const app = await connectApp(publicUrl, ann);
    const stream = await openSse(`${second.url}/sse`, bearer(app.access_token));
    await stream.initialize();
    const revoked = await postForm(`${first.url}/oauth/revoke`, { token: app.refresh_token, client_id: app.clientId });
    expect(revoked.status).toBe(200);
    await until(() => stream.ended);
    expect(await statusOf(first, bearer(app.access_token))).toBe(401);
    expect(await statusOf(second, bearer(app.access_token))).toBe(401);
    for (const gateway of [first, second])
      expect(await refresh(gateway.url, app.clientId, app.refresh_token)).toMatchObject({ status: 400 });
  });

  test("renewals at both gateways while the app is taken away leave no token that is good", async () => {
    for (let round = 0; round < 2; round += 1) {
      const app = await connectApp(publicUrl, ann);
      const renewals = [first, second, first, second].map(async ({ url: at }) =>
        refresh(at, app.clientId, app.refresh_token),
      );
      const revoking = postForm(`${second.url}/oauth/revoke`, { token: app.refresh_token, client_id: app.clientId });
      const told = await Promise.all(renewals);
      expect((await revoking).status).toBe(200);
      expect(told.map(({ status }) => status).filter((status) => status !== 200 && status !== 400)).toEqual([]);
      for (const { status, json } of told)
        if (status === 200)
          for (const gateway of [first, second])
            await until(async () => (await statusOf(gateway, bearer(json.access_token))) === 401);
    }
    const left =
      "select count(*)::int as left from toolyard_state.oauth_item i where grant_id is not null and not exists (select 1 from toolyard_state.oauth_grant g where g.id = i.grant_id)";
    expect(await postgres.run(left, "yard")).toEqual([{ left: 0 }]);
  });

  test("FAULT 102: of strict renewals at two gateways at once one gets tokens at most, which are not good for long", async () => {
    const settings = { auth: { refreshOverlapSeconds: 0 } };
    await using third = await start("third", { settings });
    await using fourth = await start("fourth", { settings });
    for (let round = 0; round < 3; round += 1) {
      const app = await connectApp(publicUrl, ann);
      const at = Array.from({ length: 20 }, (_, turn) => (turn % 2 === 0 ? third : fourth));
      const told = await Promise.all(at.map(async ({ url: to }) => await refresh(to, app.clientId, app.refresh_token)));
      const given = told.filter(({ status }) => status === 200);
      expect(given.length).toBeLessThanOrEqual(1);
      for (const { json } of given)
        for (const gateway of [first, second, third, fourth])
          await until(async () => (await statusOf(gateway, bearer(json.access_token))) === 401);
    }
  });

  test("a search that is kept at one gateway is there at the other, and none stays of a person who is removed meanwhile", async () => {
    const { made } = await ask(first, "user", "add", "kay", "--team", "red");
    const kay = bearer(made.token);
    const keep = async (gateway: RunningGateway, query: string) =>
      (await post(`${gateway.url}/api/searches`, { query, tool: "own:hang" }, kay)).status;
    expect(await keep(first, "hang around")).toBe(201);
    const { json } = await post(`${second.url}/api/searches/run`, {}, kay);
    expect(json.searches).toMatchObject([{ query: "hang around", tool: "own:hang" }]);
    const rows = "select count(*)::int as kept from toolyard_state.kept_search";
    expect(await postgres.run(rows, "yard")).toEqual([{ kept: 1 }]);
    const keeping = Array.from(
      { length: 20 },
      async (_, at) => await keep(at % 2 === 0 ? first : second, `hang ${at}`),
    );
    await ask(second, "user", "remove", "kay");
    const told = await Promise.all(keeping);
    expect(told.filter((status) => status !== 201 && status !== 401)).toEqual([]);
    await until(async () => (await keep(first, "hang on")) === 401);
    expect(await postgres.run(rows, "yard")).toEqual([{ kept: 0 }]);
  });

  /** Has writers of the state wait, and lets them go on in the order in which they came. */
  async function holdWriters() {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query("select pg_advisory_lock(7402886518)");
    const waiting = "select count(*)::int as waiting from pg_locks where locktype = 'advisory' and not granted";
    return {
      // Or more: a gateway that notes something else waits as well.
      until: async (count: number) => await until(async () => (await client.query(waiting)).rows[0].waiting >= count),
      release: async () => await client.end(),
    };
  }

  test.each(["the server moves first", "the member is first"])(
    "what a member gives while another gateway leads the server elsewhere does not go there: %s",
    async (order) => {
      const slug = order.includes("moves") ? "mail" : "post";
      const boss = bearer(
        (await ask(first, "user", "add", `boss-${slug}`, "--team", "red", "--role", "admin")).made.token,
      );
      const kim = bearer((await ask(first, "user", "add", `kim-${slug}`, "--team", "red")).made.token);
      const at = "/api/teams/red/installations";
      const template = await post(
        `${first.url}/api/templates`,
        {
          ...{ slug, team: "red", entry: { url: "https://mail.example.com/mcp" } },
          fields: [{ path: "headers.X-Key", type: "secret" }],
        },
        boss,
      );
      expect(template.status).toBe(200);
      expect((await post(`${first.url}${at}`, { template: slug }, boss)).status).toBe(200);
      const mine = `${at}/${slug}/config/me`;
      await until(async () => (await get(`${second.url}${mine}`, kim)).status === 200);
      const patch = async (to: string, body: object, headers: Record<string, string>) =>
        await send(to, {
          method: "PATCH",
          headers: { "content-type": "application/json", ...headers },
          body: JSON.stringify(body),
        });
      const give = async () =>
        await patch(`${second.url}${mine}`, { values: { "headers.X-Key": "kims-own-secret" } }, kim);
      const move = async () =>
        await patch(
          `${first.url}/api/templates/${template.json.id}`,
          { entry: { url: "https://evil.example/mcp" } },
          boss,
        );
      // A gateway that noted the use of a token just then would have what is asked of it wait behind that.
      const unnoted = `select count(*)::int as unnoted from toolyard_state.pat p
        join toolyard_state.membership m on m.id = p.membership_id join toolyard_state.user u on u.id = m.user_id
        where u.name in ('boss-${slug}', 'kim-${slug}') and p.used_at_ms is null`;
      await until(async () => (await postgres.run(unnoted, "yard"))[0]?.["unnoted"] === 0);
      const writers = await holdWriters();
      const [one, other] = slug === "mail" ? [move, give] : [give, move];
      const begun = one();
      await writers.until(1);
      const next = other();
      await writers.until(2);
      await writers.release();
      const [moved, given] = slug === "mail" ? [await begun, await next] : [await next, await begun];
      expect([moved.status, given.status]).toEqual([200, slug === "mail" ? 412 : 200]);
      for (const gateway of [first, second])
        await until(async () => {
          const { fields } = (await get(`${gateway.url}${mine}`, kim)).json;
          return fields[0].set === false;
        });
      const { object, detail } = await ask(first, "audit", "--action", "template.change", "--limit", "1");
      const forgotten = { members: 1, fields: ["headers.X-Key"] };
      expect([object, JSON.parse(detail)]).toEqual([slug, slug === "mail" ? {} : { forgotten }]);
      // Who agrees to the new address gives it again.
      expect((await give()).status).toBe(200);
    },
  );

  test("FAULT 106: cut off from its database, a gateway serves people for a while, then nobody; what was taken meanwhile stays taken", async () => {
    const database = new URL(url);
    const cable = await startSwitchProxy(Number(database.port));
    database.port = String(cable.port);
    const cutOff = await start("cut-off", {
      env: { YARD_DATABASE: database.href },
      settings: {
        databaseSilenceMs: 2_000,
        auth: { tokenHash: `sha256:${createHash("sha256").update("of-the-file").digest("hex")}` },
      },
    });
    try {
      const [kept, gone] = [await connectApp(publicUrl, ann), await connectApp(publicUrl, ann)];
      const stream = await openSse(`${cutOff.url}/sse`, bearer(kept.access_token));
      await stream.initialize();
      cable.cut();
      expect(await statusOf(cutOff, bearer(kept.access_token))).toBe(200);
      await postForm(`${first.url}/oauth/revoke`, { token: gone.refresh_token, client_id: gone.clientId });
      await until(async () => (await get(`${cutOff.url}/readyz`)).status === 503, 60_000);
      expect((await get(`${cutOff.url}/readyz`)).json).toMatchObject({
        status: "unready",
        reason: expect.stringMatching(/nobody can be let in: .*PostgreSQL at .* cannot be reached/),
      });
      const refused = await get(`${cutOff.url}/api/me`, bearer(kept.access_token));
      expect([refused.status, refused.json.code]).toEqual([503, "DATABASE_SILENT"]);
      await until(() => stream.ended);
      // Whom the file lets in does not depend on the database.
      expect(await statusOf(cutOff, bearer("of-the-file"))).not.toBe(503);
      expect((await get(`${cutOff.url}/healthz`)).status).toBe(200);
      cable.mend();
      await until(async () => (await statusOf(cutOff, bearer(kept.access_token))) === 200, 60_000);
      expect(await statusOf(cutOff, bearer(gone.access_token))).toBe(401);
      expect((await get(`${cutOff.url}/readyz`)).status).toBe(200);
    } finally {
      await cutOff[Symbol.asyncDispose]();
      await cable[Symbol.asyncDispose]();
    }
  });

  test("a gateway with another key than the others is refused at its start, and says what to do", async () => {
    const failed = await start("stranger", { env: { TOOLYARD_KEY: newKey } }).then(
      () => "it started",
      (error: unknown) => String(error),
    );
    expect(failed).toContain("its audit is sealed with another key than this gateway's");
    expect(failed).toContain("TOOLYARD_KEY");
  });

  test("a key that is rotated at one gateway does no harm at another that has the old one, which says what to do", async () => {
    const env = { TOOLYARD_KEY: newKey, TOOLYARD_KEY_PREVIOUS: key };
    const secretOf = async (gateway: RunningGateway, team: string, name: string) => {
      const where = ["--config", gateway.configFile, "--data-dir", join(gateway.directory, "data")];
      return await runCommand(["secret", "set", name, "--team", team, ...where], { YARD_DATABASE: url }, "text\n");
    };
    await ask(first, "team", "add", "blue");
    expect(await secretOf(first, "red", "ONE")).toMatchObject({ code: 0 });
    await second.stop();
    second = await start("second", { env });
    expect((await ask(second, "key", "rotate")).rotated).toBeDefined();
    await until(() => first.stderr().includes("has to be started again with that key"));
    // What is open stays of use, and nothing is encrypted that the others could not read.
    expect(await secretOf(first, "red", "TWO")).toMatchObject({ code: 0 });
    expect(await secretOf(first, "blue", "ONE")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("another gateway uses another key"),
    });
    expect((await get(`${first.url}/readyz`)).status).toBe(200);
    await ask(second, "key", "rotate", "--data");
    await until(async () => (await get(`${first.url}/readyz`)).status === 503);
    expect((await get(`${first.url}/readyz`)).json.reason).toContain("TOOLYARD_KEY");
    await first.stop();
    first = await start("first", { env });
    name.leadTo(portOf(first));
    expect((await get(`${first.url}/readyz`)).status).toBe(200);
    expect(await secretOf(first, "blue", "ONE")).toMatchObject({ code: 0 });
    expect((await ask(second, "audit", "verify")).isWhole).toBe(true);
  });
});
