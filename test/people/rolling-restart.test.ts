import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { runCommand } from "../harness/command.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { hasNoHaproxy, startHaproxy } from "../harness/haproxy.ts";
import { hasNoPostgres, startPostgres } from "../harness/postgres.ts";
import { get, post } from "../harness/rest.ts";
import { modernRpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";

const key = Buffer.alloc(32, 1).toString("base64");
const everyMs = 10;

const bearer = (token = ""): Record<string, string> => ({ authorization: `Bearer ${token}` });

/** A request each 10 ms, whether those before are answered or not: a gateway that hangs makes the load no smaller. */
function startLoad(url: string, tokens: readonly string[]) {
  const asked: Promise<string | undefined>[] = [];
  async function ask(count: number): Promise<string | undefined> {
    const headers = bearer(tokens[count % tokens.length]);
    const call = { name: "execute_mcp_tool", arguments: { tool_path: "bad:echo", arguments: { count } } };
    try {
      const [method, params] = count % 2 === 0 ? (["tools/list", {}] as const) : (["tools/call", call] as const);
      const { status, json, text } = await modernRpc(`${url}/mcp`, method, params, {}, headers);
      return status === 200 && json?.result !== undefined && json.result.isError !== true
        ? undefined
        : `${status}: ${text.slice(0, 200)}`;
    } catch (error) {
      return String(error);
    }
  }
  const timer = setInterval(() => asked.push(ask(asked.length)), everyMs);
  return {
    sent: () => asked.length,
    /** Resolves to what went wrong. */
    async end(): Promise<readonly string[]> {
      clearInterval(timer);
      return (await Promise.all(asked)).filter((failure) => failure !== undefined);
    },
  };
}

/** Restarts two gateways of one PostgreSQL behind HAProxy, one after the other. Resolves to the calls that failed. */
async function restartBoth(noticeMs: number): Promise<readonly string[]> {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-rolling-"));
  onTestFinished(async () => await rm(directory, { recursive: true, force: true }));
  await using postgres = await startPostgres();
  const env = { YARD_DATABASE: await postgres.createDatabase("yard"), TOOLYARD_KEY: key };
  const start = async (folder: string, port?: number): Promise<RunningGateway> => {
    await mkdir(join(directory, folder), { recursive: true });
    const toolyard = { team: true, database: "${env:YARD_DATABASE}", trustedProxies: ["127.0.0.1"], noticeMs };
    const config = { mcpServers: { bad: badServer() }, toolyard };
    return await startGateway({ directory: join(directory, folder), config, env, ...(port && { port }) });
  };
  let first = await start("first");
  let second = await start("second");
  try {
    const tokens = await addPeople(first, env);
    const ports = [first, second].map(({ url }) => Number(new URL(url).port));
    await using haproxy = await startHaproxy(ports);
    const areBothUp = async (): Promise<boolean> => (await haproxy.states()).every(Boolean);
    await until(areBothUp);
    for (const { url } of [first, second])
      for (const token of tokens) await until(async () => (await get(`${url}/api/me`, bearer(token))).status === 200);
    const load = startLoad(haproxy.url, tokens);
    const goOn = async (): Promise<unknown> => {
      const before = load.sent();
      return await until(() => load.sent() > before + 50);
    };
    await goOn();
    expect(await first.stop()).toBe(0);
    await goOn();
    first = await start("first", ports[0]);
    await until(areBothUp);
    expect(await second.stop()).toBe(0);
    await goOn();
    second = await start("second", ports[1]);
    await until(areBothUp);
    await goOn();
    return await load.end();
  } finally {
    await first[Symbol.asyncDispose]();
    await second[Symbol.asyncDispose]();
  }
}

/** Tokens of so many people that each gateway has some of them. */
async function addPeople(
  { url, configFile, directory }: RunningGateway,
  env: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const where = ["--config", configFile, "--data-dir", join(directory, "data"), "--json"];
  const { stdout } = await runCommand(["user", "add", "ann", "--admin", "--team", "red", ...where], env);
  const tokens: string[] = [JSON.parse(stdout).made.token];
  for (const name of ["bob", "cid", "dan", "eve", "fay", "gil", "hal"]) {
    const { json } = await post(`${url}/api/users`, { name, team: "red" }, bearer(tokens[0]));
    tokens.push(json.made.token);
  }
  return tokens;
}

describe.skipIf(hasNoPostgres || hasNoHaproxy)("two gateways of one PostgreSQL, restarted one after the other", () => {
  // More than HAProxy takes to notice, as the page says.
  test("with notice, no call fails", async () => expect(await restartBoth(5_000)).toEqual([]));

  test("without notice some do, which shows that the load finds them", async () =>
    expect((await restartBoth(0)).length).toBeGreaterThan(0));
});
