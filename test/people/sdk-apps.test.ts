import { Client as ModernClient, StreamableHTTPClientTransport as ModernHttp } from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommand } from "../harness/command.ts";
import { until } from "../harness/until.ts";
import { callbackUrl, consent } from "./app-client.ts";
import { createKeptLogin, createNextProcess, type KeptLogin } from "./kept-login.ts";
import type { PageBrowser } from "./page-browser.ts";
import { startTeamWorld, type TeamWorld } from "./team-world.ts";

// Each takes seconds, and many times that on a busy machine.
const limitMs = 240_000;

let world: TeamWorld;
let ann: PageBrowser;
beforeAll(async () => {
  world = await startTeamWorld();
  await world.ask("user", "add", "ann", "--admin", "--team", "red");
  ann = await world.logIn("ann", { stopAt: callbackUrl });
});
afterAll(async () => await world[Symbol.asyncDispose]());

/** The same app with either SDK. */
interface App {
  /** Rejects with the SDK's UnauthorizedError where its person has to log in first. */
  connect(): Promise<void>;
  finish(callback: URL): Promise<void>;
  tools(): Promise<readonly string[]>;
  call(): Promise<unknown>;
  close(): Promise<void>;
}

const call = { name: "execute_mcp_tool", arguments: { tool_path: "own:canary", arguments: {} } };
const fourTools = ["discover_mcp_tools", "execute_mcp_tool", "list_mcp_resources", "read_mcp_resource"];

function createModernApp({ provider }: KeptLogin, path = "/mcp"): App {
  const client = new ModernClient({ name: "app", version: "1" }, { versionNegotiation: { mode: "auto" } });
  const transport = new ModernHttp(new URL(`${world.url}${path}`), { authProvider: provider });
  return {
    connect: async () => await client.connect(transport),
    finish: async (callback) => await transport.finishAuth(callback.searchParams),
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async () => (await client.callTool(call)).structuredContent,
    close: async () => await client.close(),
  };
}

function createLegacyApp({ provider }: KeptLogin, path = "/mcp"): App {
  const client = new LegacyClient({ name: "app", version: "1" });
  const transport = new LegacyHttp(new URL(`${world.url}${path}`), { authProvider: provider as never });
  return {
    connect: async () => await client.connect(transport as never),
    finish: async (callback) => await transport.finishAuth(callback.searchParams.get("code") ?? ""),
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async () => (await client.callTool(call)).structuredContent,
    close: async () => await client.close(),
  };
}

const sdks = [
  { sdk: "SDK v2", create: createModernApp },
  { sdk: "SDK v1", create: createLegacyApp },
];

