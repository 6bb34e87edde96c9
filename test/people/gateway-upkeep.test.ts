import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadDriver } from "../../src/store/sql/sqlite/sql-driver.ts";
import { onlyPlace } from "../harness/places.ts";
import { runCommand } from "../harness/command.ts";
import { badServer } from "../harness/gateway.ts";
import { get, run } from "../harness/rest.ts";
import { until } from "../harness/until.ts";
import type { PageBrowser } from "./page-browser.ts";
import { password, startTeamWorld, type TeamWorld } from "./team-world.ts";

let world: TeamWorld;
let ann: PageBrowser;
let bob: PageBrowser;
let tokens: Readonly<Record<"ann" | "tom" | "bob" | "cid", string>>;

beforeAll(async () => {
  world = await startTeamWorld();
  const add = async (...words: string[]): Promise<string> => (await world.ask("user", "add", ...words)).made.token;
  tokens = {
    ann: await add("ann", "--admin", "--team", "red"),
    tom: await add("tom", "--team", "red", "--role", "admin"),
    bob: await add("bob", "--team", "red"),
    cid: (await world.ask("team", "add", "blue"), await add("cid", "--team", "blue", "--role", "owner")),
  };
  ann = await world.logIn("ann");
  bob = await world.logIn("bob");
});
afterAll(async () => await world[Symbol.asyncDispose]());

const bearer = (who: keyof typeof tokens): Record<string, string> => ({ authorization: `Bearer ${tokens[who]}` });

