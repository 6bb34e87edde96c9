import { existsSync, readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { startGateway } from "../harness/gateway.ts";
import { get } from "../harness/rest.ts";
import { execute } from "../harness/rpc.ts";
import { until } from "../harness/until.ts";
import { makeHome } from "./inside.ts";

/** Debian's (scripts/get-chromium.mjs); Playwright's MCP server comes from npm when the test runs. */
const chromium = "/usr/bin/chromium";
const preload = fileURLToPath(new URL("../harness/named-hosts.mjs", import.meta.url));
const address = "93.184.216.34";

/** Chromium's renderers in a namespace of processes within a sandbox's, with a filter of system calls. */
function confinedRenderers(): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      const levels = /^NSpid:(.*)$/m.exec(status)?.[1]?.trim().split(/\s+/).length ?? 0;
      const isRenderer = readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("--type=renderer");
      return isRenderer && levels > 2 && /^Seccomp:\s*2$/m.test(status);
    } catch {
      return false;
    }
  });
}

test.runIf(process.env["TOOLYARD_TEST_LAPTOP"] !== undefined && existsSync(chromium))(
  "43 a browser in a sandbox, its own sandbox on, reaches the names of its entry and no others",
  { timeout: 600_000 },
  async () => {
    expect(confinedRenderers()).toEqual([]);
    const site = createServer((_, response) => {
      response.setHeader("content-type", "text/html");
      response.end("<!doctype html><title>A site</title><h1>Reached by name</h1>");
    });
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
    const directory = await makeHome();
    const browser = {
      command: "npx",
      args: ["-y", "@playwright/mcp", "--headless", "--browser=chrome", `--executable-path=${chromium}`],
      sandbox: { browser: true, network: ["site.example.com"] },
    };
    await using gateway = await startGateway({
      config: { mcpServers: { browser } },
      directory,
      env: {
        NODE_OPTIONS: `--import ${preload}`,
        TOOLYARD_TEST_HOSTS: JSON.stringify({ "site.example.com": address, "other.example.com": address }),
        TOOLYARD_TEST_ROUTES: JSON.stringify({ [address]: (site.address() as AddressInfo).port }),
      },
    });
    const call = async (tool: string, args: object): Promise<string> =>
      JSON.stringify(await execute(gateway.url, `browser:${tool}`, args));
    await until(async () => !(await call("browser_tabs", { action: "list" })).includes("SERVER_STARTING"), 300_000);
    const page = await call("browser_navigate", { url: "http://site.example.com/" });
    expect(page).toContain("A site");
    expect(await call("browser_snapshot", {})).toContain("Reached by name");
    expect(confinedRenderers()).not.toEqual([]);
    expect(await call("browser_navigate", { url: "http://other.example.com/" })).toMatch(
      /ERR_(?:NAME_NOT_RESOLVED|INTERNET_DISCONNECTED)/,
    );
    expect(await call("browser_navigate", { url: gateway.url })).toMatch(
      /ERR_(?:CONNECTION_REFUSED|ADDRESS_UNREACHABLE|INTERNET_DISCONNECTED)/,
    );
    const { sandbox } = JSON.parse((await get(`${gateway.url}/api/servers/browser`)).text);
    expect(sandbox.denied.map(({ host }: { host: string }) => host)).toContain("other.example.com");
    site.close();
    await gateway[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  },
);
