import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { post } from "../harness/rest.ts";

test("a command that a page runs is about this gateway, whichever one the environment names", async () => {
  const tokenHash = `sha256:${createHash("sha256").update("token").digest("hex")}`;
  await using gateway = await startGateway({
    config: { mcpServers: { mail: { url: "https://mail.example.com/mcp" } }, toolyard: { auth: { tokenHash } } },
    env: { TOOLYARD_GATEWAY: "https://elsewhere.example" },
  });
  const asked = await post(`${gateway.url}/api/servers/mail/logout`, {}, { authorization: "Bearer token" });
  expect([asked.status, asked.json]).toEqual([200, { ok: true, text: "no one was logged in to mail", facts: [] }]);
});
