import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createGateway } from "../../src/app/embedded/toolyard.ts";
import { runCommand } from "../harness/command.ts";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { askOwner } from "../harness/owner-door.ts";
import { get, post, run } from "../harness/rest.ts";
import { execute, modernRpc, rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { openNotes, type Notes } from "./notes.ts";

let notes: Notes;
let gateway: RunningGateway;

// oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
type Any = any;

/** The server's tools beside its usual ones. */
const more = ["hidden_notes", "pay_bill", "write_file"];
const entry = (): object => ({ ...notes.entry, args: [...notes.entry.args, ...more] });
const rules = [
  { servers: ["no*"], tools: ["hidden_*"], then: "deny" },
  { tools: ["pay_*"], then: "ask", approver: "admin" },
  { tools: ["write_file"], when: { id: ["/etc/*"] }, then: "deny" },
];

function configOf(settings: object): { mcpServers: object; toolyard: object } {
  return { mcpServers: { notes: entry() }, toolyard: { approvals: { holdMs: 0 }, ...settings } };
}

async function start(settings: object): Promise<void> {
  gateway = await startGateway({ config: configOf(settings), directory: notes.directory });
}

/** Without this server's instance: people of the configuration have their own. */
const untilRan = async (): Promise<void> => {
  await until(async () => (await execute(gateway.url, "notes:read_notes")).isError !== true);
};

beforeEach(async () => {
  notes = await openNotes();
});
afterEach(async () => {
  await gateway[Symbol.asyncDispose]();
  await notes[Symbol.asyncDispose]();
});

function ran(tool: string): number {
  return notes.calls().filter((call) => call.startsWith(`["${tool}"`)).length;
}

const owner = async (method: string, path: string, body?: object): Promise<Any> =>
  JSON.parse((await askOwner(join(notes.directory, "data"), method, path, body)).text);
const explain = async (tool: string, more = "", headers = {}): Promise<Any> =>
  (await get(`${gateway.url}/api/policy/explain?tool=notes:${tool}${more}`, headers)).json;

interface Way {
  readonly name: string;
  /** The list of tools that is shown there, as text. */
  list(): Promise<string>;
  /** A call with its answer as text. */
  call(tool: string, given: object): Promise<string>;
}

/** Every way in which tools are listed and called. */
async function ways(token: string): Promise<readonly Way[]> {
  const { url } = gateway;
  const headers = { authorization: `Bearer ${token}` };
  const listed = (path: string, way = rpc, more = {}): Way["list"] => {
    return async () => (await way(`${url}${path}`, "tools/list", {}, more)).text;
  };
  const called = (path: string, nameOf: (tool: string) => string, more = {}): Way["call"] => {
    return async (tool, given) =>
      (await rpc(`${url}${path}`, "tools/call", { name: nameOf(tool), arguments: given }, more)).text;
  };
  const search = async (): Promise<string> =>
    (await rpc(`${url}/mcp`, "tools/call", { name: "discover_mcp_tools", arguments: { query: "notes file bill" } }))
      .text;
  const flat = (tool: string): string => `notes-${tool}`;
  return [
    {
      name: "meta",
      list: search,
      call: async (tool, given) => JSON.stringify(await execute(url, `notes:${tool}`, given)),
    },
    {
      name: "another spelling",
      list: search,
      call: async (tool, given) => JSON.stringify(await execute(url, `notes.${tool}`, given)),
    },
    { name: "flat", list: listed("/mcp/flat"), call: called("/mcp/flat", flat) },
    {
      name: "flat, modern",
      list: async () => (await modernRpc(`${url}/mcp/flat`, "tools/list")).text,
      call: async (tool, given) =>
        (await modernRpc(`${url}/mcp/flat`, "tools/call", { name: flat(tool), arguments: given })).text,
    },
    {
      name: "namespaces",
      list: async () => {
        await rpc(`${url}/mcp/namespaces`, "tools/call", { name: "notes__list_tools" });
        return (await rpc(`${url}/mcp/namespaces`, "tools/list")).text;
      },
      call: called("/mcp/namespaces", (tool) => `notes__${tool}`),
    },
    { name: "one server", list: listed("/mcp/server/notes"), call: called("/mcp/server/notes", (tool) => tool) },
    {
      name: "one instance",
      list: listed("/i/notes/mcp", rpc, headers),
      call: called("/i/notes/mcp", (tool) => tool, headers),
    },
    {
      name: "REST",
      list: async () => (await get(`${url}/api/tools`)).text,
      call: async (tool, given) => (await run(url, `notes:${tool}`, given)).text,
    },
  ];
}

describe("rules of the configuration", () => {
  test("count the same in every list and for every call, whichever way it comes", async () => {
    await start({ policy: { rules } });
    await untilRan();
    const { token } = (await post(`${gateway.url}/api/instances/notes/token`)).json as { token: string };
    for (const { name, list, call } of await ways(token)) {
      const shown = await list();
      expect([name, shown.includes("write_file"), shown.includes("hidden_notes")]).toEqual([name, true, false]);
      expect([name, await call("hidden_notes", {})]).not.toEqual([name, expect.stringContaining("ran hidden_notes")]);
      expect([name, await call("pay_bill", { id: name })]).toEqual([name, expect.stringContaining("APPROVAL_NEEDED")]);
      expect([name, await call("write_file", { id: "/etc/x" })]).toEqual([
        name,
        expect.stringContaining("not allowed by the configuration"),
      ]);
      expect([name, await call("write_file", { id: "/tmp" })]).toEqual([
        name,
        expect.stringContaining("ran write_file"),
      ]);
    }
    expect([ran("hidden_notes"), ran("pay_bill"), ran("write_file")]).toEqual([0, 0, 8]);
    expect(notes.calls().some((call) => call.includes("/etc/x"))).toBe(false);
  });

  test("count in a program that has the gateway in it", async () => {
    await start({});
    const home = await mkdtemp(join(tmpdir(), "toolyard-rules-"));
    try {
      await using embedded = await createGateway({
        cwd: home,
        environment: { PATH: process.env["PATH"], HOME: home },
        log: { level: "silent" },
        config: configOf({ policy: { rules } }),
      });
      await embedded.ready();
      const paths = embedded.tools().map(({ path }) => path);
      expect([paths.includes("notes:write_file"), paths.includes("notes:hidden_notes")]).toEqual([true, false]);
      await expect(embedded.call("notes:hidden_notes")).rejects.toMatchObject({ code: "TOOL_UNKNOWN" });
      await expect(embedded.call("notes:pay_bill")).rejects.toMatchObject({
        code: "APPROVAL_NEEDED",
        data: { approver: "admin" },
      });
      await expect(embedded.call("notes:write_file", { id: "/etc/x" })).rejects.toMatchObject({
        code: "POLICY_DENIED",
      });
      expect((await embedded.call("notes:write_file", { id: "/tmp" })).isError).not.toBe(true);
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });

  test("are about the server's own name, whatever a tool is renamed to", async () => {
    gateway = await startGateway({
      config: {
        mcpServers: {
          notes: { ...entry(), tools: { rename: { hidden_notes: "kind_notes", pay_bill: "hidden_bill" } } },
        },
        toolyard: { policy: { rules: [{ tools: ["hidden_*"], then: "deny" }] } },
      },
      directory: notes.directory,
    });
    await untilRan();
    expect((await execute(gateway.url, "notes:hidden_bill")).isError).not.toBe(true);
    expect((await execute(gateway.url, "notes:kind_notes")).isError).toBe(true);
    expect([ran("pay_bill"), ran("hidden_notes")]).toEqual([1, 0]);
  });

  test("are told with their name: over REST, and in a terminal, for somebody else as well", async () => {
    const people = {
      ann: { roles: ["admin"], ...tokenOf("ann") },
      bob: { ...tokenOf("bob") },
    };
    await start({
      principals: people,
      instances: { scope: "shared" },
      policy: { rules: [...rules, { roles: ["member"], tools: ["read_*"], then: "deny" }] },
    });
    const ann = { authorization: `Bearer ${tokens.ann}` };
    const bob = { authorization: `Bearer ${tokens.bob}` };
    await until(async () => (await run(gateway.url, "notes:read_notes", {}, ann)).status === 200);
    expect(await explain("read_notes", "", ann)).toMatchObject({ verdict: "allow", rule: null, person: "ann" });
    expect(await explain("read_notes", "&as=bob", ann)).toMatchObject({
      ...{ verdict: "deny", rule: "policy.rules[3]", person: "bob", approver: null },
    });
    expect(await explain("hidden_notes", "", ann)).toMatchObject({ verdict: "deny", rule: "policy.rules[0]" });
    expect(await explain("pay_bill", "", ann)).toMatchObject({
      ...{ verdict: "ask", rule: "policy.rules[1]", approver: "admin" },
    });
    const given = `&args=${encodeURIComponent('{"id":"/etc/x"}')}`;
    expect(await explain("write_file", given, ann)).toMatchObject({ verdict: "deny", rule: "policy.rules[2]" });
    expect(await explain("write_file", "", ann)).toMatchObject({ verdict: "allow" });
    // What is hidden from somebody is not told to them either, and nobody but an admin asks for others.
    await until(async () => (await explain("write_file", "", bob)).verdict === "allow");
    expect((await explain("read_notes", "", bob)).code).toBe("TOOL_UNKNOWN");
    expect((await explain("write_file", "&as=ann", bob)).code).toBe("FORBIDDEN");
    expect((await explain("write_file", "&as=nobody", ann)).code).toBe("PARAMS_INVALID");

    const { tools } = (await get(`${gateway.url}/api/tools`, ann)).json as { tools: Any[] };
    expect(tools.find(({ name }) => name === "pay_bill")).toMatchObject({
      ...{ asks: true, approver: "admin", decided_by: "policy.rules[1]" },
    });
    const where = ["--config", gateway.configFile, "--data-dir", join(notes.directory, "data")];
    const said = await runCommand(["policy", "explain", "notes:pay_bill", "--as", "bob", ...where]);
    expect(said.stdout).toContain("waits for a person's yes, for bob");
    expect(said.stdout).toContain("policy.rules[1]");
    expect(said.stdout).toContain("an admin of the gateway, who is somebody else");
  });

  test("that are wrong are refused with the line: at the start, and in a running gateway, which goes on", async () => {
    await start({ policy: { rules } });
    await untilRan();
    for (const [wrong, said, place = ".rules[0]"] of [
      [{ tools: ["x"] }, "expected `then`"],
      [{ then: "deny", servers: [] }, "expected at least one"],
      [{ then: "deny", effects: ["destroys"] }, 'expected "read"'],
      [{ then: "deny", roles: ["membre"] }, "expected one of admin, team-owner, team-admin, member"],
      [{ then: "deny", tool: ["x"] }, "did you mean `tools`?"],
      [{ then: "deny", approver: "admin" }, "expected `then` to be `ask`"],
      [undefined, "did you mean `rules`?", ".ruls"],
    ] as const) {
      const policy = wrong === undefined ? { ruls: rules } : { rules: [wrong] };
      const config = JSON.stringify(configOf({ policy }), undefined, 2);
      await writeFile(gateway.configFile, config);
      const problem = await until(async () => {
        const { configProblem } = (await get(`${gateway.url}/api/status`)).json as { configProblem: string | null };
        return configProblem?.includes(said) === true ? configProblem : undefined;
      });
      expect(problem).toMatch(/:\d+:\d+: toolyard/);
      expect(problem).toContain(`toolyard.policy${place}`);
      expect((await execute(gateway.url, "notes:pay_bill")).isError).toBe(true);
    }
    expect(ran("pay_bill")).toBe(0);
  });

  test("that wait for somebody else where there is one person are a warning with its place", async () => {
    await start({});
    const check = async (settings: object): Promise<string> => {
      const file = join(notes.directory, "alone.json");
      await writeFile(file, JSON.stringify(configOf({ policy: { rules }, ...settings }), undefined, 1));
      const { stdout, stderr } = await runCommand(["config", "check", "--config", file]);
      return `${stdout}${stderr}`;
    };
    expect(await check({})).toMatch(
      /alone\.json:\d+:\d+: toolyard\.policy\.rules\[1\]\.approver: .*the rule refuses what it is about/,
    );
    for (const people of [{ team: true }, { principals: { ann: { tokenHashes: [`sha256:${"0".repeat(64)}`] } } }])
      expect(await check(people)).not.toContain("refuses what it is about");
  });

  test("are in force with a changed file, and lists follow", async () => {
    await start({});
    await untilRan();
    const listed = async (): Promise<boolean> =>
      (await rpc(`${gateway.url}/mcp/flat`, "tools/list")).text.includes("notes-hidden_notes");
    expect(await listed()).toBe(true);
    await writeFile(gateway.configFile, JSON.stringify(configOf({ policy: { rules } })));
    await until(async () => !(await listed()));
    expect((await execute(gateway.url, "notes:hidden_notes")).isError).toBe(true);
    await writeFile(gateway.configFile, JSON.stringify(configOf({})));
    await until(listed);
    expect((await execute(gateway.url, "notes:hidden_notes")).isError).not.toBe(true);
  });

  test("judge a call that waits when the yes comes, as they are by then", async () => {
    await start({ approvals: { holdMs: 60_000 } });
    await untilRan();
    const waitingFor = async (id: string): Promise<Any> =>
      await until(async () => {
        const { approvals } = await owner("GET", "/api/approvals?state=waiting");
        return approvals.find((one: Any) => one.arguments.includes(`"${id}"`));
      });
    const allow = async ({ id }: { id: string }): Promise<Any> =>
      await owner("POST", `/api/approvals/${id}`, { decision: "allow" });
    const follow = async (rule: object, verdict: string): Promise<void> => {
      const settings = { approvals: { holdMs: 60_000 }, policy: { rules: [rule] } };
      await writeFile(gateway.configFile, JSON.stringify(configOf(settings)));
      const given = encodeURIComponent('{"id":"b"}');
      await until(async () => (await explain("delete_notes", `&args=${given}`)).verdict === verdict);
    };
    const calling = execute(gateway.url, "notes:delete_notes", { id: "a" });
    const asked = await waitingFor("a");
    await follow({ tools: ["delete_*"], then: "deny" }, "deny");
    await allow(asked);
    expect(JSON.stringify(await calling)).toContain("POLICY_DENIED");

    await follow({ tools: ["x"], then: "deny" }, "ask");
    const second = execute(gateway.url, "notes:delete_notes", { id: "b" });
    const waiting = await waitingFor("b");
    await follow({ tools: ["delete_*"], then: "ask", approver: "admin" }, "ask");
    await until(async () => (await explain("delete_notes")).approver === "admin");
    await allow(waiting);
    const answer = JSON.stringify(await second);
    expect(answer).toContain("APPROVAL_NEEDED");
    expect(answer).toContain("have changed while its call waited");
    expect(ran("delete_notes")).toBe(0);
  });

  test("a remembered yes of one's own covers no call that takes somebody else's", async () => {
    await start({});
    await untilRan();
    await execute(gateway.url, "notes:delete_notes", { id: 1 });
    const [{ id }] = (await owner("GET", "/api/approvals?state=waiting")).approvals;
    await owner("POST", `/api/approvals/${id}`, { decision: "allow", for: "always" });
    expect((await execute(gateway.url, "notes:delete_notes", { id: 2 })).isError).not.toBe(true);
    const rule = { tools: ["delete_*"], then: "ask", approver: "admin" };
    await writeFile(gateway.configFile, JSON.stringify(configOf({ policy: { rules: [rule] } })));
    await until(async () => (await explain("delete_notes")).approver === "admin");
    expect((await execute(gateway.url, "notes:delete_notes", { id: 3 })).isError).toBe(true);
    const waiting = (await owner("GET", "/api/approvals?state=waiting")).approvals;
    expect(waiting).toMatchObject([{ approver: "admin", mayDecide: false }]);
    // The one person of this gateway is nobody else.
    expect((await owner("POST", `/api/approvals/${waiting[0].id}`, { decision: "allow" })).code).toBe("FORBIDDEN");
    expect(ran("delete_notes")).toBe(1);
  });
});

const tokens = { ann: "ann-".repeat(12), bob: "bob-".repeat(12) };

function tokenOf(name: keyof typeof tokens): { tokenHash: string } {
  return { tokenHash: `sha256:${createHash("sha256").update(tokens[name]).digest("hex")}` };
}
