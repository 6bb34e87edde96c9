import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { as, knownPeople } from "../harness/known-people.ts";
import { get, run, untilOnline } from "../harness/rest.ts";
import { modernRpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";

interface Call {
  readonly id: string;
  readonly name: string;
  readonly principal: string;
  readonly outcome: string;
  readonly hasBody: boolean;
  readonly time: string;
}

describe("records of several people", () => {
  let gateway: RunningGateway;

  beforeAll(async () => {
    gateway = await startGateway({
      config: {
        mcpServers: {
          full: { ...badServer(), requestLogging: "full", scope: "shared" },
          // Its password is a number that stands in a report, too.
          own: { ...badServer(), scope: "user", env: { PASSWORD: String(totalmem()) } },
        },
        toolyard: {
          principals: knownPeople,
        },
      },
    });
    for (const person of ["alice", "bob", "root"]) await untilOnline(gateway.url, as(person));
    await run(gateway.url, "full:echo", { word: "secret of alice" }, as("alice"));
    await run(gateway.url, "full:fail", { text: "no" }, as("alice"));
    await run(gateway.url, "own:stderr", { text: "WARN: of alice" }, as("alice"));
    await run(gateway.url, "own:stderr", { text: "ERROR: of bob" }, as("bob"));
    await run(gateway.url, "full:stderr", { text: "INFO: for all" }, as("bob"));
  });
  afterAll(async () => await gateway[Symbol.asyncDispose]());

  const callsOf = async (person: string, query = ""): Promise<readonly Call[]> =>
    (await get(`${gateway.url}/api/calls${query}`, as(person))).json.calls;
  const namesOf = async (person: string, query = ""): Promise<readonly string[]> =>
    (await callsOf(person, query)).map(({ name }) => name);
  const instanceOf = async (person: string): Promise<string> =>
    (await get(`${gateway.url}/api/instances`, as(person))).json.instances.find(
      (one: { server: string }) => one.server === "own",
    ).id;

  test("everybody sees their own calls, newest first, an admin sees everybody's", async () => {
    expect(await namesOf("alice")).toEqual(["own:stderr", "full:fail", "full:echo"]);
    expect(await namesOf("bob")).toEqual(["full:stderr", "own:stderr"]);
    expect((await callsOf("root")).map(({ principal }) => principal)).toEqual([
      "bob",
      "bob",
      "alice",
      "alice",
      "alice",
    ]);
    expect(await namesOf("root", "?principal=alice&failed=true")).toEqual(["full:fail"]);
    const refused = await get(`${gateway.url}/api/calls?principal=bob`, as("alice"));
    expect([refused.status, refused.json.code]).toEqual([403, "FORBIDDEN"]);
  });

  test("lines of logs are found by what they contain", async () => {
    const linesOf = async (person: string, text: string): Promise<readonly string[]> => {
      const { json } = await get(`${gateway.url}/api/logs?text=${encodeURIComponent(text)}`, as(person));
      return (json.logs as readonly { readonly line: string }[]).map(({ line }) => line);
    };
    await until(async () => (await linesOf("alice", "for ALL")).length === 1);
    expect(await linesOf("alice", "of alice")).toEqual(["WARN: of alice"]);
    expect(await linesOf("alice", "of bob")).toEqual([]);
    expect(await linesOf("alice", "of%alice")).toEqual([]);
  });

  test.each([
    ["?server=full", ["full:fail", "full:echo"]],
    ["?tool=full:echo", ["full:echo"]],
    ["?outcome=tool_error", ["full:fail"]],
    ["?failed=false", ["own:stderr", "full:echo"]],
    ["?client=nobody", []],
    ["?code=UPSTREAM_CLOSED", []],
    ["?to=2020-01-01T00:00:00Z", []],
    ["?from=1600000000000&server=own", ["own:stderr"]],
  ])("calls are filtered by %s", async (query, expected) => {
    expect(await namesOf("alice", query)).toEqual(expected);
  });

  test("calls are read page by page", async () => {
    const names: string[] = [];
    let cursor: string | null = "";
    do {
      const { json } = await get(`${gateway.url}/api/calls?limit=2&cursor=${cursor}`, as("alice"));
      expect(json.calls.length).toBeLessThanOrEqual(2);
      names.push(...json.calls.map(({ name }: Call) => name));
      cursor = json.nextCursor;
    } while (cursor !== null);
    expect(names).toEqual(["own:stderr", "full:fail", "full:echo"]);
  });

  test.each(["?cursor=1e3", "?cursor=99999999999999999", "?from=yesterday", "?outcome=fine", "?failed=1"])(
    "a question like %s is refused as wrong",
    async (query) => {
      const { status, json } = await get(`${gateway.url}/api/calls${query}`, as("alice"));
      expect([status, json.status, typeof json.hint]).toEqual([400, 400, "string"]);
    },
  );

  test("what was said in a call is for whoever said it: an admin sees that it was kept", async () => {
    const [echo] = await callsOf("alice", "?tool=full:echo");
    const path = `${gateway.url}/api/calls/${echo?.id ?? ""}`;
    const own = (await get(path, as("alice"))).json;
    expect(own.contents).toBe("shown");
    expect(JSON.parse(own.body.arguments)).toEqual({ word: "secret of alice" });
    expect(own.body.result).toContain("secret of alice");
    const seen = await get(path, as("root"));
    expect(seen.json).toMatchObject({ name: "full:echo", contents: "not-yours", body: null, hasBody: true });
    expect(seen.text).not.toContain("secret of alice");
    const [plain] = await callsOf("alice", "?tool=own:stderr");
    const unkept = (await get(`${gateway.url}/api/calls/${plain?.id ?? ""}`, as("alice"))).json;
    expect(unkept).toMatchObject({ contents: "not-kept", body: null, hasBody: false });
  });

  test("FAULT 94: another's call, and another's log, are as unknown as ones that never were", async () => {
    const [echo] = await callsOf("alice", "?tool=full:echo");
    const calls = await Promise.all(
      [echo?.id ?? "", "12345", "no-number", "99999999999999999999"].map(
        async (id) => await get(`${gateway.url}/api/calls/${id}`, as("bob")),
      ),
    );
    expect(calls.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect(new Set(calls.map(({ text }) => text)).size).toBe(1);
    const foreign = await instanceOf("alice");
    for (const person of ["bob", "root"]) {
      const logs = await Promise.all(
        [
          `/api/instances/${foreign}/logs`,
          "/api/instances/never-was/logs",
          `/api/logs?instance=${foreign}`,
          "/api/logs?instance=never-was",
        ].map(async (path) => await get(gateway.url + path, as(person))),
      );
      expect(logs.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
      expect(new Set(logs.map(({ text }) => text)).size).toBe(1);
    }
  });

  test("logs are those of one's own instances and of the shared ones", async () => {
    const linesOf = async (person: string, path = "/api/logs"): Promise<readonly string[]> =>
      (await get(gateway.url + path, as(person))).json.logs.map(({ line }: { line: string }) => line);
    await until(async () => (await linesOf("bob")).length === 2);
    expect(await linesOf("bob")).toEqual(["INFO: for all", "ERROR: of bob"]);
    expect(await linesOf("alice")).toEqual(["INFO: for all", "WARN: of alice"]);
    expect(await linesOf("root")).toEqual(["INFO: for all"]);
    expect(await linesOf("alice", `/api/instances/${await instanceOf("alice")}/logs`)).toEqual(["WARN: of alice"]);
    expect(await linesOf("alice", "/api/logs?level=warning")).toEqual(["WARN: of alice"]);
    expect(await linesOf("alice", "/api/logs?level=error")).toEqual([]);
    expect(await linesOf("alice", "/api/logs?server=full&limit=1")).toEqual(["INFO: for all"]);
  });

  test("calls can be had as lines of JSON, and as CSV, with the same rights", async () => {
    const lines = await get(`${gateway.url}/api/calls`, { ...as("alice"), accept: "application/x-ndjson" });
    expect(lines.headers["content-type"]).toBe("application/x-ndjson; charset=utf-8");
    const rows = lines.text.trimEnd().split("\n");
    expect(rows.map((row) => (JSON.parse(row) as Call).name)).toEqual(await namesOf("alice"));
    const csv = await get(`${gateway.url}/api/calls?server=full`, { ...as("alice"), accept: "text/csv" });
    expect(csv.headers["content-type"]).toBe("text/csv; charset=utf-8");
    const [head = "", ...cells] = csv.text.trimEnd().split("\r\n");
    const place = head.split(",").indexOf("name");
    expect(cells.map((row) => row.split(",")[place])).toEqual(["full:fail", "full:echo"]);
    const json = await get(`${gateway.url}/api/calls`, { ...as("alice"), accept: "application/json, text/csv" });
    expect(json.headers["content-type"]).toContain("application/json");
  });

  test("an export does not stop at the end of a page, and begins at a cursor", async () => {
    const [, second] = await callsOf("alice");
    const accept = { ...as("alice"), accept: "application/x-ndjson" };
    const all = await get(`${gateway.url}/api/calls?limit=1`, accept);
    expect(all.text.trimEnd().split("\n")).toHaveLength(3);
    const rest = await get(`${gateway.url}/api/calls?cursor=${second?.id ?? ""}`, accept);
    expect(rest.text.trimEnd().split("\n")).toHaveLength(1);
  });

  test("a failure of an export has its status", async () => {
    const answer = await get(`${gateway.url}/api/logs?instance=none`, { ...as("alice"), accept: "text/csv" });
    expect([answer.status, answer.headers["content-type"]]).toEqual([404, "application/problem+json"]);
  });

  test("the status shows an admin all instances and the gateway, others their own and the shared ones", async () => {
    const status = (await get(`${gateway.url}/api/status`, as("root"))).json;
    expect(status).toMatchObject({
      pid: gateway.process.pid,
      configFile: gateway.configFile,
      addresses: [gateway.url],
      configProblem: null,
      unready: null,
      restart: null,
      store: { status: "ready", problems: [], droppedRows: 0 },
      counts: { servers: 2, calls: 5, errors: 1, byStatus: { online: 4 } },
    });
    const ownersOf = (found: { servers: { owner: string | null }[] }) =>
      new Set(found.servers.map(({ owner }) => owner));
    expect(ownersOf(status)).toEqual(new Set(["alice", "bob", null, "root"]));
    const shown = status.servers.find(({ server }: { server: string }) => server === "full");
    expect(shown).toMatchObject({ word: "online", next: null, transport: "stdio", era: "legacy", owner: null });
    expect(shown.tools).toBeGreaterThan(10);
    expect(shown.tokens).toBeGreaterThan(shown.tools);
    expect(shown).toMatchObject({ calls: 3, errors: 1 });
    expect(shown.p95Ms).toBeGreaterThan(0);
    expect(shown.memoryBytes).toBeGreaterThan(10_000_000);
    expect(Date.parse(shown.since)).toBeLessThanOrEqual(Date.now());
    const own = (await get(`${gateway.url}/api/status`, as("bob"))).json;
    expect(own).toMatchObject({
      pid: null,
      configFile: null,
      addresses: [],
      counts: { servers: 2, calls: 2, errors: 0 },
    });
    expect(ownersOf(own)).toEqual(new Set(["bob", null]));
    const byOwner = new Map<string | null, { pid: number | null }>(
      own.servers.map((one: { owner: string | null; pid: number | null }) => [one.owner, one]),
    );
    expect([byOwner.get(null)?.pid, typeof byOwner.get("bob")?.pid]).toEqual([null, "number"]);
  });

  test("a report for whoever helps has what is wrong, and neither what was said nor a secret", async () => {
    for (const person of ["alice", "bob"])
      expect((await get(`${gateway.url}/api/support`, as(person))).json.code).toBe("FORBIDDEN");
    const { status, json, text, headers } = await get(`${gateway.url}/api/support`, as("root"));
    expect([status, headers["content-disposition"]]).toEqual([200, 'attachment; filename="toolyard-support.json"']);
    expect(json.system).toMatchObject({ node: process.version, platform: process.platform });
    expect(json.status.servers.length).toBeGreaterThan(0);
    expect(json.settings.map(({ path }: { readonly path: string }) => path)).toContain("toolyard.port");
    expect(json.doctor.length).toBeGreaterThan(0);
    expect(json.failedCalls).toMatchObject([{ name: "full:fail", principal: "alice" }]);
    expect(text).not.toContain("secret of alice");
    for (const { tokenHash } of Object.values(knownPeople)) expect(text).not.toContain(tokenHash);
  });
});

test("texts of clients that a spreadsheet would take for formulas are no formulas in an export", async () => {
  await using gateway = await startGateway({ config: { mcpServers: { bad: badServer() } } });
  await untilOnline(gateway.url);
  const clientInfo = { name: '=cmd|"/c calc"!A1', version: "1" };
  await modernRpc(`${gateway.url}/mcp/flat`, "tools/call", {
    name: "bad-echo",
    arguments: {},
    _meta: { "io.modelcontextprotocol/clientInfo": clientInfo },
  });
  const csv = await get(`${gateway.url}/api/calls`, { accept: "text/csv" });
  expect(csv.text).toContain(`,"'=cmd|""/c calc""!A1",`);
});

test("long exports are sent in pieces, page by page", async () => {
  await using gateway = await startGateway({ config: { mcpServers: { bad: badServer() } } });
  await untilOnline(gateway.url);
  const calls = 1_050;
  for (let made = 0; made < calls; made += 70)
    await Promise.all(Array.from({ length: 70 }, async () => await run(gateway.url, "bad:echo", {})));
  const { text, headers } = await get(`${gateway.url}/api/calls`, { accept: "application/x-ndjson" });
  const ids = text
    .trimEnd()
    .split("\n")
    .map((row) => Number((JSON.parse(row) as Call).id));
  expect(ids).toHaveLength(calls);
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => b - a));
  expect(headers["transfer-encoding"]).toBe("chunked");
});

test("records that are switched off are a failure that says so, and no fault of the status", async () => {
  await using gateway = await startGateway({
    config: { mcpServers: { bad: badServer() }, toolyard: { records: { store: "off" } } },
  });
  await untilOnline(gateway.url);
  for (const path of ["/api/calls", "/api/calls/1", "/api/logs", "/api/instances/bad/logs"]) {
    const { status, json } = await get(gateway.url + path);
    expect([path, status, json.code]).toEqual([path, 503, "STORE_UNAVAILABLE"]);
    expect(`${json.detail} ${json.hint}`).toMatch(/records\.store is off.*"sqlite"/);
  }
  const { status, json } = await get(`${gateway.url}/api/status`);
  expect([status, json.store.status, json.unready]).toEqual([200, "off", null]);
});

test("neither the doctor nor a report for whoever helps starts a server for anybody", async () => {
  const home = await mkdtemp(join(tmpdir(), "toolyard-home-"));
  const env = { HOME: home, XDG_CONFIG_HOME: join(home, ".config") };
  const mcpServers = { own: { ...badServer(), scope: "user" } };
  await using gateway = await startGateway({ config: { mcpServers, toolyard: { principals: knownPeople } }, env });
  await mkdir(join(home, ".cursor"));
  const entry = { url: `${gateway.url}/mcp`, headers: { Authorization: as("alice")["authorization"] } };
  await writeFile(join(home, ".cursor", "mcp.json"), JSON.stringify({ mcpServers: { toolyard: entry } }));
  for (const path of ["/api/doctor", "/api/support"])
    expect((await get(`${gateway.url}${path}`, as("root"))).text).toContain("answers; its token was not tried");
  const { json } = await get(`${gateway.url}/api/status`, as("root"));
  expect(json.servers.map(({ owner }: { readonly owner: string }) => owner)).toEqual(["root"]);
  await rm(home, { recursive: true, force: true });
});
