import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand as run, type CommandResult } from "../harness/command.ts";
import { get, run as call } from "../harness/rest.ts";
import { runCommand, type RunningCommand } from "../oauth/login-command.ts";
import { until } from "../harness/until.ts";
import { badServer } from "../harness/gateway.ts";
import { makeCertificates } from "../harness/certificates.ts";
import { startConnectProxy } from "../harness/connect-proxy.ts";
import { startTlsFront } from "../oauth/tls-front.ts";
import { createPageBrowser, type PageBrowser } from "./page-browser.ts";
import { password, startTeamWorld, type TeamWorld } from "./team-world.ts";

let world: TeamWorld;
let bob: PageBrowser;
/** Of bob, on his own machine: the gateway knows nothing of it. */
let home: string;
beforeAll(async () => {
  // So short that each command renews its token first.
  world = await startTeamWorld({ settings: { auth: { accessTokenSeconds: 60 } } });
  await world.ask("user", "add", "ann", "--admin", "--team", "red");
  await world.ask("user", "add", "bob", "--team", "red");
  bob = await world.logIn("bob");
  home = await mkdtemp(join(tmpdir(), "toolyard-terminal-"));
  await writeFile(join(home, "toolyard.json"), "{}");
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await rm(home, { recursive: true, force: true });
});

const toolyard = async (...words: string[]): Promise<CommandResult> =>
  await run([...words, "--config", join(home, "toolyard.json"), "--data-dir", join(home, "data")]);

async function logIn(): Promise<void> {
  const command = runCommand(home, ["login", world.url]);
  const page = await bob.open(await command.address());
  await bob.submit(page, { answer: "allow" }, 'name="answer"');
  expect([await command.ended, command.stdout()]).toEqual([0, `logged in to ${world.url}\n`]);
}

/** As somebody does on their own machine, for a terminal that shows a code. */
async function typeCode(command: RunningCommand, answer: "allow" | "decline"): Promise<void> {
  const address = await command.address();
  const code = await until(() => /type this code there within \d+ minutes: (\S+)/.exec(command.stderr())?.[1]);
  const shown = await bob.submit(await bob.open(address), { user_code: code });
  const asked = await bob.submit(shown, {}, 'name="confirm"');
  await bob.submit(asked, { answer }, 'name="answer"');
}

async function filesAt(folder: string): Promise<readonly string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return found.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

test("a person logs in from a terminal elsewhere, sets values of their own there, and logs out", async () => {
  const own = ["own", "--me", "--gateway", world.url];
  const before = await toolyard("config", "get", ...own);
  expect([before.code, before.stderr]).toEqual([1, expect.stringContaining(`toolyard login ${world.url}`)]);
  await logIn();
  const set = await toolyard("config", "set", ...own, "env.CANARY=of-bob-himself");
  expect([set.code, set.stderr]).toEqual([0, ""]);
  const shown = await toolyard("config", "get", ...own, "--json");
  expect(JSON.parse(shown.stdout)).toMatchObject({
    values: { fields: [{ path: "env.CANARY", set: true, value: null, type: "secret" }] },
  });
  const token = (await world.ask("token", "new", "--user", "bob", "--team", "red")).made.token as string;
  const bearer = { authorization: `Bearer ${token}` };
  await until(async () => (await call(world.url, "own:env", {}, bearer)).text.includes("of-bob-himself"));
  // It is bob who did it, and an app of his that he sees.
  const apps = (await get(`${world.url}/api/me/apps`, bearer)).json.apps as readonly unknown[];
  expect(apps).toHaveLength(1);
  expect((await toolyard("config", "unset", ...own, "env.CANARY")).code).toBe(0);
  const kept = await filesAt(join(home, "data"));
  expect(kept.some((file) => file.endsWith(".vault"))).toBe(true);
  for (const file of kept) {
    expect([file, (await stat(file)).mode & 0o077]).toEqual([file, 0]);
    expect([file, (await readFile(file, "latin1")).includes("of-bob-himself")]).toEqual([file, false]);
  }
  const wrong = await toolyard("config", "get", "nothing", "--me", "--gateway", world.url);
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("there is no such server in your team")]);
  expect((await toolyard("logout", world.url)).stdout).toBe(`logged out of ${world.url}\n`);
  // The gateway knows, too.
  await until(async () => ((await get(`${world.url}/api/me/apps`, bearer)).json.apps as unknown[]).length === 0);
  expect((await toolyard("config", "get", ...own)).code).toBe(1);
  expect((await toolyard("logout", world.url)).stdout).toBe(`no one was logged in to ${world.url}\n`);
});

