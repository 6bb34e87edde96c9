import { expect, test } from "vitest";
import { badServer, startGateway } from "../harness/gateway.ts";
import { run, untilOnline } from "../harness/rest.ts";

test("FAULT 49: a REST client can be asked nothing: a legacy server is told so, a modern one's question is an error", async () => {
  const behaviours = "--behaviours=elicit,canary";
  await using gateway = await startGateway({
    config: { mcpServers: { old: badServer(behaviours, "--era=legacy"), new: badServer(behaviours, "--era=modern") } },
  });
  await untilOnline(gateway.url);
  const told = await run(gateway.url, "old:elicit");
  expect([told.status, told.json.success]).toEqual([200, true]);
  expect(JSON.stringify(told.json.result)).toMatch(/-3\d{4}|cannot|not support/i);
  expect((await run(gateway.url, "new:elicit")).json).toMatchObject({ status: 400, code: "CLIENT_CANNOT_ANSWER" });
  for (const name of ["old:canary", "new:canary"]) expect((await run(gateway.url, name)).json.success).toBe(true);
});
