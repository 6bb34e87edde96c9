import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { AuditJson } from "../../src/records/audit/audit-history.ts";
import { runCommand as runToEnd } from "../harness/command.ts";
import { execute } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { runCommand } from "./login-command.ts";
import { createWorld, executeSoon, untilLoginIsWanted } from "./world.ts";

test("the audit has logins and logouts that were made while no gateway ran, in the gateway's own chain", async () => {
  await using world = await createWorld();
  await using first = await world.gateway();
  const place = ["--config", first.configFile, "--data-dir", join(first.directory, "data")];
  await untilLoginIsWanted(first.url);
  expect(await first.stop()).toBe(0);
  await world.logIn();
  expect(await runCommand(first.directory, ["logout", "vault"]).ended).toBe(0);
  // Nobody is logged in any more, so that there is nothing to list.
  expect(await runCommand(first.directory, ["logout", "vault"]).ended).toBe(0);
  await world.logIn();
  const read = async () => {
    const { stdout } = await runToEnd(["audit", "--json", ...place]);
    return stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as AuditJson);
  };
  const told = (await read()).filter(({ action }) => action.startsWith("login."));
  expect(told.map(({ actor, via, action, object }) => [actor, via, action, object])).toEqual([
    ["owner", "vault", "login.add", "vault"],
    ["owner", "vault", "login.remove", "vault"],
    ["owner", "vault", "login.add", "vault"],
  ]);
  // The gateway that starts then uses the login, and goes on with the same chain.
  await using second = await world.gateway();
  await executeSoon(second.url, "vault:headers");
  const all = await until(async () => {
    const entries = await read();
    return entries.some(({ action }) => action === "login.use") && entries;
  });
  expect(all.filter(({ action }) => action === "login.add")).toHaveLength(2);
  expect(all.map(({ seq }) => seq)).toEqual(all.map((_, at) => at + 1));
  expect((await runToEnd(["audit", "verify", ...place])).code).toBe(0);
});

test("a login that cannot be listed is made all the same and that is said, unless the audit is strict", async () => {
  await using world = await createWorld();
  await using gateway = await world.gateway();
  await untilLoginIsWanted(gateway.url);
  expect(await gateway.stop()).toBe(0);
  const gateways = join(gateway.directory, "data", "gateways");
  const [place = ""] = await readdir(gateways);
  await writeFile(join(gateways, place, "state.db"), "x".repeat(10_000));
  const { ended, stderr } = await world.logIn();
  expect(await ended).toBe(0);
  expect(stderr()).toMatch(/not in the audit: .*state\.db is damaged/);
  expect(await world.kept()).toBeDefined();
  const config = JSON.parse(await readFile(gateway.configFile, "utf8")) as object;
  await writeFile(gateway.configFile, JSON.stringify({ ...config, toolyard: { records: { audit: "strict" } } }));
  const logout = runCommand(gateway.directory, ["logout", "vault"]);
  expect(await logout.ended).toBe(1);
  expect(logout.stderr()).toMatch(/state\.db is damaged/);
  expect(await world.kept()).toBeDefined();
});

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
    await execute(gateway.url, "vault:headers");
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