test("what is typed for another purpose is refused, and no login goes over the network unencrypted", async () => {
  const { code, stderr } = await toolyard("login", "http://tools.example.com:3001/mcp");
  expect([code, stderr]).toEqual([1, expect.stringContaining("Write https://tools.example.com:3001/mcp.")]);
  const words = ["config", "get", "own", "--gateway", world.url];
  for (const more of [
    ["--me", "--user", "bob"],
    ["--me", "--team", "red"],
  ]) {
    const refused = await toolyard(...words, ...more);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("--me --gateway URL")]);
  }
});

test("where no browser is, the code is typed on another machine", async () => {
  const declined = runCommand(home, ["login", world.url, "--device"], {}, true);
  await typeCode(declined, "decline");
  expect([await declined.ended, declined.stderr()]).toEqual([1, expect.stringContaining("was declined")]);
  const command = runCommand(home, ["login", world.url, "--device"], {}, true);
  await typeCode(command, "allow");
  expect([await command.ended, command.stdout()]).toEqual([0, `logged in to ${world.url}\n`]);
  expect((await toolyard("config", "get", "own", "--me", "--gateway", world.url)).code).toBe(0);
  expect((await toolyard("logout", world.url)).stdout).toBe(`logged out of ${world.url}\n`);
  const both = await toolyard("login", world.url, "--device", "--callback-port", "4000");
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("without --callback-port")]);
});

test("an address that an app was given means its gateway, and a broken configuration is in nobody's way", async () => {
  await logIn();
  await writeFile(join(home, "toolyard.json"), '{"mcpServers": {');
  for (const path of ["/mcp/", "/mcp/flat", "/mcp/server/own", "/i/own-of-bob/mcp", "/sse", "/i/x/sse/messages"]) {
    const shown = await toolyard("config", "get", "own", "--me", "--gateway", `${world.url}${path}`);
    expect([path, shown.code, shown.stderr]).toEqual([path, 0, ""]);
  }
  const out = await toolyard("logout", `${world.url}/i/own-of-bob/mcp`);
  expect(out.stdout).toBe(`logged out of ${world.url}\n`);
  await logIn();
  expect((await toolyard("logout", world.url)).code).toBe(0);
  await writeFile(join(home, "toolyard.json"), "{}");
});

test("every command reaches a gateway through the company's proxy", async () => {
  const certificates = makeCertificates(home, ["tools.company.invalid"]);
  await using front = await startTlsFront(certificates);
  await using proxy = await startConnectProxy();
  // A name that only the proxy knows.
  const publicUrl = `https://tools.company.invalid:${front.port}`;
  await using company = await startTeamWorld({ settings: { publicUrl } });
  front.target = Number(new URL(company.url).port);
  await company.ask("user", "add", "ann", "--admin", "--team", "red");
  const ann = createPageBrowser({ leadsTo: (url) => url.replace(publicUrl, company.url) });
  const { link } = await company.ask("user", "link", "ann");
  await ann.submit(await ann.open(`${publicUrl}/setup`), { code: link.split("#")[1], password, again: password });
  const env = { HTTPS_PROXY: proxy.url(), NODE_EXTRA_CA_CERTS: certificates.path("ca"), NO_PROXY: "" };
  const command = runCommand(home, ["login", publicUrl], env);
  const page = await ann.open(await command.address());
  await ann.submit(page, { answer: "allow" }, 'name="answer"');
  expect(await command.ended, command.stderr()).toBe(0);
  const asked = proxy.heads.length;
  const set = ["own", "--me", "--gateway", publicUrl, "env.CANARY=by-proxy"];
  const { code, stderr } = await run(["config", "set", ...set, "--data-dir", join(home, "data")], env);
  expect([code, stderr]).toEqual([0, ""]);
  expect(proxy.heads.length).toBeGreaterThan(asked);
  // The doctor of the gateway's machine looks as people's machines do.
  const { configFile } = company.gateway;
  const where = ["--json", "--config", configFile, "--data-dir", join(company.directory, "data")];
  const { stdout: found } = await run(["doctor", ...where], env);
  expect(found).toContain(`${publicUrl} leads to this gateway`);
  const out = await run(["logout", publicUrl, "--data-dir", join(home, "data")], env);
  expect(out.stdout).toBe(`logged out of ${publicUrl}\n`);
});

