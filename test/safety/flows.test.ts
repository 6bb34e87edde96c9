import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runCommand } from "../harness/command.ts";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { as, member } from "../harness/known-people.ts";
import { askOwner } from "../harness/owner-door.ts";
import { get, run, untilOnline } from "../harness/rest.ts";
import { execute, modernRpc, rpc, send } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { openSession } from "../protocol/stream.ts";
import { openTalking, type Talking } from "./talking.ts";

let talking: Talking;
let gateway: RunningGateway;

// oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
type Any = any;

const asking = [{ after: "untrusted", effects: ["send", "destroy"], then: "ask" }];

async function start(flows: unknown, more: object = {}, settings: object = {}): Promise<void> {
  const mcpServers = {
    browser: { ...talking.entry("browser"), content: ["untrusted"] },
    mail: { ...talking.entry("mail"), ...more },
    files: { ...talking.entry("files"), content: ["private"] },
  };
  const toolyard = { policy: { flows, ask: [] }, approvals: { holdMs: 0, minAnswerMs: 0 }, ...settings };
  gateway = await startGateway({ config: { mcpServers, toolyard }, directory: talking.directory });
  if (!("principals" in settings)) await untilOnline(gateway.url);
}

beforeEach(async () => {
  talking = await openTalking();
});
afterEach(async () => {
  await gateway[Symbol.asyncDispose]();
  await talking[Symbol.asyncDispose]();
});

const told = (answer: Any): string => JSON.stringify(answer);
const call = async (tool: string, args: unknown = {}): Promise<Any> => await execute(gateway.url, tool, args);
const owner = async (method: string, path: string, body?: object): Promise<Any> =>
  JSON.parse((await askOwner(join(talking.directory, "data"), method, path, body)).text);
const forget = async (headers: Readonly<Record<string, string>>): Promise<Any> =>
  await send(`${gateway.url}/api/flows`, {
    method: "DELETE",
    headers: { "content-type": "application/json", ...headers },
    body: "{}",
  });
const asks = (answer: Any): boolean => told(answer).includes("APPROVAL_NEEDED");

describe("after a client has read from a server with untrusted content", () => {
  test("its calls that send ask, and the question says where it read; a plain read does not", async () => {
    await start(asking);
    expect(asks(await call("mail:send_mail", { to: "a" }))).toBe(false);
    await call("browser:read_page");
    expect(asks(await call("mail:read_page"))).toBe(false);
    const refused = await call("mail:send_mail", { to: "b" });
    expect(told(refused)).toContain("after reading from browser, less than a minute ago");
    const [{ id, because }] = (await owner("GET", "/api/approvals")).approvals;
    expect(because).toContain("after reading from browser");
    await owner("POST", `/api/approvals/${id}`, { decision: "allow" });
    expect(asks(await call("mail:send_mail", { to: "b" }))).toBe(false);
    expect(talking.reached("mail").filter((line) => line.includes("send_mail"))).toHaveLength(2);
  });

  test.each<[string, (url: string) => Promise<unknown>]>([
    ["a resource", async (url) => await rpc(`${url}/mcp/server/browser`, "resources/read", { uri: "page://one" })],
    ["a prompt", async (url) => await rpc(`${url}/mcp/server/browser`, "prompts/get", { name: "summary" })],
    ["a failed call", async () => await call("browser:fail")],
    ["an error", async () => await call("browser:refuse")],
    [
      "a call at the server's own endpoint",
      async (url) => await rpc(`${url}/mcp/server/browser`, "tools/call", { name: "read_page", arguments: {} }),
    ],
  ])("%s counts as a read", async (_what, read) => {
    await start(asking);
    await read(gateway.url);
    expect(asks(await call("mail:send_mail"))).toBe(true);
  });

  test("neither a call that only changes something counts, nor other content", async () => {
    await start(asking);
    await call("browser:send_mail");
    await call("files:read_page");
    expect(asks(await call("mail:send_mail"))).toBe(false);
  });

  test("a rule may refuse, whatever the tool's own rules say", async () => {
    await start([{ after: "private", effects: ["send"], then: "deny" }], { tools: { neverAsk: ["*"] } });
    await call("files:read_page");
    const refused = await run(gateway.url, "mail:send_mail");
    // REST without a name is another client than the one that read.
    expect(refused.status).toBe(200);
    const denied = await call("mail:send_mail");
    expect(told(denied)).toContain("POLICY_DENIED");
    expect(told(denied)).toContain("after reading from files");
    expect((await get(`${gateway.url}/api/policy/explain?tool=mail:send_mail`)).json.flows).toEqual([
      { after: "private", then: "deny" },
    ]);
  });

  test("a remembered yes from before does not count, and one that is given to such a question does", async () => {
    await start(asking, { tools: { ask: ["send_mail"] } });
    await call("mail:send_mail");
    const [{ id: plain }] = (await owner("GET", "/api/approvals")).approvals;
    await owner("POST", `/api/approvals/${plain}`, { decision: "allow", for: "always" });
    expect(asks(await call("mail:send_mail", { to: 1 }))).toBe(false);
    await call("browser:read_page");
    expect(asks(await call("mail:send_mail", { to: 2 }))).toBe(true);
    const [{ id }] = (await owner("GET", "/api/approvals")).approvals;
    await owner("POST", `/api/approvals/${id}`, { decision: "allow", for: "always" });
    expect(asks(await call("mail:send_mail", { to: 3 }))).toBe(false);
  });
});

