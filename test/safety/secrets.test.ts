import { readFileSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { askOwner } from "../harness/owner-door.ts";
import { get, run, untilOnline } from "../harness/rest.ts";
import { execute, modernRpc, rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { openSession, openStream } from "../protocol/stream.ts";
import { openTalking, type Talking } from "./talking.ts";

/** Of the server `vault`, and of no other. */
const canary = "vlt&9f3KQ<canary>71xw+Zt";
const key = `ghp_${"a1B2c3D4".repeat(5)}`;
const mark = "[redacted]";

let talking: Talking;
let gateway: RunningGateway;

// oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
type Any = any;

async function start(secrets: "off" | "own" | "patterns", settings: object = {}): Promise<void> {
  const mcpServers = {
    vault: { ...talking.entry("vault"), env: { VAULT_PASSWORD: "Basic ${CANARY}", FOLDER: "${FOLDER}" } },
    web: { ...talking.entry("web"), requestLogging: "full" },
  };
  const toolyard = { policy: { secrets }, approvals: { holdMs: 0, minAnswerMs: 0 }, ...settings };
  gateway = await startGateway({
    config: { mcpServers, toolyard },
    directory: talking.directory,
    env: { CANARY: canary, FOLDER: "/srv/of/the-vault" },
  });
  await untilOnline(gateway.url);
}

beforeEach(async () => {
  talking = await openTalking();
});
afterEach(async () => {
  await gateway[Symbol.asyncDispose]();
  await talking[Symbol.asyncDispose]();
});

const call = async (tool: string, args: unknown = {}): Promise<Any> => await execute(gateway.url, tool, args);
const told = (answer: Any): string => JSON.stringify(answer);
const owner = async (method: string, path: string, body?: object): Promise<Any> =>
  JSON.parse((await askOwner(join(talking.directory, "data"), method, path, body)).text);

/** All texts of a value, one after the other. */
function textsOf(value: Any): string {
  return typeof value === "string"
    ? value
    : Object.values(value ?? {})
        .map(textsOf)
        .join("\n");
}

describe("a secret of one server in a call of another", () => {
  test.each<[string, (secret: string) => unknown]>([
    ["as it is", (secret) => secret],
    ["within a text", (secret) => `Authorization: Basic ${secret}; and more`],
    ["deep in it", (secret) => ({ a: [{ b: [1, secret] }] })],
    ["as the name of a member", (secret) => ({ [secret]: 1 })],
    ["in base64", (secret) => Buffer.from(secret).toString("base64")],
    ["in base64 of a longer text", (secret) => Buffer.from(`user:${secret}`).toString("base64")],
    ["in hex", (secret) => Buffer.from(secret).toString("hex")],
    ["in a URL", (secret) => `https://example.com/?q=${encodeURIComponent(secret)}`],
    ["in JSON within JSON", (secret) => JSON.stringify({ a: JSON.stringify({ b: secret }) })],
  ])("is refused %s, and the message has its name", async (_how, write) => {
    await start("own");
    const refused = await call("web:say", { echo: write(canary) });
    expect(told(refused)).toContain("SECRET_LEAVES");
    expect(told(refused)).toContain("CANARY of vault");
    expect(textsOf(refused)).not.toContain(canary);
    expect(talking.reached("web")).toEqual([]);
    expect(told(await call("vault:say", { echo: write(canary) }))).not.toContain("SECRET_LEAVES");
    expect(talking.reached("vault")).toHaveLength(1);
  });

  test("is refused with every character as an escape of JSON, and with a key twice", async () => {
    await start("own");
    const escaped = Array.from(canary, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
    const sendRaw = async (args: string): Promise<string> =>
      (
        await rpc(
          `${gateway.url}/mcp`,
          "tools/call",
          `{"name":"execute_mcp_tool","arguments":{"tool_path":"web:say","arguments":${args}}}`,
        )
      ).text;
    expect(await sendRaw(`{"echo":"${escaped}"}`)).toContain("SECRET_LEAVES");
    expect(await sendRaw(`{"echo":${JSON.stringify(canary)},"echo":"b"}`)).toContain("SECRET_LEAVES");
    expect(talking.reached("web")).toEqual([]);
  });

  test("is refused whichever way the call comes", async () => {
    await start("own");
    const args = { echo: canary };
    const flat = { name: "web__say", arguments: args };
    const answers = [
      told(await call("web:say", args)),
      (await rpc(`${gateway.url}/mcp/flat`, "tools/call", flat)).text,
      (await modernRpc(`${gateway.url}/mcp/flat`, "tools/call", flat)).text,
      (await rpc(`${gateway.url}/mcp/namespaces`, "tools/call", flat)).text,
      (await rpc(`${gateway.url}/mcp/server/web`, "tools/call", { name: "say", arguments: args })).text,
      (await run(gateway.url, "web:say", args)).text,
      (await rpc(`${gateway.url}/mcp/server/web`, "resources/read", { uri: `page://${encodeURIComponent(canary)}` }))
        .text,
      (await rpc(`${gateway.url}/mcp/server/web`, "prompts/get", { name: "summary", arguments: { text: canary } }))
        .text,
      (
        await rpc(`${gateway.url}/mcp/server/web`, "completion/complete", {
          ref: { type: "ref/prompt", name: "summary" },
          argument: { name: "text", value: canary },
        })
      ).text,
    ];
    expect(answers.map((text) => /SECRET_LEAVES|-31036/.exec(text)?.[0] ?? text)).toEqual(
      answers.map(() => expect.stringMatching(/SECRET_LEAVES|-31036/)),
    );
    expect(talking.reached("web")).toEqual([]);
    expect((await run(gateway.url, "web:say", args)).status).toBe(403);
  });

  test("is refused in 4 MB of arguments; what is no secret passes", async () => {
    await start("own");
    const echo = `${"x".repeat(4_000_000)}${canary}`;
    expect((await run(gateway.url, "web:say", { echo })).json.code).toBe("SECRET_LEAVES");
    for (const plain of ["/srv/of/the-vault", canary.slice(0, 12), "vault", "Basic"])
      expect((await run(gateway.url, "web:say", { echo: plain })).status).toBe(200);
  });

  // What is looked for is a text: who takes it apart, or encodes it twice, takes it out. docs/safety.md says so.
  test("passes split in two, and in base64 twice: a limit that is documented", async () => {
    await start("own");
    const half = canary.length / 2;
    const twice = Buffer.from(Buffer.from(canary).toString("base64")).toString("base64");
    for (const args of [{ echo: canary.slice(0, half), rest: canary.slice(half) }, { echo: twice }])
      expect((await run(gateway.url, "web:say", args)).status).toBe(200);
  });
});

describe("a secret of one server in what another says", () => {
  test("is replaced, whatever it comes in, and its record says so", async () => {
    await start("own");
    talking.say(`before ${canary} after`);
    const params = { ref: { type: "ref/prompt", name: "summary" }, argument: { name: "text", value: "a" } };
    const answers = [
      await call("web:read_page"),
      await call("web:fail"),
      await call("web:refuse"),
      (await run(gateway.url, "web:read_page")).json,
      (await rpc(`${gateway.url}/mcp/server/web`, "tools/call", { name: "read_page", arguments: {} })).json,
      (await rpc(`${gateway.url}/mcp/server/web`, "resources/read", { uri: "page://one" })).json,
      (await rpc(`${gateway.url}/mcp/server/web`, "prompts/get", { name: "summary", arguments: { text: "a" } })).json,
      (await rpc(`${gateway.url}/mcp/server/web`, "completion/complete", params)).json,
    ];
    for (const answer of answers) {
      expect(textsOf(answer)).toContain(`before ${mark} after`);
      expect(textsOf(answer)).not.toContain(canary);
    }
    const rows = await until(async () => {
      const { calls } = (await get(`${gateway.url}/api/calls?limit=50`)).json;
      return calls.filter(({ message }: Any) => String(message).includes("CANARY of vault")).length >= 8 && calls;
    });
    expect(told(rows)).not.toContain(canary);
    // Its own server may say it: who debugs a key has to see it.
    expect(textsOf(await call("vault:read_page"))).toContain(canary);
  });

  test("is replaced in progress, log messages and questions", async () => {
    await start("own");
    talking.say(canary);
    const session = await openSession(`${gateway.url}/mcp/server/web`, { capabilities: { elicitation: {} } });
    const first = await session.call(1, "tools/call", {
      name: "progress",
      arguments: {},
      _meta: { progressToken: "p" },
    });
    await first.next((message: Any) => message.id === 1);
    const told1 = first.messages.map(textsOf).join("\n");
    expect(told1).toContain(`progress: ${mark}`);
    expect(told1).not.toContain(canary);
    const second = await session.call(2, "tools/call", { name: "question", arguments: {} });
    const asked = await second.next((message: Any) => message.method === "elicitation/create");
    expect(asked.params.message).toContain(`question: ${mark}`);
    await session.say({ id: asked.id, result: { action: "accept", content: { a: "yes" } } });
    expect(textsOf(await second.next((message: Any) => message.id === 2))).toContain("yes");
    await session.end();
    const events = await openStream(`${gateway.url}/execute/web%3Aprogress`, {
      body: {},
      headers: { accept: "text/event-stream" },
    });
    await until(() => events.ended);
    expect(told(events.messages)).not.toContain(canary);
  });

  test("is found over the border of two slices of 30 MB", async () => {
    await start("own", { limits: { upstreamMessageBytes: 67_108_864 } });
    talking.say(canary);
    for (const before of [65_536 * 100 - 60, 65_536 * 240 - 70, 65_536 * 7 - 45]) {
      const { text } = await run(gateway.url, "web:large", { before, after: 30_000_000 - before });
      expect([text.slice(0, 300), text.length > 29_000_000]).toEqual([expect.any(String), true]);
      expect(text.includes(JSON.stringify(canary).slice(1, -1))).toBe(false);
      expect(text.includes(` ${mark} y`)).toBe(true);
    }
  });

  test("leaves JSON that is whole, whatever is around it", async () => {
    await start("own");
    for (const said of [`\\${canary}\\"`, `é${canary}é`, `\n${canary}\n`, `"${canary}"`, `${canary}${canary}`]) {
      talking.say(said);
      const { status, json } = await run(gateway.url, "web:read_page");
      expect([said, status]).toEqual([said, 200]);
      expect(textsOf(json)).not.toContain(canary);
    }
  });
});

describe("what looks like a key", () => {
  test("asks in arguments, even of a tool that never asks, and is noted in results", async () => {
    await start("patterns");
    const refused = await run(gateway.url, "web:read_page", { token: key });
    expect([refused.status, refused.json.code]).toEqual([409, "APPROVAL_NEEDED"]);
    expect(refused.text).toContain("looks like a key");
    expect(refused.text).not.toContain(key);
    const [{ id, ...waiting }] = (await owner("GET", "/api/approvals")).approvals;
    expect(waiting.because).toContain("its arguments hold what looks like a key");
    expect(told(waiting)).not.toContain(key);
    expect(talking.reached("web")).toEqual([]);
    await owner("POST", `/api/approvals/${id}`, { decision: "allow", for: "always" });
    expect((await run(gateway.url, "web:read_page", { token: key })).status).toBe(200);
    talking.say(key);
    expect(textsOf((await run(gateway.url, "web:read_page")).json)).toContain(key);
    await until(async () =>
      (await get(`${gateway.url}/api/calls?limit=5`)).text.includes("the result holds what looks like a key"),
    );
  });

  test("a yes to the tool is none to a call with a key", async () => {
    await start("patterns");
    await run(gateway.url, "web:delete_page", {});
    const [{ id }] = (await owner("GET", "/api/approvals")).approvals;
    await owner("POST", `/api/approvals/${id}`, { decision: "allow", for: "always" });
    expect((await run(gateway.url, "web:delete_page", {})).status).toBe(200);
    expect((await run(gateway.url, "web:delete_page", { token: key })).json.code).toBe("APPROVAL_NEEDED");
  });
});

test("nothing is looked for by default; a change of the file counts for the next call", async () => {
  await start("off");
  expect((await run(gateway.url, "web:say", { echo: canary })).status).toBe(200);
  const file = JSON.parse(readFileSync(gateway.configFile, "utf8"));
  file.toolyard.policy.secrets = "own";
  writeFileSync(gateway.configFile, JSON.stringify(file));
  await until(async () => (await run(gateway.url, "web:say", { echo: canary })).json.code === "SECRET_LEAVES");
});

test("a stopped secret is in no row, event, webhook, form and file", async () => {
  const received: string[] = [];
  const hook = createServer((request, response) => {
    request.on("data", (chunk: Buffer) => received.push(chunk.toString()));
    request.on("end", () => response.end());
  });
  await new Promise<void>((resolve) => void hook.listen(0, "127.0.0.1", resolve));
  const { port } = hook.address() as AddressInfo;
  await start("patterns", {
    events: { webhooks: [{ url: `http://127.0.0.1:${port}/`, secret: "of-the-webhook-4711" }] },
  });
  talking.say(canary);
  await run(gateway.url, "web:say", { echo: canary });
  await run(gateway.url, "web:say", { echo: `${key} ${canary}` });
  await run(gateway.url, "web:say", { echo: key });
  await run(gateway.url, "web:read_page");
  await until(async () => (await get(`${gateway.url}/api/calls?limit=5`)).json.calls.length >= 4);
  const { calls } = (await get(`${gateway.url}/api/calls?limit=50`)).json;
  const details = await Promise.all(
    calls.map(async ({ id }: Any) => (await get(`${gateway.url}/api/calls/${id}`)).text),
  );
  const texts = [...details, ...received, gateway.stdout(), gateway.stderr()];
  texts.push(told(await owner("GET", "/api/approvals")));
  await gateway.stop();
  const data = join(talking.directory, "data");
  for (const file of await readdir(data, { recursive: true, withFileTypes: true }))
    if (file.isFile()) texts.push(readFileSync(join(file.parentPath, file.name), "latin1"));
  hook.close();
  for (const text of texts) for (const secret of [canary, key]) expect(text).not.toContain(secret);
});
