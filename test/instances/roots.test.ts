import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { mainFile, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { runCommand } from "../harness/command.ts";
import { get, post, run } from "../harness/rest.ts";
import { modernRpc, rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { connectClient, type AnsweringClient } from "../protocol/clients.ts";
import { openSession } from "../protocol/stream.ts";
import { makeFolders, readFileAs, type Folders } from "./filesystem.ts";

let folders: Folders;
beforeAll(async () => {
  folders = await makeFolders("a", "b", "c", "listed");
});
afterAll(async () => await folders[Symbol.asyncDispose]());

const refused = /outside allowed directories/;

/** A client that declares roots, which are these folders; without any it declares none. */
async function clientAt(url: string, roots: readonly string[] = []): Promise<AnsweringClient> {
  return await clientAnswering(url, { roots: roots.map((folder) => ({ uri: folders.uri(folder) })) });
}

async function clientAnswering(url: string, answer: { roots: object[] }): Promise<AnsweringClient> {
  const capabilities = answer.roots.length === 0 ? {} : { roots: { listChanged: true } };
  return await connectClient(url, "legacy", { capabilities, answers: { "roots/list": answer } });
}

/** As a client leaves that ends its session. */
async function leave({ client }: AnsweringClient): Promise<void> {
  await (client.transport as unknown as { terminateSession(): Promise<void> }).terminateSession();
  await client.close();
}

async function gatewayWith(entry: object, toolyard: object = {}): Promise<RunningGateway> {
  const gateway = await startGateway({ config: { mcpServers: { fs: { ...folders.server, ...entry } }, toolyard } });
  await until(async () => (await rpc(`${gateway.url}/mcp/flat`, "tools/list")).text.includes("fs-read_text_file"));
  return gateway;
}

describe("a server that all clients share", () => {
  let gateway: RunningGateway;
  beforeAll(async () => {
    gateway = await gatewayWith({});
  });
  afterAll(async () => await gateway[Symbol.asyncDispose]());

  test.each<[string, string]>([
    ["/mcp", "fs:read_text_file"],
    ["/mcp/flat", "fs-read_text_file"],
    ["/mcp/server/fs", "read_text_file"],
  ])("at %s one client's roots replace the configured folder for nobody", async (path, tool) => {
    await using greedy = await clientAt(`${gateway.url}${path}`, ["a"]);
    await using plain = await clientAt(`${gateway.url}${path}`);
    for (const client of [greedy, plain, greedy]) {
      expect(await readFileAs(client, folders.file("configured"), tool)).toBe("configured");
      expect(await readFileAs(client, folders.file("a"), tool)).toMatch(refused);
    }
    expect(greedy.asked).toEqual([]);
  });

  test("the startup report says what to do about it", async () => {
    await until(() => /asks clients for their folders \(roots\).*\\"scope\\": \\"client\\"/.test(gateway.stderr()));
    await using settled = await gatewayWith({ scope: "client" });
    await until(() => settled.stderr().includes("-> online"));
    expect(settled.stderr()).not.toContain("asks clients");
  });

  test("at an instance's own endpoint too", async () => {
    const { token } = (await post(`${gateway.url}/api/instances/fs/token`)).json as { token: string };
    const session = await openSession(`${gateway.url}/i/fs/mcp`, {
      capabilities: { roots: {} },
      headers: { authorization: `Bearer ${token}` },
    });
    const read = async (folder: string): Promise<string> => {
      const stream = await session.call(1, "tools/call", {
        name: "read_text_file",
        arguments: { path: folders.file(folder) },
      });
      return JSON.stringify(await stream.next(({ id }) => id === 1));
    };
    expect(await read("configured")).toContain('"text":"configured"');
    expect(await read("a")).toMatch(refused);
    await session.end();
  });

  test("a server that lists roots serves those to everybody, from its first call on", async () => {
    await using own = await startGateway({
      directory: folders.path("listed"),
      config: {
        mcpServers: { fs: { ...folders.server, roots: [".", "../b", "${FOLDER}"] } },
      },
      env: { FOLDER: folders.uri("c") },
    });
    await until(async () => (await rpc(`${own.url}/mcp/flat`, "tools/list")).text.includes("fs-read_text_file"));
    await using greedy = await clientAt(`${own.url}/mcp`, ["a"]);
    await using plain = await clientAt(`${own.url}/mcp`);
    for (const client of [greedy, plain]) {
      for (const folder of ["listed", "b", "c"]) expect(await readFileAs(client, folders.file(folder))).toBe(folder);
      for (const folder of ["a", "configured"]) expect(await readFileAs(client, folders.file(folder))).toMatch(refused);
    }
    expect(greedy.asked).toEqual([]);
  });
});

describe("an instance per client", () => {
  let gateway: RunningGateway;
  beforeAll(async () => {
    gateway = await gatewayWith({ scope: "client" });
  });
  afterAll(async () => await gateway[Symbol.asyncDispose]());

  test.each<[string, string]>([
    ["/mcp", "fs:read_text_file"],
    ["/mcp/flat", "fs-read_text_file"],
    ["/mcp/server/fs", "read_text_file"],
  ])(
    "at %s each reads its own roots, from its first call on, and one without any the configured folder",
    async (path, tool) => {
      const alone = await folders.pids();
      const a = await clientAt(`${gateway.url}${path}`, ["a"]);
      const b = await clientAt(`${gateway.url}${path}`, ["b"]);
      const plain = await clientAt(`${gateway.url}${path}`);
      expect(await readFileAs(a, folders.file("a"), tool)).toBe("a");
      expect(await readFileAs(b, folders.file("b"), tool)).toBe("b");
      expect(await readFileAs(plain, folders.file("configured"), tool)).toBe("configured");
      expect(await readFileAs(a, folders.file("b"), tool)).toMatch(refused);
      expect(await readFileAs(a, folders.file("configured"), tool)).toMatch(refused);
      expect(await readFileAs(b, folders.file("a"), tool)).toMatch(refused);
      expect(await readFileAs(plain, folders.file("a"), tool)).toMatch(refused);
      const own = async (): Promise<readonly number[]> => (await folders.pids()).filter((pid) => !alone.includes(pid));
      expect(await own()).toHaveLength(3);
      for (const client of [a, b, plain]) await leave(client);
      await until(async () => (await own()).length === 0);
    },
  );

  test("a client that takes answers on its calls alone is asked there", async () => {
    const session = await openSession(`${gateway.url}/mcp/server/fs`, { capabilities: { roots: {} } });
    const stream = await session.call("read", "tools/call", {
      name: "read_text_file",
      arguments: { path: folders.file("c") },
    });
    const question = await stream.next(({ method }) => method === "roots/list");
    await session.say({ id: question.id, result: { roots: [{ uri: folders.uri("c") }] } });
    const answer = await stream.next(({ id }) => id === "read");
    expect(answer.result.content[0].text).toBe("c");
    await session.end();
  });

  test.each(["legacy", "modern"] as const)("a %s client over stdio has one, which ends with it", async (era) => {
    const before = await folders.pids();
    const bridge = ["stdio", "--config", gateway.configFile, "--data-dir", join(gateway.directory, "data")];
    const clients = await Promise.all(
      ["a", "b"].map(
        async (folder) =>
          await connectClient("", era, {
            capabilities: { roots: {} },
            answers: { "roots/list": { roots: [{ uri: folders.uri(folder) }] } },
            transport: new StdioClientTransport({ command: process.execPath, args: [mainFile, ...bridge] }),
          }),
      ),
    );
    const [a, b] = clients as [AnsweringClient, AnsweringClient];
    for (const [client, own, other] of [
      [a, "a", "b"],
      [b, "b", "a"],
    ] as const) {
      expect(await readFileAs(client, folders.file(own))).toBe(own);
      expect(await readFileAs(client, folders.file(other))).toMatch(refused);
    }
    const own = async (): Promise<number> => (await folders.pids()).filter((pid) => !before.includes(pid)).length;
    expect(await own()).toBe(2);
    await a.client.close();
    await until(async () => (await own()) === 1);
    expect(await readFileAs(b, folders.file("b"))).toBe("b");
    await b.client.close();
    await until(async () => (await own()) === 0);
  });

  test("at the endpoint of the instance, and where /mcp is the server", async () => {
    await using own = await gatewayWith({ scope: "client" }, { transparent: "fs" });
    const { json } = await get(`${own.url}/api/instances`);
    const [{ id, scope }] = json.instances as readonly [{ id: string; scope: string }];
    expect(scope).toBe("client");
    const made = (await post(`${own.url}/api/instances/${id}/token`)).json as { token: string; endpoint: string };
    await using here = await clientAt(`${own.url}/mcp`, ["a"]);
    expect(await readFileAs(here, folders.file("a"), "read_text_file")).toBe("a");
    expect(await readFileAs(here, folders.file("configured"), "read_text_file")).toMatch(refused);
    const session = await openSession(`${own.url}${made.endpoint}`, {
      capabilities: { roots: {} },
      headers: { authorization: `Bearer ${made.token}` },
    });
    const stream = await session.call("read", "tools/call", {
      name: "read_text_file",
      arguments: { path: folders.file("b") },
    });
    const question = await stream.next(({ method }) => method === "roots/list");
    await session.say({ id: question.id, result: { roots: [{ uri: folders.uri("b") }] } });
    expect((await stream.next(({ id: of }) => of === "read")).result.content[0].text).toBe("b");
    await session.end();
  });

  test("roots that change reach that client's instance, and no other", async () => {
    const answer = { roots: [{ uri: folders.uri("a") }] };
    await using mover = await clientAnswering(`${gateway.url}/mcp`, answer);
    await using other = await clientAt(`${gateway.url}/mcp`, ["a"]);
    for (const client of [mover, other]) expect(await readFileAs(client, folders.file("a"))).toBe("a");
    const asked = other.asked.length;
    answer.roots = [{ uri: folders.uri("c") }];
    await mover.client.sendRootsListChanged();
    await until(async () => (await readFileAs(mover, folders.file("c"))) === "c");
    expect(await readFileAs(mover, folders.file("a"))).toMatch(refused);
    expect(await readFileAs(other, folders.file("a"))).toBe("a");
    expect(other.asked).toHaveLength(asked);
    await leave(mover);
    await leave(other);
  });

  test("who comes without a session is served the configured folder, and keeps nobody's roots", async () => {
    await using a = await clientAt(`${gateway.url}/mcp`, ["a"]);
    expect(await readFileAs(a, folders.file("a"))).toBe("a");
    const read = async (folder: string): Promise<string> =>
      (
        await rpc(`${gateway.url}/mcp`, "tools/call", {
          name: "execute_mcp_tool",
          arguments: { tool_path: "fs:read_text_file", arguments: { path: folders.file(folder) } },
        })
      ).text;
    expect(await read("configured")).toContain("configured");
    expect(await read("a")).toMatch(refused);
    expect((await run(gateway.url, "fs:read_text_file", { path: folders.file("a") })).text).toMatch(refused);
    await leave(a);
  });

  test("tools are listed and found before any instance of a client is started", async () => {
    const before = await folders.pids();
    const session = await openSession(`${gateway.url}/mcp/flat`, { capabilities: { roots: {} } });
    const list = await session.call(1, "tools/list");
    expect(JSON.stringify(await list.next(({ id }) => id === 1))).toContain("fs-read_text_file");
    await session.end();
    expect((await folders.pids()).filter((pid) => !before.includes(pid))).toEqual([]);
  });

  test("another configuration ends them: nobody keeps roots that the new one does not give", async () => {
    await using own = await gatewayWith({ scope: "client" });
    await using a = await clientAt(`${own.url}/mcp`, ["a"]);
    expect(await readFileAs(a, folders.file("a"))).toBe("a");
    await writeFile(own.configFile, JSON.stringify({ mcpServers: { fs: { ...folders.server, scope: "user" } } }));
    await until(async () => refused.test(await readFileAs(a, folders.file("a"))));
    expect(await readFileAs(a, folders.file("configured"))).toBe("configured");
  });

  test("`toolyard status` shows them, and stopping the server by hand stops it for its clients", async () => {
    await using own = await gatewayWith({ scope: "client" });
    await using a = await clientAt(`${own.url}/mcp`, ["a"]);
    expect(await readFileAs(a, folders.file("a"))).toBe("a");
    const status = await runCommand(["status", "--data-dir", join(own.directory, "data")]);
    const lines = status.stdout.split("\n").filter((line) => line.startsWith("  fs"));
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line).toMatch(/^ {2}fs(@\w{6})? +(online|asleep \(a call starts it\)) +14 /);
    const { json } = await get(`${own.url}/api/instances`);
    expect(json.instances).toHaveLength(1);
    await post(`${own.url}/api/instances/${json.instances[0].id as string}/stop`);
    expect(await readFileAs(a, folders.file("a"))).toContain("SERVER_STOPPED");
  });

  test("a session that nobody uses takes its instance with it", async () => {
    const limits = { sessionIdleMs: 1_000 };
    await using own = await gatewayWith({ scope: "client" }, { limits, instances: { idleCheckMs: 100 } });
    const before = await folders.pids();
    const session = await openSession(`${own.url}/mcp/server/fs`);
    const stream = await session.call(1, "tools/call", {
      name: "read_text_file",
      arguments: { path: folders.file("configured") },
    });
    await stream.next(({ id }) => id === 1);
    const during = (await folders.pids()).filter((pid) => !before.includes(pid));
    expect(during).toHaveLength(1);
    await until(async () => !(await folders.pids()).includes(during[0] as number));
  });

  test("a program without a connection has an instance by its name, until it is not used for a while", async () => {
    const limits = { sessionIdleMs: 1_000, clientInstances: 1 };
    await using own = await gatewayWith({ scope: "client" }, { limits, instances: { idleCheckMs: 100 } });
    const before = await folders.pids();
    const fresh = async (): Promise<readonly number[]> => (await folders.pids()).filter((pid) => !before.includes(pid));
    const read = async (name: string): Promise<string> => {
      const params = {
        name: "read_text_file",
        arguments: { path: folders.file("configured") },
        _meta: { "io.modelcontextprotocol/clientInfo": { name, version: "1" } },
      };
      return (await modernRpc(`${own.url}/mcp/server/fs`, "tools/call", params, { roots: {} })).text;
    };
    expect(await read("editor")).toContain('"text":"configured"');
    const [first] = await fresh();
    // Nobody is connected behind the first: it gives way to the second.
    expect(await read("browser")).toContain('"text":"configured"');
    expect(first).toBeDefined();
    await until(async () => !(await fresh()).includes(first as number));
    await until(async () => (await fresh()).length === 0);
  });

  test("roots of the configuration are for clients that have none of their own", async () => {
    await using own = await gatewayWith({ scope: "client", roots: [folders.path("c")] });
    await using a = await clientAt(`${own.url}/mcp`, ["a"]);
    await using plain = await clientAt(`${own.url}/mcp`);
    expect(await readFileAs(a, folders.file("a"))).toBe("a");
    expect(await readFileAs(a, folders.file("c"))).toMatch(refused);
    expect(await readFileAs(plain, folders.file("c"))).toBe("c");
    expect(await readFileAs(plain, folders.file("configured"))).toMatch(refused);
  });

  test("one more than limits.clientInstances is refused, and what to do is said", async () => {
    await using own = await gatewayWith({ scope: "client" }, { limits: { clientInstances: 1 } });
    const first = await clientAt(`${own.url}/mcp`, ["a"]);
    await using second = await clientAt(`${own.url}/mcp`, ["b"]);
    expect(await readFileAs(first, folders.file("a"))).toBe("a");
    const refusal = JSON.parse(await readFileAs(second, folders.file("b"))) as { code: string; hint: string };
    expect(refusal.code).toBe("CLIENT_INSTANCE_LIMIT");
    expect(refusal.hint).toContain("limits.clientInstances");
    await leave(first);
    expect(await readFileAs(second, folders.file("b"))).toBe("b");
  });
});
