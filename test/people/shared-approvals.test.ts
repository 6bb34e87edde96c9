import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommand } from "../harness/command.ts";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { askOwner } from "../harness/owner-door.ts";
import { hasNoPostgres, startPostgres, type Postgres } from "../harness/postgres.ts";
import { get, post } from "../harness/rest.ts";
import { rpc, send } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { openStream } from "../protocol/stream.ts";
import { openNotes, type Notes } from "../safety/notes.ts";
import { createPageBrowser } from "./page-browser.ts";
import { password } from "./team-world.ts";

const key = Buffer.alloc(32, 1).toString("base64");
const waiting = 6;

// oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
type Any = any;

describe.skipIf(hasNoPostgres)("approvals of two gateways of one PostgreSQL", () => {
  let postgres: Postgres;
  let directory: string;
  let env: Record<string, string>;
  let notes: Notes;
  let first: RunningGateway;
  let second: RunningGateway;
  let bob: Record<string, string>;

  async function start(folder: string): Promise<RunningGateway> {
    await mkdir(join(directory, folder), { recursive: true });
    return await startGateway({
      directory: join(directory, folder),
      config: {
        mcpServers: { notes: { ...notes.entry, scope: "shared" } },
        toolyard: {
          ...{ team: true, database: "${env:YARD_DATABASE}" },
          approvals: { holdMs: 60_000, waiting },
        },
      },
      env,
    });
  }

  async function command(gateway: RunningGateway, ...words: string[]): Promise<Any> {
    const where = ["--config", gateway.configFile, "--data-dir", join(gateway.directory, "data"), "--json"];
    const { code, stdout, stderr } = await runCommand([...words, ...where], env);
    expect([code, stderr]).toEqual([0, ""]);
    return JSON.parse(stdout);
  }

  const owner = async (gateway: RunningGateway, method: string, path: string, body?: object): Promise<Any> =>
    JSON.parse((await askOwner(join(gateway.directory, "data"), method, path, body)).text);
  const call = async (gateway: RunningGateway, id: unknown): Promise<Any> =>
    await post(`${gateway.url}/execute/notes%3Adelete_notes`, { id }, bob);
  const codeOf = async (gateway: RunningGateway, id: unknown): Promise<string> => {
    const { status, json } = await call(gateway, id);
    return status === 200 ? "ran" : (json.code as string);
  };
  const listed = async (gateway: RunningGateway, state: string, id?: string): Promise<Any[]> => {
    const { approvals } = (await get(`${gateway.url}/api/approvals?state=${state}`, bob)).json as { approvals: Any[] };
    return approvals.filter((one) => id === undefined || one.id === id);
  };
  const asked = async (gateway: RunningGateway, id: unknown): Promise<string> => {
    const { json } = await call(gateway, id);
    expect(json.code).toBe("APPROVAL_NEEDED");
    return json.approval as string;
  };
  const allow = async (gateway: RunningGateway, id: string, kind = "once"): Promise<Any> =>
    await owner(gateway, "POST", `/api/approvals/${id}`, { decision: "allow", for: kind });
  const ran = (): number => notes.calls().filter((one) => one.startsWith('["delete_notes"')).length;
  const both = (): readonly RunningGateway[] => [first, second];

  beforeAll(async () => {
    postgres = await startPostgres();
    env = { YARD_DATABASE: await postgres.createDatabase("yard"), TOOLYARD_KEY: key };
    directory = await mkdtemp(join(tmpdir(), "toolyard-inbox-"));
    notes = await openNotes();
    [first, second] = await Promise.all([start("first"), start("second")]);
    await command(first, "user", "add", "ann", "--admin", "--team", "red");
    const { made } = await command(first, "user", "add", "bob", "--team", "red");
    bob = { authorization: `Bearer ${made.token}` };
    for (const gateway of both())
      await until(async () => (await post(`${gateway.url}/execute/notes%3Aread_notes`, {}, bob)).status === 200);
  });
  afterAll(async () => {
    await first[Symbol.asyncDispose]();
    await second[Symbol.asyncDispose]();
    await postgres[Symbol.asyncDispose]();
    await notes[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });

  test("a call that is held at one is seen and allowed at the other, and goes on", async () => {
    const events = await openStream(`${second.url}/api/events`, { method: "GET", headers: bob });
    const params = {
      name: "execute_mcp_tool",
      arguments: { tool_path: "notes:delete_notes", arguments: { id: "held" } },
    };
    const held = rpc(`${first.url}/mcp`, "tools/call", params, bob);
    const one = await until(async () => (await listed(second, "waiting"))[0] as Any);
    expect(one).toMatchObject({ tool: "notes:delete_notes", arguments: '{"id":"held"}' });
    // A dashboard at the other gateway is told to look again.
    await until(() => JSON.stringify(events.messages).includes("approvals.changed"));
    events.close();
    // In a browser, at the other gateway.
    const { link } = await command(second, "user", "link", "bob");
    const code = (link as string).split("#")[1] ?? "";
    const browser = createPageBrowser();
    const page = await browser.open(`${second.url}/setup`);
    await browser.submit(page, { code, password, again: password });
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const decided = await send(`${second.url}/api/approvals/${one.id}`, {
      headers: { "content-type": "application/json", cookie },
      body: JSON.stringify({ decision: "allow" }),
    });
    expect(decided.json).toMatchObject({ state: "granted" });
    expect((await held).text).toContain("ran delete_notes");
    await until(async () => (await listed(second, "used", one.id)).length === 1);
    // No other approval came of it, and it is in the audit once.
    expect(await listed(second, "waiting")).toEqual([]);
    const { entries } = await owner(first, "GET", "/api/audit?action=approval.requested");
    expect(entries.filter(({ detail }: Any) => JSON.stringify(detail).includes(one.id))).toHaveLength(1);
  });

  test("the same call repeated at the other finds the yes, and one yes is used once over both", async () => {
    const before = ran();
    const id = await asked(first, "once");
    await until(async () => (await listed(second, "waiting", id)).length === 1);
    await allow(first, id);
    await until(async () => (await listed(second, "granted", id)).length === 1);
    const told = await Promise.all(
      Array.from({ length: 20 }, async (_one, at) => await codeOf(both()[at % 2] as RunningGateway, "once")),
    );
    expect([told.filter((one) => one === "ran"), ran() - before]).toEqual([["ran"], 1]);
    // Whatever asked at the same moment asked once.
    for (const gateway of both()) await until(async () => (await listed(gateway, "waiting")).length === 1);
    const [left] = await listed(first, "waiting");
    const denied = await until(async () => {
      const answer = await owner(second, "POST", `/api/approvals/${left.id}`, { decision: "deny" });
      return answer.state === "denied" && (answer as Any);
    });
    expect(denied).toMatchObject({ state: "denied" });
    await until(async () => (await codeOf(first, "once")) === "APPROVAL_DENIED");
  });

  test("two yeses at the same moment are one, and the other is told that it was late", async () => {
    const id = await asked(first, "twice");
    await until(async () => (await listed(second, "waiting", id)).length === 1);
    const told = await Promise.all(both().map(async (gateway) => await allow(gateway, id)));
    const states = new Set(told.map(({ state, code }) => (state ?? code) as string));
    expect(states).toEqual(new Set(["APPROVAL_UNKNOWN", "granted"]));
    const before = ran();
    await Promise.all(both().map(async (gateway) => await codeOf(gateway, "twice")));
    expect(ran() - before).toBe(1);
    // The one of them that was late asks again.
    const again = await until(async () => (await listed(first, "waiting"))[0] as Any);
    await until(
      async () => (await owner(second, "POST", `/api/approvals/${again.id}`, { decision: "deny" })).state === "denied",
    );
    for (const gateway of both()) await until(async () => (await listed(gateway, "waiting")).length === 0);
  });

  test("a remembered yes counts at both, outlives a restart, and is taken back at both", async () => {
    const id = await asked(second, "always");
    await allow(second, id, "always");
    for (const gateway of both()) await until(async () => (await codeOf(gateway, "any")) === "ran");
    const grants = async (gateway: RunningGateway): Promise<Any[]> =>
      ((await get(`${gateway.url}/api/grants`, bob)).json as { grants: Any[] }).grants;
    expect(await grants(first)).toMatchObject([{ kind: "always", tool: "notes:delete_notes" }]);
    await first.stop();
    first = await start("first");
    await until(async () => (await codeOf(first, "again")) === "ran");
    const [grant] = await grants(first);
    const headers = { ...bob, "content-type": "application/json" };
    expect((await send(`${first.url}/api/grants/${grant.id}`, { method: "DELETE", headers })).status).toBe(200);
    for (const gateway of both()) {
      await until(async () => (await grants(gateway)).length === 0);
      expect(await codeOf(gateway, "no more")).toBe("APPROVAL_NEEDED");
    }
    const rows = "select count(*)::int as grants from toolyard_state.approval_grant";
    expect(await postgres.run(rows, "yard")).toEqual([{ grants: 0 }]);
  });

  test("so many calls of one person wait at both together, and somebody who is removed has none left", async () => {
    for (let at = 0; at < 2 * waiting; at += 1) {
      const id = await asked(both()[at % 2] as RunningGateway, `many ${at}`);
      for (const gateway of both()) await until(async () => (await listed(gateway, "waiting", id)).length === 1);
    }
    for (const gateway of both()) expect(await listed(gateway, "waiting")).toHaveLength(waiting);
    await owner(second, "DELETE", "/api/users/bob");
    const left = "select count(*)::int as left from toolyard_state.approval where state in ('waiting', 'granted')";
    await until(async () => (await postgres.run(left, "yard"))[0]?.["left"] === 0);
  });
});
