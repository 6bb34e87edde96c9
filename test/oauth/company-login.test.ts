import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { keyPassphrase, makeCertificates, type Certificates } from "../harness/certificates.ts";
import { proxyPassword, startConnectProxy, type ConnectProxy } from "../harness/connect-proxy.ts";
import { startGateway } from "../harness/gateway.ts";
import { startAuthorizationServer, type AuthorizationServer } from "./authorization-server.ts";
import { clickThrough } from "./browser.ts";
import { runCommand, type RunningCommand } from "./login-command.ts";
import { startProtectedServer, type ProtectedServer } from "./mcp-server.ts";
import { startTlsFront, type TlsFront } from "./tls-front.ts";
import { executeSoon } from "./world.ts";

/** Names that only the proxy knows: who reaches them came through the proxy. */
const serverHost = "mcp.company.invalid";
const loginHost = "login.company.invalid";
let folder: string;
let certificates: Certificates;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "toolyard-company-login-"));
  certificates = makeCertificates(folder, [serverHost, loginHost, "localhost"]);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A company's network: a server that insists on a certificate, a server of logins, both behind TLS and a proxy. */
interface Company extends AsyncDisposable {
  readonly proxy: ConnectProxy;
  readonly serverFront: TlsFront;
  readonly loginFront: TlsFront;
  readonly authorization: AuthorizationServer;
  readonly server: ProtectedServer;
  readonly directory: string;
  /** What the server's entry needs to reach it. */
  readonly entry: { readonly type: "http"; readonly url: string; readonly tls: object };
  logIn(entry: object, env?: Readonly<Record<string, string>>): RunningCommand;
  /** The browser, which is in the company's network without a proxy. */
  click(command: RunningCommand): Promise<void>;
}

async function createCompany(host = serverHost): Promise<Company> {
  const proxy = await startConnectProxy();
  const serverFront = await startTlsFront(certificates, true);
  const loginFront = await startTlsFront(certificates);
  const url = `https://${host}:${serverFront.port}/mcp`;
  const issuer = `https://${host === serverHost ? loginHost : host}:${loginFront.port}`;
  const authorization = await startAuthorizationServer({ resource: () => url, publicOrigin: issuer });
  const server = await startProtectedServer({
    issuer: () => issuer,
    publicUrl: url,
    accepts: async (token) => (await authorization.audienceOf(token)) === url,
  });
  serverFront.target = server.port;
  loginFront.target = authorization.port;
  const directory = mkdtempSync(join(folder, "gateway-"));
  const pem = certificates.path;
  const tls = { caFile: pem("ca"), certFile: pem("client"), keyFile: pem("client-key"), passphrase: keyPassphrase };
  return {
    ...{ proxy, serverFront, loginFront, authorization, server, directory },
    entry: { type: "http", url, tls },
    logIn(entry, env = {}) {
      writeFileSync(join(directory, "toolyard.json"), JSON.stringify({ mcpServers: { vault: entry } }));
      return runCommand(directory, ["login", "vault"], { ...withoutProxy, ...env });
    },
    async click(command) {
      const address = (page: string): string => page.replace(issuer, `http://127.0.0.1:${authorization.port}`);
      await clickThrough(await command.address(), { address });
      expect(await command.ended, command.stderr()).toBe(0);
    },
    async [Symbol.asyncDispose]() {
      for (const part of [serverFront, loginFront, server, authorization, proxy]) await part[Symbol.asyncDispose]();
    },
  };
}

const withoutProxy = { HTTPS_PROXY: "", https_proxy: "", HTTP_PROXY: "", http_proxy: "", NO_PROXY: "", no_proxy: "" };
const connectsIn = (proxy: ConnectProxy): ReadonlySet<string | undefined> =>
  new Set(proxy.heads.map((head) => /^CONNECT (\S+):/.exec(head)?.[1]));

