import { chmod, mkdir, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { badServer, mainFile, startGateway, type RunningGateway } from "../../harness/gateway.ts";
import { hashToken } from "../../../src/people/identity/token.ts";
import { openShop, type Shop } from "./shop.ts";

interface Found {
  readonly kind: "ok" | "warn" | "fail";
  readonly what: string;
  readonly todo: string | null;
  readonly where?: string;
}

const token = "canary-4711-token-of-cursor";
/** None of the variables that move files. */
const unmoved = { CLAUDE_CONFIG_DIR: "", CODEX_HOME: "", GEMINI_CLI_HOME: "", XDG_CONFIG_HOME: "" };

let shop: Shop;
beforeEach(async () => {
  shop = await openShop();
});
afterEach(async () => await shop[Symbol.asyncDispose]());

/** A client's file in the fake home. */
async function write(file: string, content: object | string, mode = 0o600): Promise<string> {
  const path = join(shop.directory, file);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
  await chmod(path, mode);
  return path;
}

async function startHere(toolyard: object = {}): Promise<RunningGateway> {
  return await startGateway({
    config: { mcpServers: {}, toolyard },
    directory: shop.directory,
    env: { ...shop.environment, ...unmoved },
  });
}

/**
 * What the doctor says of clients. Without `--start`, tokens are not tried either: a caller with one has servers of
 * their own started.
 */
async function examine(...options: readonly ("--start" | { readonly HTTP_PROXY: string })[]): Promise<{
  readonly code: number | null;
  readonly found: readonly Found[];
  readonly stdout: string;
}> {
  const args = options.filter((option) => typeof option === "string");
  const { code, stdout } = await shop.run(["doctor", "--json", ...args], {
    ...{ ...unmoved, HTTP_PROXY: "", http_proxy: "", NO_PROXY: "", no_proxy: "", COPILOT_HOME: "" },
    ...Object.assign({}, ...options.filter((option) => typeof option !== "string")),
  });
  const { findings } = JSON.parse(stdout) as { findings: readonly Found[] };
  const found = findings.filter(({ what }) =>
    /^(Cursor|Claude Code|Zed|LM Studio|Codex|Windsurf|Copilot CLI|Qwen Code|Kimi Code|HTTP_PROXY)\b/.test(what),
  );
  return { code, found, stdout };
}

const cursor = (entry: object) => ({ mcpServers: { toolyard: entry } });

describe("a client's file", () => {
  test("that leads to the running gateway is fine, and one that leads nowhere is not our matter", async () => {
    await using gateway = await startHere();
    const file = await write(".cursor/mcp.json", cursor({ url: `${gateway.url}/mcp` }));
    await write(".config/zed/settings.json", { context_servers: { own: { command: "x" } } });
    const shown = `[features.code_mode]\ndirect_only_tool_namespaces = ["mcp__toolyard"]\n`;
    const codex = await write(
      ".codex/config.toml",
      `${shown}[mcp_servers.toolyard]\nurl = "${gateway.url}/mcp/flat"\n`,
    );
    const { code, found } = await examine();
    expect(found).toEqual([
      { kind: "ok", what: `Cursor, toolyard in ${file}: ${gateway.url}/mcp is this gateway`, todo: null },
      { kind: "ok", what: `Codex, toolyard in ${codex}: ${gateway.url}/mcp/flat is this gateway`, todo: null },
      { kind: "ok", what: "Zed: not connected to a gateway of this machine", todo: null },
    ]);
    expect(code).toBe(0);
  });

  test("that cannot be read is told with its place, and does not keep the others from being looked at", async () => {
    await using gateway = await startHere();
    const broken = await write(".lmstudio/mcp.json", '{ "mcpServers": 7 }');
    await write(".cursor/mcp.json", cursor({ url: `${gateway.url}/mcp` }));
    const { found } = await examine();
    expect(found.map(({ kind, what }) => [kind, what.split(":")[0]])).toEqual([
      ["ok", expect.stringContaining("Cursor, toolyard in")],
      ["warn", "LM Studio"],
    ]);
    expect(found[1]?.what).toContain(`${broken}:1:`);
  });

  test("whose entry is switched off is told", async () => {
    await using gateway = await startHere();
    await write(".cursor/mcp.json", cursor({ url: `${gateway.url}/mcp`, disabled: true }));
    const { found } = await examine();
    expect(found).toMatchObject([{ kind: "warn", what: expect.stringContaining("switched off") as string }]);
  });

  test("that others can read is told where a token stands in it, which is never shown", async () => {
    await using gateway = await startHere({ auth: { tokenHashes: [hashToken(token)] } });
    const entry = { url: `${gateway.url}/mcp`, headers: { Authorization: `Bearer ${token}` } };
    const file = await write(".cursor/mcp.json", cursor(entry), 0o644);
    const { code, found, stdout } = await examine("--start");
    expect(found).toMatchObject([
      { kind: "ok", what: expect.stringContaining("is this gateway") as string },
      {
        kind: "warn",
        what: `Cursor, toolyard in ${file}: it has a token in it, and others on this machine can read the file`,
        todo: `Run \`chmod 600 ${file}\`.`,
      },
    ]);
    expect(code).toBe(0);
    expect(stdout).not.toContain(token);
    await chmod(file, 0o600);
    expect((await examine("--start")).found.map(({ kind }) => kind)).toEqual(["ok"]);
  });
});

describe("what keeps our tools from a client's model", () => {
  test.each<[string, string, (url: string) => object | string, string, string]>([
    [
      "Codex without its list",
      ".codex/config.toml",
      (url) =>
        `[features.code_mode]\ndirect_only_tool_namespaces = ["mcp__other"]\n[mcp_servers.my-yard]\nurl = "${url}"\n`,
      "features.code_mode.direct_only_tool_namespaces",
      "does not name mcp__my_yard",
    ],
    [
      "Copilot without deferTools",
      ".copilot/mcp-config.json",
      (url) => ({ mcpServers: { toolyard: { type: "http", url, tools: ["*"] } } }),
      "mcpServers.toolyard.deferTools",
      "`deferTools` is missing",
    ],
    [
      "Qwen with alwaysLoadTools off",
      ".qwen/settings.json",
      (url) => ({ mcpServers: { toolyard: { httpUrl: url, alwaysLoadTools: false } } }),
      "mcpServers.toolyard.alwaysLoadTools",
      "`alwaysLoadTools` is false",
    ],
    [
      "Kimi with deferred on",
      ".kimi-code/mcp.json",
      (url) => ({ mcpServers: { toolyard: { url, deferred: true } } }),
      "mcpServers.toolyard.deferred",
      "`deferred` is true",
    ],
    [
      "a list of tools without ours",
      ".kimi-code/mcp.json",
      (url) => ({ mcpServers: { toolyard: { url, enabledTools: ["discover_mcp_tools", "x".repeat(65_536)] } } }),
      "mcpServers.toolyard.enabledTools",
      "leave out execute_mcp_tool",
    ],
    [
      "a list of tools that are off",
      ".cursor/mcp.json",
      (url) => ({ mcpServers: { toolyard: { url, disabledTools: ["discover_*"] } } }),
      "mcpServers.toolyard.disabledTools",
      "leave out discover_mcp_tools",
    ],
    [
      "a time limit in milliseconds",
      ".claude.json",
      (url) => ({ mcpServers: { toolyard: { type: "http", url, timeout: 60_000 } } }),
      "mcpServers.toolyard.timeout",
      "`timeout` is 60000, and a call may wait 900000 ms",
    ],
    [
      "a time limit in seconds",
      ".codex/config.toml",
      (url) =>
        `features.code_mode.direct_only_tool_namespaces = ["mcp__toolyard"]\n[mcp_servers.toolyard]\nurl = "${url}"\ntool_timeout_sec = 60.5\n`,
      "mcp_servers.toolyard.tool_timeout_sec",
      "`tool_timeout_sec` is 60.5, and a call may wait 900 s",
    ],
    [
      "an entry that is off",
      ".kimi-code/mcp.json",
      (url) => ({ mcpServers: { toolyard: { url, enabled: false, deferred: true } } }),
      "mcpServers.toolyard.enabled",
      "switched off",
    ],
  ])("is told with file, key and what to do: %s", async (_, file, content, key, words) => {
    await using gateway = await startGateway({
      config: { mcpServers: { bad: badServer() }, toolyard: {} },
      directory: shop.directory,
      env: { ...shop.environment, ...unmoved },
    });
    const path = await write(file, content(`${gateway.url}/mcp`));
    const { code, found } = await examine();
    const told = found.filter(({ kind }) => kind !== "ok");
    expect(told).toMatchObject([
      { kind: "warn", what: expect.stringContaining(words) as string, where: `${path}: ${key}` },
    ]);
    expect(told[0]?.todo).toBeTruthy();
    expect(told[0]?.what.length).toBeLessThan(500);
    expect(code).toBe(0);
  });

  test("is not what `connect` writes", async () => {
    await using gateway = await startHere();
    for (const id of ["codex", "copilot", "qwen", "kimi", "claude-code"]) {
      const { code } = await shop.run(["connect", id, "--url", gateway.url, "--yes"], unmoved);
      expect([id, code]).toEqual([id, 0]);
    }
    const { found } = await examine();
    expect(found.map(({ kind }) => kind)).toEqual(["ok", "ok", "ok", "ok", "ok"]);
  });

  test("may be a proxy that is asked for this machine's own addresses", async () => {
    await using gateway = await startHere();
    await write(".cursor/mcp.json", cursor({ url: `${gateway.url}/mcp` }));
    const { found } = await examine({ HTTP_PROXY: "http://user:canary@127.0.0.1:1" });
    expect(found.at(-1)).toMatchObject({ kind: "warn", where: "HTTP_PROXY" });
    expect(JSON.stringify(found)).not.toContain("canary");
    const excepted = { HTTP_PROXY: "http://127.0.0.1:1", NO_PROXY: "localhost, 127.0.0.1" };
    expect((await examine(excepted)).found.map(({ kind }) => kind)).toEqual(["ok"]);
  });
});

describe("a token", () => {
  test("that is missing or unknown is told, with the command that mends it; a variable is not judged", async () => {
    await using gateway = await startHere({ auth: { tokenHashes: [hashToken(token)] } });
    const url = `${gateway.url}/mcp`;
    for (const [entry, kind, words] of [
      [{ url }, "fail", "the gateway requires a token, and it sends none"],
      [{ url, headers: { Authorization: "Bearer wrong-4711" } }, "fail", "the gateway does not accept its token"],
      [{ url, headers: { Authorization: "Bearer ${env:TY}" } }, "ok", "its token is a variable, and was not tried"],
    ] as const) {
      await write(".cursor/mcp.json", cursor(entry));
      const { code, found, stdout } = await examine("--start");
      expect(found).toMatchObject([{ kind, what: expect.stringContaining(words) as string }]);
      if (kind === "fail") expect(found[0]?.todo).toContain("`toolyard connect cursor`");
      expect(code).toBe(kind === "fail" ? 1 : 0);
      expect(stdout).not.toContain("wrong-4711");
    }
  });

  test("that mcp-remote sends for the client is looked at, too", async () => {
    await using gateway = await startHere({ auth: { tokenHashes: [hashToken(token)] } });
    const args = (sent: string) => [
      "-y",
      "mcp-remote",
      `${gateway.url}/mcp`,
      "--header",
      `Authorization: Bearer ${sent}`,
    ];
    await write(".cursor/mcp.json", cursor({ command: "npx", args: args(token) }));
    expect((await examine("--start")).found).toMatchObject([{ kind: "ok" }]);
    await write(".cursor/mcp.json", cursor({ command: "npx", args: args("another") }));
    expect((await examine("--start")).found).toMatchObject([{ kind: "fail" }]);
  });
});

describe("an address", () => {
  const listen = async (server: Server): Promise<number> => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return (server.address() as AddressInfo).port;
  };

  /** With the port in the configuration, the client's file is known as leading here. */
  const configure = async (port: number) =>
    await writeFile(shop.file, JSON.stringify({ mcpServers: {}, toolyard: { port } }));

  test("at which nothing answers is told with what to do", async () => {
    const server = createServer();
    const port = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    await configure(port);
    await write(".cursor/mcp.json", cursor({ url: `http://localhost:${port}/mcp` }));
    const { code, found } = await examine();
    expect(found).toMatchObject([
      { kind: "warn", what: expect.stringContaining(`nothing answers at http://localhost:${port}/mcp`) as string },
    ]);
    expect(found[0]?.todo).toContain("toolyard serve");
    expect(code).toBe(0);
  });

  test("at which another program answers is told", async () => {
    const server = createServer((_request, response) => response.writeHead(200).end("<html>hello</html>"));
    const port = await listen(server);
    await configure(port);
    await write(".cursor/mcp.json", cursor({ url: `http://127.0.0.1:${port}/mcp` }));
    const { code, found } = await examine();
    server.close();
    expect(found).toMatchObject([
      { kind: "fail", what: expect.stringContaining("is not Toolyard (another server)") as string },
    ]);
    expect(code).toBe(1);
  });

  test("that the gateway does not have is told; the older transport's is", async () => {
    await using gateway = await startHere();
    await write(".cursor/mcp.json", cursor({ url: `${gateway.url}/mcp/nobody` }));
    expect((await examine()).found).toMatchObject([
      { kind: "fail", what: expect.stringContaining("the gateway has no endpoint at") as string },
    ]);
    await write(".cursor/mcp.json", cursor({ type: "sse", url: `${gateway.url}/sse` }));
    expect((await examine()).found).toMatchObject([{ kind: "ok" }]);
  });

  test("of a gateway with another configuration is told", async () => {
    const directory = join(shop.directory, "other");
    await mkdir(directory);
    const dataDir = join(shop.directory, "data");
    await using other = await startGateway({
      config: { mcpServers: {}, toolyard: {} },
      directory,
      env: { ...shop.environment, ...unmoved },
      args: ["--data-dir", dataDir],
    });
    await writeFile(shop.file, JSON.stringify({ mcpServers: {}, toolyard: { port: 0 } }));
    await write(".cursor/mcp.json", cursor({ url: `${other.url}/mcp` }));
    expect((await examine()).found).toMatchObject([
      { kind: "warn", what: expect.stringContaining("is a gateway with another configuration") as string },
    ]);
  });
});

