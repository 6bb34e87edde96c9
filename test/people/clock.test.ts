import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer } from "../harness/gateway.ts";
import { get, run } from "../harness/rest.ts";
import { rpc } from "../harness/rpc.ts";
import { canShiftClocks, createShiftedClock, type ShiftedClock } from "../harness/shifted-clock.ts";
import { until } from "../harness/until.ts";
import { openSse, type RawSse } from "../protocol/sse-client.ts";
import { callbackUrl, connectApp, refresh, type AppTokens } from "./app-client.ts";
import type { PageBrowser } from "./page-browser.ts";
import { startTeamWorld, type TeamWorld } from "./team-world.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

describe.runIf(canShiftClocks)("people at a gateway whose clock is put forward and back", () => {
  let clock: ShiftedClock;
  let world: TeamWorld;
  let pat: string;
  let ann: PageBrowser;
  let app: AppTokens & { readonly clientId: string };
  beforeAll(async () => {
    clock = await createShiftedClock();
    const own = { ...badServer("--behaviours=env,slow"), scope: "user" };
    world = await startTeamWorld({ env: clock.env, servers: { own } });
    pat = (await world.ask("user", "add", "ann", "--admin", "--team", "red")).made.token;
    ann = await world.logIn("ann", { stopAt: callbackUrl });
    app = await connectApp(world.url, ann);
    await until(async () => (await run(world.url, "own:env", {}, bearer(pat))).status === 200);
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    await clock[Symbol.asyncDispose]();
  });

  const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
  const statusOf = async (headers: Record<string, string>): Promise<number> =>
    (await get(`${world.url}/api/me`, headers)).status;
  const cookie = (): Record<string, string> => ({ cookie: `ty_session=${ann.cookies.get("ty_session") ?? ""}` });

  /** A session, and a stream that is read. */
  async function hold(): Promise<{ readonly stream: RawSse; readonly session: string }> {
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } };
    const { headers } = await rpc(`${world.url}/mcp`, "initialize", params, bearer(pat));
    const stream = await openSse(`${world.url}/sse`, bearer(pat));
    await stream.initialize();
    return { stream, session: String(headers["mcp-session-id"]) };
  }

  test("FAULT 110: nobody is logged out before their time, and what an app was given is renewed as ever", async () => {
    const { stream, session } = await hold();
    const ping = async (): Promise<number> =>
      (await rpc(`${world.url}/mcp`, "ping", {}, { ...bearer(pat), "mcp-session-id": session })).status;
    let refreshToken = app.refresh_token;
    for (const wallMs of [0, hourMs / 2, -hourMs, 2 * hourMs, -dayMs, dayMs, 0]) {
      clock.shift({ wallMs });
      expect([wallMs, await statusOf(bearer(pat)), await ping()]).toEqual([wallMs, 200, 200]);
      expect((await run(world.url, "own:env", {}, bearer(pat))).json.success).toBe(true);
      // An app's token is good for an hour by that clock, and good again where it is put back.
      expect([wallMs, await statusOf(bearer(app.access_token))]).toEqual([wallMs, wallMs > hourMs ? 401 : 200]);
      // What renews it is good whatever the clock said when it was made.
      const renewed = await refresh(world.url, app.clientId, refreshToken);
      expect([wallMs, renewed.status]).toEqual([wallMs, 200]);
      expect([wallMs, await statusOf(bearer(renewed.json.access_token))]).toEqual([wallMs, 200]);
      refreshToken = renewed.json.refresh_token;
      expect((await stream.post({ id: 7, method: "ping" }, bearer(pat))).status).toBe(202);
    }
    stream.close();
  });

  test("FAULT 110: a gateway that was stopped for a minute goes on: all are logged in, and no call counts twice", async () => {
    const { stream, session } = await hold();
    const { pid } = world.gateway.process;
    const running = run(world.url, "own:slow", { ms: 1_000 }, bearer(pat));
    const usedNow = async (): Promise<number> => {
      const [from, to] = [-10, 10].map((days) => new Date(Date.now() + days * dayMs).toISOString());
      const { usage } = (await get(`${world.url}/api/usage?from=${from}&to=${to}&by=hour`, bearer(pat))).json;
      return (usage as { calls: number }[]).reduce((sum, { calls }) => sum + calls, 0);
    };
    const before = await usedNow();
    expect((await run(world.url, "own:env", {}, bearer(pat))).json.success).toBe(true);
    for (const minutes of [1, 2, 3]) {
      process.kill(pid ?? 0, "SIGSTOP");
      // The gateway itself, as the system sees it.
      await until(async () => /^State:\tT/m.test(await readFile(`/proc/${pid ?? 0}/status`, "utf8")));
      const asked = run(world.url, "own:env", {}, bearer(pat));
      clock.shift({ wallMs: minutes * 60_000, monotonicMs: minutes * 60_000 });
      process.kill(pid ?? 0, "SIGCONT");
      expect((await asked).json.success).toBe(true);
      const standing = [
        await statusOf(bearer(pat)),
        await statusOf(bearer(app.access_token)),
        await statusOf(cookie()),
      ];
      expect([minutes, standing]).toEqual([minutes, [200, 200, 200]]);
      const ping = await rpc(`${world.url}/mcp`, "ping", {}, { ...bearer(pat), "mcp-session-id": session });
      expect([minutes, ping.status, stream.ended]).toEqual([minutes, 200, false]);
    }
    expect((await running).json.success).toBe(true);
    expect((await usedNow()) - before).toBe(5);
    stream.close();
    clock.shift({ wallMs: 0 });
    await world.restart();
    expect((await usedNow()) - before).toBe(5);
    expect(await statusOf(cookie())).toBe(200);
  });

  test("a browser is logged in for twelve hours without use, by that clock, and no step of it makes that shorter", async () => {
    clock.shift({ wallMs: 0 });
    expect(await statusOf(cookie())).toBe(200);
    for (const wallMs of [11 * hourMs, -dayMs, 0, -11 * hourMs, 0]) {
      clock.shift({ wallMs });
      expect([wallMs, await statusOf(cookie())]).toEqual([wallMs, 200]);
    }
    const late = await world.logIn("ann", { stopAt: callbackUrl });
    clock.shift({ wallMs: 13 * hourMs });
    const old = { cookie: `ty_session=${late.cookies.get("ty_session") ?? ""}` };
    expect(await statusOf(old)).toBe(401);
  });
});