describe.each(sdks)("an app with $sdk", ({ create }) => {
  /** From nothing but the address, and a person who agrees. */
  async function logIn(path?: string): Promise<KeptLogin> {
    const login = createKeptLogin();
    const first = create(login, path);
    await expect(first.connect()).rejects.toThrow(/unauthorized/i);
    const [start] = login.asked;
    if (start === undefined) throw new Error("the app has sent nobody to the gateway");
    const callback = await consent(ann, { url: start.href, verifier: "", state: "" });
    expect(callback.searchParams.get("state")).toBe("a state of the app");
    await first.finish(callback);
    await first.close();
    return login;
  }

  async function use(login: KeptLogin, path?: string): Promise<App> {
    const app = create(login, path);
    await app.connect();
    return app;
  }

  test("finds its way to the login by the address alone, and calls a tool", async () => {
    const login = await logIn();
    expect(login.asked[0]?.searchParams.get("resource")).toBe(`${world.url}/mcp`);
    expect(login.file.tokens?.refresh_token).toEqual(expect.any(String));
    const app = await use(login);
    expect(await app.tools()).toEqual(fourTools);
    expect(await app.call()).toMatchObject({ tool: "canary" });
    await app.close();
  });

  test("asks for exactly the endpoint that it was given", async () => {
    const login = await logIn("/mcp/server/own");
    expect(login.asked[0]?.searchParams.get("resource")).toBe(`${world.url}/mcp/server/own`);
    const app = await use(login, "/mcp/server/own");
    expect(await app.tools()).toContain("canary");
    await app.close();
  });

  test(
    "renews in twenty processes at once, and is there after a restart, without anybody being asked",
    { timeout: limitMs },
    async () => {
      const login = await logIn();
      const processes = Array.from({ length: 20 }, () => createNextProcess(login));
      const apps = await Promise.all(processes.map(async (one) => await use(one)));
      const named = await Promise.all(apps.map(async (app) => await app.tools()));
      expect(named).toEqual(processes.map(() => fourTools));
      expect(new Set(processes.map(({ file }) => file.tokens?.access_token)).size).toBe(20);
      await Promise.all(apps.map(async (app) => await app.close()));
      await world.restart("SIGKILL");
      for (const one of [login, processes[3], createNextProcess(processes[11] as KeptLogin)] as const) {
        const app = await use(one as KeptLogin);
        expect(await app.call()).toMatchObject({ tool: "canary" });
        await app.close();
      }
      expect(processes.flatMap(({ asked }) => asked)).toEqual([]);
      expect(login.asked.length).toBe(1);
    },
  );

  test(
    "is shut out when its person disconnects it, says so, and asks for a login again",
    { timeout: limitMs },
    async () => {
      const login = await logIn();
      const app = await use(login);
      expect(await app.call()).toMatchObject({ tool: "canary" });
      const page = await ann.open(`${world.url}/account`);
      const newest = [...page.text.matchAll(/name="id" value="(g_[a-z0-9]+)"/g)].at(-1)?.[1] ?? "";
      await ann.submit(page, {}, `value="${newest}"`);
      await expect(app.call()).rejects.toThrow(/unauthorized/i);
      // An app with a stream asks for that twice at once, so the login that follows is that of its next process.
      await until(() => login.asked.length > 1);
      await app.close();
      const later = createKeptLogin({ ...login.file });
      const started = create(later);
      await expect(started.connect()).rejects.toThrow(/unauthorized/i);
      await started.finish(await consent(ann, { url: later.asked[0]?.href ?? "", verifier: "", state: "" }));
      await started.close();
      const next = await use(later);
      expect(await next.call()).toMatchObject({ tool: "canary" });
      await next.close();
    },
  );
});

test("`connect` writes the address of a gateway where people log in, and no token, and says how to log in", async () => {
  const env = { HOME: world.directory, CODEX_HOME: "", XDG_CONFIG_HOME: "", TOOLYARD_TOKEN: "" };
  const connect = async (...more: string[]) => {
    const options = ["--config", world.gateway.configFile, "--url", world.url, "--yes", "--json"];
    const { stdout, stderr } = await runCommand(["connect", "codex", ...options, ...more], env);
    expect(stderr).toBe("");
    return JSON.parse(stdout) as { readonly token: boolean; readonly file: string; readonly notes: readonly string[] };
  };
  const told = await connect();
  expect(told).toMatchObject({ outcome: "connected", url: `${world.url}/mcp`, token: false });
  expect(told.notes.join(" ")).toContain("Run `codex mcp login toolyard` for that.");
  expect(await readFile(told.file, "utf8")).toMatch(
    new RegExp(`^\\[mcp_servers\\.toolyard\\]\\nurl = "${world.url}/mcp"\\ntool_timeout_sec = 3600\\n`),
  );
  expect(await readFile(told.file, "utf8")).not.toContain("http_headers");
  // A token of one's own is still taken.
  const { made } = await world.ask("token", "new", "--user", "ann", "--team", "red");
  expect(await connect("--token", made.token)).toMatchObject({ token: true });
  expect(await readFile(told.file, "utf8")).toContain(made.token);
});
