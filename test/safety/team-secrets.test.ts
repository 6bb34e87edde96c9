import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addCast, startTeamGateway, type Cast, type TeamGateway } from "../harness/team-gateway.ts";
import { until } from "../harness/until.ts";
import { openTalking, type Talking } from "./talking.ts";

const red = "red-vault-9f3KQxw-canary";
const blue = "blue-vault-77TzQp-canary";

let team: TeamGateway;
let cast: Cast;
let talking: Talking;

beforeAll(async () => {
  talking = await openTalking();
  team = await startTeamGateway({ web: talking.entry("web") });
  cast = await addCast(team);
  const file = join(team.directory, "vault.json");
  const entry = { ...talking.entry("vault"), env: { VAULT_PASSWORD: "${secret:pass}" } };
  await writeFile(file, JSON.stringify({ entry }));
  await team.command("template", "add", "vault", "--file", file);
  for (const [token, slug, value] of [
    [cast.olga, "red", red],
    [cast.cid, "blue", blue],
  ] as const) {
    await team.ask(token, "PUT", `/api/teams/${slug}/secrets/pass`, { body: { value } });
    await team.ask(token, "POST", `/api/teams/${slug}/installations`, { body: { template: "vault" } });
  }
});
afterAll(async () => {
  await team[Symbol.asyncDispose]();
  await talking[Symbol.asyncDispose]();
});

const call = async (token: string, tool: string, body: object) =>
  await team.ask(token, "POST", `/execute/${encodeURIComponent(tool)}`, { body });

test("a team's secrets are stopped without a setting; whose another team's is, is not told", async () => {
  for (const [token, value] of [
    [cast.bob, red],
    [cast.cid, blue],
  ] as const)
    await until(async () => (await call(token, "vault:env", { name: "VAULT_PASSWORD" })).text.includes(value));
  const own = await call(cast.bob, "web:say", { echo: red });
  expect([own.status, own.json.code]).toEqual([403, "SECRET_LEAVES"]);
  expect(own.text).toContain("VAULT_PASSWORD of vault");
  const foreign = await call(cast.bob, "web:say", { echo: blue });
  expect(foreign.json.code).toBe("SECRET_LEAVES");
  expect(foreign.text).toContain("a secret of another team");
  expect(foreign.text).not.toContain("vault");
  // Two servers of one name are two servers.
  expect((await call(cast.bob, "vault:say", { echo: blue })).json.code).toBe("SECRET_LEAVES");
  expect((await call(cast.bob, "vault:say", { echo: red })).status).toBe(200);
  talking.say(`${red} ${blue}`);
  expect((await call(cast.bob, "vault:read_page", {})).text).toContain(`${red} [redacted]`);
  expect((await call(cast.cid, "vault:read_page", {})).text).toContain(`[redacted] ${blue}`);
  expect((await call(cast.bob, "web:read_page", {})).text).toContain("[redacted] [redacted]");
  expect(talking.reached("web").join()).not.toContain("canary");
});
