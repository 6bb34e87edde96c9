import { constants } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer as createHttpsServer, type Server as HttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { keyPassphrase as passphrase, makeCertificates, type Certificates } from "../harness/certificates.ts";
import { proxyPassword, startConnectProxy, type ConnectProxy } from "../harness/connect-proxy.ts";
import { badServer, startGateway, type RunningGateway } from "../harness/gateway.ts";
import { rpc } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";

/** A name that only the proxy knows: who reaches it came through the proxy. */
const host = "mcp.company.invalid";
let folder: string;
let server: HttpsServer;
let proxy: ConnectProxy;
let certificates: Certificates;
/** Common names of the certificates that were shown, or undefined for none. */
let shown: (string | undefined)[] = [];

const pem = (name: string): string => certificates.path(name);

/**
 * A legacy server that answers calls as an event stream, and asks for a certificate without insisting on it but at
 * /strict.
 */
function makeServer(): HttpsServer {
  const options = {
    key: certificates.read("server-key"),
    cert: certificates.read("server"),
    ca: certificates.read("ca"),
  };
  // A resumed session has no certificate to look at.
  const fresh = { maxVersion: "TLSv1.2", secureOptions: constants.SSL_OP_NO_TICKET } as const;
  const asking = { requestCert: true, rejectUnauthorized: false };
  return createHttpsServer({ ...options, ...fresh, ...asking }, (request, response) => {
    const socket = request.socket as TLSSocket;
    const name: unknown = socket.authorized ? socket.getPeerCertificate().subject.CN : undefined;
    shown.push(typeof name === "string" ? name : undefined);
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      const message = (body === "" ? {} : JSON.parse(body)) as { id?: number; method?: string };
      const result = results[message.method ?? ""];
      if (request.url === "/strict" && name === undefined) response.writeHead(403).end();
      else if (request.method !== "POST" || (message.id !== undefined && result === undefined))
        response.writeHead(405).end();
      else if (message.id === undefined) response.writeHead(202).end();
      else {
        response.setHeader("Content-Type", "text/event-stream");
        response.write(`event: message\ndata: {"jsonrpc":"2.0",\n`);
        response.end(`data: "id":${message.id},"result":${JSON.stringify(result)}}\n\n`);
      }
    });
  });
}

const results: Readonly<Record<string, object>> = {
  initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "tls", version: "1" } },
  "tools/list": { tools: [{ name: "echo", inputSchema: { type: "object" } }] },
  "tools/call": { content: [{ type: "text", text: "reached" }] },
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "toolyard-company-"));
  certificates = makeCertificates(folder, [host, "localhost"]);
  server = makeServer();
  proxy = await startConnectProxy();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  server.close().closeAllConnections();
  await proxy[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  proxy.heads.length = 0;
  shown = [];
});

const portOf = (of: HttpsServer): number => (of.address() as AddressInfo).port;
const behindProxy = (path = "/mcp"): string => `https://${host}:${portOf(server)}${path}`;
const here = (path = "/mcp"): string => `https://localhost:${portOf(server)}${path}`;

function start(entry: object, env: Readonly<Record<string, string>> = {}): Promise<RunningGateway> {
  return startGateway({ config: { mcpServers: { tls: { type: "http", ...entry } } }, env });
}

async function call(gateway: RunningGateway): Promise<string> {
  const params = { name: "execute_mcp_tool", arguments: { tool_path: "tls:echo", arguments: {} } };
  return (await rpc(`${gateway.url}/mcp`, "tools/call", params)).text;
}

const reached = async (gateway: RunningGateway): Promise<string> =>
  await until(async () => ((await call(gateway)).includes("reached") ? "reached" : undefined));
const failed = async (gateway: RunningGateway, why: RegExp): Promise<string> =>
  await until(async () => {
    const text = await call(gateway);
    return why.test(text) ? text : undefined;
  });

