import { expect, test } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { post } from "../harness/rest.ts";

test("a command that a page runs is about this gateway, whichever one the environment names", async () => {
  await using gateway = await startGateway({
    config: { mcpServers: { mail: { url: "https://mail.example.com/mcp" } } },
    env: { TOOLYARD_GATEWAY: "https://elsewhere.example" },
  });
  const { status, json } = await post(`${gateway.url}/api/servers/mail/logout`);
  expect([status, json]).toEqual([200, { ok: true, text: "nobody was logged in to mail\n", facts: [] }]);
});
