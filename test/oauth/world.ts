import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Credential } from "../../src/servers/logins/credential.ts";
import { createTokenVault } from "../../src/store/files/token-vault.ts";
import { startGateway, type GatewayOptions, type RunningGateway } from "../harness/gateway.ts";
import { execute, rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import {
  startAuthorizationServer,
  type AuthorizationServer,
  type AuthorizationServerOptions,
} from "./authorization-server.ts";
import { clickThrough } from "./browser.ts";
import { runCommand, type RunningCommand } from "./login-command.ts";
import { startProtectedServer, type ProtectedServer, type ProtectedServerOptions } from "./mcp-server.ts";

/** An authorization server, an MCP server called `vault` that trusts it, and a folder for a gateway. */
export interface World extends AsyncDisposable {
  readonly authorization: AuthorizationServer;
  readonly server: ProtectedServer;
  readonly directory: string;
  gateway(options?: Partial<GatewayOptions>): Promise<RunningGateway>;
  /** A whole login, by command line and browser. */
  logIn(env?: Readonly<Record<string, string>>, args?: readonly string[]): Promise<RunningCommand>;
  /** What is kept, opened with the key of the data directory. */
  kept(instance?: string): Promise<Credential>;
}

export async function createWorld(
  options: Partial<ProtectedServerOptions> & Partial<AuthorizationServerOptions> = {},
): Promise<World> {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-oauth-"));
  let server: ProtectedServer | undefined;
  const authorization = await startAuthorizationServer({
    ...options,
    resource: options.resource ?? (() => server?.url ?? ""),
  });
  server = await startProtectedServer({
    issuer: () => authorization.issuer,
    accepts: async (token, resource) => (await authorization.audienceOf(token)) === resource,
    ...options,
  });
  const config = { mcpServers: { vault: { type: "http", url: server.url } } };
  await writeFile(join(directory, "toolyard.json"), JSON.stringify(config));
  return {
    authorization,
    server,
    directory,
    gateway: async (given = {}) => await startGateway({ config, directory, ...given }),
    async logIn(env = {}, args = []) {
      const command = runCommand(directory, ["login", "vault", ...args], env);
      await clickThrough(await command.address());
      const code = await command.ended;
      if (code !== 0) throw new Error(`login ended with ${code}:\n${command.stderr()}`);
      return command;
    },
    async kept(instance = "vault") {
      const kept = await createTokenVault({ directory: join(directory, "data"), key: {} }).read(instance);
      if (kept.kind !== "text") throw new Error(`nothing is kept: ${kept.kind}`);
      return JSON.parse(kept.text) as Credential;
    },
    async [Symbol.asyncDispose]() {
      await server?.[Symbol.asyncDispose]();
      await authorization[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** The tool's answer as soon as the gateway gives one that is no error. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
export async function executeSoon(gatewayUrl: string, toolPath: string): Promise<any> {
  return await until(async () => {
    const answer = await execute(gatewayUrl, toolPath);
    return answer.content === undefined || answer.isError === true ? undefined : answer;
  });
}

/** Resolves to what the gateway says of a server as soon as it wants a login. */
export async function untilLoginIsWanted(
  gatewayUrl: string,
): Promise<{ readonly server: string; readonly reason: string; readonly action: string }> {
  return await until(async () => {
    const answer = await discover(gatewayUrl, "headers");
    return answer.unavailable?.[0]?.status === "requires_reauth" ? answer.unavailable[0] : undefined;
  });
}

/** What discover says of the server when a user looks for it. */
// oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever came back
export async function discover(gatewayUrl: string, query: string): Promise<any> {
  const answer = await rpc(`${gatewayUrl}/mcp`, "tools/call", { name: "discover_mcp_tools", arguments: { query } });
  return JSON.parse(answer.json.result.content[0].text);
}

/** Every byte that is in the files below a folder, as text. */
export async function contentOf(directory: string): Promise<string> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return (
    await Promise.all(files.map(async (file) => await readFile(join(file.parentPath, file.name), "latin1")))
  ).join("\n");
}