describe("a server behind a proxy", () => {
  test("is reached through the proxy that its entry names, whose password is told to the proxy alone", async () => {
    await using gateway = await start({ url: behindProxy(), proxy: proxy.url(), tls: { caFile: pem("ca") } });
    expect(await reached(gateway)).toBe("reached");
    expect(proxy.heads[0]).toMatch(new RegExp(`^CONNECT ${host}:${portOf(server)} HTTP/1.1\r\n`));
    expect(gateway.stdout() + gateway.stderr()).not.toContain(proxyPassword);
  });

  test("is reached through the proxy that HTTPS_PROXY names", async () => {
    const env = { HTTPS_PROXY: proxy.url(), NO_PROXY: "other.example", NODE_EXTRA_CA_CERTS: pem("ca") };
    await using gateway = await start({ url: behindProxy() }, env);
    expect(await reached(gateway)).toBe("reached");
    expect(proxy.heads).not.toEqual([]);
  });

  test.each([
    ["NO_PROXY names it", {}, { NO_PROXY: "company.invalid" }],
    ["its entry says false", { proxy: false }, {}],
  ])("is not looked for behind HTTPS_PROXY when %s", async (_why, entry, more) => {
    const env = { HTTPS_PROXY: proxy.url(), NODE_EXTRA_CA_CERTS: pem("ca"), ...more };
    await using gateway = await start({ url: behindProxy(), ...entry }, env);
    expect(await failed(gateway, /cannot connect to tls at/)).toMatch(/ENOTFOUND|EAI_AGAIN/);
    expect(proxy.heads).toEqual([]);
  });

  test("says so when the proxy refuses, without the password that it was given", async () => {
    await using gateway = await start({ url: behindProxy(), proxy: proxy.url("me:wrong-password@") });
    const answer = await failed(gateway, /the proxy answered CONNECT with HTTP 407/);
    expect(answer + gateway.stdout() + gateway.stderr()).not.toContain("wrong-password");
  });
});

describe("a server with certificates of a company's own", () => {
  const client = (more: object = {}): object => ({
    caFile: pem("ca"),
    certFile: pem("client"),
    keyFile: pem("client-key"),
    ...more,
  });

  test("is trusted with the authority that its entry names, and with no other", async () => {
    await using trusting = await start({ url: here(), tls: { caFile: pem("ca") } });
    expect(await reached(trusting)).toBe("reached");
    expect(proxy.heads).toEqual([]);
    await using strict = await start({ url: here() });
    expect(await failed(strict, /cannot connect to tls at/)).toMatch(
      /UNABLE_TO_VERIFY|SELF_SIGNED|UNABLE_TO_GET_ISSUER/,
    );
  });

  test("is shown the certificate, whose key may be encrypted", async () => {
    const tls = client({ passphrase: "${KEY_PHRASE}" });
    await using gateway = await start({ url: here("/strict"), tls }, { KEY_PHRASE: passphrase });
    expect(await reached(gateway)).toBe("reached");
    expect(new Set(shown)).toEqual(new Set(["client"]));
  });

  test("is shown it through a proxy, too", async () => {
    const tls = client({ passphrase });
    await using gateway = await start({ url: behindProxy("/strict"), proxy: proxy.url(), tls });
    expect(await reached(gateway)).toBe("reached");
    expect(proxy.heads).not.toEqual([]);
    expect(new Set(shown)).toEqual(new Set(["client"]));
  });

  test("with a wrong passphrase it fails, and the passphrase stands nowhere", async () => {
    const tls = client({ passphrase: "not the passphrase" });
    await using gateway = await start({ url: here("/strict"), tls });
    const answer = await failed(gateway, /CONFIG_INVALID|cannot connect to tls at/);
    expect(answer + gateway.stdout() + gateway.stderr()).not.toContain("not the passphrase");
  });

  test("a file that is not there is named, with the field", async () => {
    await using gateway = await start({ url: here(), tls: { caFile: "missing.pem" } });
    const answer = await failed(gateway, /tls\.caFile/);
    expect(answer).toContain(join(gateway.directory, "missing.pem"));
    expect(answer).toContain("ENOENT");
  });
});

test("undici is loaded with the first server that needs it, and not before", async () => {
  const list = join(folder, "loaded");
  const recorder = pathToFileURL(join(import.meta.dirname, "../harness/record-modules.mjs")).href;
  const loaded = (): readonly string[] => readFileSync(list, "utf8").split("\n");
  const isUndici = (url: string): boolean => /node_modules\/undici\/|undici-client/.test(url);
  await using gateway = await startGateway({
    config: {
      mcpServers: {
        local: badServer(),
        plain: { url: here() },
      },
    },
    env: { NODE_OPTIONS: `--import ${recorder}`, LOADED_MODULES: list, NODE_EXTRA_CA_CERTS: pem("ca") },
  });
  const callOf = async (path: string): Promise<string> =>
    (await rpc(`${gateway.url}/mcp`, "tools/call", { name: "execute_mcp_tool", arguments: { tool_path: path } })).text;
  await until(async () => (await callOf("plain:echo")).includes("reached"));
  await until(async () => (await callOf("local:echo")).includes('"content"'));
  expect(loaded().some((url) => url.includes("connect-http"))).toBe(true);
  expect(loaded().filter(isUndici)).toEqual([]);
  await using other = await startGateway({
    config: { mcpServers: { tls: { url: here(), tls: { caFile: pem("ca") } } } },
    env: { NODE_OPTIONS: `--import ${recorder}`, LOADED_MODULES: list },
  });
  await reached(other);
  expect(loaded().filter(isUndici)).not.toEqual([]);
});
