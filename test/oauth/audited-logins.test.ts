import { join } from "node:path";
import { expect, test } from "vitest";
import type { AuditJson } from "../../src/records/audit-json.ts";
import { runCommand as runToEnd } from "../harness/command.ts";
import { until } from "../harness/until.ts";
import { runCommand } from "./login-command.ts";
import { createWorld, executeSoon, untilLoginIsWanted } from "./world.ts";

test("the audit has logins, logouts, and which server a login was sent to, and no token", async () => {
  await using world = await createWorld();
  await using gateway = await world.gateway();
  await untilLoginIsWanted(gateway.url);
  await world.logIn();
  await executeSoon(gateway.url, "vault:headers");
  const logout = runCommand(gateway.directory, ["logout", "vault"]);
  expect(await logout.ended).toBe(0);
  const place = ["--config", gateway.configFile, "--data-dir", join(gateway.directory, "data")];
  const logins = await until(async () => {
    // A call looks at the login again, at the latest after some seconds.
    await executeSoon(gateway.url, "vault:headers").catch(() => undefined);
    const { stdout } = await runToEnd(["audit", "--json", ...place]);
    const all = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as AuditJson);
    const found = all.filter(({ action }) => action.startsWith("login."));
    return found.some(({ action }) => action === "login.remove") && found;
  });
  const actions = logins.map(({ actor, action, object }) => [actor, action, object]);
  expect(actions[0]).toEqual(["owner", "login.add", "vault"]);
  expect(actions).toContainEqual(["gateway", "login.use", "vault"]);
  expect(actions).toContainEqual(["owner", "login.remove", "vault"]);
});
