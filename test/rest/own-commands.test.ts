import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { badServer, startGateway } from "../harness/gateway.ts";
import { get, post } from "../harness/rest.ts";

test("an order is about this gateway, whichever one the environment names", async () => {
  const tokenHash = `sha256:${createHash("sha256").update("token").digest("hex")}`;
  await using gateway = await startGateway({
    config: { mcpServers: { mail: { url: "https://mail.example.com/mcp" } }, toolyard: { auth: { tokenHash } } },
    env: { TOOLYARD_GATEWAY: "https://elsewhere.example" },
  });
  const asked = await post(`${gateway.url}/api/servers/mail/logout`, {}, { authorization: "Bearer token" });
  // The command of that name takes the address of another gateway, too: over REST that is no server.
  for (const action of ["login", "logout"]) {
    const path = `/api/servers/${encodeURIComponent("https://elsewhere.example")}/${action}`;
    const { status, json } = await post(gateway.url + path, {}, { authorization: "Bearer token" });
    expect([action, status, json.code]).toEqual([action, 404, "SERVER_UNKNOWN"]);
  }
  expect([asked.status, asked.json]).toEqual([200, { ok: true, text: "no one was logged in to mail", facts: [] }]);
});

test("a server is switched off, on and taken out in the file, whose comments stay, without a command", async () => {
  const tokenHash = `sha256:${createHash("sha256").update("token").digest("hex")}`;
  const as = { authorization: "Bearer token" };
  await using gateway = await startGateway({
    config: { mcpServers: { mail: { url: "https://mail.example.com/mcp" } }, toolyard: { auth: { tokenHash } } },
  });
  const { file } = (await get(`${gateway.url}/api/config`, as)).json;
  await writeFile(file, `// ours\n${await readFile(file, "utf8")}`);
  const order = async (path: string, method: "POST" | "DELETE" = "POST") => {
    const headers = { ...as, "content-type": "application/json" };
    const answer = await fetch(`${gateway.url}/api/servers/mail${path}`, { method, headers, body: "{}" });
    return [answer.status, (await answer.json()) as Record<string, unknown>] as const;
  };
  const facts = (changed: boolean) => [{ name: "mail", file, changed }];
  expect(await order("/disable")).toEqual([200, { ok: true, text: `disabled mail in ${file}`, facts: facts(true) }]);
  expect(await order("/disable")).toMatchObject([200, { facts: facts(false) }]);
  expect(await readFile(file, "utf8")).toMatch(/^\/\/ ours\n[^]*"enabled": false/);
  expect(await order("/enable")).toMatchObject([200, { ok: true, facts: facts(true) }]);
  expect(await readFile(file, "utf8")).not.toContain("enabled");
  expect(await order("", "DELETE")).toMatchObject([200, { facts: facts(true) }]);
  expect(await readFile(file, "utf8")).not.toContain("mail.example.com");
  expect(await order("/enable")).toMatchObject([404, { code: "SERVER_UNKNOWN" }]);
  await writeFile(
    file,
    '{"mcpServers":{"mail":{"url":"https://a.example","enabled":false}},"mcp":{"excluded":["mail"]}}',
  );
  expect(await order("/enable")).toMatchObject([400, { code: "CONFIG_INVALID" }]);
});

test("no route starts our own program: only a trial has a process, which is none of our commands", async () => {
  const home = await mkdtemp(join(tmpdir(), "toolyard-home-"));
  const log = join(home, "started");
  // Every Node that is started with the gateway's environment writes down what it runs.
  const hook = join(home, "hook.cjs");
  const line = `process.argv.slice(1).join(" ") + "\\n"`;
  await writeFile(hook, `require("node:fs").appendFileSync(${JSON.stringify(log)}, ${line});`);
  await mkdir(join(home, ".cursor"));
  const theirs = { mcpServers: { notes: { command: "notes-server" } } };
  await writeFile(join(home, ".cursor", "mcp.json"), JSON.stringify(theirs));
  const tokenHash = `sha256:${createHash("sha256").update("token").digest("hex")}`;
  const as = { authorization: "Bearer token" };
  const mcpServers = { bad: badServer(), mail: { url: "http://127.0.0.1:9/mcp" } };
  const env = { HOME: home, XDG_CONFIG_HOME: join(home, ".config"), NODE_OPTIONS: `--require=${hook}` };
  await using gateway = await startGateway({ config: { mcpServers, toolyard: { auth: { tokenHash } } }, env });
  const orders: readonly (readonly [path: string, body?: object])[] = [
    ["/api/clients"],
    ["/api/doctor"],
    ["/api/support"],
    ["/api/clients/cursor/connect", {}],
    ["/api/clients/cursor/connect", { apply: true, replace: true }],
    ["/api/clients/cursor/undo", { apply: true }],
    ["/api/clients/cursor/disconnect", { apply: true }],
    ["/api/import", {}],
    ["/api/import", { apply: true }],
    ["/api/servers", { examples: true }],
    ["/api/servers", { name: "one", entry: { ...badServer(), startTimeoutMs: 60_000 } }],
    ["/api/servers/test", { name: "two", command: ["no-such-program"] }],
    ["/api/servers/bad/test", {}],
    ["/api/servers/mail/login", {}],
    ["/api/servers/mail/logout", {}],
  ];
  for (const [path, body] of orders) {
    const url = `${gateway.url}${path}`;
    const { status, json } = await (body === undefined ? get(url, as) : post(url, body, as));
    // Nothing listens where its login would begin.
    expect([path, path.endsWith("/login") ? json.code : status]).toEqual([
      path,
      path.endsWith("/login") ? expect.any(String) : 200,
    ]);
  }
  const started = (await readFile(log, "utf8")).split("\n");
  const commands = started.filter((run) => /[/\\]main\.js( |$)/.test(run));
  expect(started.filter((run) => run.includes("trial-main.js"))).toHaveLength(3);
  expect(commands.length).toBeGreaterThan(0);
  expect(commands.filter((run) => !/main\.js serve( |$)/.test(run))).toEqual([]);
  await rm(home, { recursive: true, force: true });
});
