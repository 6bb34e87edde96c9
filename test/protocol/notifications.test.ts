import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mainFile, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { execute, modernRpc, rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { modernStream, openSession, type OpenStream } from "./stream.ts";
import { readRecord } from "./servers.ts";
import { fourServers, startFourServers, type FourServers } from "./four-servers.ts";

let four: FourServers;
let gateway: RunningGateway;
const servers = fourServers;
const fileOf = (server: string): string => four.fileOf(server);

beforeAll(async () => {
  four = await startFourServers("--resources", "--prompts");
  ({ gateway } = four);
});
afterAll(async () => await four[Symbol.asyncDispose]());

const call = (server: string, tool: string, args: object = {}, meta: object = {}): Record<string, unknown> => ({
  name: "execute_mcp_tool",
  arguments: { tool_path: `${server}:${tool}`, arguments: args },
  _meta: meta,
});
const isAnswer = (message: { id?: unknown }): boolean => message.id === "it";
const logLevel = "io.modelcontextprotocol/logLevel";

/** One call of either era, read to its end: everything that came, the answer last. */
async function run(era: string, params: Record<string, unknown>): Promise<OpenStream> {
  if (era === "modern") {
    const stream = await modernStream(`${gateway.url}/mcp`, "it", "tools/call", params);
    await stream.next(isAnswer);
    return stream;
  }
  const session = await openSession(`${gateway.url}/mcp`);
  const stream = await session.call("it", "tools/call", params);
  await stream.next(isAnswer);
  await session.end();
  return stream;
}

const matrix = ["legacy", "modern"].flatMap((era) => servers.map((server) => ({ era, server })));

describe.each(matrix)("a $era client in front of $server", ({ era, server }) => {
  test("MUST: progress comes under the client's own token and only grows [basic/patterns/progress]", async () => {
    const { messages } = await run(era, call(server, "progress", { steps: 3 }, { progressToken: "mine" }));
    const progress = messages.filter(({ method }) => method === "notifications/progress").map(({ params }) => params);
    expect(progress.map((one) => one.progress)).toEqual([1, 2, 3]);
    expect(progress.every((one) => one.progressToken === "mine")).toBe(true);
    expect(progress[2]).toMatchObject({ total: 3, message: "step 3" });
    expect(isAnswer(messages.at(-1))).toBe(true);
    const backwards = await run(era, call(server, "progress-backwards", {}, { progressToken: 7 }));
    const values = backwards.messages.filter(({ method }) => method === "notifications/progress");
    expect(values.map(({ params }) => params.progress)).toEqual([5]);
  });

  test("FAULT 51: MUST: progress for unknown tokens reaches nobody, and none comes unasked [basic/patterns/progress]", async () => {
    const odd = await run(era, call(server, "bad-progress-token", { token: "mine" }, { progressToken: "mine" }));
    expect(odd.messages.filter(({ method }) => method === "notifications/progress")).toEqual([]);
    const unasked = await run(era, call(server, "progress"));
    expect(unasked.messages.map(({ id }) => id)).toEqual(["it"]);
  });
});

describe.each(servers)("logging of %s", (server) => {
  test("MUST NOT: a modern client gets no logs unless it asks, and none below the level that it asks for [server/utilities/logging]", async () => {
    const unasked = await run("modern", call(server, "log", { level: "error", text: "no" }));
    expect(unasked.messages.map(({ id }) => id)).toEqual(["it"]);
    const below = await run("modern", call(server, "log", { level: "info" }, { [logLevel]: "warning" }));
    expect(below.messages.map(({ id }) => id)).toEqual(["it"]);
    const asked = await run("modern", call(server, "log", { level: "error", text: "yes" }, { [logLevel]: "warning" }));
    expect(asked.messages[0]).toMatchObject({
      method: "notifications/message",
      params: { level: "error", data: "yes", logger: "bad-server" },
    });
  });

  test("a legacy client gets what its logging/setLevel lets through", async () => {
    const session = await openSession(`${gateway.url}/mcp`);
    const level = await session.call(1, "logging/setLevel", { level: "error" });
    expect(await level.next(({ id }) => id === 1)).toMatchObject({ result: {} });
    for (const [given, count] of [
      ["info", 0],
      ["critical", 1],
    ] as const) {
      const stream = await session.call("it", "tools/call", call(server, "log", { level: given }));
      await stream.next(isAnswer);
      expect(stream.messages.filter(({ method }) => method === "notifications/message")).toHaveLength(count);
    }
    await session.end();
  });
});

test("SHOULD: an unknown log level is refused with -32602 [server/utilities/logging]", async () => {
  const modern = await modernRpc(`${gateway.url}/mcp`, "tools/list", { _meta: { [logLevel]: "loud" } });
  expect(modern.json.error.code).toBe(-32602);
  const session = await openSession(`${gateway.url}/mcp`);
  const legacy = await session.call(1, "logging/setLevel", { level: "loud" });
  expect((await legacy.next(({ id }) => id === 1)).error.code).toBe(-32602);
  await session.end();
});

test("a server hears the most talkative level that its legacy clients want", async () => {
  const [quiet, talkative] = [await openSession(`${gateway.url}/mcp`), await openSession(`${gateway.url}/mcp`)];
  const levels = (): unknown[] =>
    readRecord(fileOf("legacy-stdio")).flatMap(({ message }) =>
      message?.method === "logging/setLevel" ? [message.params.level] : [],
    );
  await quiet.call(1, "logging/setLevel", { level: "emergency" });
  await until(() => levels().at(-1) === "emergency");
  await talkative.call(1, "logging/setLevel", { level: "debug" });
  await until(() => levels().at(-1) === "debug");
  await talkative.end();
  await until(() => levels().at(-1) === "emergency");
  await quiet.end();
});

describe.each(servers)("changes of %s", (server) => {
  test("SHOULD: list_changed reaches the legacy GET stream and subscriptions/listen, at the exposures that show it [server/tools]", async () => {
    const flat = await openSession(`${gateway.url}/mcp/flat`);
    const flatStream = await flat.listen();
    const meta = await openSession(`${gateway.url}/mcp`);
    const metaStream = await meta.listen();
    const own = await modernStream(`${gateway.url}/mcp/server/${server}`, "own", "subscriptions/listen", {
      notifications: { toolsListChanged: true },
    });
    const prompts = await modernStream(`${gateway.url}/mcp/server/${server}`, "prompts", "subscriptions/listen", {
      notifications: { promptsListChanged: true },
    });
    await own.next(({ method }) => method === "notifications/subscriptions/acknowledged");
    await prompts.next(({ method }) => method === "notifications/subscriptions/acknowledged");
    await execute(gateway.url, `${server}:rename`, { to: `extra-${server}` });
    const changed = ({ method }: { method?: string }): boolean => method === "notifications/tools/list_changed";
    await flatStream.next(changed);
    expect((await own.next(changed)).params._meta["io.modelcontextprotocol/subscriptionId"]).toBe("own");
    const listed = await rpc(`${gateway.url}/mcp/flat`, "tools/list");
    expect(JSON.stringify(listed.json.result)).toContain(`${server}-extra-${server}`);
    expect(metaStream.messages.filter(changed)).toEqual([]);
    expect(prompts.messages.filter(changed)).toEqual([]);
    own.close();
    prompts.close();
    await flat.end();
    await meta.end();
  });

  test("FAULT 50: a storm of list_changed is told a few times, not a thousand", async () => {
    const session = await openSession(`${gateway.url}/mcp/server/${server}`);
    const stream = await session.listen();
    await execute(gateway.url, `${server}:storm`, { perSecond: 1_000, ms: 500 });
    await until(() => stream.messages.some(({ method }) => method === "notifications/tools/list_changed"));
    expect(stream.messages.length).toBeLessThanOrEqual(5);
    await session.end();
  });

  test("updates of a resource reach those who subscribed, in their own spelling; the server has one subscription for all", async () => {
    const uri = "bad://text";
    const native = `toolyard://${server}/${encodeURIComponent(uri)}`;
    const [one, two] = [
      await openSession(`${gateway.url}/mcp`),
      await openSession(`${gateway.url}/mcp/server/${server}`),
    ];
    const [first, second] = [await one.listen(), await two.listen()];
    await (await one.call(1, "resources/subscribe", { uri: native })).next(({ id }) => id === 1);
    await (await two.call(1, "resources/subscribe", { uri })).next(({ id }) => id === 1);
    const modern = await modernStream(`${gateway.url}/mcp/flat`, 5, "subscriptions/listen", {
      notifications: { resourceSubscriptions: [native, "toolyard://nobody/x"] },
    });
    const ack = await modern.next(({ method }) => method === "notifications/subscriptions/acknowledged");
    expect(ack.params.notifications).toEqual({ resourceSubscriptions: [native] });
    const asked = readRecord(fileOf(server)).filter(
      ({ message }) =>
        message?.method === "resources/subscribe" ||
        message?.params?.notifications?.resourceSubscriptions !== undefined,
    );
    expect(asked).toHaveLength(1);
    await execute(gateway.url, `${server}:resource-updated`, { uri });
    const updated = ({ method }: { method?: string }): boolean => method === "notifications/resources/updated";
    expect((await first.next(updated)).params).toEqual({ uri: native });
    expect((await second.next(updated)).params).toEqual({ uri });
    expect((await modern.next(updated)).params).toMatchObject({
      uri: native,
      _meta: { "io.modelcontextprotocol/subscriptionId": 5 },
    });
    modern.close();
    await one.end();
    await two.end();
    const isOver = ({ message, event }: { message?: { method?: string }; event?: string }): boolean =>
      message?.method === "resources/unsubscribe" ||
      message?.method === "notifications/cancelled" ||
      event === "given up";
    await until(() => readRecord(fileOf(server)).some(isOver));
  });
});

test("MUST: the acknowledgment comes first, names only what is honoured; others' notifications never come [basic/patterns/subscriptions]", async () => {
  const stream = await modernStream(`${gateway.url}/mcp`, "s", "subscriptions/listen", {
    notifications: { toolsListChanged: true, promptsListChanged: true, somethingElse: true },
  });
  const first = await stream.next(() => true);
  expect(first).toMatchObject({
    method: "notifications/subscriptions/acknowledged",
    params: { _meta: { "io.modelcontextprotocol/subscriptionId": "s" } },
  });
  // The four tools never change.
  expect(first.params.notifications).toEqual({ promptsListChanged: true });
  stream.close();
});

test("a server that has no subscriptions is not accused of breaking the protocol", async () => {
  const filesystem = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-filesystem/dist/index.js"));
  const plain = { command: process.execPath, args: [filesystem, "."] };
  await using other = await startGateway({ config: { mcpServers: { plain } } });
  const session = await openSession(`${other.url}/mcp`);
  const { error } = await (
    await session.call(1, "resources/subscribe", { uri: "plain|bad://text" })
  ).next(({ id }) => id === 1);
  expect(error.data.hint).toContain("Read the resource again");
  await session.end();
});

test("SHOULD: a gateway that stops ends its subscriptions with a result [basic/patterns/subscriptions]", async () => {
  await using other = await startGateway({ config: { mcpServers: {} } });
  const stream = await modernStream(`${other.url}/mcp`, "last", "subscriptions/listen", {
    notifications: { promptsListChanged: true },
  });
  await stream.next(({ method }) => method === "notifications/subscriptions/acknowledged");
  await other.stop();
  const result = stream.messages.find(({ id }) => id === "last");
  expect(result.result).toMatchObject({
    resultType: "complete",
    _meta: { "io.modelcontextprotocol/subscriptionId": "last" },
  });
});

test("SHOULD: what a server announces is listened to again after it was started again [basic/patterns/subscriptions]", async () => {
  const uri = "bad://text";
  const session = await openSession(`${gateway.url}/mcp/server/legacy-stdio`);
  const stream = await session.listen();
  await (await session.call(1, "resources/subscribe", { uri })).next(({ id }) => id === 1);
  await execute(gateway.url, "legacy-stdio:exit", {}).catch(() => undefined);
  await until(async () => {
    await execute(gateway.url, "legacy-stdio:resource-updated", { uri });
    return stream.messages.some(({ method }) => method === "notifications/resources/updated");
  });
  await session.end();
});

test.each(servers)("the progress token of every request is its own (%s)", async (server) => {
  const tokens = await Promise.all(
    [1, 2, 3].map(async () => {
      const { messages } = await run("modern", call(server, "meta", {}, { progressToken: "same" }));
      const text = messages.at(-1).result.content[0].text as string;
      return (JSON.parse(text) as { progressToken: unknown }).progressToken;
    }),
  );
  expect(new Set(tokens).size).toBe(3);
  expect(tokens).not.toContain("same");
});

test.each(servers)("progress after the answer reaches nobody (%s)", async (server) => {
  const { messages } = await run("legacy", call(server, "progress-late", {}, { progressToken: 1 }));
  expect(messages.map(({ id }) => id)).toEqual(["it"]);
});

test("logging is declared wherever log messages may come", async () => {
  for (const path of ["/mcp", "/mcp/flat", "/mcp/server/legacy-stdio"]) {
    expect((await modernRpc(`${gateway.url}${path}`, "server/discover")).json.result.capabilities.logging).toEqual({});
    const { json } = await rpc(`${gateway.url}${path}`, "initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
    });
    expect(json.result.capabilities.logging).toEqual({});
  }
});