interface Sent {
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** As the dashboard in that browser asks. */
async function from(browser: PageBrowser, method: string, path: string, { body = {}, headers = {} }: Sent = {}) {
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const response = await fetch(`${world.url}${path}`, {
    method,
    headers: { cookie, "sec-fetch-site": "same-origin", "content-type": "application/json", ...headers },
    ...(method === "GET" ? {} : { body: JSON.stringify(body) }),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const isJson = /json/.test(response.headers.get("content-type") ?? "");
  return { status: response.status, headers: response.headers, bytes, json: isJson ? JSON.parse(String(bytes)) : null };
}

const stateFolder = (): string => onlyPlace(join(world.directory, "data"));

async function audited(action: string): Promise<readonly { actor: string; outcome: string; detail: unknown }[]> {
  const { stdout } = await world.command("audit", "--action", action, "--limit", "50", "--json");
  return stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
}

describe("what concerns the whole gateway", () => {
  const routes = [
    ["POST", "/api/system/backup"],
    ["GET", "/api/system/db"],
    ["POST", "/api/system/keys/rotate"],
  ] as const;

  test.each(routes)(
    "FAULT 101: %s %s takes a login of the last 15 minutes, and no token does",
    async (method, path) => {
      // The cookie of somebody else beside a token changes nothing.
      const beside = { headers: bearer("ann") };
      expect((await from(ann, method, path, beside)).json).toMatchObject({ status: 403, code: "LOGIN_NOT_RECENT" });
      // What a browser was given a token for is as old as the token.
      const given = await fetch(`${world.url}/api/session`, {
        method: "POST",
        headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
        body: JSON.stringify({ token: tokens.ann }),
      });
      const cookie = given.headers.getSetCookie()[0]?.split(";")[0] ?? "";
      const { key } = (await given.json()) as { key: string };
      const asDashboard = { headers: { cookie, "toolyard-key": key } };
      expect((await from(ann, "GET", "/api/session", asDashboard)).status).toBe(200);
      expect((await from(ann, method, path, asDashboard)).json.code).toBe("LOGIN_NOT_RECENT");
      expect((await from(bob, method, path)).json.code).toBe("FORBIDDEN");
      expect((await from(ann, method, path)).status).toBe(200);
      // A link of `toolyard open` is a login of whoever owns the gateway.
      const { stdout } = await world.command("open", "--print");
      const code = /#(?:code=)?([\w-]+)\s*$/.exec(stdout.trim())?.[1];
      const opened = await fetch(`${world.url}/api/session`, {
        method: "POST",
        headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
        body: JSON.stringify({ code }),
      });
      const own = { cookie: opened.headers.getSetCookie()[0]?.split(";")[0] ?? "" };
      const { key: ownKey } = (await opened.json()) as { key: string };
      expect((await from(ann, "GET", "/api/system/db", { headers: { ...own, "toolyard-key": ownKey } })).status).toBe(
        200,
      );
    },
  );

  test("a login that is too old is asked for again, and a new one does", async () => {
    await world.restart("SIGTERM", async () => {
      const database = loadDriver(world.directory).open(join(stateFolder(), "state.db"));
      database.exec("update browser_session set created_at_ms = created_at_ms - 901000");
      database.close();
      await Promise.resolve();
    });
    expect((await from(ann, "GET", "/api/me")).status).toBe(200);
    const old = await from(ann, "POST", "/api/system/backup");
    expect(old.json).toMatchObject({
      code: "LOGIN_NOT_RECENT",
      hint: expect.stringContaining("/auth/login") as string,
    });
    await until(async () => (await world.command("audit", "--limit", "100")).stdout.includes("LOGIN_NOT_RECENT"));
    await ann.submit(await ann.open(`${world.url}/auth/login?next=/account`), { name: "ann", password }, "/auth/login");
    expect((await from(ann, "GET", "/api/system/db")).status).toBe(200);
  });

  test("a backup is what `restore` puts in force, and nothing of it stays at the gateway", async () => {
    const backup = await from(ann, "POST", "/api/system/backup");
    expect([backup.status, backup.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(backup.headers.get("content-disposition")).toContain("toolyard-state.db");
    expect(backup.bytes.length).toBe(Number(backup.headers.get("content-length")));
    await until(() => Promise.resolve(!existsSync(join(stateFolder(), "state.db.download"))));
    expect((await readdir(stateFolder())).filter((name) => name.includes("unfinished"))).toEqual([]);
    const file = join(world.directory, "downloaded.db");
    await writeFile(file, backup.bytes);
    await world.ask("user", "add", "late");
    await world.restart("SIGTERM", async () => {
      expect(await world.command("restore", file, "--json")).toMatchObject({
        code: 0,
        stdout: expect.stringContaining('"isWhole":true') as string,
      });
    });
    expect((await get(`${world.url}/api/users`, bearer("ann"))).json.users).not.toContainEqual(
      expect.objectContaining({ name: "late" }),
    );
    // Whoever makes one stands in it.
    expect(await audited("state.backup")).toContainEqual(expect.objectContaining({ outcome: "ok" }));
  });

  test("the databases are looked through, with the step of their schema", async () => {
    const { json } = await from(ann, "GET", "/api/system/db");
    expect(json).toMatchObject({ ok: true });
    const checks = json.databases as { database: string; schema: string; faults: unknown[]; engine: string }[];
    expect(checks.map(({ database, faults }) => [database, faults])).toEqual([
      ["state", []],
      ["records", []],
    ]);
    for (const { schema, engine } of checks)
      expect([schema, engine]).toEqual([expect.stringMatching(/^\d{4}$/), expect.stringMatching(/^SQLite 3/)]);
    expect((await audited("state.check")).length).toBeGreaterThan(0);
  });

  test("the ways to log in are told, without any secret", async () => {
    const { json } = await get(`${world.url}/api/auth/providers`, bearer("ann"));
    expect(json).toEqual({ passwords: true, providers: [], external: [], assertions: [] });
  });
});

describe("erasing calls", () => {
  const call = async (who: keyof typeof tokens, tool: string): Promise<void> => {
    expect((await run(world.url, tool, {}, bearer(who))).status).toBe(200);
  };
  const callsOf = async (who: keyof typeof tokens): Promise<readonly { name: string; principal: string }[]> =>
    (await get(`${world.url}/api/calls`, bearer(who))).json.calls;
  const erase = async (who: keyof typeof tokens, query: string) =>
    await (
      await fetch(`${world.url}/api/calls${query}`, {
        method: "DELETE",
        headers: { ...bearer(who), "content-type": "application/json" },
      })
    ).json();

  test("FAULT 94: admins of a team erase its calls, nobody else's, and members none", async () => {
    for (const who of ["bob", "cid", "bob"] as const) await call(who, "own:env");
    await call("bob", "own:canary");
    await until(async () => (await callsOf("ann")).length >= 4);
    expect(await erase("bob", "?all=true")).toMatchObject({ status: 403, code: "FORBIDDEN" });
    expect(await erase("tom", "")).toMatchObject({ status: 400, code: "PARAMS_INVALID" });
    // What is misspelt, and what only the list has, must not erase more than was meant.
    for (const query of ["?sever=own&all=true", "?tool=own:env&limit=1", "?tool=own:env&cursor=x"])
      expect([query, await erase("tom", query)]).toEqual([query, expect.objectContaining({ code: "PARAMS_INVALID" })]);
    expect(await erase("tom", "?team=blue")).toEqual({ erased: 0, isWhole: true });
    expect(await erase("cid", "?team=red")).toEqual({ erased: 0, isWhole: true });
    expect((await callsOf("cid")).length).toBe(1);
    expect(await erase("tom", "?tool=own:env")).toEqual({ erased: 2, isWhole: true });
    expect((await callsOf("bob")).map(({ name }) => name)).toEqual(["own:canary"]);
    expect((await callsOf("cid")).length).toBe(1);
    expect(await erase("tom", "?all=true")).toEqual({ erased: 1, isWhole: true });
    expect((await callsOf("ann")).map(({ name }) => name)).toEqual(["own:env"]);
    expect(await erase("ann", "?team=blue")).toEqual({ erased: 1, isWhole: true });
    expect(await callsOf("ann")).toEqual([]);
    const [last] = await audited("calls.erase");
    expect(JSON.stringify(last)).toContain("blue");
    expect((await audited("calls.erased")).length).toBeGreaterThanOrEqual(4);
    // What was used stays known.
    const usage = (await get(`${world.url}/api/usage?by=server`, bearer("ann"))).json;
    expect(JSON.stringify(usage)).toMatch(/"calls":4/);
  });
});

describe("an address of a user", () => {
  test("is given over REST and by command, is nobody else's, and can be taken away", async () => {
    const change = async (name: string, body: object, headers = {}) =>
      await from(ann, "PATCH", `/api/users/${name}`, { body, headers });
    const byToken = await change("bob", { email: "bob@example.com" }, bearer("ann"));
    expect(byToken.json).toMatchObject({ status: 403, code: "LOGIN_NOT_RECENT" });
    // What opens nothing takes no login.
    expect((await change("bob", { email: null }, bearer("ann"))).status).toBe(200);
    expect((await change("bob", { email: "Bob@Example.com" })).json).toMatchObject({ email: "bob@example.com" });
    expect((await change("tom", { email: "bob@EXAMPLE.com" })).json).toMatchObject({ code: "PEOPLE_CONFLICT" });
    expect((await change("tom", { email: "tom" })).json).toMatchObject({ code: "PEOPLE_CONFLICT" });
    expect((await change("tom", {})).status).toBe(400);
    const other = await world.command("user", "email", "tom", "--email", "bob@example.com");
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining("bob has this address already")]);
    expect((await change("bob", { email: null })).json).toMatchObject({ email: null });
    await world.ask("user", "email", "tom", "--email", "bob@example.com");
    await world.ask("user", "add", "dora", "--email", "dora@example.com");
    const { users } = await world.ask("user", "list");
    expect(users).toContainEqual(expect.objectContaining({ name: "tom", email: "bob@example.com" }));
    expect(users).toContainEqual(expect.objectContaining({ name: "dora", email: "dora@example.com" }));
    await world.ask("user", "email", "tom", "--email", "none");
    expect((await audited("user.email")).length).toBe(5);
    const added = (await audited("user.add")).map(({ detail }) => JSON.stringify(detail));
    expect(added.some((detail) => detail.includes("dora@example.com"))).toBe(true);
  });

  test("and the role of an admin are given by an admin who has just logged in", async () => {
    const asAdmin = { body: { name: "zoe", admin: true } };
    expect((await from(ann, "POST", "/api/users", { ...asAdmin, headers: bearer("ann") })).json.code).toBe(
      "LOGIN_NOT_RECENT",
    );
    expect((await from(ann, "POST", "/api/users", asAdmin)).json).toMatchObject({ user: { role: "admin" } });
    expect(
      (await from(ann, "PUT", "/api/users/zoe/role", { body: { role: "user" }, headers: bearer("ann") })).status,
    ).toBe(200);
    expect((await from(ann, "PUT", "/api/users/zoe/role", { body: { role: "admin" } })).json.role).toBe("admin");
  });
});

describe("the doctor", () => {
  interface Line {
    readonly kind: string;
    readonly what: string;
  }
  const look = async (): Promise<readonly Line[]> => {
    const { stdout } = await world.command("doctor", "--json");
    return (JSON.parse(stdout) as { findings: readonly Line[] }).findings;
  };
  const finding = (kind: string, what: string): unknown =>
    expect.objectContaining({ kind, what: expect.stringContaining(what) as string });

  test("says whether people can use the gateway, at its address and with their providers", async () => {
    const before = await look();
    expect(before).toContainEqual(finding("ok", "1 of them an admin"));
    expect(before).toContainEqual(finding("ok", "database state: SQLite"));
    expect(before).toContainEqual(finding("warn", "no publicUrl is set"));
    const file = world.gateway.configFile;
    const text = await readFile(file, "utf8");
    /** What is found once the running gateway has that configuration. */
    const lookWith = async (toolyard: { readonly publicUrl: string; readonly auth: object }) => {
      const config = JSON.parse(text) as { readonly toolyard?: object };
      await writeFile(file, JSON.stringify({ ...config, toolyard: { ...config.toolyard, ...toolyard } }));
      return await until(async () => {
        const found = await look();
        return found.some(({ what }) => what.startsWith(`${toolyard.publicUrl} `)) && found;
      });
    };
    const { url } = world;
    const provider = { issuer: url, clientId: "toolyard", title: "Ourselves" };
    const right = await lookWith({ publicUrl: url, auth: { providers: { here: provider } } });
    expect(right).toContainEqual(finding("ok", `${url} leads to this gateway`));
    expect(right).toContainEqual(finding("ok", "identity provider here"));
    expect(right).toContainEqual(finding("ok", "the clock agrees"));
    const wrong = { issuer: `${url}/nowhere`, clientId: "toolyard" };
    const told = await lookWith({ publicUrl: `${url}/behind`, auth: { providers: { here: wrong } } });
    expect(told).toContainEqual(finding("fail", `${url}/behind leads to`));
    expect(told).toContainEqual(finding("fail", "identity provider here"));
    await writeFile(file, text);
  });
});

describe("team import", () => {
  const file = (): string => join(world.directory, "clients.json");

  test("installs what a file has for a team, with its secrets sealed, and what is there stays", async () => {
    const token = "gh-token-that-nobody-may-see-0123456789";
    const program = { command: process.execPath, args: badServer("--behaviours=env").args };
    await writeFile(
      file(),
      `{ // as clients write it
        "mcpServers": {
          "git-hub": ${JSON.stringify({ ...program, env: { API_TOKEN: token, REGION: "${REGION_NOT_SET:-eu}" } })},
          "mail": ${JSON.stringify({ url: "https://mail.example.com/mcp", headers: { Authorization: "Bearer ${MAIL_NOT_SET}" } })},
          "off": ${JSON.stringify({ ...program, disabled: true })},
        } }`,
    );
    const words = ["team", "import", "blue", "--file", file()];
    const refused = await world.command(...words);
    expect([refused.code, refused.stdout]).toEqual([2, expect.stringContaining("+ git-hub") as string]);
    expect(refused.stdout + refused.stderr).not.toContain(token);
    expect((await world.command(...words, "--dry-run")).code).toBe(0);
    expect((await world.ask("installations", "--team", "blue")).installations).toEqual([]);
    const { plan, done } = await world.ask(...words, "--yes");
    expect(plan).toEqual([
      { key: "git-hub", name: "git-hub", leftOut: null, secrets: ["GIT_HUB_API_TOKEN"], kept: [], missing: [] },
      { key: "mail", name: "mail", leftOut: null, secrets: [], kept: [], missing: ["MAIL_NOT_SET"] },
      { key: "off", name: "off", leftOut: "it is switched off", secrets: [], kept: [], missing: [] },
    ]);
    expect(done).toEqual([{ name: "git-hub" }, { name: "mail" }]);
    // It is used with what was sealed.
    const called = await until(async () => {
      const { status, text } = await run(world.url, "git-hub:env", { name: "API_TOKEN" }, bearer("cid"));
      return status === 200 && text;
    });
    expect(called).toContain(token);
    const templates = await get(`${world.url}/api/templates`, bearer("cid"));
    expect(templates.text).not.toContain(token);
    const again = await world.ask(...words, "--yes");
    expect(again.done).toEqual([]);
    expect((again.plan as { leftOut: string }[]).map(({ leftOut }) => leftOut)).toEqual([
      "the team has a server of this name",
      "the team has a server of this name",
      "it is switched off",
    ]);
    expect((await world.command("team", "import", "nix", "--file", file())).stderr).toContain("there is no such team");
  });

  const program = (env: Readonly<Record<string, string>>): object => ({
    command: process.execPath,
    args: badServer("--behaviours=env").args,
    env,
  });
  const write = async (servers: Readonly<Record<string, object>>): Promise<void> =>
    await writeFile(file(), JSON.stringify({ mcpServers: servers }));
  /** The import's answer, with variables of the shell that it is typed in. */
  const importWith = async (env: Readonly<Record<string, string>>, ...words: string[]) => {
    const place = ["--config", world.gateway.configFile, "--data-dir", join(world.directory, "data")];
    const all = ["team", "import", "blue", "--file", file(), ...words, "--json", ...place];
    const { code, stdout, stderr } = await runCommand(all, env);
    return { code, stderr, ...(stdout === "" ? {} : JSON.parse(stdout)) };
  };
  const setSecret = async (name: string, text: string): Promise<void> => {
    const place = ["--config", world.gateway.configFile, "--data-dir", join(world.directory, "data")];
    expect((await runCommand(["secret", "set", name, "--team", "blue", ...place], {}, text)).code).toBe(0);
  };
  const secretNames = async (): Promise<readonly string[]> =>
    ((await world.ask("secret", "list", "--team", "blue")).secrets as { name: string }[]).map(({ name }) => name);
  const seen = async (server: string, name: string): Promise<string> =>
    await until(async () => {
      const { status, text } = await run(world.url, `${server}:env`, { name }, bearer("cid"));
      return status === 200 && text;
    });

  test("keeps the team's secrets, and gives no two values the same name", async () => {
    await setSecret("API_KEY", "of-the-team-0123456789");
    await setSecret("PLAIN_TOKEN", "of-the-team-9876543210");
    await write({
      copilot: program({ AUTH: "Bearer ${HUB_TOKEN}" }),
      hub: program({ HUB_TOKEN: "in-the-file-0123456789" }),
      hu: program({ HUB_TOKEN: "in-the-file-of-hu-01234" }),
      "my-app": program({ A_TOKEN: "in-the-file-dash-0123456" }),
      "my.app": program({ A_TOKEN: "in-the-file-dots-0123456" }),
      plain: program({ PLAIN_TOKEN: "in-the-file-plain-012345", KEY: "${API_KEY}" }),
    });
    const shell = { HUB_TOKEN: "of-the-shell-0123456789", API_KEY: "of-the-shell-9876543210" };
    const { code, plan } = await importWith(shell, "--yes");
    expect(code).toBe(0);
    type Plan = { name: string; secrets: string[]; kept: string[] };
    expect((plan as Plan[]).map(({ name, secrets, kept }) => [name, secrets, kept])).toEqual([
      ["copilot", ["HUB_TOKEN"], []],
      ["hub", ["HUB_TOKEN_2"], []],
      ["hu", ["HU_HUB_TOKEN"], []],
      ["my-app", ["MY_APP_A_TOKEN"], []],
      ["my.app", ["MY_APP_A_TOKEN_2"], []],
      ["plain", ["PLAIN_TOKEN_2"], ["API_KEY"]],
    ]);
    expect(await seen("copilot", "AUTH")).toContain("Bearer of-the-shell-0123456789");
    expect(await seen("hub", "HUB_TOKEN")).toContain("in-the-file-0123456789");
    expect(await seen("my-app", "A_TOKEN")).toContain("in-the-file-dash-0123456");
    expect(await seen("plain", "PLAIN_TOKEN")).toContain("in-the-file-plain-012345");
    expect(await seen("plain", "KEY")).toContain("of-the-team-0123456789");
  });

  test("what fails leaves neither its template nor its secrets, and takes nobody else's", async () => {
    const template = join(world.directory, "template.json");
    await writeFile(template, JSON.stringify({ entry: { url: "https://late.example.com/mcp" }, fields: [] }));
    await world.ask("template", "add", "late", "--file", template);
    await write({ late: program({ LATE_TOKEN: "in-the-file-late-0123456" }) });
    const before = await secretNames();
    const { installations } = await world.ask("installations", "--team", "blue");
    await world.ask("team", "limits", "blue", "--most-servers", String(installations.length));
    const failed = await importWith({}, "--yes");
    expect([failed.code, failed.done]).toEqual([
      1,
      [{ name: "late", failed: `this team may install at most ${installations.length} servers` }],
    ]);
    expect(await secretNames()).toEqual(before);
    const templates = async (...words: string[]): Promise<readonly unknown[]> =>
      (await world.ask("template", "list", ...words)).templates.filter(({ slug }: { slug: string }) => slug === "late");
    expect(await templates("--team", "blue")).toEqual([expect.objectContaining({ team: null })]);
    expect((await world.command("template", "rm", "late", "--team", "blue")).stderr).toContain(
      "no template of its own",
    );
    await world.ask("team", "limits", "blue", "--most-servers", "100");
    expect((await importWith({}, "--yes")).done).toEqual([{ name: "late" }]);
    // The same name in two places is told apart by the team.
    await world.ask("uninstall", "late", "--team", "blue");
    expect((await importWith({}, "--dry-run")).plan[0].leftOut).toBe("the team has a template of this name");
    await world.ask("template", "rm", "late", "--team", "blue");
    expect(await templates()).toHaveLength(1);
  });

  test("names are made usable, and those that cannot be had are left out of the plan", async () => {
    await write({
      "My Server": program({}),
      OWN: program({}),
      "my-server": program({}),
    });
    const { plan } = await importWith({}, "--dry-run");
    expect((plan as { name: string; leftOut: string | null }[]).map(({ name, leftOut }) => [name, leftOut])).toEqual([
      ["my-server", null],
      ["own", "everybody has a server of this name: it is in the configuration file"],
      ["my-server", "another server of the file is called my-server, too"],
    ]);
    const slip = await importWith({}, "--only", "typo", "--yes");
    expect([slip.code, slip.stderr]).toEqual([2, expect.stringContaining("the file has no server typo") as string]);
    const { done } = await importWith({}, "--only", "My Server", "--yes");
    expect(done).toEqual([{ name: "my-server" }]);
    expect((await world.ask("installations", "--team", "blue")).installations).toContainEqual(
      expect.objectContaining({ slug: "my-server" }),
    );
  });
});
