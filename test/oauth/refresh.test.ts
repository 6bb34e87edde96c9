import { join } from "node:path";
import { expect, test } from "vitest";
import { ageOf, createLogins } from "../../src/servers/logins/logins.ts";
import type { Credential } from "../../src/servers/logins/credential.ts";
import { systemClock } from "../../src/kernel/runtime/clock.ts";
import { createTokenVault } from "../../src/store/files/token-vault.ts";
import { execute } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { createWorld, executeSoon, untilLoginIsWanted, type World } from "./world.ts";

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const never = new AbortController().signal;

function loginsOf(world: World) {
  return createLogins({
    store: createTokenVault({ directory: join(world.directory, "data"), key: {} }),
    clock: systemClock,
    log: silent,
  });
}

test("tokens are renewed before they expire: no call ever meets a 401", async () => {
  await using world = await createWorld({ accessTokenSeconds: 10 });
  await world.logIn();
  await using gateway = await world.gateway();
  await executeSoon(gateway.url, "vault:headers");
  const seenAtStart = world.server.seen.length;
  // What anybody may read, such as the server's card, is asked for without a token.
  const calls = () => world.server.seen.slice(seenAtStart).filter(({ headers }) => headers.authorization !== undefined);
  await until(async () => {
    expect((await execute(gateway.url, "vault:headers")).isError).not.toBe(true);
    return new Set(calls().map(({ headers }) => headers.authorization)).size >= 2;
  });
  expect(world.authorization.grants).toContain("refresh_token");
  expect(calls().filter(({ status }) => status === 401)).toEqual([]);
});

test("any number of calls that meet a dead token share one refresh, and the rotated token is on disk before it is used", async () => {
  let kept: Promise<Credential> | undefined;
  const atFirstUse: string[] = [];
  let dead = "";
  await using world = await createWorld({
    intercept(request) {
      const token = request.headers.authorization?.slice("Bearer ".length);
      if (dead !== "" && token !== undefined && token !== dead && kept === undefined) {
        kept = world.kept();
        void kept.then(({ tokens }) => atFirstUse.push(tokens.access === token ? "kept" : "not kept"));
      }
      return false;
    },
  });
  await world.logIn();
  await using gateway = await world.gateway();
  await executeSoon(gateway.url, "vault:headers");
  const before = await world.kept();
  dead = before.tokens.access;
  await world.authorization.revoke(before.tokens.access);

  const answers = await Promise.all(
    Array.from({ length: 20 }, async () => await execute(gateway.url, "vault:headers")),
  );
  expect(answers.filter(({ isError }) => isError === true)).toEqual([]);
  expect(world.authorization.grants).toEqual(["authorization_code", "refresh_token"]);
  const after = await world.kept();
  expect(after.tokens.refresh).not.toBe(before.tokens.refresh);
  expect(after.loginId).toBe(before.loginId);
  expect(atFirstUse).toEqual(["kept"]);
});

test("two processes with the same login use each refresh token once", async () => {
  await using world = await createWorld();
  await world.logIn();
  const { tokens } = await world.kept();
  await world.authorization.revoke(tokens.access);
  const accounts = await Promise.all(
    [loginsOf(world), loginsOf(world), loginsOf(world)].map(async (logins) => {
      const authorize = await logins.authorizeFor("vault", {
        server: "vault",
        url: world.server.url,
        route: async () => undefined,
      });
      return { authorize, used: await authorize?.(undefined, never) };
    }),
  );
  const headers = await Promise.all(accounts.map(async ({ authorize, used }) => await authorize?.(used, never)));
  expect(new Set(headers.map((header) => header?.["authorization"])).size).toBe(1);
  expect(world.authorization.grants).toEqual(["authorization_code", "refresh_token"]);
});

test("a login that was revoked becomes requires_reauth with the command that cures it, and the cure works", async () => {
  await using world = await createWorld();
  await world.logIn();
  await using gateway = await world.gateway();
  await executeSoon(gateway.url, "vault:headers");
  const { tokens } = await world.kept();
  await world.authorization.revoke(tokens.access, tokens.refresh);

  const refused = await execute(gateway.url, "vault:headers");
  expect(JSON.parse(refused.content[0].text)).toMatchObject({
    code: "SERVER_NEEDS_LOGIN",
    message: expect.stringContaining("invalid_grant"),
    hint: "Run `toolyard login vault`.",
  });
  expect(await untilLoginIsWanted(gateway.url)).toMatchObject({
    server: "vault",
    action: expect.stringContaining("toolyard login vault"),
  });
  const grants = world.authorization.grants.length;
  for (let call = 0; call < 5; call += 1) expect((await execute(gateway.url, "vault:headers")).isError).toBe(true);
  expect(world.authorization.grants).toHaveLength(grants);

  await world.logIn();
  await executeSoon(gateway.url, "vault:headers");
});

test("an authorization server that is down is no reason to log in again", async () => {
  let isDown = false;
  await using world = await createWorld({ isDown: () => isDown });
  await world.logIn();
  await using gateway = await world.gateway({
    config: { mcpServers: { vault: { type: "http", url: world.server.url } } },
  });
  await executeSoon(gateway.url, "vault:headers");
  isDown = true;
  await world.authorization.revoke((await world.kept()).tokens.access);
  const failed = await execute(gateway.url, "vault:headers");
  expect(JSON.parse(failed.content[0].text).code).not.toBe("SERVER_NEEDS_LOGIN");
  isDown = false;
  await executeSoon(gateway.url, "vault:headers");
  expect(world.authorization.grants).toEqual(["authorization_code", "refresh_token"]);
});

test("a token is due in the last minute of its life, or in its last fifth where that is shorter", () => {
  const login = { tokens: { access: "a", refresh: "r", obtainedAtMs: 0, expiresAtMs: 3_600_000 } } as Credential;
  expect([0, 3_539_999, 3_540_000, 3_599_999, 3_600_000].map((nowMs) => ageOf(login, nowMs))).toEqual([
    "fresh",
    "fresh",
    "due",
    "due",
    "expired",
  ]);
  const short = { tokens: { ...login.tokens, expiresAtMs: 10_000 } } as Credential;
  expect([7_999, 8_000].map((nowMs) => ageOf(short, nowMs))).toEqual(["fresh", "due"]);
  expect(ageOf({ tokens: { ...login.tokens, expiresAtMs: undefined } } as Credential, Number.MAX_SAFE_INTEGER)).toBe(
    "fresh",
  );
});