describe("what a client has read", () => {
  test("counts for that client and that person alone, and not for a new session", async () => {
    await start(asking, {}, { principals: { ann: member("ann"), bob: member("bob") } });
    const ask = async (who: string, tool: string): Promise<string> =>
      (
        await modernRpc(
          `${gateway.url}/mcp`,
          "tools/call",
          { name: "execute_mcp_tool", arguments: { tool_path: tool, arguments: {} } },
          {},
          as(who),
        )
      ).text;
    await until(async () => (await ask("ann", "browser:read_page")).includes("ran read_page"));
    expect(asks(await ask("ann", "mail:send_mail"))).toBe(true);
    // The same client's name.
    await until(async () => (await ask("bob", "mail:send_mail")).includes("ran send_mail"));
    const labels = async (who: string) => (await get(`${gateway.url}/api/flows`, as(who))).json.labels;
    expect(await labels("ann")).toMatchObject([{ label: "untrusted", client: "test", server: "browser" }]);
    expect(await labels("bob")).toEqual([]);
    const execute = { name: "execute_mcp_tool", arguments: { tool_path: "browser:read_page", arguments: {} } };
    const sendMail = { name: "execute_mcp_tool", arguments: { tool_path: "mail:send_mail", arguments: {} } };
    for (const expected of [true, false]) {
      const session = await openSession(`${gateway.url}/mcp`, { headers: as("bob") });
      if (expected) await (await session.call(1, "tools/call", execute)).next(({ id }: Any) => id === 1);
      expect(asks(await (await session.call(2, "tools/call", sendMail)).next(({ id }: Any) => id === 2))).toBe(
        expected,
      );
      await session.end();
    }
    // A token is not enough to be free of it.
    expect((await forget(as("ann"))).json.code).toBe("FORBIDDEN");
    expect(asks(await ask("ann", "mail:send_mail"))).toBe(true);
  });

  test("is forgotten by a person's word", async () => {
    await start(asking);
    await call("browser:read_page");
    expect(asks(await call("mail:send_mail"))).toBe(true);
    const where = ["--config", gateway.configFile, "--data-dir", join(talking.directory, "data")];
    const piped = await runCommand(["approvals", "forget", ...where]);
    expect(piped.code).toBe(2);
    expect((await runCommand(["approvals", "read", ...where])).stdout).toContain("browser");
    expect((await forget({})).json.code).toBe("FORBIDDEN");
    expect(await owner("DELETE", "/api/flows")).toEqual({ done: true });
    expect((await owner("GET", "/api/flows")).labels).toEqual([]);
    expect(asks(await call("mail:send_mail"))).toBe(false);
  });
});

test.each([
  [{ after: "untrusted", effects: ["send"] }],
  [{ after: "trusted", effects: ["send"], then: "ask" }],
  [{ after: "private", effects: [], then: "ask" }],
  [{ after: "private", effects: ["send"], then: "ask", servers: [] }],
])("a rule that is no rule is refused with its place: %j", async (rule) => {
  await expect(start([rule])).rejects.toThrow(/toolyard\.json:1:\d+: toolyard\.policy\.flows\[0\]/);
  await start([]);
});