describe("a command", () => {
  beforeEach(async () => await writeFile(shop.file, JSON.stringify({ mcpServers: {}, toolyard: { port: 0 } })));
  const stdio = (command: string, ...args: string[]) => ({ command, args: [...args, "stdio"] });

  test("is fine where it is there, and told with what is gone where it is not", async () => {
    const gone = "/opt/gone/toolyard";
    await write(".cursor/mcp.json", {
      mcpServers: {
        good: stdio(process.execPath, mainFile),
        program: stdio("/opt/gone/bin/node", mainFile),
        inPath: stdio("toolyard"),
        main: stdio(process.execPath, `${gone}/dist/cli/main.js`),
        config: { command: process.execPath, args: [mainFile, "stdio", "--config", `${gone}/toolyard.json`] },
        cached: stdio(await write(".npm/_npx/1a/node_modules/.bin/toolyard", "#!/bin/sh", 0o700)),
      },
    });
    const { code, found } = await examine();
    const told = Object.fromEntries(found.map((finding) => [/Cursor, (\w+) in/.exec(finding.what)?.[1], finding]));
    const saying = (kind: Found["kind"], words: string) => ({ kind, what: expect.stringContaining(words) as string });
    expect(told).toMatchObject({
      good: saying("ok", `${mainFile} stdio is there`),
      program: saying("fail", "its command /opt/gone/bin/node is not there, or may not be run"),
      inPath: saying("fail", "its command toolyard was not found in PATH"),
      main: saying("fail", `${gone}/dist/cli/main.js, which its command needs, is not there`),
      config: saying("fail", `${gone}/toolyard.json, which its command needs, is not there`),
      cached: saying("warn", "its command is in npm's cache"),
    });
    expect(told["program"]?.todo).toContain("`toolyard connect cursor`");
    expect(code).toBe(1);
  });
});
