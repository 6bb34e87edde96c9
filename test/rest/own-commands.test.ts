import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { get, post } from "../harness/rest.ts";

test("a command that a page runs is about this gateway, whichever one the environment names", async () => {
  const tokenHash = `sha256:${createHash("sha256").update("token").digest("hex")}`;
  await using gateway = await startGateway({
    config: { mcpServers: { mail: { url: "https://mail.example.com/mcp" } }, toolyard: { auth: { tokenHash } } },
    env: { TOOLYARD_GATEWAY: "https://elsewhere.example" },
  });
  const asked = await post(`${gateway.url}/api/servers/mail/logout`, {}, { authorization: "Bearer token" });
  // The command takes the address of another gateway, too: over REST that is no server.
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
