// The client under test of the suite's authorization scenarios: `auth-driver.mjs [--gateway FILE] URL`. With --gateway,
// `toolyard login` logs in at the suite's server and a gateway in front of it is then used, so that the suite judges
// how the gateway's logins behave; without, the SDK's client does all of it. The suite's pages agree to everything by
// themselves: following their redirects is what a browser does. Whoever is told to log in again does so, twice at most.

import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { env, execPath, exit } from "node:process";
import { parseArgs } from "node:util";
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from "@modelcontextprotocol/client";
import { startListening } from "./listening.mjs";

// The suite stops waiting after 30 s.
const deadlineMs = 25_000;
const mostLogins = 3;
const pauseMs = 50;
const modernRevision = "2026-07-28";
const documentUrl = "https://conformance-test.local/client-metadata.json";
const server = "reference";

const { values: flags, positionals } = parseArgs({
  options: { gateway: { type: "string" } },
  allowPositionals: true,
});
const url = positionals[0];
const context = JSON.parse(env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const stops = [];
const deadline = setTimeout(() => end(new Error(`not done after ${deadlineMs} ms`)), deadlineMs);
try {
  await (flags.gateway === undefined ? driveSdk() : driveGateway());
  await end();
} catch (error) {
  await end(error);
}

async function end(error) {
  clearTimeout(deadline);
  if (error !== undefined) process.stderr.write(`${error.stack}\n`);
  for (const stop of stops.toReversed()) await stop();
  exit(error === undefined ? 0 : 1);
}

function createClient() {
  const isModern = env.MCP_CONFORMANCE_PROTOCOL_VERSION === modernRevision;
  const info = { name: "toolyard-conformance-client", version: "1.0.0" };
  return new Client(info, isModern ? { versionNegotiation: { mode: "auto" } } : {});
}

/** Resolves to what the tool answered; undefined where the server has none. */
async function use(client) {
  const { tools } = await client.listTools();
  const [tool] = tools;
  return tool === undefined ? undefined : await client.callTool({ name: tool.name, arguments: {} });
}

async function driveSdk() {
  const login = createProvider();
  for (let logins = 0; ; logins += 1) {
    const client = createClient();
    const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: login.provider });
    try {
      await client.connect(transport);
      await use(client);
      return;
    } catch (error) {
      if (!(error instanceof UnauthorizedError) || login.asked === undefined || logins === mostLogins) throw error;
      const answer = await fetch(login.asked, { redirect: "manual" });
      login.asked = undefined;
      await transport.finishAuth(new URL(answer.headers.get("location")).searchParams);
    } finally {
      await client.close();
    }
  }
}

function createProvider() {
  const kept = { tokens: undefined, verifier: "", discovery: undefined };
  const isKnown = context.client_id !== undefined && context.client_secret !== undefined;
  let client = isKnown ? { client_id: context.client_id, client_secret: context.client_secret } : undefined;
  const redirectUrl = "http://127.0.0.1:5999/callback";
  const login = {
    asked: undefined,
    provider: {
      redirectUrl,
      clientMetadataUrl: documentUrl,
      clientMetadata: {
        client_name: "Toolyard",
        redirect_uris: [redirectUrl],
        application_type: "native",
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
      },
      clientInformation: () => client,
      saveClientInformation: (given) => (client = given),
      tokens: () => kept.tokens,
      saveTokens: (given) => (kept.tokens = given),
      redirectToAuthorization: (given) => (login.asked = given),
      saveCodeVerifier: (given) => (kept.verifier = given),
      codeVerifier: () => kept.verifier,
      saveDiscoveryState: (given) => (kept.discovery = given),
      discoveryState: () => kept.discovery,
      invalidateCredentials(what) {
        if (what === "all" || what === "client") client = undefined;
        if (what === "all" || what === "tokens") kept.tokens = undefined;
        if (what === "all" || what === "discovery") kept.discovery = undefined;
      },
    },
  };
  return login;
}

async function driveGateway() {
  const directory = await mkdtemp(join(tmpdir(), "toolyard-conformance-"));
  stops.push(() => rm(directory, { recursive: true, force: true }));
  const configFile = join(directory, "config.json");
  const servers = { [server]: { type: "http", url } };
  await writeFile(configFile, JSON.stringify({ mcpServers: servers, toolyard: { transparent: server } }));
  const places = ["--config", configFile, "--data-dir", join(directory, "data")];
  await logIn(places);
  const gateway = await startListening([flags.gateway, "serve", ...places, "--port", "0"]);
  stops.push(gateway.stop);
  const client = createClient();
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", gateway.url)));
  for (let logins = 1; ; logins += 1) {
    const again = (await useOrAsk(client)) ?? (await askStatus(gateway.url));
    if (again === undefined) break;
    if (logins === mostLogins) throw new Error(`it still asks for a login: ${again.hint}`);
    await logIn(places, again.scope);
    // It sees by itself that somebody has logged in.
    while ((await askStatus(gateway.url)) !== undefined) await delay(pauseMs);
  }
  await client.close();
}

/** Undefined once the tool has answered; otherwise what the gateway says that its person should do. */
async function useOrAsk(client) {
  const text = await use(client).then(
    (result) => JSON.stringify(result?.isError === true ? result.content : ""),
    (error) => `${error.message} ${JSON.stringify(error.data)}`,
  );
  const hint = /Run `toolyard login[^`]*`/.exec(text.replaceAll("\\", ""))?.[0];
  if (hint === undefined && text.length > 2) throw new Error(text);
  return hint === undefined ? undefined : { hint, scope: /--scope "([^"]+)"/.exec(hint)?.[1] };
}

/** What stands in the list of servers of a gateway that could not even ask its server for tools. */
async function askStatus(gatewayUrl) {
  const answer = await fetch(new URL("/api/servers", gatewayUrl));
  const { servers } = await answer.json();
  return servers.some(({ status }) => status === "requires_reauth") ? { hint: "the server needs a login" } : undefined;
}

async function logIn(places, scope) {
  const known = context.client_id === undefined ? [] : ["--client-id", context.client_id];
  const wish = scope === undefined ? [] : ["--scope", scope];
  const args = ["login", server, ...places, "--no-browser", "--client-metadata-url", documentUrl, ...known, ...wish];
  const child = spawn(execPath, [flags.gateway, ...args], {
    stdio: ["ignore", "inherit", "pipe"],
    env: { ...env, ...(context.client_secret !== undefined && { TOOLYARD_CLIENT_SECRET: context.client_secret }) },
  });
  stops.push(async () => void child.kill());
  let said = "";
  child.stderr.on("data", (chunk) => {
    const before = addressIn(said);
    said += chunk;
    const address = addressIn(said);
    if (before === undefined && address !== undefined) fetch(address).catch(() => undefined);
  });
  const code = await new Promise((resolve) => child.once("close", resolve));
  if (code !== 0) throw new Error(`toolyard login ended with ${code}: ${said}`);
}

function addressIn(text) {
  return /^ {2}(http\S+)\n/m.exec(text)?.[1];
}
