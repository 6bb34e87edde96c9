import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { runCommand } from "../harness/command.ts";
import { startGateway, type RunningGateway } from "../harness/gateway.ts";
import { get, post, untilOnline } from "../harness/rest.ts";
import { execute } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { standingOf } from "../instances/observing.ts";

const file = fileURLToPath(new URL("../servers/strict-server.mjs", import.meta.url));

// Which members of capabilities the classes of some parsers have.
const java012 = { roots: ["listChanged"], sampling: [], elicitation: [], experimental: [] };
const java008 = { roots: ["listChanged"], sampling: [], experimental: [] };

/** Rules of the server, and the `initialize` that it takes. */
const strict: readonly (readonly [what: string, rules: object, revision: string])[] = [
  ["one old revision, named", { revisions: ["2024-11-05"], names: true }, "2024-11-05"],
  ["one old revision, not named", { revisions: ["2024-11-05"] }, "2024-11-05"],
  ["2025-03-26 only, not named", { revisions: ["2025-03-26"] }, "2025-03-26"],
  ["shapes of 2025-06-18", { fields: java012, says: "2025-03-26" }, "2025-06-18"],
  ["no elicitation", { fields: java008, says: "2024-11-05" }, "2025-03-26"],
  ["no capabilities", { fields: {}, says: "2024-11-05" }, "2024-11-05"],
  [
    "the newest revision without extensions",
    {
      revisions: ["2025-11-25"],
      names: true,
      fields: { sampling: ["context", "tools"], elicitation: ["form", "url"] },
    },
    "2025-11-25",
  ],
];

test("servers that refuse what they do not know are reached, and the next start begins with what worked", async () => {
  const mcpServers: Record<string, object> = {};
  const wanted = new Map<string, string>();
  for (const [at, [, rules, revision]] of strict.entries()) {
    mcpServers[`stdio${at}`] = stdio(rules);
    mcpServers[`http${at}`] = { type: "http", url: await serve("--http", rules) };
    mcpServers[`sse${at}`] = { type: "sse", url: await serve("--sse", rules) };
    for (const way of ["stdio", "http", "sse"]) wanted.set(`${way}${at}`, revision);
  }
  await using gateway = await startGateway({ config: { mcpServers } });
  await untilOnline(gateway.url);
  for (const [server, revision] of wanted) {
    const first = await seenBy(gateway, server);
    const handshake = first.filter((method) => /^(initialize|server\/discover)/.test(method));
    expect(handshake.at(-1), server).toBe(`initialize ${revision}`);
    expect(handshake.length, server).toBeLessThanOrEqual(5);
    // A server over HTTP goes on, so what it sees is added to what it has seen.
    const before = server.startsWith("stdio") ? 0 : first.length;
    expect((await post(`${gateway.url}/api/instances/${server}/restart`)).status, server).toBe(200);
    const second = (await seenBy(gateway, server)).slice(before);
    expect(
      second.filter((method) => /^(initialize|server\/discover)/.test(method)),
      server,
    ).toEqual([`initialize ${revision}`]);
  }
});

test("over HTTP a refusal may be a text or another shape of JSON", async () => {
  const shapes = {
    text: { refusesInText: 400, revisions: ["2025-06-18", "2025-03-26"], names: true },
    bare: { refusesInText: 400, revisions: ["2024-11-05"] },
    unprocessable: { refusesInText: 422, fields: java012 },
    odd400: { refusesOddly: 400, fields: java012 },
    odd500: { refusesOddly: 500, fields: java008 },
    "401": { probeStatus: 401 },
    "401-challenge": { probeStatus: 401, probeHeaders: { "www-authenticate": 'Bearer error="invalid_token"' } },
    "403": { probeStatus: 403 },
  };
  const mcpServers: Record<string, object> = {};
  for (const [name, rules] of Object.entries(shapes))
    mcpServers[name] = { type: "http", url: await serve("--http", rules), headers: { Authorization: "Bearer good" } };
  await using gateway = await startGateway({ config: { mcpServers } });
  await untilOnline(gateway.url);
  for (const name of Object.keys(shapes)) expect(await seenBy(gateway, name), name).toContain("tools/list");
});

test("a server that ends at the probe is started once more with initialize, which is no crash and is remembered", async () => {
  const mcpServers = { rust: stdio({ endsAtProbe: 1 }), quiet: stdio({ endsAtProbe: 0 }) };
  await using gateway = await startGateway({ config: { mcpServers } });
  await untilOnline(gateway.url);
  for (const server of Object.keys(mcpServers)) {
    expect(await seenBy(gateway, server), server).not.toContain("server/discover");
    await post(`${gateway.url}/api/instances/${server}/restart`);
    expect(await seenBy(gateway, server), server).not.toContain("server/discover");
    const { json } = await get(`${gateway.url}/api/servers/${server}`);
    expect(json.status, server).toBe("online");
  }
  const log = gateway.stdout() + gateway.stderr();
  expect(log).not.toMatch(/crashed|-> (restarting|permanently_failed)/);
});