describe("a login in a company's network", () => {
  test("goes through the proxy of the server's entry, trusts its authority and shows its certificate to the server alone", async () => {
    await using company = await createCompany();
    const entry = { ...company.entry, proxy: company.proxy.url() };
    const command = company.logIn(entry);
    await company.click(command);
    expect(connectsIn(company.proxy)).toEqual(new Set([serverHost, loginHost]));
    expect(new Set(company.serverFront.shown)).toEqual(new Set(["client"]));
    expect(new Set(company.loginFront.shown)).toEqual(new Set([undefined]));
    expect(command.stdout() + command.stderr()).not.toMatch(new RegExp(`${proxyPassword}|${keyPassphrase}`));
    await using gateway = await startGateway({
      config: { mcpServers: { vault: entry } },
      directory: company.directory,
      env: withoutProxy,
    });
    expect((await executeSoon(gateway.url, "vault:headers")).content[0].text).toContain("authorization");
  });

  test("goes through the proxy that HTTPS_PROXY names", async () => {
    await using company = await createCompany();
    const command = company.logIn(company.entry, { HTTPS_PROXY: company.proxy.url() });
    await company.click(command);
    expect(connectsIn(company.proxy)).toEqual(new Set([serverHost, loginHost]));
  });

  test("is renewed by the gateway on the same way, and taken back on it", async () => {
    await using company = await createCompany();
    const env = { ...withoutProxy, HTTPS_PROXY: company.proxy.url() };
    await company.click(company.logIn(company.entry, env));
    await using gateway = await startGateway({
      config: { mcpServers: { vault: company.entry } },
      directory: company.directory,
      env,
    });
    await executeSoon(gateway.url, "vault:headers");
    const [token = ""] = company.server.seen.flatMap(
      ({ headers }) => /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1] ?? [],
    );
    await company.authorization.revoke(token);
    await executeSoon(gateway.url, "vault:headers");
    expect(company.authorization.grants).toEqual(["authorization_code", "refresh_token"]);
    const logout = runCommand(company.directory, ["logout", "vault"], env);
    expect(await logout.ended).toBe(0);
    expect(logout.stdout() + logout.stderr()).toBe("logged out of vault\n");
  });

  test("without a proxy trusts the authority of the entry for the authorization server, too, and no other", async () => {
    await using company = await createCompany("localhost");
    await company.click(company.logIn(company.entry));
    expect(company.proxy.heads).toEqual([]);
    expect(new Set(company.serverFront.shown)).toEqual(new Set(["client"]));
    expect(new Set(company.loginFront.shown)).toEqual(new Set([undefined]));
    const { url } = company.entry;
    const untrusting = company.logIn({ type: "http", url });
    expect(await untrusting.ended).not.toBe(0);
    expect(untrusting.stderr()).toMatch(/cannot be reached \((UNABLE_TO_VERIFY|SELF_SIGNED|UNABLE_TO_GET_ISSUER)/);
  });

  test.each([
    ["NO_PROXY names it", {}, { NO_PROXY: "company.invalid" }],
    ["its entry says false", { proxy: false }, {}],
  ])("looks for the server without HTTPS_PROXY when %s", async (_why, more, env) => {
    await using company = await createCompany();
    const command = company.logIn({ ...company.entry, ...more }, { HTTPS_PROXY: company.proxy.url(), ...env });
    expect(await command.ended).not.toBe(0);
    expect(command.stderr()).toMatch(/cannot be reached \((ENOTFOUND|EAI_AGAIN)\)/);
    expect(company.proxy.heads).toEqual([]);
  });

  test("says what the proxy refuses, and that a file cannot be read, without a secret", async () => {
    await using company = await createCompany();
    const refused = company.logIn({ ...company.entry, proxy: company.proxy.url("me:wrong-password@") });
    expect(await refused.ended).not.toBe(0);
    expect(refused.stderr()).toContain("the proxy answered CONNECT with HTTP 407");
    expect(refused.stderr()).not.toContain("wrong-password");
    const missing = company.logIn({ ...company.entry, tls: { caFile: join(folder, "missing.pem") } });
    expect(await missing.ended).not.toBe(0);
    expect(missing.stderr()).toContain(`tls.caFile of vault cannot be read: ${join(folder, "missing.pem")}`);
  });

  test("FAULT 104: a proxy does not bring a public server's login into a private network", async () => {
    await using company = await createCompany();
    const issuer = "https://10.0.0.1";
    await using server = await startProtectedServer({
      issuer: () => issuer,
      publicUrl: company.entry.url,
      accepts: async () => false,
    });
    company.serverFront.target = server.port;
    const command = company.logIn({ ...company.entry, proxy: company.proxy.url() });
    expect(await command.ended).not.toBe(0);
    expect(command.stderr()).toContain("10.0.0.1 is not in the public Internet");
    expect(connectsIn(company.proxy)).toEqual(new Set([serverHost]));
  });
});