test.each(["legacy-stdio", "legacy-http"])(
  "a client's progress with a question reaches the server that asked, under the server's own token (%s)",
  async (server) => {
    const session = await openSession(`${gateway.url}/mcp`, { capabilities: { sampling: {} } });
    const stream = await session.call("it", "tools/call", call(server, "sample-with-progress", { token: "theirs" }));
    const asked = await stream.next(({ method }) => method === "sampling/createMessage");
    expect(asked.params._meta.progressToken).not.toBe("theirs");
    const { progressToken } = asked.params._meta;
    await session.say({
      method: "notifications/progress",
      params: { progressToken, progress: 1, message: "thinking" },
    });
    const told = await until(() =>
      readRecord(fileOf(server)).find(({ message }) => message?.method === "notifications/progress"),
    );
    expect(told.message.params).toEqual({ progressToken: "theirs", progress: 1, message: "thinking" });
    await session.say({
      id: asked.id,
      result: { role: "assistant", content: { type: "text", text: "Paris" }, model: "m" },
    });
    await stream.next(isAnswer);
    await session.end();
  },
);

test("MUST: on stdio a subscription that the gateway ends gets its result and notifications/cancelled [basic/patterns/cancellation]", async () => {
  const data = join(four.directory, "stdio-data");
  const config = join(four.directory, "stdio.json");
  await writeFile(config, JSON.stringify({ mcpServers: {} }));
  const child = spawn(process.execPath, [mainFile, "stdio", "--in-process", "--config", config, "--data-dir", data], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const params = { notifications: { promptsListChanged: true }, _meta };
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: "s", method: "subscriptions/listen", params })}\n`);
  await until(() => output.includes("acknowledged"));
  child.kill("SIGTERM");
  await new Promise((resolve) => child.once("close", resolve));
  const lines = output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { id?: string; method?: string; params?: object });
  expect(lines.find(({ id }) => id === "s")).toMatchObject({ result: { resultType: "complete" } });
  expect(lines.at(-1)).toMatchObject({ method: "notifications/cancelled", params: { requestId: "s" } });
});

test("a subscription whose stream breaks off is opened again, and its client hears of updates as before", async () => {
  const uri = "bad://binary";
  const session = await openSession(`${gateway.url}/mcp/server/modern-http`);
  const stream = await session.listen();
  await (await session.call(1, "resources/subscribe", { uri })).next(({ id }) => id === 1);
  const asked = (): number =>
    readRecord(fileOf("modern-http")).filter(({ message }) =>
      message?.params?.notifications?.resourceSubscriptions?.includes(uri),
    ).length;
  expect(asked()).toBe(1);
  await execute(gateway.url, "modern-http:end-listening");
  await until(() => asked() === 2);
  await until(async () => {
    await execute(gateway.url, "modern-http:resource-updated", { uri });
    return stream.messages.some(({ params }) => params?.uri === uri);
  });
  await session.end();
});

test("a server that forgot its session is told again what its clients listen to, and asked for its lists", async () => {
  const uri = "bad://binary";
  const session = await openSession(`${gateway.url}/mcp/server/legacy-http`);
  const stream = await session.listen();
  await (await session.call(1, "resources/subscribe", { uri })).next(({ id }) => id === 1);
  await (await session.call(2, "logging/setLevel", { level: "notice" })).next(({ id }) => id === 2);
  const asked = (): string[] => {
    const methods = readRecord(fileOf("legacy-http")).map(({ message }) => String(message?.method));
    return methods.slice(methods.lastIndexOf("initialize"));
  };
  await execute(gateway.url, "legacy-http:expire-session");
  expect(asked()).toContain("resources/subscribe");
  await execute(gateway.url, "legacy-http:echo");
  await until(() => {
    const methods = asked();
    return ["resources/subscribe", "logging/setLevel", "tools/list"].every((method) => methods.includes(method));
  });
  stream.close();
  await session.end();
});