test("a server of one call is started again by the next, however often, also where it ends with its answer", async () => {
  await using gateway = await startGateway({ config: { mcpServers: { once: stdio({ endsAfterCall: true }) } } });
  await untilOnline(gateway.url);
  for (let call = 0; call < 8; call += 1) {
    expect(await seenBy(gateway, "once")).toContain("tools/call");
    await until(async () => (await get(`${gateway.url}/api/servers`)).json.servers[0].dormant === true);
  }
});

test("what worked is kept with the catalog for the next gateway, until the server has another version", async () => {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-handshakes-"));
  onTestFinished(async () => await rm(directory, { recursive: true, force: true }));
  const rules = { revisions: ["2024-11-05"], names: true };
  const rulesFile = join(directory, "rules.json");
  const mcpServers = { old: { command: process.execPath, args: [file, `--rules=${rulesFile}`] } };
  const kept = async () => {
    const files = await readdir(join(directory, "data"), { recursive: true });
    const name = files.find((path) => /catalog\/old-.*\.json$/.test(path));
    return name === undefined ? "" : await readFile(join(directory, "data", name), "utf8");
  };
  const run = async (version: string, isRemembered: boolean) => {
    await writeFile(rulesFile, JSON.stringify({ ...rules, version }));
    await using gateway = await startGateway({ config: { mcpServers }, directory });
    await untilOnline(gateway.url);
    const seen = await seenBy(gateway, "old");
    await until(async () => {
      const text = await kept();
      return text.includes(`"version":"${version}"`) && text.includes('"handshake"') === isRemembered;
    });
    return seen.filter((method) => /^(initialize|server)/.test(method));
  };
  const remembered = ["initialize 2024-11-05"];
  expect((await run("1", true)).slice(0, 2)).toEqual(["server/discover", "initialize 2025-11-25"]);
  expect(await run("1", true)).toEqual(remembered);
  expect(await run("2", false)).toEqual(remembered);
  expect((await run("2", true))[0]).toBe("initialize 2025-11-25");
});

test("what was not declared to a server is refused without asking a client", async () => {
  const mcpServers = { old: stdio({ revisions: ["2024-11-05"] }), newer: stdio({ fields: java012 }) };
  await using gateway = await startGateway({ config: { mcpServers } });
  await untilOnline(gateway.url);
  const ask = async (server: string, method: string, params: object) => {
    const { content } = await execute(gateway.url, `${server}:ask`, { method, params });
    return JSON.parse(content[0].text) as { message?: string };
  };
  const undeclared = expect.objectContaining({ message: expect.stringContaining("not declared") as string }) as object;
  expect(await ask("old", "sampling/createMessage", { messages: [], maxTokens: 1 })).toEqual(undeclared);
  expect(await ask("old", "elicitation/create", { message: "?" })).toEqual(undeclared);
  expect(await ask("newer", "elicitation/create", { mode: "url", message: "?", url: "https://a.example" })).toEqual(
    undeclared,
  );
  // Declared, but this client cannot: another answer.
  expect((await ask("newer", "elicitation/create", { message: "?" })).message).toContain("client cannot answer");
});

test("a server that refuses every handshake says the reason that it gave first, and is asked five times at most", async () => {
  const requests: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { id, method } = JSON.parse(Buffer.concat(chunks).toString()) as { id: unknown; method: string };
    requests.push(method);
    const error = { code: -32602, message: `refusal number ${requests.length}` };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, error }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => server.close().closeAllConnections());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  await using gateway = await startGateway({ config: { mcpServers: { never: { type: "http", url } } } });
  await until(async () => (await standingOf(gateway.url, "never")).status === "error");
  expect(requests).toEqual(["server/discover", ...Array<string>(4).fill("initialize")]);
  expect(await standingOf(gateway.url, "never")).toMatchObject({
    reason: "never refused initialize: refusal number 2 (-32602)",
  });
  const place = ["--config", gateway.configFile, "--data-dir", join(gateway.directory, "data")];
  const { stdout: shown } = await runCommand(["show", "never", ...place]);
  expect(shown).toContain("server/discover failed: refusal number 1 (-32602)");
  expect(shown).toContain("initialize 2024-11-05, capabilities: nothing failed: refusal number 5 (-32602)");
  const { handshake } = (await get(`${gateway.url}/api/servers/never`)).json;
  expect(handshake).toHaveLength(5);
  expect(handshake[1]).toEqual({ step: "initialize 2025-11-25, capabilities: all", why: "refusal number 2 (-32602)" });
});

function stdio(rules: object) {
  return { command: process.execPath, args: [file, JSON.stringify(rules)] };
}

async function serve(kind: "--http" | "--sse", rules: object): Promise<string> {
  const child = spawn(process.execPath, [file, kind, JSON.stringify(rules)], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill());
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return line;
}

/** What the server has had so far; a call that waits for it to be started. */
async function seenBy(gateway: RunningGateway, server: string): Promise<readonly string[]> {
  const { content } = await execute(gateway.url, `${server}:seen`);
  return JSON.parse(content[0].text) as string[];
}