test("whoever runs a team sets its values from elsewhere, and a member does not", async () => {
  const file = join(home, "mail.json");
  await writeFile(
    file,
    JSON.stringify({ entry: badServer("--behaviours=env"), fields: [{ path: "env.REGION", tier: "team" }] }),
  );
  await world.ask("template", "add", "mail", "--file", file);
  await world.ask("install", "mail", "--team", "red");
  await logIn();
  const ofTeam = ["mail", "--team", "red", "--gateway", world.url];
  const refused = await toolyard("config", "set", ...ofTeam, "env.REGION=of-a-member");
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("only an admin of the team may")]);
  await world.ask("team", "role", "red", "--user", "bob", "--role", "admin");
  // Whoever gets another role logs in again.
  bob = await world.logIn("bob");
  await logIn();
  const set = await toolyard("config", "set", ...ofTeam, "env.REGION=of-the-team");
  expect([set.code, set.stderr]).toEqual([0, ""]);
  const shown = JSON.parse((await toolyard("config", "get", ...ofTeam, "--json")).stdout);
  expect(shown.values.fields).toMatchObject([{ path: "env.REGION", set: true, value: "of-the-team" }]);
  // On a machine that serves teams itself, a variable of `serve` names no team.
  const place = ["--config", join(home, "toolyard.json"), "--data-dir", join(home, "data")];
  const mine = ["config", "get", "own", "--me", "--gateway", world.url, ...place];
  expect(await run(mine, { TOOLYARD_TEAM: "true" })).toMatchObject({ code: 0, stderr: "" });
  expect((await toolyard("config", "unset", ...ofTeam, "env.REGION")).code).toBe(0);
  const other = await toolyard("config", "get", "mail", "--team", "nobody", "--gateway", world.url);
  expect([other.code, other.stderr]).toEqual([1, expect.stringContaining("there is no such team")]);
  expect((await toolyard("logout", world.url)).code).toBe(0);
});

test("a client that was registered beforehand is the one that asks", async () => {
  const command = runCommand(home, ["login", world.url, "--client-id", "registered-by-hand"]);
  expect(new URL(await command.address()).searchParams.get("client_id")).toBe("registered-by-hand");
  command.interrupt();
  expect(await command.ended).toBe(1);
});

test("FAULT 98: what is taken away there is of no use here, and the command says what to do", async () => {
  await logIn();
  // Commands at the same time take turns: a token for renewing is not used twice.
  const atOnce = Array.from(
    { length: 3 },
    async () => await toolyard("config", "get", "own", "--me", "--gateway", `${world.url}/mcp`),
  );
  expect((await Promise.all(atOnce)).map(({ code, stderr }) => [code, stderr])).toEqual(atOnce.map(() => [0, ""]));
  const { stdout } = await world.command("audit", "--json", "--limit", "1000");
  expect(stdout).not.toContain("app.refresh.again");
  await world.ask("user", "reset", "bob");
  const after = await toolyard("config", "get", "own", "--me", "--gateway", world.url);
  expect([after.code, after.stderr]).toEqual([1, expect.stringContaining(`toolyard login ${world.url}`)]);
});
