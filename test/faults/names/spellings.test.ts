import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { badServer } from "../../harness/gateway.ts";
import { execute, rpc, send } from "../../harness/rpc.ts";
import { discover, failureOf, startFaulty, untilOnline, type FaultyGateway } from "../servers/faulty-gateway.ts";

const canaries = (server: string, ...tools: string[]): object =>
  badServer("--server-name", server, "--only-canaries", ...tools.map((tool) => `--tool-name=${tool}`));

describe("spellings of one tool", () => {
  let gateway: FaultyGateway;

  beforeAll(async () => {
    gateway = await startFaulty({
      servers: {
        "gmail-work": canaries("gmail-work", "send_email", "only_here", "pub.find"),
        "a-b": canaries("a-b", "c"),
        a: canaries("a", "b-c", "send_email"),
        Mail: canaries("Mail", "x"),
        mail: canaries("mail", "x"),
        ruled: {
          ...canaries("ruled", "kept", "denied_tool", "old_name"),
          tools: { deny: ["denied*"], rename: { old_name: "new_name" }, describe: { kept: "described here" } },
        },
        café: canaries("café", "x"),
        "cafe\u0301": canaries("decomposed", "x"),
        pаypal: canaries("cyrillic", "x"),
        paypal: canaries("latin", "x"),
        "spaced name/with:marks|here": canaries("spaced", "x"),
      },
    });
    await untilOnline(gateway, "gmail-work", "a-b", "a", "Mail", "ruled", "spaced-name-with-marks-here");
  });
  afterAll(async () => {
    await gateway.endsClean();
    await gateway[Symbol.asyncDispose]();
  });

  const reach = async (name: string): Promise<unknown> => (await execute(gateway.url, name)).structuredContent;

  test("every form of a name is accepted by execute_mcp_tool, and as a tool's name at every endpoint of several servers", async () => {
    const own = { server: "gmail-work", tool: "only_here" };
    for (const spelling of [
      "gmail-work:only_here",
      "gmail-work-only_here",
      "gmail_work__only_here",
      "gmail_work.only_here",
      "only_here",
    ]) {
      expect(await reach(spelling), spelling).toMatchObject(own);
      for (const endpoint of ["/mcp", "/mcp/meta", "/mcp/flat"]) {
        const answer = await rpc(`${gateway.url}${endpoint}`, "tools/call", { name: spelling, arguments: {} });
        expect(answer.json.result.structuredContent, `${endpoint} ${spelling}`).toMatchObject(own);
      }
    }
  });

  test("a bare name is answered with a warning; one that several tools have is refused with their paths", async () => {
    const bare = await execute(gateway.url, "only_here");
    expect(bare._meta["toolyard/warning"]).toContain("gmail-work:only_here");
    const several = failureOf(await execute(gateway.url, "send_email"));
    expect(several).toMatchObject({ code: "TOOL_AMBIGUOUS", tool_paths: ["gmail-work:send_email", "a:send_email"] });
  });

  test("two tools that would share a spelling keep none of it: lists show both with a hash, the spelling names both", async () => {
    expect(await reach("a-b:c")).toMatchObject({ server: "a-b", tool: "c" });
    expect(await reach("a:b-c")).toMatchObject({ server: "a", tool: "b-c" });
    expect(failureOf(await execute(gateway.url, "a-b-c"))).toMatchObject({
      code: "TOOL_AMBIGUOUS",
      tool_paths: expect.arrayContaining(["a-b:c", "a:b-c"]),
    });
    const { tools } = (await rpc(`${gateway.url}/mcp/flat`, "tools/list")).json.result as { tools: { name: string }[] };
    const shared = tools.map(({ name }) => name).filter((name) => name.startsWith("a-b-c"));
    expect(shared).toHaveLength(2);
    for (const name of shared) expect(name).toMatch(/^a-b-c_[0-9a-f]{8}$/);
  });

  test("an unknown name is answered with the closest paths, and with the server's tools when the server is known", async () => {
    const near = failureOf(await execute(gateway.url, "gmail-work:send_emial"));
    expect(near).toMatchObject({
      code: "TOOL_UNKNOWN",
      closest: expect.arrayContaining(["gmail-work:send_email"]),
      tools_of_server: ["gmail-work:send_email", "gmail-work:only_here", "gmail-work:pub.find"],
    });
    const nobody = failureOf(await execute(gateway.url, "gmial-work:only_heer"));
    expect(nobody).toMatchObject({ code: "TOOL_UNKNOWN", closest: expect.arrayContaining(["gmail-work:only_here"]) });
    for (const name of ["__proto__", "constructor", "", ":", "a:", ":a", "a:__proto__", "x".repeat(100_000)])
      expect(["TOOL_UNKNOWN", "ARGUMENTS_INVALID"], name.slice(0, 20)).toContain(
        failureOf(await execute(gateway.url, name)).code,
      );
    await gateway.stillServes();
  });

  test("what the configuration denies cannot be called by any name; what it renames is called by the new one", async () => {
    for (const name of ["ruled:denied_tool", "ruled-denied_tool", "ruled__denied_tool", "denied_tool"])
      expect(failureOf(await execute(gateway.url, name)).code, name).toBe("TOOL_UNKNOWN");
    const own = await rpc(`${gateway.url}/mcp/server/ruled`, "tools/call", { name: "denied_tool", arguments: {} });
    expect(JSON.stringify(own.json)).not.toContain("canary");
    expect(own.json.result?.isError ?? true).toBe(true);
    expect(await reach("ruled:new_name")).toMatchObject({ server: "ruled", tool: "old_name" });
    expect(failureOf(await execute(gateway.url, "ruled:old_name")).code).toBe("TOOL_UNKNOWN");
    const { tools } = (await rpc(`${gateway.url}/mcp/server/ruled`, "tools/list")).json.result;
    expect(tools.map((tool: { name: string; description: string }) => [tool.name, tool.description])).toEqual([
      ["kept", "described here"],
      ["new_name", "The tool old_name"],
    ]);
  });

  test("FAULT 54: of two servers that cannot be told apart the later one is disabled, with a reason", async () => {
    const listed = await discover(gateway, { query: "" });
    const disabled = (listed.servers as { server: string; status: string; reason?: string }[]).filter(
      (row) => row.status === "disabled",
    );
    expect(disabled).toHaveLength(3);
    for (const row of disabled) expect(row.reason).toContain("cannot be told apart");
    expect(await reach("Mail:x")).toMatchObject({ server: "Mail" });
    expect(gateway.logged("cannot be told apart").filter((line) => line.includes('"level":"warn"'))).toHaveLength(3);
    await gateway.stillServes();
  });
});

test("FAULT 59: a cursor of another user is refused", async () => {
  const hash = (token: string): string => `sha256:${createHash("sha256").update(token).digest("hex")}`;
  const gateway = await startFaulty({
    servers: { many: badServer("--tools", "2500", "--page-size", "500") },
    settings: {
      principals: { alice: { tokenHash: hash("token-of-alice") }, bob: { tokenHash: hash("token-of-bob") } },
    },
  });
  const list = async (who: string, params: object): ReturnType<typeof send> =>
    await rpc(`${gateway.url}/mcp/server/many`, "tools/list", params, { authorization: `Bearer token-of-${who}` });
  try {
    let cursor: string | undefined;
    while (cursor === undefined) cursor = (await list("alice", {})).json.result.nextCursor;
    expect((await list("bob", { cursor })).json.error.code).toBe(-32602);
    expect((await list("alice", { cursor })).json.result.tools.length).toBeGreaterThan(0);
  } finally {
    await gateway.endsClean();
    await gateway[Symbol.asyncDispose]();
  }
});
